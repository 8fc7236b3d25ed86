"""The speed of Kenyon and its peers, as ratios of times from one run.

Run as `python benchmarks/speed.py`; `--quick` only shows that it runs. Writes
benchmarks/results/speed.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import report
from contestants import BATCH, LARGE_BATCH, SMALL_BATCH, gather
from problem import A, B
from race import race
from threadpoolctl import threadpool_limits

from kenyon._native import instruction_set, instruction_sets

if TYPE_CHECKING:
    from problem import Size

    Times = dict[str, float]
    """Seconds a sample, by contestant."""

ROUNDS = 30
QUICK_ROUNDS = 2

METHOD = f"""\
The contestants of a size take turns in every round. Each step of their work, such as learning one
batch, counts with its fastest time. All have one thread, unless the row names two. Encoding is
timed on batches of {BATCH}."""

BOUND = """\
The bound is the time of the additions of layer 1 alone, n_cells * fan_in a sample, at the rate at
which a compiled loop (benchmarks/additions.cpp) adds int16 vectors from the L1 cache."""


@dataclass(frozen=True)
class Comparison:
    """Two contestants, and the target ratio of their speeds by instruction set."""

    title: str
    ours: str
    theirs: str
    targets: dict[str, float]
    sizes: tuple[Size, ...] = (A, B)

    def row(self, size: Size, times: Times) -> list[str]:
        ratio = times[self.theirs] / times[self.ours]
        target = self.targets.get(instruction_set())
        return [
            f"{self.title}, {size.name}",
            f"{1 / times[self.ours]:,.0f}",
            f"{1 / times[self.theirs]:,.0f}",
            f"{ratio:.2f}",
            *(("none", "") if target is None else (f"{target:g}", _yes_or_no(ratio >= target))),
        ]


def _on_any(target: float) -> dict[str, float]:
    return dict.fromkeys(instruction_sets(), target)


COMPARISONS = (
    Comparison(
        "encode / NumPy GEMM + argpartition",
        "encode",
        "GEMM + argpartition",
        {"avx512": 10, "avx2": 7},
    ),
    Comparison(
        f"encode {LARGE_BATCH} rows, two threads / one",
        "two threads",
        "one thread",
        _on_any(1.75),
    ),
    Comparison(
        f"encode {LARGE_BATCH} rows, two calls at once / one",
        "two calls",
        "one thread",
        {},
    ),
    Comparison(
        f"partial_fit, batches of {BATCH} / kernel alone",
        "partial_fit",
        "encode and learn",
        _on_any(0.85),
    ),
    Comparison(
        f"partial_fit, batches of {SMALL_BATCH} / SGDClassifier",
        "partial_fit small",
        "SGDClassifier small",
        {"avx512": 20, "avx2": 12},
    ),
    Comparison(
        f"partial_fit, batches of {SMALL_BATCH} / GaussianNB",
        "partial_fit small",
        "GaussianNB small",
        _on_any(1),
    ),
    Comparison(
        "predict_one / SGDClassifier.predict",
        "predict_one",
        "SGDClassifier one",
        {"avx512": 20, "avx2": 8},
        sizes=(A,),
    ),
)
PARTS = ("encode", "learn", "predict", "encode_one", "predict_one", "learn_one")
GOALS = {A: 6.0, B: 2.5}
"""The largest ratio of the time of encoding to its bound."""


def comparison_table(times: dict[Size, Times]) -> str:
    """Compare with peers, in samples a second."""
    header = ("comparison, size", "ours, 1/s", "theirs, 1/s", "ratio", "target", "met")
    rows = [each.row(size, times[size]) for each in COMPARISONS for size in each.sizes]
    return report.table(header, rows)


def bound_table(times: dict[Size, Times]) -> str:
    """Compare encoding with its bound."""
    header = ("size", "additions / ns", "bound, us", "encode, us", "encode / bound", "goal", "met")
    rows = []
    for size, taken in times.items():
        rate = 1 / taken["additions"]
        bound = size.n_cells * size.fan_in / rate
        ratio = taken["encode"] / bound
        numbers = rate * 1e-9, bound * 1e6, taken["encode"] * 1e6, ratio
        verdict = _yes_or_no(ratio <= GOALS[size])
        rows.append([size.name, *(f"{x:.2f}" for x in numbers), f"{GOALS[size]:g}", verdict])
    return report.table(header, rows)


def parts_table(times: dict[Size, Times]) -> str:
    """Show the time of each part; `learn` and `predict` start from codes."""
    header = ("us a sample", *(size.name for size in times))
    rows = [[name, *(f"{taken[name] * 1e6:.2f}" for taken in times.values())] for name in PARTS]
    return report.table(header, rows)


def profile_table(times: dict[Size, Times]) -> str:
    """Show the parts of the time of partial_fit; the part outside the kernel is Python."""
    header = ("partial_fit, size", "us a sample", "encode", "learn", "Python")
    rows = []
    for size, taken in times.items():
        for batch, suffix in ((BATCH, ""), (SMALL_BATCH, " small")):
            whole = taken[f"partial_fit{suffix}"]
            encode, learn = (taken[f"{part}{suffix}"] / whole for part in ("encode", "learn"))
            shares = [f"{share:.0%}" for share in (encode, learn, max(0.0, 1 - encode - learn))]
            rows.append([f"batches of {batch}, {size.name}", f"{whole * 1e6:.2f}", *shares])
    return report.table(header, rows)


def _yes_or_no(met: bool) -> str:
    return "yes" if met else "no"


def main() -> None:
    quick = report.parse_quick(__doc__)
    environment = report.environment()
    with threadpool_limits(1):
        rounds = QUICK_ROUNDS if quick else ROUNDS
        times = {size: race(gather(size), rounds) for size in (A, B)}
    report.publish(
        "speed.md",
        "# Speed",
        environment,
        "\n".join(f"- Size {size}" for size in times),
        f"{METHOD} {rounds} rounds.",
        comparison_table(times),
        BOUND,
        bound_table(times),
        "Time of each part on one thread. learn and predict start from codes.",
        parts_table(times),
        "Profile of partial_fit. Python is the rest.",
        profile_table(times),
        saved=not quick,
    )


if __name__ == "__main__":
    main()
