"""River's own checks of estimators."""

import random

import pytest
from river import checks

from kenyon.river import FlyClassifier


def river_checks():
    for parameters in FlyClassifier._unit_test_params():
        model = FlyClassifier(**parameters)
        assert not model._unit_test_skips()
        kind = ",".join(f"{name}={value}" for name, value in parameters.items()) or "defaults"
        for number, check in enumerate(checks.yield_checks(model)):
            yield pytest.param(model, check, id=f"{kind}-{check.__name__}-{number}")


@pytest.mark.parametrize(("model", "check"), river_checks())
def test_river_checks(model, check):
    random.seed(0)
    check(model.clone())
