"""docs/server.md: its commands run, and its tables are complete."""

import json
import re
import socket
from dataclasses import fields
from pathlib import Path

from kenyon.server.limits import MAX_LABEL, MAX_NAMED, Limits
from kenyon.server.metrics import Metrics
from kenyon.server.predicting import MAX_EXPLAINED
from kenyon.server.problems import Problem
from kenyon.server.routes import ROUTES
from tests.page_commands import blocks_of, run_blocks

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "server.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    done = run_blocks(PAGE, tmp_path, [("8000", port)])
    assert '"event":1,"learned":3,"ids":["a1","a2","#1.2"]' in done.stdout
    answers = json.loads((tmp_path / "answers.json").read_text())["answers"]
    assert len(answers) == 797
    assert re.search(r"cancel 0\.\d+$", done.stdout, re.MULTILINE)
    called = set(re.findall(r"\$URL(/\S*?)[\"?\s]", "\n".join(blocks_of(PAGE))))
    for route in ROUTES:
        is_here = route.is_documented and route.scope is not None
        if is_here and route.path not in ("/metrics", "/openapi.json"):
            pattern = re.sub(r"\{\w+\}", r"[^/]+", route.path)
            assert any(re.fullmatch(pattern, path) for path in called), route.path


def test_the_table_of_routes_is_complete():
    rows = re.findall(r"^\| `(\w+) (/\S*)` \| (\w+) \|", PAGE, re.MULTILINE)
    documented = {(one.method, one.path, one.scope) for one in ROUTES if one.is_documented}
    assert {(method, path, None if scope == "none" else scope) for method, path, scope in rows} == (
        documented
    )
    statuses = {status for route in ROUTES for status in route.problems} | {405, 431}
    listed = re.findall(r"^\| ((?:\d{3}(?:, )?)+) \|", PAGE, re.MULTILINE)
    assert {int(one) for row in listed for one in row.split(", ")} == statuses
    assert all(Problem(status, "").document() for status in statuses)


def test_the_table_of_limits_is_true():
    limits = dict(re.findall(r"^\| (.+?) \| ([\d,]+) \|", PAGE, re.MULTILINE))
    numbers = {name: int(number.replace(",", "")) for name, number in limits.items()}
    defaults, megabyte = Limits(), 2**20
    assert numbers["megabytes of a request"] * megabyte == defaults.body
    assert numbers["megabytes of an imported or merged model"] * megabyte == defaults.file
    assert numbers["samples of a request"] == defaults.batch
    assert numbers["classes of a model"] == defaults.classes
    assert numbers["characters of a label"] == MAX_LABEL
    assert numbers["samples with `explain`"] == MAX_EXPLAINED
    assert numbers["classes that one answer names, for all samples together"] == MAX_NAMED
    assert numbers["requests in progress"] == defaults.requests
    assert numbers["open connections"] == defaults.connections
    assert numbers["open streams of `live`"] == defaults.live
    assert numbers["seconds to send a body"] == defaults.read_seconds
    assert numbers["seconds to send the head of a request"] == defaults.header_seconds
    assert numbers["seconds that `after` waits"] == defaults.wait_seconds
    assert len(fields(Limits)) == 13


def test_the_metrics_are_named(server):
    text = server.http.get("/metrics").text
    names = set(re.findall(r"^# TYPE (kenyon_\w+)", text, re.MULTILINE))
    own = {name for name in names if not name.endswith("_created")}
    named = set(re.findall(r"`(kenyon_[a-z_]+)`", PAGE))
    assert own == named
    assert Metrics().registry is not Metrics().registry
