import json
from pathlib import Path

import pytest

from kenyon_lab.data import DATASETS
from kenyon_lab.methods.catalogue import METHODS, ORDERS
from kenyon_lab.methods.parameters import PAPER, TUNED

CHOICES = sorted((Path(__file__).parents[2] / "results" / "tuned").glob("*.json"))


def test_what_is_tuned_is_what_the_searches_chose():
    chosen = {}
    for path in CHOICES:
        choice = json.loads(path.read_text())
        orders = chosen.setdefault(choice["dataset"], {})
        orders.setdefault(choice["order"], {})[choice["method"]] = choice["parameters"]
    assert chosen == TUNED


@pytest.mark.parametrize("dataset", PAPER)
def test_methods_take_the_papers_parameters(dataset):
    assert dataset in DATASETS
    for name, parameters in PAPER[dataset].items():
        METHODS[name].make(**parameters).begin(DATASETS["mnist20"].n_features, 20)


def test_methods_take_tuned_parameters_from_their_grids():
    for orders in TUNED.values():
        assert set(orders) <= set(ORDERS)
        for methods in orders.values():
            for name, parameters in methods.items():
                METHODS[name].make(**parameters)
                assert all(parameters[key] in METHODS[name].grid[key] for key in METHODS[name].grid)
