"""One PostgreSQL for all tests of a process, and a new database for each test."""

from __future__ import annotations

from itertools import count

import pytest

from tests.postgres.cluster import PASSWORD, find_programs, temporary_cluster

_numbers = count(1)


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("psycopg")
    if find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with temporary_cluster(fsync=False) as cluster:
        yield cluster


@pytest.fixture
def url(cluster):
    """The address of an empty database."""
    return cluster.create(f"test{next(_numbers)}")


@pytest.fixture
def stores(url):
    """Two servers of one database, in this process."""
    import kenyon.store

    with kenyon.store.open(url) as first, kenyon.store.open(url) as second:
        yield first, second


@pytest.fixture(autouse=True)
def no_secret(caplog):
    """No message of any test holds the password, and no fault of the code is logged."""
    yield
    assert PASSWORD not in caplog.text
    assert "Traceback" not in caplog.text
