import pytest
import torch

from kenyon_lab.methods.ewc import EWC
from kenyon_lab.methods.vanilla import Vanilla
from lab.tests.methods.twin import SIZES, Twin, assert_same, batches, begun, growth_of_loss, tasks


def test_is_gradient_descent_on_the_penalised_loss():
    parameters = {"learning_rate": 0.2, "memory_strength": 30.0, "n_exemplars": 5}
    method = begun(EWC(**SIZES, **parameters))
    twin = Twin(method.theta)
    optimiser = torch.optim.SGD(twin.parameters(), lr=0.2)
    past = []
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            theta = twin.flat(twin.parameters())
            penalty = sum((F * (theta - then) ** 2).sum() for F, then in past)
            optimiser.zero_grad()
            (twin.loss(*batch) + 30 * penalty).backward()
            optimiser.step()
        assert_same(method.theta, twin.theta)
        past.append((twin.gradient(X[::5], y[::5]) ** 2, twin.theta))
    assert penalty > 1e-4, "the springs never pulled"
    assert method.n_shown == 3 * (21 + 5)
    assert method.n_parameters == 3 * len(method.theta)
    assert method.n_stored == 0


def test_without_strength_it_is_vanilla():
    ewc, vanilla = (
        begun(EWC(**SIZES, memory_strength=0)),
        begun(Vanilla(**SIZES, learning_rate=0.1)),
    )
    for X, y in tasks():
        ewc.learn_task(X, y)
        vanilla.learn_task(X, y)
    assert torch.equal(ewc.theta, vanilla.theta)


def test_holds_on_to_what_mattered():
    held = growth_of_loss(EWC(**SIZES, memory_strength=300))
    assert held < growth_of_loss(EWC(**SIZES, memory_strength=0)) / 2


def test_springs_too_stiff_for_the_step_are_seen():
    # Each step then overshoots by more than it was off.
    method = begun(EWC(**SIZES, learning_rate=1.0, memory_strength=1e8))
    (X, y), (X_next, y_next) = tasks(200, 2)
    method.learn_task(X, y)
    with pytest.warns(RuntimeWarning, match="EWC diverged"):
        method.learn_task(X_next, y_next)


def test_refuses():
    with pytest.raises(
        ValueError, match="memory_strength must be a number of at least 0, but is -1"
    ):
        begun(EWC(memory_strength=-1))
