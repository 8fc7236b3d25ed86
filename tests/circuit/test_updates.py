"""The last changes: all since a moment, or none."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kenyon._validation import design_layer
from kenyon.circuit.defaults import FLY_LAYER
from kenyon.circuit.journal import Journal

CODER = design_layer(40, FLY_LAYER, n_cells=50, seed=0)
CODES = [CODER.native.encode(np.eye(n, 40), 1) for n in range(1, 5)]
LOST = None

noted = st.lists(st.sampled_from([*CODES, LOST]), max_size=20)


@given(noted, st.integers(0, 12))
def test_it_tells_all_changes_since_a_moment_or_nothing(changes, most):
    journal = Journal(most)
    copies = []
    for codes in changes:
        copies.append(journal.copy())
        if codes is LOST:
            journal.lose()
        else:
            journal.note(1, codes)
    for copy in [*copies, journal]:
        for moment in range(copy.moment + 1):
            since = changes[moment : copy.moment]
            is_kept = LOST not in since and sum(map(len, since)) <= most
            assert copy.since(moment) == ([(1, codes) for codes in since] if is_kept else None)
