"""Change model files and make their digests right again."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

import kenyon
from kenyon import model_file


def assert_refused(path, message="is damaged|not a Kenyon model|has the format version"):
    with pytest.raises(ValueError, match=message) as refusal:
        kenyon.load(path)
    assert str(refusal.value).startswith(f"{path} ")


def read(path):
    with safe_open(path, framework="numpy") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def digest(metadata, tensors):
    if metadata["version"] not in model_file.OLD:
        return model_file._digest(metadata, model_file._digest_each(tensors))
    return model_file._old_digest(metadata, tensors)


def forge(path, change=lambda header, tensors: None, text=None, **metadata):
    """Change the file and give it the digest of the new content."""
    before, tensors = read(path)
    header = json.loads(before["model"])
    change(header, tensors)
    text = json.dumps(header) if text is None else text
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    changed = {**before, "model": text, **metadata}
    given = {name: value for name, value in changed.items() if value is not None}
    if "digest" not in metadata and {"model", "version"} <= given.keys():
        given["digest"] = digest(given, tensors)
    save_file(tensors, path, given)
