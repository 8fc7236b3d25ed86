"""The model written a second time, slow and plain, as the reference for the fast one."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

MASK = 2**64 - 1


def _mix(state):
    z = (state + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


@lru_cache(maxsize=16)
def wiring(seed, n_channels, n_cells, fan_in):
    """Return the channels of each cell, drawn by a partial Fisher-Yates shuffle."""
    cells = []
    for cell in range(n_cells):
        state = _mix((_mix(seed) + cell) & MASK)
        channels = list(range(n_channels))
        for i in range(fan_in):
            bound = n_channels - i
            while True:
                product = (_mix(state) >> 32) * bound
                state = (state + 0x9E3779B97F4A7C15) & MASK
                if product % 2**32 >= 2**32 % bound:
                    break
            other = i + (product >> 32)
            channels[i], channels[other] = channels[other], channels[i]
        cells.append(sorted(channels[:fan_in]))
    return np.array(cells)


def quantise(x, fan_in):
    x = np.asarray(x, dtype=np.float64)
    largest = np.abs(x).max()
    if largest == 0:
        return np.zeros(len(x), dtype=int)
    return np.rint(x / largest * (32767 // fan_in)).astype(int)


def sums(x, coder):
    q = quantise(x, coder.fan_in)
    if coder.channels == "on-off":
        q = np.concatenate([np.maximum(q, 0), np.maximum(-q, 0)])
    elif coder.channels == "signed":
        q = np.concatenate([q, -q])
    inputs = wiring(coder.seed, len(q), coder.n_cells, coder.fan_in)
    return q[inputs].sum(axis=1)


def code(x, coder):
    """Return a dictionary from active cells to levels."""
    psi = sums(x, coder)
    ranked = sorted(np.flatnonzero(psi > 0), key=lambda cell: (-psi[cell], cell))
    winners, losers = ranked[: coder.n_active], ranked[coder.n_active :]
    offset = psi[losers[0]] if losers and coder.inhibition == "subtract" else 0
    if not winners or psi[winners[0]] == offset:
        return {}
    top = int(psi[winners[0]] - offset)
    levels = {int(cell): (510 * int(psi[cell] - offset) + top) // (2 * top) for cell in winners}
    return {cell: level for cell, level in sorted(levels.items()) if level > 0}


def fly_scores(counts, samples, level_of_cell, learning_rate):
    """Return the scores of the classes (rows of counts) for one code."""
    scores = []
    for row, n in zip(counts.tolist(), samples.tolist(), strict=True):
        exact = 255 * n / 20 if learning_rate is None else 255 / learning_rate
        cap = min(max(1, round(exact)), 2**31 - 1)
        total = sum(level * min(row[cell], cap) for cell, level in level_of_cell.items())
        scores.append(total / (255 * cap))
    return scores


class PaperModel:
    """The equations of the paper in floating point, sample by sample.

    phi: the n_active largest positive entries of Theta x, min-max normalised with the silent cells
    as zero. w <- (1 - alpha) w everywhere, + beta phi for the target class, capped to [0, 1].
    """

    def __init__(self, theta, n_active, n_classes, beta, alpha=0.0):
        self.theta, self.n_active, self.beta, self.alpha = theta, n_active, beta, alpha
        self.weights = np.zeros((theta.shape[0], n_classes))

    def phi(self, X):
        psi = X @ self.theta.T
        order = np.argsort(-psi, axis=1, kind="stable")[:, : self.n_active]
        phi = np.zeros_like(psi)
        np.put_along_axis(phi, order, np.take_along_axis(psi, order, axis=1), axis=1)
        phi = np.maximum(phi, 0)
        return phi / np.maximum(phi.max(axis=1, keepdims=True), np.finfo(float).tiny)

    def learn(self, phi, y):
        for code_, target in zip(phi, y, strict=True):
            self.weights *= 1 - self.alpha
            self.weights[:, target] += self.beta * code_
            np.clip(self.weights, 0, 1, out=self.weights)

    def predict(self, X):
        return (self.phi(X) @ self.weights).argmax(axis=1)
