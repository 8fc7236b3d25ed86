"""Brain-inspired replay: rehearsal of samples from a generative model."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.lazy_torch import torch
from kenyon_lab.methods.method import check_positive
from kenyon_lab.methods.torch_method import TorchMethod
from kenyon_lab.shared import MAX_CELLS, check_integer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from kenyon_lab.methods.replay_network import ReplayNetwork


@dataclass(kw_only=True, eq=False)
class BrainInspiredReplay(TorchMethod):
    """A classifier and generator that replays generated samples of earlier classes.

    A classifier and a variational autoencoder share a two-layer encoder. Each class has a learned
    normal distribution in the latent space, and fixed random gates on the hidden layers of the
    decoder.

    From the second task on, a copy of the network from the end of the previous task generates as
    many samples as each batch has: classes drawn uniformly from earlier tasks, latent vectors from
    the distribution of the class. The soft targets of a generated sample are the copy's class
    probabilities at the given temperature; its gates are the average, and its prior the mixture,
    of those of the classes with these probabilities. In task t the loss is 1/t times that of the
    batch plus 1 - 1/t times that of its replay. `ReplayNetwork` defines the loss of a sample. Adam
    keeps its state between tasks.

    Only classes seen so far compete, in learning and in predicting.

    Parameters
    ----------
    n_hidden : int, default=400
        Width of all hidden layers, two of the encoder and two of the decoder.
    n_latent : int, default=100
        Width of the latent layer.
    gated : float, default=0.8
        Share of each hidden layer of the decoder that is closed for a class, from 0 to below 1.
    temperature : float, default=2.0
        Temperature of the soft targets of replayed samples.
    learning_rate : float, default=0.001
        Step size of Adam.
    n_iterations : int, optional
        Steps per task, with its samples shuffled for every pass. By default, one pass in the order
        given.

    References
    ----------
    van de Ven, Siegelmann, Tolias (2020). Brain-inspired replay for continual learning with
    artificial neural networks.
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
        check_positive("temperature", self.temperature)
        if self.n_iterations is not None:
            check_integer("n_iterations", self.n_iterations, MAX_CELLS)
        self.network = self._network_type()(
            self.n_features,
            self.n_classes,
            n_hidden=check_integer("n_hidden", self.n_hidden, MAX_CELLS),
            n_latent=check_integer("n_latent", self.n_latent, MAX_CELLS),
            gated=self.gated,
            generator=self.generator,
        )
        rate = check_positive("learning_rate", self.learning_rate)
        self.optimiser = torch.optim.Adam(self.network.parameters(), lr=rate, fused=True)
        self.n_tasks = 0
        self.seen = self.earlier = torch.empty(0, dtype=torch.long)
        self.frozen: ReplayNetwork | None = None

    def _network_type(self) -> type[ReplayNetwork]:
        # Imported late: it needs PyTorch.
        from kenyon_lab.methods.replay_network import ReplayNetwork

        return ReplayNetwork

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        self.n_tasks += 1
        self.seen = torch.from_numpy(np.union1d(self.earlier, y))
        for inputs, targets in self._steps(X, y):
            self.optimiser.zero_grad()
            self.loss(inputs, targets).backward()
            self.optimiser.step()
        self.frozen = deepcopy(self.network).requires_grad_(False)
        self.earlier = self.seen

    def loss(self, X: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the loss of a batch and of newly generated replay."""
        n, share = len(X), 1 / self.n_tasks
        labels = torch.nn.functional.one_hot(y, self.n_classes).to(X)
        temperature = torch.ones(n, 1)
        weights = torch.full((n,), share / n)
        if self.frozen is not None:
            generated, soft_targets = self._replay(self.frozen, n)
            X, labels = torch.cat([X, generated]), torch.cat([labels, soft_targets])
            temperature = torch.cat([temperature, torch.full((n, 1), self.temperature)])
            weights = torch.cat([weights, torch.full((n,), (1 - share) / n)])
        return weights @ self.network.losses(
            X, labels, seen=self.seen, temperature=temperature, noise=self._noise(len(X))
        )

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        logits = torch.full((len(X), self.n_classes), -torch.inf)
        logits[:, self.seen] = self.network.logits(X)[:, self.seen]
        return logits

    @property
    def n_parameters(self) -> int:
        """Weights and priors. The copy is not counted: between tasks it equals the network."""
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
        """Return generated samples of earlier classes and their soft targets."""
        earlier = self.earlier
        classes = earlier[torch.from_numpy(self.generator.integers(len(earlier), size=n))]
        soft_targets = torch.zeros(n, self.n_classes)
        with torch.no_grad():
            X = source.generate(classes, self._noise(n))
            logits = source.logits(X)[:, earlier] / self.temperature
            soft_targets[:, earlier] = torch.softmax(logits, 1)
        self.n_shown += n
        return X, soft_targets

    def _noise(self, n: int) -> torch.Tensor:
        return torch.from_numpy(self.generator.standard_normal((n, self.n_latent), np.float32))


@dataclass(kw_only=True, eq=False)
class ReferenceReplay(BrainInspiredReplay):
    """`BrainInspiredReplay` with the outputs that its published code has for images.

    The outputs are sigmoids, and the loss of a reconstruction is the binary cross-entropy. It needs
    samples from 0 to 1: features are divided by the largest one of the first task, and clipped.

    Parameters
    ----------
    n_iterations : int, optional
        As in `BrainInspiredReplay`. The published code makes many passes.
    """

    scale: float | None = field(default=None, init=False, repr=False)

    def _start(self) -> None:
        super()._start()
        self.scale = None

    def _network_type(self) -> type[ReplayNetwork]:
        from kenyon_lab.methods.replay_network import ImageReplayNetwork

        return ImageReplayNetwork

    def _learn(self, X: NDArray[Any], y: NDArray[np.intp]) -> None:
        if self.scale is None:
            self.scale = float(X.max()) if X.max() > 0 else 1.0
        super()._learn(self.rescale(X), y)

    def _predict(self, X: NDArray[Any]) -> NDArray[np.intp]:
        return super()._predict(self.rescale(X))

    def rescale(self, X: NDArray[Any]) -> NDArray[np.float32]:
        """Return samples from 0 to 1."""
        return (X.astype(np.float32) / np.float32(self.scale)).clip(0, 1)


_PAPER = {
    "mnist20": {"n_hidden": 400, "gated": 0.8, "learning_rate": 0.001},
    "cifar100": {"n_hidden": 2000, "gated": 0.7, "learning_rate": 0.001},
}
_FIVE_PASSES = {"mnist20": 5 * 188, "cifar100": 5 * 32}  # over 12,000 and 2,000 samples a task

ENTRIES = (
    MethodEntry(
        name="bir",
        title="BI-R",
        cls=BrainInspiredReplay,
        group="paper",
        summary="replays samples from a generative model of earlier classes",
        grid={"learning_rate": (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)},
        paper=_PAPER,
        tuned={
            ("mnist20", "shuffled"): {"learning_rate": 0.0001},
            ("mnist20", "classes"): {"learning_rate": 0.0003},
            ("clinc150", "shuffled"): {"learning_rate": 0.003},
        },
        look=Look("sky", "^"),
    ),
    MethodEntry(
        name="bir-reference",
        title="BI-R, reference",
        cls=ReferenceReplay,
        group="reference",
        summary="BI-R with sigmoid outputs, and five passes",
        paper={
            dataset: {**_PAPER[dataset], "n_iterations": n_iterations}
            for dataset, n_iterations in _FIVE_PASSES.items()
        },
        look=Look("sky", "<", "-."),
    ),
)
