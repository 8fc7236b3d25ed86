"""The networks as in the reference code: the code base of GEM, which the paper adapted.

That code draws Xavier weights with biases of zero. It masks the softmax to the classes of a task
for CIFAR-100, and for no other dataset. So the paper's setting is `ewc-reference` on MNIST-20 and
`ewc-reference-masked` on CIFAR-100, and likewise for the other networks. Both exist for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kenyon_lab.methods import ewc, gem, offline, vanilla
from kenyon_lab.methods.entry import Look, MethodEntry
from kenyon_lab.methods.network import xavier_bounds

if TYPE_CHECKING:
    from kenyon_lab.methods.network import NetworkMethod


@dataclass(kw_only=True, eq=False)
class ReferenceVanilla(vanilla.Vanilla):
    """`Vanilla` with the initial weights of the reference code."""

    initial_bounds = staticmethod(xavier_bounds)


@dataclass(kw_only=True, eq=False)
class ReferenceEWC(ewc.EWC):
    """`EWC` with the initial weights of the reference code."""

    initial_bounds = staticmethod(xavier_bounds)


@dataclass(kw_only=True, eq=False)
class ReferenceGEM(gem.GEM):
    """`GEM` with the initial weights of the reference code.

    Parameters
    ----------
    masked_outputs : bool, default=False
        Whether the softmax is masked to the classes of a task, for the gradient of a batch and, to
        the classes of its own task, for the gradient of each past task.
    """

    initial_bounds = staticmethod(xavier_bounds)
    masked_outputs: bool = False


@dataclass(kw_only=True, eq=False)
class ReferenceOffline(offline.Offline):
    """`Offline` with the initial weights of the reference code."""

    initial_bounds = staticmethod(xavier_bounds)


def _entry(
    plain: MethodEntry, cls: type[NetworkMethod], marker: str, *, masked: bool = False
) -> MethodEntry:
    """Return the entry of a method as in the reference code, with the parameters of the plain one.

    It has no grid: the reference code's settings are not tuned.
    """
    return MethodEntry(
        name=f"{plain.name}-reference{'-masked' if masked else ''}",
        title=f"{plain.title}, reference{', masked' if masked else ''}",
        cls=cls,
        group="reference",
        summary=f"{plain.title} with Xavier weights{' and masked outputs' if masked else ''}",
        variant={"masked_outputs": True} if masked else {},
        paper=plain.paper,
        look=Look(plain.look.colour, marker, ":" if masked else "-."),
    )


ENTRIES = (
    _entry(offline.ENTRIES[0], ReferenceOffline, "p"),
    _entry(gem.ENTRIES[0], ReferenceGEM, "d"),
    _entry(gem.ENTRIES[0], ReferenceGEM, "s", masked=True),
    _entry(ewc.ENTRIES[0], ReferenceEWC, "^"),
    _entry(ewc.ENTRIES[0], ReferenceEWC, ">", masked=True),
    _entry(vanilla.ENTRIES[0], ReferenceVanilla, "<"),
    _entry(vanilla.ENTRIES[0], ReferenceVanilla, ">", masked=True),
)
