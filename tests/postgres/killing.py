"""Two servers under load, one of which is killed at random moments."""

from __future__ import annotations

import random
import time

from tests.postgres import servers
from tests.postgres.servers import Server


class KilledServers:
    """Two servers that learn and unlearn all the time.

    Parameters
    ----------
    url : str
        An empty database.
    folder : Path
        For the receipts.
    seed : int
    """

    def __init__(self, url, folder, seed):
        self._url, self._folder = url, folder
        self._random = random.Random(seed)
        self._n_started = 0
        self._servers = []

    def __enter__(self):
        self._servers = [self._start() for _ in range(2)]
        return self

    def __exit__(self, *_):
        for server in self._servers:
            server.kill()

    def _start(self):
        self._n_started += 1
        server = Server(self._url)
        if self._n_started == 1:
            server(servers.create)
        server(servers.wait_for_model)
        server(servers.load, self._folder, f"s{self._n_started}")
        return server

    def round(self, seconds):
        """Kill one server, and start another."""
        time.sleep(self._random.uniform(0, seconds))
        number = self._random.randrange(2)
        self._servers[number].kill()
        self._servers[number] = self._start()

    def check(self):
        """End the load, and compare the servers with the receipts and with a replay."""
        for server in self._servers:
            server(servers.stop_load)
        acknowledged = servers.receipts(self._folder)
        last = max(acknowledged)
        first, second = [server(servers.digest_after, last) for server in self._servers]
        for server in self._servers:
            server.close()
        assert first == second == servers.check(self._url, acknowledged)
        self._servers = []
