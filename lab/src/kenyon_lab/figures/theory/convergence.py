"""How weights come near to what they are expected to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.style import BLACK, BLUE, GREY, VERMILION, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = (BLUE, VERMILION)
_DOTS: dict[str, Any] = {"linestyle": "none", "markersize": 5}


def draw(found: dict[str, Any]) -> Figure:
    """Return errors against samples, without decay and with it; lines are predictions."""
    figure, panels = new_figure(1, 2, height=3.0)
    _draw_means(panels[0], found["means"])
    for colour, (decay, curve) in zip(_COLOURS, found["decays"].items(), strict=False):
        _draw_decay(panels[1], decay, curve, colour)
    panels[1].set(
        title="With decay: weights, against their limit",
        xlabel="samples of any class",
        ylim=(0.02, 1.3),
    )
    panels[1].legend(loc="lower left", fontsize=6.5)
    for axes in panels:
        axes.set(xscale="log", yscale="log")
    letter_panels(panels)
    return figure


def _draw_means(axes: Axes, curve: dict[str, Any]) -> None:
    x = curve["n_samples"]
    axes.plot(x, curve["predicted"]["one"], color=GREY, label="predicted")
    axes.plot(x, curve["one"], color=BLACK, marker="o", label="measured", **_DOTS)
    axes.set(
        title="Without decay: counters / n, against the mean",
        xlabel="samples of each class",
        ylabel="error / length of the limit",
    )
    axes.legend(loc="lower left")


def _draw_decay(axes: Axes, decay: float, curve: dict[str, Any], colour: str) -> None:
    for told, line in (("one", "-"), ("averaged", "--"), ("expectation", ":")):
        predicted = curve["predicted"]
        axes.plot(
            predicted["n_samples"], predicted[told], color=colour, linewidth=1, linestyle=line
        )
    x = curve["n_samples"]
    name = rf"$\alpha$ = {decay:g}"
    one = f"{name}, one run"
    axes.plot(x, curve["one"], color=colour, marker="o", label=one, **_DOTS)
    several = f"{name}, mean of {curve['n_runs']} runs"
    hollow = {"marker": "s", "markerfacecolor": "white", **_DOTS}
    axes.plot(x, curve["averaged"], color=colour, label=several, **hollow)
    axes.plot([], [], color=colour, linestyle=":", label=f"{name}, the expectation")
