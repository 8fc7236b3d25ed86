"""An HTTP server with simulated faults."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHUNK = 1024


class Server(ThreadingHTTPServer):
    """Serves one content at every path and counts the bytes sent.

    `breaks` holds, for each request to come, the number of bytes before the connection is lost;
    `statuses` the error status. While `gate` is closed, the server sends `at_first` bytes only.
    """

    daemon_threads = True

    def __init__(self, content=b""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = content
        self.takes_ranges = True
        self.says_length = True
        self.headers = {}
        self.breaks = []
        self.statuses = []
        self.at_first = 0
        self.gate = threading.Event()
        self.gate.set()
        self.asked = threading.Event()
        self.ranges = []
        self.sent = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.gate.set()
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/file"

    def handle_error(self, request, client_address):
        """Ignore lost connections."""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, asked = self.server, self.headers["Range"]
        server.ranges.append(asked)
        server.sent.append(0)
        server.asked.set()
        place = len(server.sent) - 1
        if server.statuses and (status := server.statuses.pop(0)):
            self.send_error(status)
            return
        content, status = server.content, 200
        if asked and server.takes_ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])
            if start >= len(content):
                self.send_error(416)
                return
            content, status = content[start:], 206
        self.send_response(status)
        if server.says_length:
            self.send_header("Content-Length", str(len(content)))
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        end = server.breaks.pop(0) if server.breaks else len(content)
        self._send(content[: server.at_first], place)
        server.gate.wait(30)
        self._send(content[server.at_first : end], place)
        self.close_connection = True

    def _send(self, content, place):
        for start in range(0, len(content), CHUNK):
            chunk = content[start : start + CHUNK]
            self.wfile.write(chunk)
            self.server.sent[place] += len(chunk)

    def log_message(self, *_):
        """Print nothing."""
