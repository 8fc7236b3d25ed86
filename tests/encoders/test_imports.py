"""No optional package is imported before it is needed."""

import subprocess
import sys

SCRIPT = """
import sys
# scikit-learn imports some of these if it finds them.
import sklearn.base, sklearn.feature_extraction.text, sklearn.utils.validation
before = set(sys.modules)
import kenyon, kenyon.encoders
kenyon.encoders.TextEncoder("hashing").fit_transform(["a"])
try:
    kenyon.encoders.TextEncoder("minilm").fit().check()
except ImportError:
    pass
optional = {"torch", "transformers", "sentence_transformers", "model2vec", "PIL", "tqdm", "rich"}
optional |= {"typer", "polars", "huggingface_hub", "tokenizers", "river"}
assert not optional & (set(sys.modules) - before), optional & set(sys.modules)
"""


def test_optional_packages_are_imported_late():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)
