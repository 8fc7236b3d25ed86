import numpy as np
import pytest
import torch

from kenyon_lab.methods.offline import Offline
from lab.tests.methods.twin import SIZES, Twin, assert_same, batches, begun, tasks


@pytest.mark.parametrize(
    ("name", "optimiser", "rate"), [("sgd", torch.optim.SGD, 0.5), ("adam", torch.optim.Adam, 0.01)]
)
def test_trains_a_new_network_on_all_that_came(name, optimiser, rate):
    method, draws = (
        begun(Offline(**SIZES, optimiser=name, learning_rate=rate, seed=3)) for _ in "ab"
    )
    kept = []
    for X, y in tasks():
        method.learn_task(X, y)
        kept.append((X, y))
        X, y = map(np.concatenate, zip(*kept, strict=True))
        twin = Twin(draws.draw_weights())
        steps = optimiser(twin.parameters(), lr=rate)
        order = draws.generator.permutation(len(X))
        for batch in batches(X[order], y[order]):
            steps.zero_grad()
            twin.loss(*batch).backward()
            steps.step()
        assert_same(method.theta, twin.theta)
        assert method.n_stored == len(X)
    assert method.n_shown == 21 + 42 + 63


def test_refuses_another_optimiser():
    with pytest.raises(ValueError, match="optimiser must be one of 'sgd', 'adam', but is 'lbfgs'"):
        begun(Offline(optimiser="lbfgs"))
