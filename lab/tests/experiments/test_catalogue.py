"""The declarations of experiments."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS
from kenyon_lab.protocol.fingerprints import DECLARED


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_declares_the_datasets_that_its_module_names(name):
    source = Path(find_spec(f"kenyon_lab.experiments.{name}").origin).read_text()
    named = {dataset for dataset in DECLARED if f'"{dataset}"' in source}
    assert named == set(EXPERIMENTS[name].datasets)
