import numpy as np
import pytest

from kenyon_lab.methods.memories import check_memory, memories


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
def test_lie_evenly_over_the_task(n_samples, count, positions):
    X, y = np.arange(n_samples, dtype=np.float32)[:, None] / 2, np.arange(n_samples)
    kept, labels = memories(X, y, count)
    assert labels.tolist() == positions
    assert (2 * kept[:, 0]).tolist() == positions


@pytest.mark.parametrize("count", [2, 255, 256, 999, 1000])
def test_no_sample_twice_and_classes_mixed(count):
    _, order = memories(np.zeros((1000, 1)), np.arange(1000), count)
    assert len(set(order.tolist())) == count
    _, labels = memories(np.zeros((1000, 1)), np.repeat([0, 1], 500), count)
    assert abs(labels.sum().item() - count / 2) <= 0.5


@pytest.mark.parametrize("strength", [-1.0, float("nan"), float("inf"), "1", None])
def test_strength_refused(strength):
    with pytest.raises(ValueError, match="memory_strength must be a number from 0 on, but is"):
        check_memory(1, strength)


def test_number_refused():
    with pytest.raises(ValueError, match="n_memories must be from 1 to"):
        check_memory(0, 1.0)
