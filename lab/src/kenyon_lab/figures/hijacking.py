"""Figure S2: shared cells, hijacked by the class learned last or split between both classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kenyon_lab.figures.style import BLUE, VERMILION, letter_panels, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec
    from numpy.typing import NDArray

_LOOKS = ((VERMILION, "o"), (BLUE, "s"))
"""Colour and marker of the first class and of the second."""


def draw(findings: list[dict[str, Any]]) -> Figure:
    """Return the two codes and, below, weights and scores under each version."""
    found = findings[0]
    n = len(found["versions"])
    figure, panels = new_figure(3, n, height=1.75)
    top = _merge(figure, panels[:n])
    weights, scores = panels[n : 2 * n], panels[2 * n :]
    _draw_codes(top, found)
    shared = np.array(found["levels"]).all(axis=0)
    for above, below, (version, seen) in zip(
        weights, scores, found["versions"].items(), strict=True
    ):
        _draw_weights(above, found["digits"], np.array(seen["weights"])[..., shared] / 255)
        _draw_scores(below, found["digits"], seen)
        hijacked = seen["taken_for"][-1] != found["digits"][0]
        above.set_title(f"{version}: {'hijacked' if hijacked else 'split'}")
    weights[0].set_ylabel("weight of shared cells")
    scores[0].set_ylabel(f"score of the '{found['digits'][0]}'")
    letter_panels([top, *weights])
    weights[0].legend(loc="upper left", fontsize=7, handlelength=1.2, borderpad=0)
    figure.supxlabel(_describe_pairs(findings), fontsize=8)
    return figure


def _merge(figure: Figure, row: list[Axes]) -> Axes:
    """Return one panel in place of a row of them."""
    grid = cast("GridSpec", row[0].get_gridspec())
    for axes in row:
        axes.remove()
    return figure.add_subplot(grid[0, :])


def _draw_codes(axes: Axes, found: dict[str, Any]) -> None:
    one, two = np.array(found["levels"]) / 255
    (first, second), n_shared = found["digits"], found["n_shared"]
    cells = np.arange(len(one))
    axes.bar(cells, one, width=1, color=_LOOKS[0][0])
    axes.bar(cells, -two, width=1, color=_LOOKS[1][0])
    shared = np.flatnonzero((one > 0) & (two > 0))
    axes.axvspan(shared[0] - 0.5, shared[-1] + 0.5, color="#e8e8e8", zorder=0)
    for place, text in (
        ((one > 0) & (two == 0), f"only '{first}'"),
        ((one > 0) & (two > 0), f"{n_shared} cells active for both"),
        ((one == 0) & (two > 0), f"only '{second}'"),
    ):
        axes.text(np.flatnonzero(place).mean(), 1.12, text, ha="center", va="bottom", fontsize=8)
    axes.set(
        title=f"Two inputs, a '{first}' and a '{second}': {found['n_active']} active cells each",
        xlim=(-1, len(one)),
        ylim=(-1.1, 1.4),
        ylabel="activity",
    )
    for y, digit in ((0.3, first), (-0.3, second)):
        axes.text(
            shared.mean(), y, f"'{digit}'", color="white", weight="bold", ha="center", va="center"
        )
    axes.set_xticks([])
    axes.set_yticks([-1, 0, 1], ["1", "0", "1"])


def _draw_weights(axes: Axes, digits: list[int], weights: NDArray[np.float64]) -> None:
    """Draw every shared cell's weight to both classes, and the mean, after each step."""
    for rank, (colour, marker) in enumerate(_LOOKS):
        axes.plot(weights[:, rank], color=colour, alpha=0.1, linewidth=0.5)
        mean = weights[:, rank].mean(axis=1)
        axes.plot(mean, color=colour, marker=marker, label=f"to '{digits[rank]}'")
    axes.set(xlim=(-0.2, 2.2), ylim=(-0.15, 1.1), yticks=(0, 0.5, 1))
    axes.set_xticks([0, 1, 2], [])


def _draw_scores(axes: Axes, digits: list[int], seen: dict[str, Any]) -> None:
    """Draw the first input's scores for both classes, and the class predicted in the end."""
    scores = np.array(seen["scores"])
    for rank, (colour, marker) in enumerate(_LOOKS):
        axes.plot(scores[:, rank], color=colour, marker=marker)
    predicted = seen["taken_for"][-1]
    axes.text(
        2.1,
        1.1 * scores.max(),
        f"the '{digits[0]}' is classified as '{predicted}'",
        color=_LOOKS[digits.index(predicted)][0],
        weight="bold",
        ha="right",
        va="bottom",
        bbox={"color": "white", "pad": 0.5},
    )
    axes.set(xlim=(-0.2, 2.2), ylim=(-0.08 * scores.max(), 1.4 * scores.max()))
    axes.set_xticks([0, 1, 2], ["start", f"after the '{digits[0]}'", f"after the '{digits[1]}'"])


def _describe_pairs(findings: list[dict[str, Any]]) -> str:
    first, second = findings[0]["digits"]
    unlike = findings[0]["unlike"]

    def share(digit: int, rule: str) -> str:
        return f"{100 * np.mean([one['pairs'][str(digit)][rule] for one in findings]):.2g} %"

    n_pairs = findings[0]["pairs"][str(second)]["n_pairs"]
    return (
        f"Of all {n_pairs:,} pairs of a '{first}' and a '{second}', the '{first}' is classified as "
        f"'{second}' in {share(second, 'weakened')} under v1 and v3,\nin {share(second, 'split')} "
        f"under v4. With a '{unlike}' instead of the '{second}': {share(unlike, 'weakened')} and "
        f"{share(unlike, 'split')}."
    )
