"""A progress callback that records its calls."""

import pytest


@pytest.fixture
def progress():
    def progress(sequence, description):
        progress.shown.append((description, len(sequence)))
        return sequence

    progress.shown = []
    return progress
