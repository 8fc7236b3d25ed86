"""A server that the tests of a file share."""

import pytest

from tests.server.running import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("store")) as running:
        yield running
