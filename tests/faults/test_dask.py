"""An exception in a call on Dask collections leaves the model as before or as after the change."""

from copy import deepcopy

import dask
import dask.array as da
import pytest

from kenyon.dask import FlyClassifier
from tests.faults.cases import KINDS, SIZES, X, Y, assert_current, in_a_thread, state
from tests.faults.injector import Fault
from tests.faults.tally import count
from tests.faults.test_interrupts import STRIDE

FEWER = 40 * STRIDE
"""A change has some thousand places, most of them in checks of the parts that travel."""
CHANGES = {
    "fit": lambda model, rows, labels: model.fit(rows[12:], labels[12:]),
    "partial_fit": lambda model, rows, labels: model.partial_fit(rows[12:], labels[12:]),
    "unlearn": lambda model, rows, labels: model.unlearn(rows[:9], labels[:9]),
}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["fly", "ridge"])
def test_every_place(kind, change, error):
    prototype = FlyClassifier(**SIZES, **KINDS[kind]).fit(X[:12], Y[:12])
    rows, labels = da.from_array(X, chunks=(5, -1)), da.from_array(Y, chunks=5)
    after = deepcopy(prototype)
    n, found = 1, []
    with dask.config.set(scheduler="synchronous"):
        CHANGES[change](after, rows, labels)
        ways = {"before": state(prototype), "after": state(after)}
        while True:
            model = deepcopy(prototype)
            with Fault(n, error) as fault:
                try:
                    CHANGES[change](model, rows, labels)
                except (error, ValueError):
                    # A part that takes too much memory to read is refused with ValueError.
                    assert fault.happened
            (way,) = [way for way, expected in ways.items() if expected == state(model)]
            found.append(way)
            assert_current(model)
            in_a_thread(lambda model=model: model.learn_one(X[20], "b"))
            if not fault.happened:
                break
            n += FEWER
    assert found[-1] == "after"
    assert "before" in found
    count(f"{error.__name__} at a place in Kenyon's code", len(found) - 1)
