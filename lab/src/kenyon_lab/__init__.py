"""The FlyModel paper reproduced, and continual-learning methods compared."""

from importlib.metadata import version

__version__ = version("kenyon-lab")
