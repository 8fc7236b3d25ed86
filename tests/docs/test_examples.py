"""The examples of the quickstart, the guides and the concepts run, and print what they say.

The blocks of shell of a page run first, one after the other; what they start in the background,
such as a server, runs until those of Python have run too. A comment after `kenyon ask` is the best
answer.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig

import pytest

from tests.docs.examples import ROOT, blocks, promised

DOCS = ROOT / "docs"
FOLDERS = DOCS / "guides", DOCS / "concepts"
OTHERS = [DOCS / f"{name}.md" for name in ("bench", "data", "quickstart", "readouts")]
FILES = [*OTHERS, *sorted(path for each in FOLDERS for path in each.glob("*.md"))]
PAGES = [str(path.relative_to(ROOT)) for path in FILES]
ELSEWHERE = {
    "README.md": "tests/cli/test_pages.py and lab/tests/test_readme.py",
    "lab/README.md": "lab/tests/test_readme.py",
    "docs/cluster.md": "tests/dask/test_page.py",
    "docs/commands.md": "tests/cli/test_pages.py",
    "docs/encoders.md": "lab/tests/test_readme.py",
    "docs/integrations.md": "tests/test_integrations_page.py",
    "docs/label_studio.md": "tests/server/test_label_studio.py",
    "docs/model.md": "tests/test_model_page.py",
    "docs/onnx.md": "tests/onnx/test_page.py",
    "docs/postgres.md": "tests/postgres/test_docs.py",
    "docs/river.md": "tests/river/test_page.py",
    "docs/server.md": "tests/server/test_docs.py",
    "docs/store.md": "tests/store/test_page.py",
    "docs/theory.md": "lab/tests/theory/test_page.py",
}
"""Pages with examples that other tests run."""

PORT = "8000"
WAIT_FOR_PYTHON = """
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
{}
echo the blocks of shell have run
read -r _
"""


@pytest.fixture
def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page, tmp_path, free_port):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "results").symlink_to(ROOT / "lab" / "results")
    shell, code = ("\n".join(blocks(page, name)) for name in ("bash", "python"))
    programs = sysconfig.get_path("scripts")
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "KENYON_CACHE_DIR": str(tmp_path / "cache"),
    }
    settings = {"cwd": tmp_path, "env": environment, "text": True}
    script = WAIT_FOR_PYTHON.format(shell.replace(PORT, free_port))
    with (
        (tmp_path / "shell.log").open("w+") as log,
        subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", script],
            **settings,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        ) as running,
    ):
        try:
            wait_for(tmp_path / "shell.log", running)
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", code.replace(PORT, free_port)],
                **settings,
                capture_output=True,
                timeout=300,
            )
        finally:
            running.stdin.close()
            running.wait(60)
    written = (tmp_path / "shell.log").read_text(encoding="utf-8")
    for answer in re.findall(r"^kenyon ask .*  # (\w+)$", shell, flags=re.MULTILINE):
        assert re.search(rf"^{answer} +[5-9]\d\.\d%$", written, flags=re.MULTILINE), written
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == promised(code)


def wait_for(log, running):
    """Wait until the blocks of shell have run; show what they wrote if one fails."""
    while "the blocks of shell have run" not in log.read_text(encoding="utf-8"):
        try:
            running.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(log.read_text(encoding="utf-8"))
    assert "Traceback" not in log.read_text(encoding="utf-8")


def test_every_page_with_examples_is_tested():
    pages = [ROOT / "README.md", ROOT / "lab" / "README.md", *(ROOT / "docs").rglob("*.md")]
    names = [str(page.relative_to(ROOT)) for page in pages]
    found = {page for page in names if blocks(page, "python") or blocks(page, "bash")}
    assert found - set(PAGES) == set(ELSEWHERE)
    for page, test in ELSEWHERE.items():
        for name in test.split(" and "):
            assert page.rpartition("/")[2] in (ROOT / name).read_text(encoding="utf-8"), page
