"""Ridge regression as a least-squares problem, with no sums."""

import numpy as np


def unit_vectors(y, classes):
    return np.array([[float(label == one) for one in classes] for label in y])


def ridge_weights(H, y, classes, penalty):
    """Solve for weights by adding a sample for each cell that pulls its weights to zero."""
    n_cells = H.shape[1]
    samples = np.vstack([H, np.sqrt(penalty) * np.eye(n_cells)])
    targets = np.vstack([unit_vectors(y, classes), np.zeros((n_cells, len(classes)))])
    return np.linalg.lstsq(samples, targets, rcond=None)[0]
