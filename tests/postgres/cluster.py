"""A cluster of PostgreSQL in a temporary folder, for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "postgres"
"""PostgreSQL refuses to run as root, so root runs it as the user that Debian's package creates."""
PROGRAMS = "initdb", "pg_isready", "postgres"
PASSWORD = "s3cret-w0rd"
"""No message may hold it."""
SETTINGS = {"max_connections": 60, "shared_buffers": "64MB"}


def find_programs() -> Path | None:
    """Return the newest folder with PostgreSQL's programs, or None."""
    folders = [*map(Path, os.get_exec_path()), *Path("/usr/lib/postgresql").glob("*/bin")]
    found = [folder for folder in folders if all((folder / name).exists() for name in PROGRAMS)]
    return max(found, default=None)


def execute(url: str, statement: str) -> list[tuple[object, ...]]:
    """Execute a statement on a connection of its own, and return its rows."""
    # Not installed everywhere.
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


@contextmanager
def temporary_cluster(*, fsync: bool = True) -> Iterator[Cluster]:
    """Run PostgreSQL in a temporary folder."""
    if find_programs() is None:
        raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
    with tempfile.TemporaryDirectory(prefix="kenyon-postgres-") as folder:
        # The user `postgres` must reach what is in it.
        Path(folder).chmod(0o711)
        cluster = Cluster(Path(folder, "cluster"), fsync=fsync)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.kill()


class Cluster:
    """PostgreSQL on a free port of 127.0.0.1; `start`, `kill` and `stop` may be repeated.

    Parameters
    ----------
    folder : Path
        A new folder, which is made. The user `postgres` must reach it.
    fsync : bool, default=True
        False is much faster, and loses nothing when PostgreSQL is killed: the kernel lives on.
    """

    def __init__(self, folder: Path, *, fsync: bool = True) -> None:
        programs = find_programs()
        assert programs is not None
        self._programs, self._folder = programs, folder
        self._fsync = "on" if fsync else "off"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        if os.getuid() == 0:
            shutil.chown(folder, USER, USER)
        password = folder / "password"
        password.write_text(PASSWORD)
        password.chmod(0o644)
        options = "-A", "scram-sha-256", "--pwfile", str(password), "-U", "kenyon", "-N"
        # Texts and messages are the same whatever the locale of this process is.
        locale = "-E", "UTF8", "--no-locale"
        self._run("initdb", "-D", str(folder / "data"), *options, *locale)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]

    def url_of(self, database: str, port: int | None = None) -> str:
        """Return the address of a database."""
        return f"postgresql://kenyon:{PASSWORD}@127.0.0.1:{port or self.port}/{database}"

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Execute a statement that belongs to no database of a test."""
        return execute(self.url_of("postgres"), statement)

    def create(self, database: str) -> str:
        """Create a database, and return its address."""
        self.execute(f"CREATE DATABASE {database}")
        return self.url_of(database)

    def start(self) -> None:
        """Start PostgreSQL and wait until it answers."""
        settings = {"port": self.port, "listen_addresses": "127.0.0.1", **SETTINGS}
        settings["fsync"] = self._fsync
        settings["unix_socket_directories"] = str(self._folder)
        options = [
            option for name, value in settings.items() for option in ("-c", f"{name}={value}")
        ]
        command = self._command("postgres", "-D", str(self._folder / "data"), *options)
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, cwd="/"
            )
        end = time.monotonic() + 60
        while subprocess.call(
            [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        ):
            if time.monotonic() > end or self._process.poll() is not None:
                raise RuntimeError("PostgreSQL did not start")
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill all processes of PostgreSQL, as a power failure would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Let PostgreSQL end, without waiting for connections."""
        self._end(signal.SIGINT)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        if number is signal.SIGKILL:
            os.killpg(self._process.pid, number)
        else:
            self._process.send_signal(number)
        self._process.wait(60)
        self._process = None
        if number is signal.SIGKILL:
            self._kill_children()

    def _kill_children(self) -> None:
        """Kill what is left: PostgreSQL's processes leave the session of their parent."""
        marker = str(self._folder).encode()
        for path in Path("/proc").glob("[0-9]*/cwd"):
            if _is_in(path, marker):
                with suppress(ProcessLookupError):
                    os.kill(int(path.parent.name), signal.SIGKILL)
        end = time.monotonic() + 10
        while any(_is_in(path, marker) for path in Path("/proc").glob("[0-9]*/cwd")):
            if time.monotonic() > end:
                raise RuntimeError("PostgreSQL's processes did not end")
            time.sleep(0.02)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(self._command(program, *arguments), check=True, capture_output=True, cwd="/")

    def _command(self, program: str, *arguments: str) -> list[str]:
        command = [str(self._programs / program), *arguments]
        # exec, so that signals reach PostgreSQL itself.
        return (
            ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", *command]
            if os.getuid() == 0
            else command
        )


def _is_in(path: Path, marker: bytes) -> bool:
    try:
        return os.fsencode(path.readlink()).startswith(marker)
    except OSError:
        return False
