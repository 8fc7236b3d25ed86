"""Figures of the theory show the data of the checks."""

import numpy as np
import pytest

from kenyon.suggest import gaussian_overlap
from kenyon_lab.figures.theory import bound, convergence, overlap, real_margins, shares, tolerance
from kenyon_lab.figures.theory.drawing import CLAIMS_WITH_FIGURES
from kenyon_lab.theory.claims import CLAIMS
from kenyon_lab.theory.overlap import OverlapCurve


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def lines(axes):
    return {line.get_label(): np.column_stack(line.get_data()) for line in axes.get_lines()}


def test_every_figure_is_of_a_claim():
    assert set(CLAIMS_WITH_FIGURES) <= {
        claim.name for claims in CLAIMS.values() for claim in claims
    }


def test_margins_before_and_after():
    margins = {"before": np.array([-1, 0.5]), "after": np.array([0.1, 0.5])}
    found = {**margins, "share_before": 0.5, "shares": [1, 0.8]}
    figure = real_margins.draw({"mnist20": found})
    assert titles(figure) == ["MNIST-20: 0.500 above 0 before, 0.900 after"]
    before, after = figure.axes[0].patches
    assert before.get_data().values.sum() == pytest.approx(1)
    assert after.get_data().edges[0] == -1
    figure.draw_without_rendering()


def test_convergence_beside_its_prediction():
    def predicted(*names):
        return {"n_samples": [1, 10], **{name: [1, 0.1] for name in names}}

    means = {"n_samples": [1, 10], "one": [1, 0.3], "predicted": predicted("one")}
    decay = {
        "n_samples": [1, 10],
        "one": [1, 0.5],
        "averaged": [1, 0.2],
        "predicted": predicted("one", "averaged", "expectation"),
        "n_runs": 7,
    }
    figure = convergence.draw({"means": means, "decays": {0.1: decay}})
    without, with_decay = map(lines, figure.axes)
    assert without["measured"].tolist() == [[1, 1], [10, 0.3]]
    assert with_decay[r"$\alpha$ = 0.1, one run"].tolist() == [[1, 1], [10, 0.5]]
    assert with_decay[r"$\alpha$ = 0.1, mean of 7 runs"].tolist() == [[1, 1], [10, 0.2]]
    figure.draw_without_rendering()


def test_shares_and_tolerance_are_lines():
    found = {"ratios": [1, 10], "sums": [[0.7, 0.3], [0.7, 0.5]], "means": [[0.7, 0.6]] * 2}
    (axes,) = shares.draw(found).axes
    assert lines(axes)["as they are: sums"] == pytest.approx(np.array([[1, 0.7], [10, 0.4]]))
    found = {"lengths": [0.5, 2], "worst": [1, 0], "random": [1, 0.9]}
    (axes,) = tolerance.draw(found).axes
    assert lines(axes)["the worst error for each point"].tolist() == [[0.5, 1], [2, 0]]


def test_overlap_has_a_panel_for_each_matrix():
    cosines = np.array([0, 0.5, 1.0])
    curve = OverlapCurve(cosines, cosines / 2, cosines / 3, cosines, 9)
    figure = overlap.draw({"0.01": {"active": 0.01, "fly": curve, "gaussian": curve}})
    assert titles(figure) == [
        "A  1% active, the fly's sparse binary matrix",
        "B  1% active, a dense Gaussian matrix",
    ]
    drawn = lines(figure.axes[0])
    assert drawn["mean"][:, 1].tolist() == [0, 0.25, 0.5]
    exact = drawn["exact, for a Gaussian matrix"][:, 1]
    assert exact == pytest.approx(gaussian_overlap(cosines, 0.01))
    figure.draw_without_rendering()


def test_points_below_a_bound_are_counted():
    point = {"matrix": "fly", "noisy": False, "bound": 0.2, "by_mean": 0.5, "measured": 0.3}
    figure = bound.draw({"points": [point, {**point, "matrix": "gaussian", "by_mean": 0.1}]})
    assert titles(figure) == [
        "A  Bound with the envelope: 0 of 2 below",
        "B  With the mean instead: 1 of 2 below",
    ]
    assert lines(figure.axes[1])["prototypes, the fly's matrix"].tolist() == [[0.5, 0.3]]
