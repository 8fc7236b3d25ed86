"""The declarations of all methods."""

import subprocess
import sys
from pathlib import Path

import pytest

from kenyon_lab.data import DATASETS
from kenyon_lab.methods import METHODS
from kenyon_lab.methods.entry import PARAMETERS_OF, MethodEntry
from kenyon_lab.protocol.record import SearchRecord
from kenyon_lab.protocol.store import Store

RESULTS = Path(__file__).parents[2] / "results"


def test_listing_methods_imports_neither_torch_nor_matplotlib():
    code = "import sys, kenyon_lab.methods; print({'torch', 'matplotlib'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_says_that_torch_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    sentence = r"Vanilla needs PyTorch, which is not installed: pip install 'kenyon-lab\[torch\]'"
    with pytest.raises(ImportError, match=sentence):
        METHODS["vanilla"].make()
    METHODS["ncm"].make()


def test_rejects_another_variant():
    with pytest.raises(ValueError, match="rule of perceptron-v2 is 2 by definition, but came as 3"):
        METHODS["perceptron-v2"].make(rule=3)


def test_names_and_groups():
    groups = [entry.group for entry in METHODS.values()]
    assert list(dict.fromkeys(groups)) == [
        *("paper", "reference", "variant", "ablation", "perceptron"),
        *("modern", "readout", "ceiling"),
    ]
    assert groups == sorted(groups, key=groups.index)
    assert all(entry.version >= 1 for entry in METHODS.values())


def test_tuned_parameters_are_those_of_the_searches():
    searches = Store(RESULTS).records(SearchRecord)
    selected = {(found.method, found.dataset, found.order): found.parameters for found in searches}
    assert selected == {
        (name, *key): parameters
        for name, entry in METHODS.items()
        for key, parameters in entry.tuned.items()
    }


@pytest.mark.parametrize("entry", METHODS.values(), ids=METHODS)
def test_takes_its_parameters(entry: MethodEntry):
    for dataset, parameters in entry.paper.items():
        assert dataset in DATASETS
        entry.make(**parameters).begin(DATASETS["mnist20"].n_features, 20)
    for parameters in entry.tuned.values():
        entry.make(**parameters)
        assert all(parameters[name] in values for name, values in entry.grid.items())


def test_variants_of_a_dataset_use_its_parameters():
    assert PARAMETERS_OF.keys() < DATASETS.keys()
    for dataset, original in PARAMETERS_OF.items():
        assert METHODS["fly"].paper[dataset] == METHODS["fly"].paper[original]
    assert "tiny100" not in METHODS["ncm"].paper
