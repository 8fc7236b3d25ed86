"""The network of brain-inspired replay: a classifier and a generator in one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax, one_hot

from kenyon_lab.methods.torch_method import tensor

if TYPE_CHECKING:
    from numpy.random import Generator


class ReplayNetwork(nn.Module):
    """A classifier and a variational autoencoder that share their first two layers.

    Labels are class probabilities in all methods, so that a sample may be a mixture of classes.

    Parameters
    ----------
    n_features, n_classes : int
        Width of a sample, and number of classes.
    n_hidden : int
        Width of all hidden layers, two of the encoder and two of the decoder.
    n_latent : int
        Width of the latent layer.
    gated : float
        Share of each hidden layer of the decoder that is closed for a class.
    generator : numpy.random.Generator
        Draws the gates and the initial weights and prior.
    """

    gates: torch.Tensor

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        n_hidden: int,
        n_latent: int,
        gated: float,
        generator: Generator,
    ) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            _linear(n_features, n_hidden, generator),
            nn.ReLU(),
            _linear(n_hidden, n_hidden, generator),
            nn.ReLU(),
        )
        self.classifier = _linear(n_hidden, n_classes, generator)
        self.latent_mean = _linear(n_hidden, n_latent, generator)
        self.latent_log_variance = _linear(n_hidden, n_latent, generator, bias=False)
        self.decoder = nn.ModuleList(
            [_linear(n_latent, n_hidden, generator), _linear(n_hidden, n_hidden, generator)]
        )
        self.output = _linear(n_hidden, n_features, generator)
        prior = generator.standard_normal((2, n_classes, n_latent))
        self.prior_mean, self.prior_log_variance = map(nn.Parameter, tensor(prior))
        is_open = np.arange(n_hidden) >= round(gated * n_hidden)
        gates = generator.permuted(np.tile(is_open, (2, n_classes, 1)), axis=2)
        self.register_buffer("gates", tensor(gates))

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        """Return a score for each sample and class."""
        return self.classifier(self.encoder(X))  # type: ignore[no-any-return]

    def decode(self, Z: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the outputs for latent vectors: the input of the last layer's activation.

        The input of a hidden unit is multiplied by the probability that its gate is open, which is
        0 or 1 for a single class.
        """
        for layer, gates in zip(self.decoder, self.gates, strict=True):
            Z = torch.relu(labels @ gates * layer(Z))
        return self.output(Z)  # type: ignore[no-any-return]

    def generate(self, classes: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """Generate a sample of each given class, from its prior and through its gates."""
        deviation = (self.prior_log_variance[classes] / 2).exp()
        Z = self.prior_mean[classes] + deviation * noise
        return self.activate(self.decode(Z, one_hot(classes, len(self.prior_mean)).to(Z)))

    def activate(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the samples of decoded outputs, which are linear."""
        return outputs

    def reconstruction_losses(self, outputs: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        """Return the squared error of each sample, halved and averaged over the features."""
        return (outputs - X).square().mean(1) / 2

    def log_prior(self, Z: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the log-density of latent vectors, plus n_latent / 2 log(2 pi).

        The density is that of the classes' normal distributions, mixed by the labels.
        """
        # (z - mean)^2 / variance is multiplied out so that matrix products compute all pairs.
        precision = (-self.prior_log_variance).exp()
        pull = precision * self.prior_mean
        offset = (pull * self.prior_mean + self.prior_log_variance).sum(1)
        by_class = Z @ pull.T - (Z.square() @ precision.T + offset) / 2
        return (by_class + labels.log()).logsumexp(1)

    def losses(
        self,
        X: torch.Tensor,
        labels: torch.Tensor,
        *,
        seen: torch.Tensor,
        temperature: torch.Tensor,
        noise: torch.Tensor,
    ) -> torch.Tensor:
        """Return the loss of each sample.

        It is the sum of three terms: `reconstruction_losses`; log q(z|x) - log p(z|labels) at one z
        drawn from q(z|x), divided by the number of features, which estimates the Kullback-Leibler
        divergence; the cross-entropy.

        Parameters
        ----------
        X : tensor of shape (n_samples, n_features)
            Samples.
        labels : tensor of shape (n_samples, n_classes)
            Probability of each class.
        seen : tensor of shape (n_seen,)
            Classes that compete in the softmax.
        temperature : tensor of shape (n_samples, 1)
            Divides the logits. Its square multiplies the cross-entropy, so that the gradient keeps
            its scale.
        noise : tensor of shape (n_samples, n_latent)
            Standard normal numbers that determine z.
        """
        hidden = self.encoder(X)
        log_variance: torch.Tensor = self.latent_log_variance(hidden)
        Z = self.latent_mean(hidden) + (log_variance / 2).exp() * noise
        reconstruction = self.reconstruction_losses(self.decode(Z, labels), X)
        log_posterior = -(noise.square() + log_variance).sum(1) / 2
        divergence = (log_posterior - self.log_prior(Z, labels)) / X.shape[1]
        log_probabilities = log_softmax(self.classifier(hidden)[:, seen] / temperature, 1)
        cross_entropy = -(labels[:, seen] * log_probabilities).sum(1) * temperature[:, 0].square()
        return reconstruction + divergence + cross_entropy


class ImageReplayNetwork(ReplayNetwork):
    """A `ReplayNetwork` for samples from 0 to 1: its outputs are sigmoids."""

    def activate(self, outputs: torch.Tensor) -> torch.Tensor:
        return outputs.sigmoid()

    def reconstruction_losses(self, outputs: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        """Return the binary cross-entropy of each sample, averaged over the features."""
        return binary_cross_entropy_with_logits(outputs, X, reduction="none").mean(1)


def _linear(n_in: int, n_out: int, generator: Generator, *, bias: bool = True) -> nn.Linear:
    """Return a layer with PyTorch's initial distribution, drawn by NumPy."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, n_in, n_out, bias=bias)
    bound = 1 / math.sqrt(n_in)
    for parameter in layer.parameters():
        parameter.data = tensor(generator.uniform(-bound, bound, parameter.shape))
    return layer
