"""The two columns of the verdict: the paper's settings, and ours.

The paper adapted the code base of GEM. That code draws Xavier weights with biases of zero, and
masks the softmax to the classes of a task for CIFAR-100 alone. The methods with these settings are
`ewc-reference`, `ewc-reference-masked` and so on. Our settings are PyTorch's initial weights and
no mask. All other methods have the same runs in both columns.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kenyon_lab.reproduction.judgement import Judged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kenyon_lab.protocol.evidence import Evidence
    from kenyon_lab.protocol.summary import Summary
    from kenyon_lab.reproduction.judgement import Statement

_REFERENCE = {method: f"{method}-reference" for method in ("offline", "gem", "ewc", "vanilla")}
_MASKED = {method: f"{method}-reference-masked" for method in ("gem", "ewc", "vanilla")}

AS_PAPER = {
    "mnist20": _REFERENCE,
    "cifar100": {**_REFERENCE, **_MASKED},
    "cifar100-resnet18": {**_REFERENCE, **_MASKED},
}
"""By dataset of the paper and by method: the method with the settings of the paper's code base."""


def as_paper(evidence: Evidence) -> Evidence:
    """Return evidence in which the paper's settings have the plain names of the methods.

    A method without runs in the paper's settings is left out: our settings do not replace them.
    """
    runs = {
        dataset: _rename(of_dataset, AS_PAPER.get(dataset, {}))
        for dataset, of_dataset in evidence.runs.items()
    }
    return replace(evidence, runs=runs)


def judge_all(statements: Iterable[Statement], evidence: Evidence) -> list[Judged]:
    """Judge statements by the runs of either column."""
    paper = as_paper(evidence)
    return [Judged(one, one.judge(paper), one.judge(evidence)) for one in statements]


def _rename(runs: dict[str, Summary], names: dict[str, str]) -> dict[str, Summary]:
    kept = {method: found for method, found in runs.items() if method not in names}
    return kept | {plain: runs[name] for plain, name in names.items() if name in runs}
