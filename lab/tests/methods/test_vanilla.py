import pytest
import torch

from kenyon_lab.methods.vanilla import Vanilla
from lab.tests.methods.twin import SIZES, Twin, assert_same, batches, begun, tasks


@pytest.mark.parametrize("masked_outputs", [False, True])
def test_is_plain_gradient_descent(masked_outputs):
    method = begun(Vanilla(**SIZES, learning_rate=0.5, masked_outputs=masked_outputs))
    twin = Twin(method.theta)
    loss = twin.masked_loss if masked_outputs else twin.loss
    optimiser = torch.optim.SGD(twin.parameters(), lr=0.5)
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            optimiser.zero_grad()
            loss(*batch).backward()
            optimiser.step()
        assert_same(method.theta, twin.theta)
    assert method.n_shown == 63
    assert method.n_parameters == 5 * 7 + 7 + 7 * 6 + 6
