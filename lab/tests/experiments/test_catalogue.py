"""The declarations of experiments."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from kenyon_lab.experiments.catalogue import EXPERIMENTS, ExperimentJob
from kenyon_lab.protocol.fingerprints import DECLARED


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_declares_the_datasets_that_its_module_names(name):
    source = Path(find_spec(f"kenyon_lab.experiments.{name}").origin).read_text()
    named = {dataset for dataset in DECLARED if f'"{dataset}"' in source}
    assert named == set(EXPERIMENTS[name].datasets)


OF_A_SEED = [
    name
    for name, experiment in EXPERIMENTS.items()
    if "mnist20" in experiment.datasets and not experiment.has_one_seed
]


class LoadedError(Exception):
    """Stops an experiment at its first dataset."""


@pytest.mark.parametrize("name", OF_A_SEED)
@pytest.mark.parametrize(("seed", "dataset"), [(0, "mnist20"), (3, "mnist20-seed3")])
def test_loads_the_features_that_its_record_names(name, seed, dataset, monkeypatch):
    def stop(loaded):
        raise LoadedError(loaded)

    monkeypatch.setattr(import_module(f"kenyon_lab.experiments.{name}"), "load", stop)
    with pytest.raises(LoadedError, match=f"^{dataset}$"):
        EXPERIMENTS[name].measure(seed)
    monkeypatch.setattr("kenyon_lab.protocol.job.is_built_here", lambda other: False)
    fingerprints = ExperimentJob(name, seed).fingerprints
    assert fingerprints["mnist20"] == DECLARED[dataset]["test"]
    assert set(fingerprints) == set(EXPERIMENTS[name].datasets)


def test_some_experiments_depend_on_the_seed():
    assert set(OF_A_SEED) == {"circuit", "hijacking", "pairs", "decay", "rates"}
