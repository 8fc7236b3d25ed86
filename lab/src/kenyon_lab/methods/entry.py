"""The declaration of a method."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kenyon_lab.methods.method import Method

Order = Literal["shuffled", "classes"]
ORDERS: tuple[Order, ...] = ("shuffled", "classes")
Group = Literal[
    "paper",
    "reference",
    "variant",
    "ablation",
    "perceptron",
    "modern",
    "readout",
    "ceiling",
]
Colour = Literal["black", "orange", "sky", "green", "blue", "vermilion", "purple", "grey"]

PARAMETERS_OF = {
    **dict.fromkeys((f"mnist20-{kind}" for kind in ("distorted", "pixels", "paper")), "mnist20"),
    **dict.fromkeys((f"mnist20-seed{seed}" for seed in (1, 2, 3, 4)), "mnist20"),
    **dict.fromkeys(("cifar100-resnet50", "cifar100-resnet18", "tiny100"), "cifar100"),
}
"""Datasets that use the paper's parameters of another dataset."""

DENSE_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {"n_cells": 3200, "fan_in": 10},
    "cifar100": {"n_cells": 20_000, "fan_in": 64},
}
"""Sizes that the paper states: the fly's first layer without winner-take-all."""

SPARSE_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {**DENSE_LAYER["mnist20"], "n_active": 160},
    "cifar100": {**DENSE_LAYER["cifar100"], "n_active": 200},
}
"""The fly's first layer."""

CAPPED_FLY: dict[str, dict[str, Any]] = {
    "mnist20": {**SPARSE_LAYER["mnist20"], "learning_rate": 0.01},
    "cifar100": {**SPARSE_LAYER["cifar100"], "learning_rate": 0.2},
}
"""The fly's first layer, and the learning rate at which its weights reach their cap."""

HIDDEN_LAYER: dict[str, dict[str, Any]] = {
    "mnist20": {"n_hidden": 3200},
    "cifar100": {"n_hidden": 20_000},
}
"""The hidden layer of networks, as wide as the fly's."""


class Look(NamedTuple):
    """A colour of `kenyon_lab.figures.style.PALETTE`, a marker and a line style of matplotlib."""

    colour: Colour
    marker: str
    line: str = "-"


@dataclass(frozen=True, kw_only=True)
class MethodEntry:
    """A method of the comparison: its class, its parameters and its appearance.

    Parameters
    ----------
    name, title : str
        The name on the command line, and in tables and figures.
    cls : type
        The class. Several entries may share it.
    group : str
        The comparison that the method belongs to.
    summary : str
        A few words on what the method does.
    version : int, default=1
        Version of the code. Raise it when results of the method may change.
    variant : mapping
        Parameters that define this entry among those of its class.
    order : {"shuffled", "classes"}
        Default order of the samples of a task.
    grid : mapping
        The values of each parameter in the grid search.
    paper : mapping
        The paper's parameters by dataset. Parameters that the paper does not state have the
        class's defaults. The paper states the numbers of units, active cells and exemplars, the
        learning rates and the memory strength. Fan-in and the shape of BI-R come from the code that
        it cites. Variants of the fly differ from it in nothing else.
    tuned : mapping
        Parameters by (dataset, order), as `kenyon-lab tune` selected them. They override the
        paper's.
    look : Look
        Appearance in figures.
    """

    name: str
    title: str
    cls: type[Method]
    group: Group
    summary: str
    version: int = 1
    variant: Mapping[str, Any] = field(default_factory=dict)
    order: Order = "shuffled"
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    paper: dict[str, dict[str, Any]] = field(default_factory=dict)
    tuned: dict[tuple[str, Order], dict[str, Any]] = field(default_factory=dict)
    look: Look

    def __post_init__(self) -> None:
        inherited = {
            dataset: self.paper[original]
            for dataset, original in PARAMETERS_OF.items()
            if original in self.paper
        }
        object.__setattr__(self, "paper", {**self.paper, **inherited})

    def make(self, **parameters: Any) -> Method:
        """Return the method with these parameters, and defaults for the rest.

        Raises
        ------
        ImportError
            If the method needs PyTorch, which is not installed.
        ValueError
            If the method has no such parameter, or its name fixes another value.
        """
        known = [f.name for f in fields(self.cls) if f.init]
        for parameter, value in parameters.items():
            if parameter not in known:
                raise ValueError(
                    f"{self.name} has no parameter {parameter!r}; it has {', '.join(known)}"
                )
            if self.variant.get(parameter, value) != value:
                raise ValueError(
                    f"{parameter} of {self.name} is {self.variant[parameter]!r} by definition, but "
                    f"came as {value!r}"
                )
        return self.cls(**{**self.variant, **parameters})
