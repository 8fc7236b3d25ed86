"""The methods of the comparison. Each module declares its method's entries beside the class."""

from __future__ import annotations

from typing import get_args

from kenyon_lab.methods import (
    bir,
    ceilings,
    dense_fly,
    ewc,
    fly,
    fly_cl,
    gem,
    logistic,
    ncm,
    offline,
    perceptron,
    published,
    ranpac,
    reference,
    slda,
    vanilla,
    weakening,
)
from kenyon_lab.methods.entry import ORDERS, Group, MethodEntry, Order

__all__ = ["METHODS", "ORDERS", "Group", "MethodEntry", "Order"]

_MODULES = (
    *(fly, offline, bir, gem, ewc, vanilla, reference, dense_fly, logistic, perceptron, weakening),
    *(ncm, slda, ranpac, fly_cl, published, ceilings),
)

METHODS: dict[str, MethodEntry] = {
    entry.name: entry
    for group in get_args(Group)
    for module in _MODULES
    for entry in module.ENTRIES
    if entry.group == group
}
"""All methods by name, group by group: the order of tables and legends."""
