"""What can be learned from: datasets by name, and files of your own."""

from kenyon_lab.data.catalogue import CATALOGUE, load
from kenyon_lab.data.dataset import Dataset

__all__ = ["CATALOGUE", "Dataset", "load"]
