"""kill -9 at random moments: what was acknowledged is there, once."""

from __future__ import annotations

from tests.forking import untraced
from tests.store.killing import Killed


def test_no_acknowledged_event_is_lost(tmp_path):
    with untraced():
        killed = Killed(tmp_path / "store", seed=1)
        for _ in range(20):
            killed.round(seconds=0.5)
    assert killed.n_receipts > 20
    # Some requests were durable although nobody read their receipts.
    assert killed.n_repeated > 0
