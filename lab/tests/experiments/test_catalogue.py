"""The declarations of experiments."""

from importlib import import_module
from inspect import getsource

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.protocol.fingerprints import DECLARED


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_datasets_are_those_that_the_module_names(name):
    source = getsource(import_module(f"kenyon_lab.experiments.{name}"))
    named = {dataset for dataset in DECLARED if f'"{dataset}"' in source}
    assert named == set(EXPERIMENTS[name].datasets)
