"""The network of brain-inspired replay against NumPy and SciPy."""

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from kenyon_lab.methods.replay_network import ImageReplayNetwork, ReplayNetwork
from lab.tests.methods.replay_by_hand import ReplayByHand

N_FEATURES, N_CLASSES, N_HIDDEN, N_LATENT = 7, 4, 10, 3


def network(n_features=N_FEATURES, n_hidden=N_HIDDEN, n_latent=N_LATENT, gated=0.5, seed=0):
    return ReplayNetwork(
        n_features,
        N_CLASSES,
        n_hidden=n_hidden,
        n_latent=n_latent,
        gated=gated,
        generator=np.random.default_rng(seed),
    )


def normal(*shape, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


SOFT = torch.tensor([[0.5, 0.25, 0.25, 0], [0, 0.01, 0.99, 0], [0, 0, 0, 1.0]]).double()


def test_layers_start_as_those_of_pytorch_do():
    large = network(n_features=25, n_hidden=90, n_latent=30)
    for name, weight in large.named_parameters():
        if "prior" not in name:
            layer = large.get_submodule(name.rpartition(".")[0])
            bound = 1 / np.sqrt(layer.in_features)
            drawn = weight.detach().numpy().ravel()
            assert (
                kstest(drawn, "uniform", args=(-bound, 2 * bound), method="asymp").pvalue > 1e-3
            ), name
    assert large.latent_log_variance.bias is None


def test_the_prior_starts_at_random():
    large = network(n_latent=500)
    for drawn in (large.prior_mean, large.prior_log_variance):
        assert kstest(drawn.detach().numpy().ravel(), "norm").pvalue > 1e-3
    assert not torch.equal(large.prior_mean, large.prior_log_variance)


def test_pytorchs_own_random_numbers_are_left_alone():
    before = torch.get_rng_state()
    network()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("gated", "n_shut"), [(0.8, 40), (0.7, 35), (0.0, 0)])
def test_gates_shut_a_share_of_each_layer_for_each_class(gated, n_shut):
    gates = network(n_hidden=50, gated=gated).gates
    assert gates.shape == (2, N_CLASSES, 50)
    assert set(gates.unique().tolist()) <= {0.0, 1.0}
    assert ((gates == 0).sum(2) == n_shut).all()


def test_every_class_and_layer_has_other_gates():
    gates = network(n_hidden=50).gates.reshape(2 * N_CLASSES, 50)
    assert len(gates.unique(dim=0)) == 2 * N_CLASSES


def test_gates_are_not_learned():
    assert "gates" not in dict(network().named_parameters())


def test_the_output_is_not_gated():
    shut = network()
    shut.gates.zero_()
    decoded = shut.decode(normal(5, N_LATENT).float(), torch.eye(N_CLASSES)[[0, 1, 2, 3, 0]])
    assert torch.equal(decoded, shut.output.bias.expand(5, N_FEATURES))
    shut.gates[1].fill_(1)
    assert not torch.equal(
        shut.decode(normal(1, N_LATENT).float(), torch.eye(N_CLASSES)[:1]), decoded[:1]
    )


@pytest.mark.parametrize("labels", [torch.eye(N_CLASSES).double(), SOFT])
def test_decoding_averages_the_gates(labels):
    tested = network().double()
    by_hand = ReplayByHand(tested)
    Z = normal(len(labels), N_LATENT)
    expected = [by_hand.decode(z, p) for z, p in zip(Z.numpy(), labels.numpy(), strict=True)]
    np.testing.assert_allclose(tested.decode(Z, labels).detach(), expected, rtol=1e-10)


def test_a_class_is_imagined_from_its_prior_through_its_gates():
    tested = network().double()
    by_hand = ReplayByHand(tested)
    classes, noise = [2, 0, 3, 2], normal(4, N_LATENT)
    expected = [by_hand.generate(label, e) for label, e in zip(classes, noise.numpy(), strict=True)]
    imagined = tested.generate(torch.tensor(classes), noise).detach()
    np.testing.assert_allclose(imagined, expected, rtol=1e-10)


@pytest.mark.parametrize("labels", [torch.eye(N_CLASSES).double(), SOFT])
def test_the_prior_is_the_mixture_of_the_classes(labels):
    tested = network().double()
    by_hand = ReplayByHand(tested)
    Z = 3 * normal(len(labels), N_LATENT)
    expected = [
        np.log(sum(p * by_hand.prior_density(z, label) for label, p in enumerate(probabilities)))
        for z, probabilities in zip(Z.numpy(), labels.numpy(), strict=True)
    ]
    constant = N_LATENT / 2 * np.log(2 * np.pi)
    np.testing.assert_allclose(
        tested.log_prior(Z, labels).detach() - constant, expected, rtol=1e-10
    )


def test_the_loss_of_a_known_class_is_that_by_hand():
    tested = network().double()
    by_hand = ReplayByHand(tested)
    X, noise, y, seen = (
        normal(5, N_FEATURES),
        normal(5, N_LATENT, seed=2),
        [3, 0, 0, 1, 3],
        [0, 1, 3],
    )
    expected = [
        by_hand.loss(x, c, seen, e) for x, c, e in zip(X.numpy(), y, noise.numpy(), strict=True)
    ]
    labels, temperature = torch.eye(N_CLASSES).double()[y], torch.ones(5, 1)
    losses = tested.losses(X, labels, seen=torch.tensor(seen), temperature=temperature, noise=noise)
    np.testing.assert_allclose(losses.detach(), expected, rtol=1e-10)


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_the_loss_of_a_mixture_is_that_by_hand(temperature):
    tested = network().double()
    by_hand = ReplayByHand(tested)
    X, noise, seen = normal(3, N_FEATURES), normal(3, N_LATENT, seed=2), [0, 1, 2, 3]
    expected = [
        by_hand.distillation_loss(x, p, seen, temperature, e)
        for x, p, e in zip(X.numpy(), SOFT.numpy(), noise.numpy(), strict=True)
    ]
    losses = tested.losses(
        X,
        SOFT,
        seen=torch.tensor(seen),
        temperature=torch.full((3, 1), temperature),
        noise=noise,
    )
    np.testing.assert_allclose(losses.detach(), expected, rtol=1e-10)


def test_distillation_is_least_where_the_opinion_is_shared():
    tested = network().double()
    X, noise, seen = normal(3, N_FEATURES), normal(3, N_LATENT), torch.arange(N_CLASSES)
    own = torch.softmax(tested.logits(X) / 2, 1).detach()
    tested.losses(
        X, own, seen=seen, temperature=torch.full((3, 1), 2.0), noise=noise
    ).sum().backward()
    np.testing.assert_allclose(tested.classifier.weight.grad, 0, atol=1e-12)


def test_the_divergence_is_that_of_kullback_and_leibler_on_average():
    tested = network().double()
    n, y = 40_000, 1
    x = normal(1, N_FEATURES)
    labels, seen = torch.eye(N_CLASSES).double()[[y]], torch.tensor([y])
    noise = normal(n, N_LATENT, seed=5)
    with torch.no_grad():
        hidden = tested.encoder(x)
        variance = tested.latent_log_variance(hidden).exp()
        posterior = torch.distributions.Normal(tested.latent_mean(hidden), variance.sqrt())
        prior = torch.distributions.Normal(
            tested.prior_mean[y], tested.prior_log_variance[y].exp().sqrt()
        )
        expected = torch.distributions.kl_divergence(posterior, prior).sum() / N_FEATURES
        Z = posterior.mean + variance.sqrt() * noise
        reconstruction = (tested.decode(Z, labels) - x).square().mean(1) / 2
        losses = tested.losses(
            x.expand(n, -1),
            labels.expand(n, -1),
            seen=seen,
            temperature=torch.ones(n, 1),
            noise=noise,
        )
        # The one class that was seen is certain, so that there is no cross-entropy.
        divergence = (losses - reconstruction).mean()
    assert divergence.item() == pytest.approx(expected.item(), rel=0.02)


def test_gradients_are_finite_and_leave_impossible_classes_alone():
    tested = network()
    labels = torch.tensor([[1.0, 0, 0, 0], [0.3, 0.7, 0, 0]])
    tested.losses(
        normal(2, N_FEATURES).float(),
        labels,
        seen=torch.tensor([0, 1]),
        temperature=torch.ones(2, 1),
        noise=normal(2, N_LATENT).float(),
    ).sum().backward()
    for parameter in tested.parameters():
        assert torch.isfinite(parameter.grad).all()
    for of_classes in (tested.prior_mean, tested.prior_log_variance, tested.classifier.weight):
        assert (of_classes.grad[:2] != 0).any(dim=1).all()
        assert (of_classes.grad[2:] == 0).all()


def image_network():
    return ImageReplayNetwork(
        N_FEATURES,
        N_CLASSES,
        n_hidden=N_HIDDEN,
        n_latent=N_LATENT,
        gated=0.5,
        generator=np.random.default_rng(0),
    ).double()


def test_images_are_generated_by_sigmoids():
    tested = image_network()
    by_hand = ReplayByHand(tested, sigmoid=True)
    classes, noise = [2, 0, 3, 2], normal(4, N_LATENT)
    expected = [by_hand.generate(label, e) for label, e in zip(classes, noise.numpy(), strict=True)]
    generated = tested.generate(torch.tensor(classes), noise).detach()
    np.testing.assert_allclose(generated, expected, rtol=1e-10)
    assert ((generated > 0) & (generated < 1)).all()


def test_the_loss_of_an_image_is_that_by_hand():
    tested = image_network()
    by_hand = ReplayByHand(tested, sigmoid=True)
    X = normal(3, N_FEATURES).sigmoid()
    X[0, :2] = torch.tensor([0.0, 1.0])
    noise, seen = normal(3, N_LATENT, seed=2), [0, 1, 2, 3]
    expected = [
        by_hand.distillation_loss(x, p, seen, 2.0, e)
        for x, p, e in zip(X.numpy(), SOFT.numpy(), noise.numpy(), strict=True)
    ]
    losses = tested.losses(
        X, SOFT, seen=torch.tensor(seen), temperature=torch.full((3, 1), 2.0), noise=noise
    )
    np.testing.assert_allclose(losses.detach(), expected, rtol=1e-10)
