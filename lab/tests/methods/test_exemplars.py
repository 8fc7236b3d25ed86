import numpy as np
import pytest

from kenyon_lab.methods.network import check_memory, select_exemplars


@pytest.mark.parametrize(
    ("n_samples", "count", "positions"),
    [
        (21, 5, [0, 5, 10, 15, 20]),
        (4, 3, [0, 2, 3]),
        (4, 9, [0, 1, 2, 3]),
        (4, 4, [0, 1, 2, 3]),
        (10, 1, [0]),
        (1, 3, [0]),
    ],
)
def test_even_distances(n_samples, count, positions):
    X, y = np.arange(n_samples, dtype=np.float32)[:, None] / 2, np.arange(n_samples)
    selected, labels = select_exemplars(X, y, count)
    assert labels.tolist() == positions
    assert (2 * selected[:, 0]).tolist() == positions


@pytest.mark.parametrize("count", [2, 255, 256, 999, 1000])
def test_distinct_samples_of_both_classes(count):
    _, order = select_exemplars(np.zeros((1000, 1)), np.arange(1000), count)
    assert len(set(order.tolist())) == count
    _, labels = select_exemplars(np.zeros((1000, 1)), np.repeat([0, 1], 500), count)
    assert abs(labels.sum().item() - count / 2) <= 0.5


@pytest.mark.parametrize("strength", [-1.0, float("nan"), float("inf"), "1", None])
def test_rejects_strength(strength):
    with pytest.raises(ValueError, match="memory_strength must be a number of at least 0, but is"):
        check_memory(1, strength)


def test_rejects_number():
    with pytest.raises(ValueError, match="n_exemplars must be from 1 to"):
        check_memory(0, 1.0)
