"""Random affine transformations: only in training, bounded, reproducible."""

import numpy as np
import torch

from kenyon_lab.encoders.augmentation import RandomAffine


def square(n):
    images = torch.zeros(n, 1, 28, 28, dtype=torch.float64)
    images[:, :, 10:18, 10:18] = 1
    return images


def middles(images):
    """Centres of mass, in pixels."""
    places = torch.arange(28, dtype=images.dtype)
    weights = images[:, 0] / images[:, 0].sum(dim=(1, 2), keepdim=True)
    down = (weights.sum(dim=2) * places).sum(dim=1)
    right = (weights.sum(dim=1) * places).sum(dim=1)
    return torch.stack([down, right])


def test_evaluation_does_not_transform():
    images = square(3)
    assert torch.equal(RandomAffine(np.random.default_rng(0)).eval()(images), images)


def test_transformations_are_bounded():
    distorted = RandomAffine(np.random.default_rng(0))(square(500))
    moved = middles(distorted) - 13.5
    assert 3 < moved.abs().max() < 4.5, "3 pixels, stretched and sheared"
    assert len(torch.unique(moved[0])) == 500
    areas = distorted.sum(dim=(1, 2, 3)) / 64
    assert 0.7 < areas.min() < 0.85
    assert 1.2 < areas.max() < 1.4


def test_generator_determines_transformations():
    once, again = (RandomAffine(np.random.default_rng(seed))(square(5)) for seed in (1, 1))
    torch.manual_seed(0)
    assert torch.equal(once, again)
    assert not torch.equal(once, RandomAffine(np.random.default_rng(2))(square(5)))
