"""Claims about forgetting."""

from __future__ import annotations

import numpy as np

from kenyon_lab.theory.claim import CheckResult, Claim
from kenyon_lab.theory.forgetting import (
    ORDERS,
    VERSIONS,
    Instance,
    find_smallest,
    margins,
    needed_overlap,
    pairs,
)

FIRST_LOWEST = ORDERS["the first"]


def check_overlap(quick: bool) -> CheckResult:
    """Run all small pairs under every version and class order."""
    n_runs, n_forgotten, wrong = 0, 0, []
    for n_cells in range(2, 5 if quick else 8):
        for instance in pairs(n_cells):
            for version in VERSIONS:
                for lowest, order in ORDERS.items():
                    needed = needed_overlap(version, lowest, instance.n_active)
                    forgotten = instance.is_forgotten(version, order)
                    n_runs, n_forgotten = n_runs + 1, n_forgotten + forgotten
                    if forgotten != (instance.n_shared >= needed):
                        wrong.append((version, lowest, instance))
    return CheckResult(
        not wrong and n_forgotten > 0,
        f"{n_runs} runs, {n_forgotten} of which forget, {len(wrong)} unlike the prediction",
    )


def check_smallest(quick: bool) -> CheckResult:
    """Search for the smallest pair that each version forgets, and run it under v4."""
    found = {v: find_smallest(v, FIRST_LOWEST, 4 if quick else 7) for v in VERSIONS}
    sizes = {v: i and (i.n_cells, i.n_active, i.n_shared) for v, i in found.items()}
    kept = [i is None or not i.is_forgotten(4, FIRST_LOWEST) for i in found.values()]
    return CheckResult(
        sizes == {1: (3, 2, 1), 3: (4, 3, 2), 4: None} and all(kept),
        "; ".join(
            f"v{version}: {size[0]} cells, {size[1]} active, {size[2]} shared"
            if size
            else f"v{version}: none"
            for version, size in sizes.items()
        ),
    )


def check_classes(quick: bool) -> CheckResult:
    """Teach a first class of several samples, then one sample of the second."""
    # All samples share one cell, and each has one cell that no other has.
    sizes = (2, 5) if quick else (2, 5, 10, 20)
    by_size = {
        n: Instance.of_cells(n + 2, [(0, i) for i in range(1, n + 1)], (0, n + 1)) for n in sizes
    }
    forgotten = {
        version: [n for n, i in by_size.items() if i.is_forgotten(version, FIRST_LOWEST)]
        for version in VERSIONS
    }
    rng = np.random.default_rng(0)
    drawn = [_draw_class(rng) for _ in range(10 if quick else 60)]
    n_lost = sum(instance.is_forgotten(3, FIRST_LOWEST) for instance in drawn)
    return CheckResult(
        forgotten == {1: list(sizes), 3: [], 4: []} and n_lost == 0,
        f"v1 forgets all of {', '.join(map(str, sizes))} samples that share a cell, v3 and v4 do "
        f"not; of {len(drawn)} random classes of two or three v3 forgets {n_lost} as a whole",
    )


def _draw_class(rng: np.random.Generator) -> Instance:
    n_cells = int(rng.integers(4, 9))
    n_active = int(rng.integers(2, n_cells))
    *first, second = (
        rng.choice(n_cells, n_active, replace=False).tolist() for _ in range(rng.integers(3, 5))
    )
    return Instance.of_cells(n_cells, first, second)


def check_graded(quick: bool) -> CheckResult:
    """Run pairs of graded codes, and compare with the margin that their product gives."""
    rng = np.random.default_rng(1)
    smallest = Instance(((255, 1),), (255, 2))
    drawn = [smallest, *(_draw_graded(rng) for _ in range(15 if quick else 60))]
    n_forgotten, n_wrong = 0, 0
    for instance in drawn:
        one, two = np.array([instance.first[0]]), np.array([instance.second])
        for version in (3, 4):
            forgotten = instance.is_forgotten(version, FIRST_LOWEST)
            n_forgotten += forgotten and version == 3
            n_wrong += forgotten != (margins(one, two, weakened=version == 3)[0, 0] < 0)
    return CheckResult(
        n_wrong == 0 and n_forgotten > 0 and smallest.is_forgotten(3, FIRST_LOWEST),
        f"v3 forgets {n_forgotten} of {len(drawn)}, among them levels 255, 1 then 255, 2; "
        f"{n_wrong} unlike the prediction",
    )


def _draw_graded(rng: np.random.Generator) -> Instance:
    codes = rng.integers(0, 256, (2, int(rng.integers(2, 6))))
    codes[np.arange(2), rng.integers(0, codes.shape[1], 2)] = 255
    return Instance((tuple(codes[0].tolist()),), tuple(codes[1].tolist()))


CLAIMS = (
    Claim(
        "forgetting",
        "After one sample each of two classes, with l equal winners, v3 forgets the first if "
        "they share more than l/2 cells, and not at l/2; v1 as soon as they share one cell, if it "
        "predicted the first by a tie; v4 never.",
        "the perceptrons on all pairs up to 7 cells (4 with --quick), in every class order",
        check_overlap,
    ),
    Claim(
        "smallest",
        "The smallest pair that v3 forgets has 4 cells, 3 of them active, 2 shared; v1's has 3, 2 "
        "and 1. v4 forgets neither.",
        "all pairs in order of size, up to 7 cells (4 with --quick)",
        check_smallest,
    ),
    Claim(
        "whole-class",
        "v1 can forget a class of any number of samples after one of another; v3 forgets a whole "
        "class only if it has one sample.",
        "classes that share a cell, and random ones",
        check_classes,
    ),
    Claim(
        "graded",
        "With graded winners v3 forgets a sample a after b if 2 a.b > a.a, for which two cells "
        "are enough; v4 if a.b > a.a.",
        "the perceptrons on random levels",
        check_graded,
    ),
)
