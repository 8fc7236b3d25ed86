"""Figures are drawn as they will look."""

import pytest

from kenyon_lab.figures.style import style


@pytest.fixture(autouse=True)
def _style():
    with style():
        yield
