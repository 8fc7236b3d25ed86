"""Texts and images as features: scikit-learn transformers (extras `text` and `image`)."""

from kenyon.encoders.descriptions import from_description
from kenyon.encoders.image import ImageEncoder
from kenyon.encoders.text import TextEncoder

__all__ = ["ImageEncoder", "TextEncoder", "from_description"]
