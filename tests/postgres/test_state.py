"""The random changes of the store's tests on PostgreSQL, where two servers take turns."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import precondition, rule

import kenyon.store
from tests.postgres.cluster import execute
from tests.store.test_state import StoredState, WindowState


def database_of(url):
    """Return the class of places that are a database, empty each time."""

    class Database:
        def __init__(self):
            execute(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            self._other = None

        def open(self):
            if self._other is None:
                self._other = kenyon.store.open(url)
            return kenyon.store.open(url)

        def exchange(self, store, event):
            """Return the other server, when it has followed the events of this one."""
            other, self._other = self._other, store
            if "m" not in other.names():
                other._refresh()
            other["m"].wait(event)
            return other

        @contextmanager
        def open_as_killed(self, store):
            # What another server finds is what is durable.
            with kenyon.store.open(url) as third:
                yield third

        def remove(self):
            self._other.close()

    return Database


@pytest.mark.parametrize("machine", [StoredState, WindowState])
def test_the_state_is_that_of_the_live_samples(url, machine):
    class Shared(machine):
        Place = database_of(url)

        @precondition(lambda self: hasattr(self, "model"))
        @rule()
        def take_turns(self):
            self.store = self.place.exchange(self.store, self.reference.event)
            self.model = self.store["m"]

    case = Shared.TestCase
    case.settings = settings(
        max_examples=5,
        stateful_step_count=10,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    case("runTest").runTest()
