"""What can be learned from: datasets by name, and files of your own."""

from kenyon.data.catalogue import CATALOGUE, load
from kenyon.data.dataset import Dataset

__all__ = ["CATALOGUE", "Dataset", "load"]
