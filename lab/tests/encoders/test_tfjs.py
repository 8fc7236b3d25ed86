"""Weights in the layers format of TensorFlow.js, whole and damaged."""

import json

import numpy as np
import pytest

from kenyon_lab.encoders.tfjs import read_weights

RNG = np.random.default_rng(3)
WEIGHTS = {
    "conv/kernel": RNG.normal(size=(3, 3, 2, 4)).astype(np.float32),
    "conv/bias": RNG.normal(size=4).astype(np.float32),
    "fc/kernel": RNG.normal(size=(4, 5)).astype(np.float32),
}


def write_model(folder, weights, shard_size=100):
    """Write a model whose tensors cross the borders of its shards."""
    folder.mkdir(parents=True, exist_ok=True)
    content = b"".join(array.astype("<f4").tobytes() for array in weights.values())
    starts = range(0, len(content), shard_size)
    paths = [f"group1-shard{i + 1}of{len(starts)}.bin" for i in range(len(starts))]
    for path, start in zip(paths, starts, strict=True):
        (folder / path).write_bytes(content[start : start + shard_size])
    described = [
        {"name": name, "shape": list(array.shape), "dtype": "float32"}
        for name, array in weights.items()
    ]
    manifest = [{"paths": paths, "weights": described}]
    write_description(folder, {"format": "layers-model", "weightsManifest": manifest})


def write_description(folder, description):
    (folder / "model.json").write_text(json.dumps(description))


@pytest.fixture
def model(tmp_path):
    write_model(tmp_path / "model", WEIGHTS)
    return tmp_path / "model"


@pytest.fixture
def change(model):
    """Change the description of the model."""

    def change(edit):
        description = json.loads((model / "model.json").read_text())
        edit(description["weightsManifest"])
        write_description(model, description)

    return change


def error_of(folder, error=ValueError):
    with pytest.raises(error) as caught:
        read_weights(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("shard_size", [4, 100, 10_000])
def test_reads_shards_of_any_size(tmp_path, shard_size):
    write_model(tmp_path, WEIGHTS, shard_size)
    read = read_weights(str(tmp_path))
    assert list(read) == list(WEIGHTS)
    for name, array in WEIGHTS.items():
        np.testing.assert_array_equal(read[name], array, strict=True)


def test_reads_several_groups(model, change):
    def split(manifest):
        (model / "last.bin").write_bytes(WEIGHTS["fc/kernel"].tobytes())
        rest = b"".join(WEIGHTS[name].tobytes() for name in ("conv/kernel", "conv/bias"))
        (model / "first.bin").write_bytes(rest)
        described = manifest[0]["weights"]
        manifest[:] = [
            {"paths": ["first.bin"], "weights": described[:2]},
            {"paths": ["last.bin"], "weights": described[2:]},
        ]

    change(split)
    np.testing.assert_array_equal(read_weights(model)["fc/kernel"], WEIGHTS["fc/kernel"])


@pytest.mark.parametrize("name", ["model.json", "group1-shard2of4.bin"])
def test_missing_file(model, name):
    (model / name).unlink()
    assert error_of(model, FileNotFoundError) == f"there is no file {model / name}"


@pytest.mark.parametrize("length", [0, 1, 99, 101])
def test_shard_of_another_size(model, length):
    shard = model / "group1-shard2of4.bin"
    n_bytes = 4 * sum(array.size for array in WEIGHTS.values())
    shard.write_bytes(bytes(length))
    assert error_of(model) == (
        f"the shards in {model} have {n_bytes - 100 + length} bytes; expected {n_bytes}, as "
        "model.json says"
    )


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_rejects_other_than_json(model, content):
    (model / "model.json").write_bytes(content)
    assert str(model / "model.json") in error_of(model)


@pytest.mark.parametrize(
    "description",
    [
        [],
        3,
        {},
        {"weightsManifest": 3},
        {"weightsManifest": [{}]},
        {"weightsManifest": [{"paths": [], "weights": [3]}]},
        {"weightsManifest": [{"paths": [3], "weights": []}]},
        {"weightsManifest": [{"paths": [], "weights": [{"name": "x", "dtype": "float32"}]}]},
    ],
)
def test_rejects_other_json(model, description):
    write_description(model, description)
    assert error_of(model).startswith(f"{model / 'model.json'} does not describe weights: ")


@pytest.mark.parametrize("path", ["../secret.bin", "/etc/passwd", "a/b.bin"])
def test_reads_nothing_outside_the_folder(model, change, path):
    change(lambda manifest: manifest[0]["paths"].insert(0, path))
    assert error_of(model) == f"{model} must hold its shards itself; got the path {path!r}"


def test_rejects_other_types(model, change):
    change(lambda manifest: manifest[0]["weights"][1].update(dtype="int32"))
    assert error_of(model) == "conv/bias must be stored as float32; got int32"


def test_rejects_quantised_weights(model, change):
    quantisation = {"dtype": "uint8", "scale": 0.1, "min": 0}
    change(lambda manifest: manifest[0]["weights"][1].update(quantization=quantisation))
    assert error_of(model) == "conv/bias must be stored as float32; got uint8"


@pytest.mark.parametrize("shape", [[-4], [2.0, 2], ["4"], [0]])
def test_rejects_other_shapes(model, change, shape):
    change(lambda manifest: manifest[0]["weights"][1].update(shape=shape))
    assert error_of(model).startswith("conv/bias must have a shape of integers above 0; got (")
