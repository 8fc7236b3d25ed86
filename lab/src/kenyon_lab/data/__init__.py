"""Datasets, by name or from the user's files."""

from kenyon_lab.data.dataset import Dataset
from kenyon_lab.data.registry import DATASETS, load

__all__ = ["DATASETS", "Dataset", "load"]
