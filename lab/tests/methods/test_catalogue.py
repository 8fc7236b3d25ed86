import sys

import pytest

from kenyon_lab.methods.catalogue import METHODS


def test_without_pytorch_a_method_that_needs_it_says_so(monkeypatch):
    monkeypatch.delitem(sys.modules, "kenyon_lab.methods.vanilla", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    sentence = r"vanilla needs PyTorch, which is not installed: pip install 'kenyon-lab\[torch\]'"
    with pytest.raises(ImportError, match=sentence):
        METHODS["vanilla"].make()
