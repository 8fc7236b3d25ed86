"""The network of brain-inspired replay and its losses a second time, in NumPy, sample by sample."""

import numpy as np
from scipy.special import expit, log_softmax, softmax
from scipy.stats import norm


class ReplayByHand:
    """What the network computes from a copy of its numbers, in double precision.

    With `sigmoid`, it is the network for images.
    """

    def __init__(self, network, sigmoid=False):
        self.sigmoid = sigmoid
        self.numbers = {
            name: value.detach().double().numpy().copy()
            for name, value in network.state_dict().items()
        }

    def layer(self, name, x):
        bias = self.numbers.get(f"{name}.bias", 0.0)
        return self.numbers[f"{name}.weight"] @ x + bias

    def encode(self, x):
        x = np.maximum(self.layer("encoder.0", x), 0)
        return np.maximum(self.layer("encoder.2", x), 0)

    def logits(self, x):
        return self.layer("classifier", self.encode(x))

    def decode(self, z, probabilities):
        for depth in range(2):
            gate = probabilities @ self.numbers["gates"][depth]
            z = np.maximum(self.layer(f"decoder.{depth}", z) * gate, 0)
        x = self.layer("output", z)
        return expit(x) if self.sigmoid else x

    def generate(self, label, noise):
        deviation = np.sqrt(np.exp(self.numbers["prior_log_variance"][label]))
        z = self.numbers["prior_mean"][label] + deviation * noise
        return self.decode(z, np.eye(len(self.numbers["prior_mean"]))[label])

    def prior_density(self, z, label):
        deviation = np.sqrt(np.exp(self.numbers["prior_log_variance"][label]))
        return np.exp(norm.logpdf(z, self.numbers["prior_mean"][label], deviation).sum())

    def autoencoding_loss(self, x, probabilities, noise):
        """Reconstruction and divergence."""
        hidden = self.encode(x)
        mean = self.layer("latent_mean", hidden)
        deviation = np.sqrt(np.exp(self.layer("latent_log_variance", hidden)))
        z = mean + deviation * noise
        decoded = self.decode(z, probabilities)
        if self.sigmoid:
            reconstruction = np.mean(-x * np.log(decoded) - (1 - x) * np.log(1 - decoded))
        else:
            reconstruction = np.mean((decoded - x) ** 2) / 2
        posterior = norm.logpdf(z, mean, deviation).sum()
        prior = sum(p * self.prior_density(z, label) for label, p in enumerate(probabilities) if p)
        return reconstruction + (posterior - np.log(prior)) / len(x)

    def loss(self, x, label, seen, noise):
        """The loss of a sample whose class is known."""
        probabilities = np.eye(len(self.numbers["prior_mean"]))[label]
        log_probabilities = log_softmax(self.logits(x)[seen])
        return (
            self.autoencoding_loss(x, probabilities, noise) - log_probabilities[seen.index(label)]
        )

    def distillation_loss(self, x, probabilities, seen, temperature, noise):
        """The loss of a sample that is taught as a mixture of classes."""
        own = log_softmax(self.logits(x)[seen] / temperature)
        distillation = -(probabilities[seen] * own).sum() * temperature**2
        return self.autoencoding_loss(x, probabilities, noise) + distillation

    def soft_targets(self, x, old, temperature):
        """The probability of each class, among the old ones."""
        probabilities = np.zeros(len(self.numbers["prior_mean"]))
        probabilities[old] = softmax(self.logits(x)[old] / temperature)
        return probabilities
