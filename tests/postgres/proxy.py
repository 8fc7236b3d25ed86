"""A TCP proxy that cuts connections."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Proxy:
    """A port of 127.0.0.1 that leads to another one.

    Parameters
    ----------
    port : int
    """

    def __init__(self, port):
        self._target = port
        self._lock = threading.Lock()
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._is_refusing = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """End all connections at once."""
        with self._lock:
            sockets, self._sockets = self._sockets, []
        for each in sockets:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def refuse(self, is_refusing):
        """End new connections, too."""
        self._is_refusing = is_refusing
        if is_refusing:
            self.cut()

    def close(self):
        self._is_refusing = True
        # Closing alone does not wake a thread that accepts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._is_refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._sockets += [near, far]
            ended = threading.Semaphore(0)
            for source, sink in ((near, far), (far, near)):
                arguments = source, sink, ended
                threading.Thread(target=self._carry, args=arguments, daemon=True).start()
            threading.Thread(target=_close_both, args=(near, far, ended), daemon=True).start()

    def _carry(self, source, sink, ended):
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        ended.release()


def _close_both(near, far, ended):
    ended.acquire()
    ended.acquire()
    near.close()
    far.close()
