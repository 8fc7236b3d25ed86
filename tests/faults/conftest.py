"""Faults without a measurement of coverage."""

import pytest

from tests.forking import untraced


@pytest.fixture(autouse=True)
def no_coverage():
    """Trace nothing."""
    with untraced():
        yield
