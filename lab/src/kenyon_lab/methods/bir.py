"""Brain-inspired replay: rehearsal of samples that the network makes up itself."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import one_hot, softmax

from kenyon_lab.methods.checks import check_above_zero
from kenyon_lab.methods.replay_network import ReplayNetwork
from kenyon_lab.methods.torch_method import TorchMethod
from kenyon_lab.shared import MAX_CELLS, check_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


@dataclass(kw_only=True, eq=False)
class BrainInspiredReplay(TorchMethod):
    """A classifier that is also a generator, and replays what it remembers of earlier classes.

    Classifier and variational autoencoder share an encoder of two layers. Each class has its own
    normal distribution in the latent space, which is learned, and its own gates on the hidden
    layers of the decoder, which are drawn at random and stay.

    From the second task on, a copy of the network as the previous task left it makes up as many
    samples as each batch has: classes drawn evenly from those of earlier tasks, latent vectors from
    the distribution of the class. The copy's own opinion of them, softened by the temperature, is
    what they are taught as; their gates are the average, and their prior the mixture, of those of
    the classes by that opinion. In task t the loss is 1/t that of the batch and 1 - 1/t that of its
    replay. `ReplayNetwork` has the loss of a sample. Adam goes on from task to task.

    Only classes seen so far are told apart, in learning and in predicting.

    Parameters
    ----------
    n_hidden : int, default=400
        Width of both hidden layers of the encoder, and of both of the decoder.
    n_latent : int, default=100
        Width of the latent layer.
    gated : float, default=0.8
        Share of each hidden layer of the decoder that is shut for a class, from 0 to below 1.
    temperature : float, default=2.0
        How much the targets of replayed samples are softened.
    learning_rate : float, default=0.001
        Step size of Adam.
    n_iterations : int, optional
        Steps to a task, with its samples shuffled again for every pass. By default, one pass in the
        order given.
    batch_size, seed, n_threads
        As of every `TorchMethod`.

    References
    ----------
    van de Ven, Siegelmann, Tolias (2020). Brain-inspired replay for continual learning with
    artificial neural networks.

    Examples
    --------
    >>> import numpy as np
    >>> from kenyon_lab.data import load
    >>> from kenyon_lab.methods.bir import BrainInspiredReplay
    >>> digits = load("digits")
    >>> bir = BrainInspiredReplay(n_hidden=100, n_latent=20, learning_rate=0.003, n_iterations=60)
    >>> bir.begin(digits.n_features, digits.n_classes)
    >>> for classes in ([0, 1], [2, 3]):
    ...     task = np.isin(digits.y_train, classes)
    ...     bir.learn_task(digits.X_train[task], digits.y_train[task])
    >>> tested = digits.y_test < 4
    >>> bool((bir.predict(digits.X_test[tested]) == digits.y_test[tested]).mean() > 0.9)
    True
    """

    n_hidden: int = 400
    n_latent: int = 100
    gated: float = 0.8
    temperature: float = 2.0
    learning_rate: float = 0.001
    n_iterations: int | None = None

    def _start(self) -> None:
        super()._start()
        if not 0 <= self.gated < 1:
            raise ValueError(f"gated must be from 0 to below 1, but is {self.gated!r}")
        check_above_zero("temperature", self.temperature)
        if self.n_iterations is not None:
            check_whole("n_iterations", self.n_iterations, MAX_CELLS)
        self.network = ReplayNetwork(
            self.n_features,
            self.n_classes,
            n_hidden=check_whole("n_hidden", self.n_hidden, MAX_CELLS),
            n_latent=check_whole("n_latent", self.n_latent, MAX_CELLS),
            gated=self.gated,
            generator=self.generator,
        )
        rate = check_above_zero("learning_rate", self.learning_rate)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=rate, fused=True)
        self.n_tasks = 0
        self.seen = self.replayed = torch.empty(0, dtype=torch.long)
        self.frozen: ReplayNetwork | None = None

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.n_tasks += 1
        self.seen = torch.from_numpy(np.union1d(self.replayed, y))
        for inputs, targets in self._steps(X, y):
            self.optimiser.zero_grad()
            self.loss(inputs, targets).backward()
            self.optimiser.step()
        self.frozen = deepcopy(self.network).requires_grad_(False)
        self.replayed = self.seen

    def loss(self, X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the loss of a batch together with its replay, which is drawn anew."""
        n, share = len(X), 1 / self.n_tasks
        labels, temperature = one_hot(y, self.n_classes).to(X), torch.ones(n, 1)
        weights = torch.full((n,), share / n)
        if self.frozen is not None:
            imagined, opinions = self._replay(self.frozen, n)
            X, labels = torch.cat([X, imagined]), torch.cat([labels, opinions])
            temperature = torch.cat([temperature, torch.full((n, 1), self.temperature)])
            weights = torch.cat([weights, torch.full((n,), (1 - share) / n)])
        return weights @ self.network.losses(
            X, labels, seen=self.seen, temperature=temperature, noise=self._noise(len(X))
        )

    def logits(self, X: torch.Tensor) -> torch.Tensor:  # noqa: D102
        logits = torch.full((len(X), self.n_classes), -torch.inf)
        logits[:, self.seen] = self.network.logits(X)[:, self.seen]
        return logits

    @property
    def n_parameters(self) -> int:
        """Weights and priors, once: between tasks the copy holds the same numbers."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def _steps(
        self, X: NDArray[Any], y: NDArray[np.intp]
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        if self.n_iterations is None:
            return self.batches(X, y)
        orders = (self.generator.permutation(len(X)) for _ in repeat(None))
        passes = (self.batches(X[order], y[order]) for order in orders)
        return islice(chain.from_iterable(passes), self.n_iterations)

    def _replay(self, source: ReplayNetwork, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Make up samples of earlier classes, and return them with the source's opinion of them."""
        old = self.replayed
        classes = old[torch.from_numpy(self.generator.integers(len(old), size=n))]
        opinions = torch.zeros(n, self.n_classes)
        with torch.no_grad():
            X = source.imagine(classes, self._noise(n))
            opinions[:, old] = softmax(source.logits(X)[:, old] / self.temperature, 1)
        self.n_shown += n
        return X, opinions

    def _noise(self, n: int) -> torch.Tensor:
        return torch.from_numpy(self.generator.standard_normal((n, self.n_latent), np.float32))
