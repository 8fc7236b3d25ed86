"""Penalties judged from the factor of one, against what all singular values say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import cholesky

from kenyon.cross_validation import N_PROBES, cross_validation

GENERATOR = np.random.default_rng(0)


def problem(n_samples, n_cells, n_classes):
    """Codes of classes that overlap, and one-hot targets."""
    y = GENERATOR.integers(n_classes, size=n_samples)
    means = GENERATOR.standard_normal((n_classes, n_cells))
    return np.maximum(means[y] + GENERATOR.standard_normal((n_samples, n_cells)), 0), y


def exact(Phi, targets, shift):
    U, s, _ = np.linalg.svd(Phi, full_matrices=False)
    kept = s**2 / (s**2 + shift)
    residual = np.square(targets - (U * kept) @ (U.T @ targets)).sum()
    return residual / (len(Phi) - kept.sum()) ** 2


def judge(Phi, targets, shift, shifts, n_labelled):
    R = cholesky(Phi.T @ Phi + shift * np.eye(Phi.shape[1]))
    return cross_validation(R, Phi.T @ targets, shift, shifts, n_labelled, len(Phi))


@pytest.mark.parametrize("n_classes", [2, 10, N_PROBES + 30])
@pytest.mark.parametrize("n_samples", [300, 2000])
def test_within_a_factor_of_ten_it_is_about_exact(n_classes, n_samples):
    Phi, y = problem(n_samples, 200, n_classes)
    targets = np.eye(n_classes)[y]
    shifts = [1000.0, 100.0, 10_000.0]
    expected = [exact(Phi, targets, shift) for shift in shifts]
    judged = judge(Phi, targets, shifts[0], shifts, n_samples)
    np.testing.assert_allclose(judged, expected, rtol=0.08)


def test_of_the_factored_one_only_the_trace_is_estimated():
    Phi, y = problem(3000, 50, 5)
    targets = np.eye(5)[y]
    judged = judge(Phi, targets, 7.0, [7.0], 3000)
    np.testing.assert_allclose(judged, exact(Phi, targets, 7.0), rtol=1e-4)


def test_forgotten_and_empty_classes_are_targets_of_zero():
    Phi, y = problem(1000, 100, 4)
    targets = np.eye(5)[y]
    targets[:, 1] = 0
    judged = judge(Phi, targets, 50.0, [50.0], int((y != 1).sum()))
    np.testing.assert_allclose(judged, exact(Phi, targets, 50.0), rtol=0.01)


def test_what_has_no_freedom_is_not_judged():
    Phi, y = problem(30, 100, 3)
    assert judge(Phi, np.eye(3)[y], 1e-3, [1e-3], 30) == [math.inf]
