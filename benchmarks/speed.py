"""The speed of Kenyon against its peers, as ratios of times taken in one run.

Run as `python benchmarks/speed.py`; `--quick` shows only that everything runs.
"""

from __future__ import annotations

import argparse
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
Within each round all contestants of a size take turns; of each step of their work, such as learning
one batch, the fastest time counts. All have one thread, except where two are named. Encoding is
timed on batches of {BATCH}."""

BOUND = """\
The bound is what the additions of layer 1 alone take, n_cells * fan_in a sample, at the rate at
which a compiled loop (benchmarks/additions.cpp) adds int16 vectors from the nearest cache."""


@dataclass(frozen=True)
class Contest:
    """Two contestants, and how many times as fast the first should be, by path."""

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


def _on_any_path(target: float) -> dict[str, float]:
    return dict.fromkeys(instruction_sets(), target)


CONTESTS = (
    Contest(
        "encode / NumPy GEMM + argpartition",
        "encode",
        "GEMM + argpartition",
        {"avx512": 10, "avx2": 7},
    ),
    Contest(
        f"encode {LARGE_BATCH} rows, two threads / one",
        "two threads",
        "one thread",
        _on_any_path(1.75),
    ),
    Contest(
        f"encode {LARGE_BATCH} rows, two calls at once / one",
        "two calls",
        "one thread",
        {},
    ),
    Contest(
        f"partial_fit by {BATCH} / the kernel itself",
        "partial_fit",
        "encode and learn",
        _on_any_path(0.85),
    ),
    Contest(
        f"partial_fit by {SMALL_BATCH} / SGDClassifier",
        "partial_fit small",
        "SGDClassifier small",
        {"avx512": 20, "avx2": 12},
    ),
    Contest(
        f"partial_fit by {SMALL_BATCH} / GaussianNB",
        "partial_fit small",
        "GaussianNB small",
        _on_any_path(1),
    ),
    Contest(
        "predict_one / SGDClassifier.predict",
        "predict_one",
        "SGDClassifier one",
        {"avx512": 20, "avx2": 8},
        sizes=(A,),
    ),
)
KERNEL = ("encode", "learn", "read", "encode_one", "predict_one", "learn_one")
GOALS = {A: 6.0, B: 2.5}
"""How many times the bound encoding may take."""


def contest_table(times: dict[Size, Times]) -> str:
    """Compare with peers, in samples a second."""
    header = ("comparison, size", "ours, 1/s", "theirs, 1/s", "ratio", "target", "met")
    rows = [contest.row(size, times[size]) for contest in CONTESTS for size in contest.sizes]
    return report.table(header, rows)


def bound_table(times: dict[Size, Times]) -> str:
    """Compare encoding with its additions alone."""
    header = ("size", "adds a ns", "bound, us", "encode, us", "distance", "goal", "met")
    rows = []
    for size, taken in times.items():
        rate = 1 / taken["additions"]
        bound = size.n_cells * size.fan_in / rate
        distance = taken["encode"] / bound
        numbers = rate * 1e-9, bound * 1e6, taken["encode"] * 1e6, distance
        verdict = _yes_or_no(distance <= GOALS[size])
        rows.append([size.name, *(f"{x:.2f}" for x in numbers), f"{GOALS[size]:g}", verdict])
    return report.table(header, rows)


def kernel_table(times: dict[Size, Times]) -> str:
    """Show what the parts take: `learn` and `read` from codes that are made already."""
    header = ("us a sample", *(size.name for size in times))
    rows = [[name, *(f"{taken[name] * 1e6:.2f}" for taken in times.values())] for name in KERNEL]
    return report.table(header, rows)


def profile_table(times: dict[Size, Times]) -> str:
    """Show where the time of partial_fit goes; what the kernel does not account for is Python."""
    header = ("partial_fit, size", "us a sample", "encode", "learn", "Python around")
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, and no result is kept")
    quick = parser.parse_args().quick
    circumstances = report.environment()
    with threadpool_limits(1):
        rounds = QUICK_ROUNDS if quick else ROUNDS
        times = {size: race(gather(size), rounds) for size in (A, B)}
    sections = (
        "# Speed",
        circumstances,
        "\n".join(f"- Size {size}" for size in times),
        f"{METHOD} {rounds} rounds.",
        contest_table(times),
        BOUND,
        bound_table(times),
        "What the parts take, on one thread; learn and read start from codes.",
        kernel_table(times),
        "Where the time of partial_fit goes.",
        profile_table(times),
    )
    text = "\n\n".join(sections)
    print(text)
    if not quick:
        report.save("speed.md", text)


if __name__ == "__main__":
    main()
