"""The network of `kenyon_lab.methods.network` a second time: PyTorch's own, in double precision."""

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

N_FEATURES, N_HIDDEN, N_CLASSES = 5, 7, 6
SIZES = {"n_hidden": N_HIDDEN, "batch_size": 8}


def tasks(n_samples=21, n_tasks=3, seed=0):
    """Tasks of two classes each, that can be told apart."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(N_CLASSES, N_FEATURES))
    for task in range(n_tasks):
        y = random.integers(2 * task, 2 * task + 2, n_samples)
        noise = 0.3 * random.normal(size=(n_samples, N_FEATURES))
        yield (centres[y] + noise).astype(np.float32), y


class Twin(nn.Sequential):
    """A network with the weights of a vector."""

    def __init__(self, theta):
        super().__init__(nn.Linear(N_FEATURES, N_HIDDEN), nn.ReLU(), nn.Linear(N_HIDDEN, N_CLASSES))
        self.double()
        shapes = [(N_FEATURES, N_HIDDEN), (N_HIDDEN,), (N_CLASSES, N_HIDDEN), (N_CLASSES,)]
        with torch.no_grad():
            for weights, values, shape in zip(
                self.parameters(), theta.split([np.prod(s) for s in shapes]), shapes, strict=True
            ):
                values = values.reshape(shape)
                weights.copy_(values.T if shape == (N_FEATURES, N_HIDDEN) else values)

    def loss(self, X, y):
        return cross_entropy(self(torch.as_tensor(X).double()), torch.as_tensor(y))

    def masked_loss(self, X, y):
        """Return the loss with the outputs masked to the task of the batch."""
        first = int(y.min()) // 2 * 2
        logits = self(torch.as_tensor(X).double())[:, first : first + 2]
        return cross_entropy(logits, torch.as_tensor(y) - first)

    def flat(self, tensors):
        """Make one vector of what belongs to each of the parameters."""
        first, *rest = tensors
        return torch.cat([first.T.reshape(-1), *(tensor.reshape(-1) for tensor in rest)])

    @property
    def theta(self):
        return self.flat(self.parameters()).detach()

    def gradient(self, X, y):
        return self.flat(torch.autograd.grad(self.loss(X, y), list(self.parameters())))


def begun(method):
    method.begin(N_FEATURES, N_CLASSES)
    return method


def batches(X, y, size=SIZES["batch_size"]):
    return [(X[start : start + size], y[start : start + size]) for start in range(0, len(X), size)]


def assert_same(theta, other):
    np.testing.assert_allclose(theta, other, rtol=1e-4, atol=2e-6)


def growth_of_loss(method):
    """Return by how much a second task makes the loss on the first one grow."""
    (X, y), second = tasks(400, 2)
    begun(method).learn_task(X, y)
    before = Twin(method.theta).loss(X, y).item()
    method.learn_task(*second)
    return Twin(method.theta).loss(X, y).item() - before
