"""Commands that pages only show, since they install, serve or take long, exist with their options.

The blocks of `bash` and `python` run (`tests/docs/test_examples.py`).
"""

import re
import shlex

import pytest
import typer

from kenyon.cli.app import app
from kenyon_lab.cli import app as lab_app
from lab.tests.pages.pages import PAGES, ROOT
from tests.docs.examples import blocks

COMMANDS = [
    (page, line)
    for page in PAGES
    for language in ("", "sh")
    for block in blocks(page, language)
    for line in block.splitlines()
    if re.match(r"(kenyon|kenyon-lab|make|pip) ", line)
]
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_a_command_that_is_shown_exists(page, line):
    program, *words = shlex.split(line, comments=True)
    if program == "make":
        assert set(words) <= set(TARGETS)
    elif program == "pip":
        check_installation(words)
    else:
        check_command(typer.main.get_command(app if program == "kenyon" else lab_app), words)


def check_installation(words):
    assert words[:3] == ["install", "-c", "constraints.txt"]
    for place, extras in (re.fullmatch(r"(.*?)(?:\[(.*)\])?", word).groups() for word in words[3:]):
        project = (ROOT / place / "pyproject.toml").read_text(encoding="utf-8")
        declared = project.partition("[project.optional-dependencies]")[2]
        for extra in filter(None, (extras or "").split(",")):
            assert re.search(rf"^{extra} = ", declared, re.MULTILINE), extra


def check_command(command, words):
    while hasattr(command, "commands"):
        command = command.commands[words[0]]
        words = words[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_there_are_such_commands():
    assert {line.split()[0] for _, line in COMMANDS} == {"kenyon", "kenyon-lab", "make", "pip"}
