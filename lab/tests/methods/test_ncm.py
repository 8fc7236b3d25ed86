import math

import numpy as np
import pytest

from kenyon_lab.methods.ncm import NCM


def begun(n_features, n_classes):
    method = NCM()
    method.begin(n_features, n_classes)
    return method


def cosine(a, b):
    length = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / length


def test_is_the_mean_with_the_largest_cosine():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((60, 4)) + 0.5, generator.integers(0, 5, 60)
    X[y == 3] *= 20  # Long vectors pull a mean, but a long mean attracts nothing.
    X[y == 2] /= 20
    method = begun(4, 6)
    method.learn_task(X[:25], y[:25])
    method.learn_task(X[25:], y[25:])
    tests = generator.standard_normal((200, 4))
    means = [X[y == label].mean(axis=0) for label in range(5)]
    expected = [max(range(5), key=lambda label: cosine(x, means[label])) for x in tests]
    assert method.predict(tests).tolist() == expected
    assert len(set(expected)) == 5
    assert method.n_parameters == 6 * 4
    assert method.n_shown == 60


@pytest.mark.parametrize("x", [[0.0, 0.0], [-1.0, -1.0]])
def test_classes_never_seen_are_never_predicted(x):
    method = begun(2, 4)
    method.learn_task([[1.0, 0.0], [0.0, 1.0]], [3, 1])
    assert method.predict([x])[0] in (1, 3)


def test_a_mean_of_zero_is_at_right_angles_to_everything():
    method = begun(2, 2)
    method.learn_task([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], [0, 0, 1])
    assert method.predict([[3.0, -1.0], [3.0, 1.0]]).tolist() == [0, 1]


def test_sums_do_not_lose_small_parts_of_single_precision():
    method = begun(2, 2)
    X = np.full((4000, 2), [2.0**12, 2.0**-12], dtype=np.float32)
    method.learn_task(X, np.zeros(4000, dtype=int))
    assert method.sums[0].tolist() == [4000 * 2.0**12, 4000 * 2.0**-12]
    for _ in range(3):
        method.learn_task(X[:1], [0])
    assert method.sums[0, 1] == 4003 * 2.0**-12
