"""An exception at any moment leaves a model as it was before or as it is after a change."""

import os
from zlib import crc32

import pytest

from tests.faults.cases import CASES, Prepared
from tests.faults.injector import Fault

STRIDE = int(os.environ.get("KENYON_FAULT_STRIDE", "13"))
"""Every how many places an exception is raised; `make faults` sets 1."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("kind", "change"), CASES)
def test_every_place(kind, change, error, tmp_path):
    prepared, found = Prepared(kind, change), []
    # Other cases begin at other places.
    n = 1 + crc32(f"{kind} {change}".encode()) % STRIDE
    while True:
        model = prepared.fresh()
        with Fault(n, error) as fault:
            try:
                prepared.change(model)
            except error:
                assert fault.happened
        found.append(prepared.check(model, tmp_path / "model.kenyon"))
        if not fault.happened:
            break
        n += STRIDE
    assert found[-1] == "after"
    print(f"{len(found)} places")
