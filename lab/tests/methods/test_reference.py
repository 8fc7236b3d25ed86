"""The networks as in the reference code."""

import numpy as np
import pytest
import torch

from kenyon_lab.methods import METHODS
from kenyon_lab.methods.reference import (
    ReferenceEWC,
    ReferenceGEM,
    ReferenceOffline,
    ReferenceVanilla,
)
from lab.tests.methods.test_gem import solve
from lab.tests.methods.twin import SIZES, Twin, assert_same, batches, begun, tasks

CLASSES = {
    "vanilla": ReferenceVanilla,
    "ewc": ReferenceEWC,
    "gem": ReferenceGEM,
    "offline": ReferenceOffline,
}


@pytest.mark.parametrize("cls", CLASSES.values())
def test_initial_weights_are_pytorchs_xavier_and_biases_zero(cls):
    method = cls(n_hidden=2000)
    method.begin(50, 30)
    W1, b1, W2, b2 = method.layers(method.theta)
    assert not b1.any()
    assert not b2.any()
    for weights in (W1, W2):
        pytorchs = torch.nn.init.xavier_uniform_(torch.empty_like(weights))
        bound = np.sqrt(6 / sum(weights.shape))
        assert 0.99 * bound < weights.abs().max().item() <= bound * (1 + 1e-6)
        assert 0.99 * bound < pytorchs.abs().max().item() <= bound * (1 + 1e-6)
        assert weights.std().item() == pytest.approx(bound / np.sqrt(3), rel=0.02)
        assert abs(weights.mean().item()) < 0.02 * bound


def test_offline_draws_each_network_anew():
    method = begun(ReferenceOffline(**SIZES, learning_rate=1e-12))
    first = method.theta.clone()
    method.learn_task(*next(tasks()))
    assert not torch.allclose(method.theta, first, atol=0.01)
    assert method.layers(method.theta).b1.abs().max() < 1e-9


@pytest.mark.parametrize("name", ["vanilla", "ewc", "gem", "offline"])
def test_only_the_weights_differ_from_the_plain_method(name):
    """With the same initial weights the results are the same."""
    plain, reference = (begun(METHODS[n].make(**SIZES)) for n in (name, f"{name}-reference"))
    reference.initial_bounds = type(plain).initial_bounds
    begun(reference)
    for X, y in tasks():
        plain.learn_task(X, y)
        reference.learn_task(X, y)
    assert torch.equal(plain.theta, reference.theta)


def test_have_the_parameters_of_the_plain_methods():
    for name in CLASSES:
        for suffix in ("-reference", "-reference-masked"):
            if (entry := METHODS.get(name + suffix)) is not None:
                assert entry.paper == METHODS[name].paper
                assert entry.look.colour == METHODS[name].look.colour
    assert METHODS["ewc-reference-masked"].make().masked_outputs
    assert not METHODS["gem-reference"].make().masked_outputs


@pytest.mark.parametrize("name", ["vanilla", "gem", "ewc"])
def test_masked_outputs_of_other_classes_get_no_gradient(name):
    rate = {"learning_rate": 0.5, "n_exemplars": 5} if name != "vanilla" else {}
    method = begun(METHODS[f"{name}-reference-masked"].make(**SIZES, **rate))
    (X, y), *_ = tasks()
    before = method.layers(method.theta.clone())
    method.learn_task(X, y)
    after = method.layers(method.theta)
    assert torch.equal(after.W2[2:], before.W2[2:])
    assert torch.equal(after.b2[2:], before.b2[2:])
    assert not torch.equal(after.W2[:2], before.W2[:2])


def masked_gradient(theta, X, y):
    twin = Twin(theta)
    return twin.flat(torch.autograd.grad(twin.masked_loss(X, y), list(twin.parameters()))).numpy()


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_masked_gem_masks_each_gradient_to_its_own_task(strength):
    rate = 0.3
    given = {"learning_rate": rate, "memory_strength": strength, "n_exemplars": 5}
    method = begun(ReferenceGEM(**SIZES, **given, masked_outputs=True))
    theta = method.theta.double()
    past, n_corrected = [], 0
    for X, y in tasks():
        method.learn_task(X, y)
        for batch in batches(X, y):
            step = masked_gradient(theta, *batch)
            M = np.array([masked_gradient(theta, *exemplars) for exemplars in past])
            if past and (M @ step).min() < 0:
                n_corrected += 1
                step = step + solve(M, step, strength) @ M
            theta = theta - rate * torch.from_numpy(step)
        assert_same(method.theta, theta)
        past.append((X[::5], y[::5]))
    assert n_corrected > 0


def test_a_class_without_an_exemplar_still_belongs_to_its_task():
    """The mask is that of the task, even if the exemplars or a batch lack one of its classes."""
    given = {**SIZES, "n_exemplars": 1, "learning_rate": 0.3, "memory_strength": 0.5}
    method = begun(ReferenceGEM(**given, masked_outputs=True))
    (X, y), second, *_ = tasks()
    order = np.argsort(y, kind="stable")
    method.learn_task(X[order], y[order])
    assert method.exemplars[0][1].tolist() == [0]
    before = method.layers(method.theta.clone())
    method.learn_task(*second)
    assert not torch.equal(method.layers(method.theta).W2[1], before.W2[1])


def test_exemplars_in_all():
    for dataset, n_tasks in (("mnist20", 10), ("cifar100", 25)):
        n_exemplars = METHODS["gem-shared-memory"].paper[dataset]["n_exemplars"]
        assert 256 - n_tasks < n_exemplars * n_tasks <= 256
        plain = METHODS["gem"].paper[dataset]
        assert METHODS["gem-shared-memory"].paper[dataset] == {**plain, "n_exemplars": n_exemplars}
