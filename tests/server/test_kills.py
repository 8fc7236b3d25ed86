"""A server that is killed loses nothing that it acknowledged, and does nothing twice."""

import pytest

from tests.server.killing import kill_again_and_again


@pytest.mark.parametrize("readout", ["fly", "ridge"])
def test_a_killed_server_keeps_every_acknowledged_event(readout, tmp_path):
    n_events, n_samples = kill_again_and_again(tmp_path / "store", 8, seed=0, readout=readout)
    assert n_events > 8
    assert n_samples
