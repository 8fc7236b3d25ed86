"""One PostgreSQL for all tests of a process, and a new database for each test."""

from __future__ import annotations

import tempfile
from itertools import count
from pathlib import Path

import pytest

from tests.postgres.cluster import PASSWORD, Cluster, find_programs

_numbers = count(1)


@pytest.fixture(scope="session")
def cluster():
    pytest.importorskip("psycopg")
    if find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="kenyon-postgres-") as folder:
        Path(folder).chmod(0o711)
        cluster = Cluster(Path(folder, "cluster"), fsync=False)
        cluster.start()
        yield cluster
        cluster.kill()


@pytest.fixture
def url(cluster):
    """The address of an empty database."""
    name = f"test{next(_numbers)}"
    cluster.execute(f"CREATE DATABASE {name}")
    return cluster.url_of(name)


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
