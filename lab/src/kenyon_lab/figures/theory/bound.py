"""The bound on separation against what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kenyon_lab.figures.style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    add_legend,
    letter_panels,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    ("fly", False): ("prototypes, the fly's matrix", VERMILION, "o"),
    ("fly", True): ("noisy copies, the fly's matrix", ORANGE, "^"),
    ("gaussian", False): ("prototypes, Gaussian matrix", BLUE, "s"),
    ("gaussian", True): ("noisy copies, Gaussian matrix", BLACK, "x"),
}


def draw(found: dict[str, Any]) -> Figure:
    """Return measured separations against bounds by the envelope, and by the mean."""
    figure, panels = new_figure(1, 2, height=3.3)
    _draw_points(panels[0], found["points"], "bound", "Bound with the envelope")
    _draw_points(panels[1], found["points"], "by_mean", "With the mean instead")
    panels[0].set_ylabel(r"measured separation, $\gamma$ / l")
    letter_panels(panels)
    add_legend(figure, panels, 2)
    return figure


def _draw_points(axes: Axes, points: list[dict[str, Any]], bound: str, title: str) -> None:
    for (matrix, noisy), (label, colour, marker) in _LOOKS.items():
        chosen = [p for p in points if p["matrix"] == matrix and p["noisy"] is noisy]
        x, y = [p[bound] for p in chosen], [p["measured"] for p in chosen]
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none"}
        axes.plot(x, y, label=label, alpha=0.8, **look)
    axes.axline((0, 0), slope=1, color=GREY, linewidth=1)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    n_below = sum(p["measured"] < p[bound] - 1e-9 for p in points)
    axes.set(title=f"{title}: {n_below} of {len(points)} below", xlabel="predicted, divided by l")
