"""docs/postgres.md: its commands run."""

import socket
from pathlib import Path

from tests.page_commands import run_blocks
from tests.postgres.cluster import PASSWORD

PAGE = Path(__file__).resolve().parents[2] / "docs" / "postgres.md"


def test_the_commands_of_the_page_run(url, tmp_path):
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        ports = [("8001", str(one.getsockname()[1])), ("8002", str(two.getsockname()[1]))]
    page, address = PAGE.read_text(encoding="utf-8"), url.replace(f":{PASSWORD}", "")
    done = run_blocks(page, tmp_path, ports, STORE=address, PGPASSWORD=PASSWORD)
    assert '"event":1,"learned":2,"ids":["a1","a2"]' in done.stdout
    assert '"event":1,"answers":[{"label":"card"' in done.stdout
    assert "0 wrong." in done.stdout
    assert PASSWORD not in done.stdout + done.stderr
