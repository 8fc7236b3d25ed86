"""Saturation: the expected share of weights at their cap."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from kenyon.suggest import MASS, activity
from kenyon_lab.theory.cells import cosine_within


def expected_saturation(
    learning_rate: float, n_samples: int, active: float, within: float, level: float
) -> float:
    """Return the expected share of a class's synapses at their cap.

    A synapse saturates when the activities of its cell in the samples of the class add up to
    1 / learning_rate. In the model every activity is the mean `level`, so that it takes
    1 / (learning_rate * level) samples in which the cell is active.

    Parameters
    ----------
    learning_rate : float
        The paper's beta.
    n_samples : int
        Samples learned of the class.
    active : float
        The share of cells that win.
    within : float
        The mean overlap of two samples of the class.
    level : float
        The mean activity of a winner, at most 1.

    Returns
    -------
    share : float

    Examples
    --------
    >>> from kenyon_lab.theory.saturation import expected_saturation
    >>> [round(expected_saturation(rate, 100, 0.05, 0.27, 0.53), 3) for rate in (0.05, 0.2, 1)]
    [0.027, 0.154, 0.401]
    """
    # The tolerance keeps rounding errors from adding a sample.
    n_hits = np.ceil(1 / (learning_rate * level) - 1e-9)
    chances = activity(np.sqrt(cosine_within(within, active)), active)
    return float(binom.sf(n_hits - 1, n_samples, chances) @ MASS)
