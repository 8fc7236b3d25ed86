"""All methods by their names."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kenyon_lab.methods.method import Method

Order = Literal["shuffled", "classes"]
ORDERS: tuple[Order, ...] = ("shuffled", "classes")
Group = Literal["paper", "variant", "ablation", "perceptron", "modern", "readout"]


@dataclass(frozen=True)
class MethodEntry:
    """A method that can be asked for by name.

    Parameters
    ----------
    name, title : str
        As it is typed, and as it is printed.
    where : str
        Its module under `kenyon_lab.methods` and its class.
    group : str
        Which comparison it belongs to.
    summary : str
        What it does, in a few words.
    variant : mapping
        Parameters that make this method what its name says.
    grid : mapping
        What the grid search tries of each parameter.
    order : {"shuffled", "classes"}
        How the samples of a task come unless asked otherwise.
    """

    name: str
    title: str
    where: str
    group: Group
    summary: str
    variant: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    order: Order = "shuffled"

    def make(self, **parameters: Any) -> Method:
        """Return the method with these parameters, and defaults for the rest.

        Raises
        ------
        ImportError
            If the method needs PyTorch and there is none.
        ValueError
            If it has no such parameter, or one that makes it what its name says.
        """
        cls = self._import()
        known = [f.name for f in fields(cls) if f.init]
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
        return cls(**{**self.variant, **parameters})

    def _import(self) -> type[Method]:
        module, _, name = self.where.partition(":")
        try:
            cls: type[Method] = getattr(import_module(f"kenyon_lab.methods.{module}"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ImportError(
                f"{self.name} needs PyTorch, which is not installed: "
                "pip install 'kenyon-lab[torch]'"
            ) from None
        return cls


_RATES = (0.0001, 0.001, 0.01, 0.1)

METHODS = {
    entry.name: entry
    for entry in (
        MethodEntry(
            "fly",
            "FlyModel",
            "fly:Fly",
            "paper",
            "sparse codes, partial freezing",
            grid={"learning_rate": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, "auto")},
        ),
        MethodEntry(
            "offline",
            "Offline",
            "offline:Offline",
            "paper",
            "trained anew on all samples so far",
            grid={"optimiser": ("sgd", "adam"), "learning_rate": (*_RATES, 0.3)},
        ),
        MethodEntry(
            "offline-sgd",
            "Offline, SGD 0.001",
            "offline:Offline",
            "paper",
            "the same with the optimiser that the paper names",
            variant={"optimiser": "sgd", "learning_rate": 0.001},
        ),
        MethodEntry(
            "bir",
            "BI-R",
            "bir:BrainInspiredReplay",
            "paper",
            "replays samples that it makes up",
            grid={"learning_rate": (0.00003, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03)},
        ),
        MethodEntry(
            "gem",
            "GEM",
            "gem:GEM",
            "paper",
            "keeps samples, and steps where their loss does not grow",
            grid={"learning_rate": (0.001, 0.01, 0.03, 0.1, 0.3), "memory_strength": (0.5, 1.0)},
        ),
        MethodEntry(
            "ewc",
            "EWC",
            "ewc:EWC",
            "paper",
            "holds on to weights that earlier tasks needed",
            grid={
                "learning_rate": (0.001, 0.01, 0.1, 0.3),
                "memory_strength": (100.0, 1000.0, 1e4, 1e5, 1e6),
            },
        ),
        MethodEntry(
            "vanilla",
            "Vanilla",
            "vanilla:Vanilla",
            "paper",
            "a network that does nothing against forgetting",
            grid={"learning_rate": (*_RATES, 0.3)},
        ),
        MethodEntry(
            "ewc-own",
            "EWC, own outputs",
            "ewc:EWC",
            "variant",
            "the same, a task trained on the outputs of its own classes only",
            variant={"own_outputs": True},
            grid={"learning_rate": (0.01, 0.1, 0.3), "memory_strength": (10.0, 100.0, 1000.0, 1e4)},
        ),
        MethodEntry(
            "vanilla-own",
            "Vanilla, own outputs",
            "vanilla:Vanilla",
            "variant",
            "the same, a task trained on the outputs of its own classes only",
            variant={"own_outputs": True},
            grid={"learning_rate": (*_RATES, 0.3)},
        ),
        MethodEntry(
            "dense-fly",
            "Dense, freezing",
            "dense_fly:DenseFly",
            "ablation",
            "the fly without winner-take-all",
            grid={"learning_rate": (1e-5, 1e-4, 3e-4, 5e-4, 0.001, 0.01, 0.1)},
        ),
        MethodEntry(
            "sparse-logistic",
            "Sparse, logistic",
            "logistic:LogisticRegression",
            "ablation",
            "gradient descent on sparse codes",
            variant={"code": "sparse"},
            grid={"learning_rate": _RATES},
        ),
        MethodEntry(
            "dense-logistic",
            "Dense, logistic",
            "logistic:LogisticRegression",
            "ablation",
            "gradient descent on dense codes",
            variant={"code": "dense"},
            grid={"learning_rate": (3e-6, 1e-5, 3e-5, *_RATES)},
        ),
        *(
            MethodEntry(
                f"perceptron-v{version}",
                f"Perceptron v{version}",
                "perceptron:Perceptron",
                "perceptron",
                summary,
                variant={"version": version},
                order="classes",
            )
            for version, summary in (
                (1, "on a mistake, strengthens the target and weakens the predicted"),
                (2, "on a mistake, strengthens the target"),
                (3, "always strengthens the target; on a mistake, weakens the predicted"),
                (4, "always strengthens the target: the fly without a cap"),
            )
        ),
        MethodEntry(
            "weakening",
            "Weakening",
            "weakening:Weakening",
            "perceptron",
            "weakens every class but the target, as the real fly does",
            grid={"learning_rate": (1e-5, 1e-4, 3e-4, 0.001, 0.01, 0.1)},
        ),
        MethodEntry("ncm", "NCM", "ncm:NCM", "modern", "the nearest class mean, by cosine"),
        MethodEntry(
            "slda",
            "SLDA",
            "slda:SLDA",
            "modern",
            "class means and one covariance, streamed",
            grid={"shrinkage": (1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1)},
        ),
        MethodEntry(
            "ranpac",
            "RanPAC",
            "ranpac:RanPAC",
            "modern",
            "random projection, then ridge regression",
        ),
        MethodEntry(
            "fly-cl",
            "Fly-CL",
            "fly_cl:FlyCL",
            "modern",
            "sparse projection, the largest kept, then ridge regression",
            grid={"share_active": (0.05, 0.1, 0.3, 0.5, 0.8)},
        ),
        MethodEntry(
            "bayes",
            "Kenyon, bayes",
            "read:Read",
            "readout",
            "the fly's counters, read as likelihoods",
            variant={"readout": "bayes"},
            grid={"smoothing": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)},
        ),
        MethodEntry(
            "ridge",
            "Kenyon, ridge",
            "read:Read",
            "readout",
            "counters and pairs of cells, read by least squares",
            variant={"readout": "ridge"},
        ),
    )
}
