"""Labels beside points, none of which covers another label or a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.textpath import TextPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

SIZE = 6.5
"""Font size. This and all lengths below are in points."""

RADIUS = 3.5
"""Of a point's marker."""

GAPS = (1.0, 4.0, 8.0, 12.0, 17.0, 22.0, 28.0, 34.0, 41.0, 48.0, 56.0, 65.0, 75.0)
"""Distances between a marker and its label."""

DIRECTIONS = np.deg2rad([0, 180, 90, 270, 45, 315, 135, 225, 22, 338, 158, 202, 67, 293, 113, 247])
"""Directions from a point to its label, the preferred ones first."""

LEADER_FROM = 4.0
"""Gap from which a line leads from the label to its point."""

N_ALONG = 10
"""Places along a leader that are compared with boxes."""

SAME = 1.0
"""Distance up to which points are in one place."""

CROWD = 20.0
"""Distance up to which points crowd each other."""

SWEEPS = 3
"""How often each label chooses its place."""

COVERED, CROSSED = 1000.0, 80.0
"""Prices of covering a label or a point, and of crossing one by a leader, in points of gap."""


class Label(NamedTuple):
    """A label and its point, in the units of the axes."""

    text: str
    point: tuple[float, float]
    colour: str


class _Place(NamedTuple):
    """A place for a label; with a first axis more, several of them."""

    gap: Numbers  # Between the label and its marker.
    box: Numbers  # Left, bottom, right, top.
    leader: Numbers  # Places along the leader from the point on; NaN if there is none.


def place_labels(axes: Axes, labels: Sequence[Label]) -> None:
    """Label points of a panel whose size is final.

    Each label takes the cheapest place: near its point, away from labels and points, and with a
    leader, if it needs one, that crosses none of them. Labels choose one after another, and then
    again, knowing all others. Of several orders the cheapest outcome is drawn.
    """
    scale = 72 / axes.figure.dpi
    anchors = scale * axes.transData.transform([label.point for label in labels])
    frame = scale * np.asarray(axes.bbox.extents)
    places = [
        _find_places(anchor, _measure(label.text), frame)
        for anchor, label in zip(anchors, labels, strict=True)
    ]
    crowds = (np.abs(anchors[:, None] - anchors).max(axis=2) < CROWD).sum(axis=1)
    orders = [np.argsort(key, kind="stable") for key in (-crowds, anchors[:, 0], -anchors[:, 0])]
    outcomes = [_choose(anchors, places, order) for order in orders]
    _, chosen = min(outcomes, key=lambda outcome: outcome[0])
    for label, anchor, place in zip(labels, anchors, chosen, strict=True):
        _draw(axes, label, anchor, place)


def _choose(
    anchors: Numbers, places: list[_Place], order: NDArray[np.intp]
) -> tuple[float, list[_Place]]:
    """Return the price of all labels together, and the place of each."""
    markers = np.hstack([anchors - RADIUS, anchors + RADIUS])
    chosen: dict[int, _Place] = {}
    prices = np.zeros(len(anchors))
    for i in np.tile(order, SWEEPS).tolist():
        others = [place for j, place in chosen.items() if j != i]
        price = _price(places[i], anchors[i], markers, others)
        best = int(np.argmin(price))
        prices[i] = price[best]
        chosen[i] = _Place(*(part[best] for part in places[i]))
    return float(prices.sum()), [chosen[i] for i in range(len(anchors))]


def _find_places(anchor: Numbers, size: Numbers, frame: Numbers) -> _Place:
    """Return places for a label of some width and height, if possible within a frame."""
    gaps, angles = (part.ravel() for part in np.meshgrid(GAPS, DIRECTIONS, indexing="ij"))
    way = np.column_stack([np.cos(angles), np.sin(angles)])
    reach = RADIUS + gaps
    # The label's middle lies as far beyond the leader as its box needs in this direction.
    beyond = size / 2 * way / np.abs(way).max(axis=1, keepdims=True)
    middle = anchor + reach[:, None] * way + beyond
    boxes = np.hstack([middle - size / 2, middle + size / 2])
    along = np.linspace(RADIUS, reach, N_ALONG, axis=1)
    leaders = anchor + along[:, :, None] * way[:, None]
    leaders[gaps < LEADER_FROM] = np.nan
    inside = (boxes[:, :2] >= frame[:2]).all(axis=1) & (boxes[:, 2:] <= frame[2:]).all(axis=1)
    chosen = inside if inside.any() else ~inside
    return _Place(gaps[chosen], boxes[chosen], leaders[chosen])


def _price(places: _Place, anchor: Numbers, markers: Numbers, others: list[_Place]) -> Numbers:
    """Return what each place costs, given all markers and the other labels."""
    solid = np.vstack([markers, *(other.box for other in others)])
    low, high = places.box[:, None, :2], places.box[:, None, 2:]
    covered = ((solid[:, :2] < high) & (solid[:, 2:] > low)).all(axis=2).sum(axis=1)
    # Every leader begins on the markers at its own place.
    apart = solid[np.abs((solid[:, :2] + solid[:, 2:]) / 2 - anchor).max(axis=1) > SAME]
    crossed = _contains(apart, places.leader[:, :, None]).any(axis=1).sum(axis=1)
    for other in others:
        crossed += _contains(places.box[:, None], other.leader).any(axis=1)
    prices: Numbers = places.gap + COVERED * covered + CROSSED * crossed
    return prices


def _contains(boxes: Numbers, points: Numbers) -> NDArray[np.bool_]:
    """Return whether boxes contain points; the last axes have four and two numbers."""
    within = (boxes[..., :2] < points) & (points < boxes[..., 2:])
    contained: NDArray[np.bool_] = np.logical_and.reduce(within, axis=-1)
    return contained


def _measure(text: str) -> Numbers:
    """Return the width and the height of a label, with a small margin."""
    return np.array([TextPath((0, 0), text, size=SIZE).get_extents().width + 3, 1.25 * SIZE])


def _draw(axes: Axes, label: Label, anchor: Numbers, place: _Place) -> None:
    middle = (place.box[:2] + place.box[2:]) / 2
    _annotate(axes, label, middle - anchor, label.text)
    if place.gap >= LEADER_FROM:
        line = {"arrowstyle": "-", "linewidth": 0.5, "shrinkA": 0, "shrinkB": RADIUS}
        line |= {"color": label.colour}
        _annotate(axes, label, place.leader[-1] - anchor, "", arrowprops=line)


def _annotate(axes: Axes, label: Label, offset: Numbers, text: str, **look: Any) -> None:
    look |= {"color": label.colour, "fontsize": SIZE, "ha": "center", "va": "center"}
    x, y = offset.tolist()
    words = axes.annotate(text, label.point, (x, y), textcoords="offset points", **look)
    words.set_bbox({"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5})
    # The place holds for the panel as it is.
    words.set_in_layout(False)
