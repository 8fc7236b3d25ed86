"""`FlyClassifier` on Dask collections: learned in parallel, bit for bit as on one machine."""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f"kenyon.dask needs {error.name}: pip install 'kenyon[dask]'") from error

from kenyon.dask.classifier import FlyClassifier

__all__ = ["FlyClassifier"]
