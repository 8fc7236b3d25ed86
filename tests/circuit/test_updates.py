"""The changes between two versions: all of them, or None."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.circuit.updates import ClassDrop, PendingUpdates, SampleUpdate

CODER = design_layer(40, FLY_LAYER, n_cells=50, seed=0)
CODES = [CODER.native.encode(np.eye(n, 40), 1) for n in range(1, 5)]


def of_samples(sign, codes):
    return SampleUpdate(1, sign, codes, np.zeros(len(codes), np.int32))


of_sample = st.builds(of_samples, st.sampled_from([1, -1]), st.sampled_from(CODES))
change = st.lists(of_sample | st.just(ClassDrop(1, 0)), max_size=3)


def cost(changes):
    return max(1, sum(len(each.codes) for each in changes if isinstance(each, SampleUpdate)))


@given(st.lists(st.none() | change, max_size=20), st.integers(0, 12))
def test_returns_all_changes_between_versions_or_none(history, max_samples):
    """A version that is None is skipped: its codes are not known."""
    updates = PendingUpdates(max_samples)
    for latest in range(len(history) + 1):
        if latest:
            updates.record(latest - 1, latest, history[latest - 1])
        recorded = [i + 1 for i, changes in enumerate(history[:latest]) if changes is not None]
        for old in range(latest + 1):
            for new in range(latest + 1):
                found = updates.between(old, new)
                between = history[old:new]
                # Versions are dropped from the oldest on, so the later ones count as well.
                n_kept = sum(cost(history[version - 1]) for version in recorded if version > old)
                if new < old or None in between or (between and n_kept > max_samples):
                    assert found is None
                else:
                    expected = [update for changes in between for update in changes]
                    assert [*map(id, found)] == [*map(id, expected)]


def test_an_entry_may_lead_over_several_versions():
    updates, first, second = PendingUpdates(9), of_samples(1, CODES[0]), of_samples(-1, CODES[1])
    updates.record(0, 3, [first])
    updates.record(3, 4, [second])
    assert updates.between(0, 4) == [first, second]
    for old, new in ((1, 4), (0, 2), (2, 3), (4, 0), (4, 5)):
        assert updates.between(old, new) is None


def test_a_gap_is_unknown():
    updates = PendingUpdates(9)
    updates.record(0, 1, [of_samples(1, CODES[0])])
    updates.record(2, 3, [of_samples(1, CODES[0])])
    assert updates.between(0, 3) is None
    assert len(updates.between(2, 3)) == 1


def test_a_change_that_was_refused_is_not_recorded():
    updates, last = PendingUpdates(9), of_samples(1, CODES[0])
    updates.record(1, 1, [of_samples(1, CODES[1])])
    assert updates.nbytes == 0
    updates.record(1, 2, [last])
    assert updates.between(1, 1) == []
    assert updates.between(1, 2) == [last]


def test_versions_without_samples_are_limited_too():
    updates = PendingUpdates(3)
    for version in range(1, 100):
        updates.record(version - 1, version, ())
    assert updates.between(96, 99) == []
    assert updates.between(95, 99) is None


def test_drops_a_version_that_is_too_large():
    updates = PendingUpdates(3)
    updates.record(0, 1, [of_samples(1, CODES[3])])
    assert updates.between(0, 1) is None
    last = of_samples(1, CODES[2])
    updates.record(1, 2, [last])
    assert updates.between(1, 2) == [last]
