"""The blocks of shell on the pages, run one after the other as a reader would."""

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = "README.md", "docs/commands.md"


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page, tmp_path):
    if page == "README.md":
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    blocks = re.findall(
        r"^```bash\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE
    )
    assert blocks
    programs = sysconfig.get_path("scripts")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "KENYON_CACHE_DIR": str(tmp_path / "cache"),
        },
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "<html" in (tmp_path / "page.html").read_text(encoding="utf-8")
    answers = (tmp_path / "answers.csv").read_text(encoding="utf-8").splitlines()
    assert {"predicted", "probability_2"} <= set(answers[0].split(","))
    assert len(answers) > 1


def test_the_page_lists_all_commands():
    import typer

    from kenyon.cli.app import app

    page = (ROOT / "docs" / "commands.md").read_text()
    listed = re.findall(r"^\| `kenyon (\w+)", page, flags=re.MULTILINE)
    assert set(listed) == set(typer.main.get_command(app).commands)
