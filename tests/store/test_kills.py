"""kill -9 at random moments: what was acknowledged is there, once."""

from __future__ import annotations

from tests.forking import untraced
from tests.store.killing import Killed


def test_no_acknowledged_event_is_lost(tmp_path):
    with untraced():
        killed = Killed(tmp_path / "store", seed=1)
        # On a slow machine a process may be killed before its first receipt.
        while killed.n_rounds < 20 or (killed.n_receipts <= 200 and killed.n_rounds < 200):
            killed.round(seconds=0.5)
    assert killed.n_receipts > 200
    # Some requests were durable although nobody read their receipts.
    assert killed.n_repeated > 0
