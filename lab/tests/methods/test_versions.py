"""Every method gives the results of its version."""

import json

import pytest

from kenyon_lab.methods import METHODS
from lab.tests.methods.expected import COMMAND, PATH, agree, compute

EXPECTED = json.loads(PATH.read_text())


def test_lists_all_methods():
    assert EXPECTED.keys() == METHODS.keys(), f"run {COMMAND}"


@pytest.mark.parametrize("name", METHODS)
def test_results_are_those_of_the_version(name):
    version, known = METHODS[name].version, EXPECTED[name]
    assert version == known["version"], (
        f"{name} is at version {version}, but its expected results are of version "
        f"{known['version']}: run {COMMAND}"
    )
    assert agree(name, compute(name), known["correct"]), (
        f"{name} no longer gives the results of version {version}: undo the change, or raise "
        f"`version` in its MethodEntry and run {COMMAND}"
    )
