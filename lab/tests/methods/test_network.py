import pytest
import torch

from kenyon_lab.methods.vanilla import Vanilla
from lab.tests.methods.twin import N_CLASSES, N_FEATURES, SIZES, Twin, assert_same, begun, tasks


@pytest.mark.parametrize("n_samples", [1, 2, 40])
def test_logits_and_gradient_are_those_of_autograd(n_samples):
    method = begun(Vanilla(**SIZES))
    twin = Twin(method.theta)
    X, y = map(torch.from_numpy, next(tasks(n_samples)))
    assert_same(method.logits(X), twin(X.double()).detach())
    assert_same(method.gradient(X, y), twin.gradient(X, y))


def test_gradient_goes_where_it_is_told():
    method = begun(Vanilla(**SIZES))
    X, y = map(torch.from_numpy, next(tasks()))
    rows = torch.full((3, method.n_parameters), 7.0)
    method.gradient(X, y, out=rows[1])
    assert_same(rows[1], method.gradient(X, y))
    assert (rows[0] == 7).all()
    assert (rows[2] == 7).all()


def test_layers_are_the_weights_themselves():
    method = begun(Vanilla(**SIZES))
    for number, weights in enumerate(method.layers(method.theta)):
        weights.fill_(number)
    assert method.theta.int().bincount().tolist() == [5 * 7, 7, 6 * 7, 6]


def test_weights_are_drawn_as_by_pytorch():
    method = Vanilla(n_hidden=2000)
    method.begin(50, 30)
    drawn = torch.nn.Linear(50, 2000), torch.nn.Linear(2000, 30)
    expected = [weights for layer in drawn for weights in layer.parameters()]
    for weights, pytorchs in zip(method.layers(method.theta), expected, strict=True):
        bound = pytorchs.abs().max().item()
        assert weights.abs().max().item() == pytest.approx(bound, rel=0.2)
        if weights.numel() > 1000:
            assert weights.std().item() == pytest.approx(pytorchs.std().item(), rel=0.05)
            assert abs(weights.mean().item()) < 0.06 * bound


def test_each_network_is_another():
    method = begun(Vanilla(**SIZES))
    first = method.theta
    assert not torch.equal(method.draw_weights(), first)
    assert torch.equal(begun(Vanilla(**SIZES)).theta, first)
    assert not torch.equal(begun(Vanilla(**SIZES, seed=1)).theta, first)


@pytest.mark.parametrize(("n_features", "n_cells"), [(3, 400), (84, 3360), (600, 20_000)])
def test_default_hidden_units_are_the_flys_cells(n_features, n_cells):
    method = Vanilla()
    method.begin(n_features, 2)
    assert len(method.layers(method.theta).b1) == n_cells


@pytest.mark.parametrize(
    ("parameters", "error", "sentence"),
    [
        ({"learning_rate": 0.0}, ValueError, "learning_rate must be a number above 0, but is 0.0"),
        ({"learning_rate": "0.1"}, ValueError, "learning_rate must be a number above 0"),
        ({"n_hidden": 0}, ValueError, "n_hidden must be from 1 to"),
        ({"n_hidden": 1.5}, TypeError, "n_hidden must be an integer"),
        ({"batch_size": 0}, ValueError, "batch_size must be from 1 to"),
    ],
)
def test_refuses(parameters, error, sentence):
    with pytest.raises(error, match=sentence):
        Vanilla(**parameters).begin(N_FEATURES, N_CLASSES)


def test_says_when_it_diverges_and_goes_on():
    method = begun(Vanilla(**SIZES, learning_rate=1e30))
    for X, y in tasks():
        with pytest.warns(RuntimeWarning, match=r"Vanilla diverged: .* learning_rate 1e\+30"):
            method.learn_task(X, y)
        assert method.predict(X).shape == y.shape
