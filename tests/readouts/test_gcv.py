"""Generalised cross-validation from one factor, against all singular values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import cholesky

from kenyon.readouts.gcv import N_PROBES, cross_validate

GENERATOR = np.random.default_rng(0)


def problem(n_samples, n_cells, n_classes):
    """Return codes of classes that overlap, and their labels."""
    y = GENERATOR.integers(n_classes, size=n_samples)
    means = GENERATOR.standard_normal((n_classes, n_cells))
    return np.maximum(means[y] + GENERATOR.standard_normal((n_samples, n_cells)), 0), y


def exact(Phi, targets, shift):
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    shrinkage = s**2 / (s**2 + shift)
    residual = np.square(targets - (U * shrinkage) @ (U.T @ targets)).sum()
    return residual / (len(Phi) - shrinkage.sum()) ** 2


def estimate(Phi, targets, shift, shifts, n_labelled):
    R = cholesky(Phi.T @ Phi + shift * np.eye(Phi.shape[1]))
    return cross_validate(R, Phi.T @ targets, shift, shifts, n_labelled, len(Phi))


@pytest.mark.parametrize("n_classes", [2, 10, N_PROBES + 30])
@pytest.mark.parametrize("n_samples", [300, 2000])
def test_is_accurate_within_a_factor_of_ten(n_classes, n_samples):
    Phi, y = problem(n_samples, 200, n_classes)
    targets = np.eye(n_classes)[y]
    shifts = [1000.0, 100.0, 10_000.0]
    expected = [exact(Phi, targets, shift) for shift in shifts]
    estimated = estimate(Phi, targets, shifts[0], shifts, n_samples)
    np.testing.assert_allclose(estimated, expected, rtol=0.08)


def test_only_the_trace_is_estimated_at_the_shift_of_the_factor():
    Phi, y = problem(3000, 50, 5)
    targets = np.eye(5)[y]
    estimated = estimate(Phi, targets, 7.0, [7.0], 3000)
    np.testing.assert_allclose(estimated, exact(Phi, targets, 7.0), rtol=1e-4)


def test_dropped_and_empty_classes_have_targets_of_zero():
    Phi, y = problem(1000, 100, 4)
    targets = np.eye(5)[y]
    targets[:, 1] = 0
    estimated = estimate(Phi, targets, 50.0, [50.0], int((y != 1).sum()))
    np.testing.assert_allclose(estimated, exact(Phi, targets, 50.0), rtol=0.01)


def test_is_infinite_without_degrees_of_freedom():
    Phi, y = problem(30, 100, 3)
    assert estimate(Phi, np.eye(3)[y], 1e-3, [1e-3], 30) == [math.inf]
