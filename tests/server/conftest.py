"""A server that the tests of a file share, and the log of all servers."""

import json
import logging

import pytest

from kenyon.server.logs import JsonFormatter
from tests.server.running import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("store")) as running:
        yield running


class Collecting(logging.Handler):
    """Keeps the lines that a server would write."""

    def __init__(self):
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record))

    def parsed(self):
        return [json.loads(line) for line in [*self.lines]]

    def errors(self):
        return [line for line in self.parsed() if line["level"] == "error"]


@pytest.fixture
def log():
    # As `configure` does.
    logger, handler = logging.getLogger("kenyon"), Collecting()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)
