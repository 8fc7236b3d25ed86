import torch

from kenyon.rivals.vanilla import Vanilla
from tests.rivals.twin import SIZES, Twin, assert_same, batches, begun, tasks


def test_is_plain_gradient_descent():
    method = begun(Vanilla(**SIZES, learning_rate=0.5))
    twin = Twin(method.theta)
    optimiser = torch.optim.SGD(twin.parameters(), lr=0.5)
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            optimiser.zero_grad()
            twin.loss(*batch).backward()
            optimiser.step()
        assert_same(method.theta, twin.theta)
    assert method.n_shown == 63
    assert method.n_parameters == 5 * 7 + 7 + 7 * 6 + 6


def test_outputs_of_other_classes_are_left_alone():
    method = begun(Vanilla(**SIZES, learning_rate=0.5, own_outputs=True))
    twin = Twin(method.theta)
    optimiser = torch.optim.SGD(twin.parameters(), lr=0.5)
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            optimiser.zero_grad()
            twin.loss_of_own(*batch).backward()
            optimiser.step()
        assert_same(method.theta, twin.theta)
