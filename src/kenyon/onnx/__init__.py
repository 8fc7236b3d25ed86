"""Classifiers as ONNX files, for other languages, devices and browsers (extra `onnx`)."""

try:
    import onnx  # noqa: F401
except ImportError as error:
    raise ImportError("kenyon.onnx needs onnx: pip install 'kenyon[onnx]'") from error

from kenyon.onnx.files import export
from kenyon.onnx.pipelines import register

__all__ = ["export", "register"]
