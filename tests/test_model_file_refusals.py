"""Damaged files, and files that are not models, raise an error and execute nothing."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import kenyon
from kenyon import FlyClassifier, model_file
from tests.forgery import assert_refused, forge, read
from tests.reading import memory_of
from tests.refusal import COMPARTMENTS

X = np.random.default_rng(1).random((12, 4))
Y = ["a", "b", "naïve"] * 4
DECAY = {"learning_rate": 0.1, "decay": 0.01}


@pytest.fixture(params=[{}, DECAY], ids=["counting", "decaying"])
def path(request, tmp_path):
    """Return the path of a small saved model with these parameters, or of a golden file's copy."""
    path = tmp_path / "fly.kenyon"
    if isinstance(request.param, str):
        path.write_bytes((Path(__file__).parent / "golden" / request.param).read_bytes())
    else:
        FlyClassifier(n_cells=10, readout="fly", **request.param).fit(X, Y).save(path)
    return path


def test_rejects_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*fly\.kenyon"):
        kenyon.load(tmp_path / "fly.kenyon")


def test_rejects_a_folder(tmp_path):
    with pytest.raises(OSError, match=f"{tmp_path.name} could not be read"):
        kenyon.load(tmp_path)


def test_rejects_a_truncated_file(path):
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert_refused(path)


def test_rejects_extra_bytes(path):
    path.write_bytes(path.read_bytes() + b"\0" * 8)
    assert_refused(path)


@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80, 0xFF])
@pytest.mark.parametrize("path", [{}, DECAY, "golden-v2.kenyon"], indirect=True, ids=str)
def test_rejects_any_changed_byte(path, flip):
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= flip
        path.write_bytes(damaged)
        assert_refused(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"This is a text file.\n" * 50,
        b"{}",
        b"\0" * 1000,
        b"\xff" * 1000,
        b"PK\x03\x04" + b"\0" * 500,
        np.random.default_rng(0).bytes(5000),
    ],
)
def test_rejects_other_files(content, tmp_path):
    (tmp_path / "other").write_bytes(content)
    assert_refused(tmp_path / "other", "is not a Kenyon model, or is truncated")


class Bomb:
    """Creates a file when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_does_not_execute_a_pickle(tmp_path):
    trace = tmp_path / "trace"
    bomb = pickle.dumps(Bomb(trace))
    pickle.loads(bomb)
    assert trace.exists(), "the bomb must work"
    trace.unlink()
    for content in (bomb, len(bomb).to_bytes(8, "little") + bomb):
        (tmp_path / "model").write_bytes(content)
        assert_refused(tmp_path / "model", "is not a Kenyon model")
    assert not trace.exists()


@pytest.mark.parametrize("dtype", ["F64", "BF16", "F8_E4M3"])
def test_rejects_other_safetensors(dtype, tmp_path):
    size = {"F64": 8, "BF16": 2, "F8_E4M3": 1}[dtype]
    header = json.dumps({"w": {"dtype": dtype, "shape": [2], "data_offsets": [0, 2 * size]}})
    content = len(header).to_bytes(8, "little") + header.encode() + bytes(2 * size)
    (tmp_path / "other").write_bytes(content)
    assert_refused(tmp_path / "other", "is a safetensors file, but not a Kenyon model")


def test_loads_an_unchanged_forgery(path):
    forge(path)
    assert kenyon.load(path).classes_.tolist() == ["a", "b", "naïve"]


@pytest.mark.parametrize("version", ["6", "10", "1.5", "", None])
def test_rejects_other_versions(path, version):
    forge(path, version=version)
    message = (
        f"version {version or 'unknown'}, but this Kenyon reads 1, 2, 3, 4, 5: a newer Kenyon may"
    )
    assert_refused(path, message)


def test_version_and_note_are_digested(path):
    metadata, tensors = read(path)
    for name, value in {"version": "3", "note": "", "extra": ""}.items():
        save_file(tensors, path, {**metadata, name: value})
        assert_refused(path, "is damaged: its content does not match its digest")


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '"model"', "[" * 100_000, "{}"])
def test_rejects_other_headers(path, text):
    forge(path, text=text)
    assert_refused(path, "is damaged: ")


@pytest.mark.parametrize("key", ["model", "digest"])
def test_rejects_incomplete_metadata(path, key):
    forge(path, **{key: None})
    assert_refused(path, f"is damaged: it lacks '{key}'")


@pytest.mark.parametrize("key", ["memory", "parameters", "circuit", "classes", "feature_names"])
def test_rejects_an_incomplete_header(path, key):
    forge(path, lambda header, tensors: header.pop(key))
    assert_refused(path, f"is damaged: it lacks '{key}'")


HEADERS = {
    "memory": [("memory", "dreaming"), ("memory", ["counting"]), ("memory", None)],
    "parameters": [
        ("parameters", {"n_cellz": 10}),
        ("parameters", {"__class__": "os.system"}),
        ("parameters", ["n_cells"]),
        ("parameters", None),
    ],
    "circuit": [
        ("circuit.n_cells", 11),
        ("circuit.n_cells", "10"),
        ("circuit.n_features", 0),
        ("circuit.n_features", 4.5),
        ("circuit.fan_in", 9),
        ("circuit.fan_in", -1),
        ("circuit.n_active", 11),
        ("circuit.inhibition", "none"),
        ("circuit.channels", "yes"),
        ("circuit.seed", -1),
        ("circuit.seed", 2**64),
        ("circuit.extra", 1),
        ("circuit", []),
    ],
    "labels": [
        ("classes.labels", ["a", "b"]),
        ("classes.labels", ["a", "b", "b"]),
        ("classes.labels", ["b", "a", "naïve"]),
        ("classes.labels", ["a", "b", 3]),
        ("classes.labels", ["a", "b", None]),
        ("classes.labels", ["a", "b", ["c"]]),
        ("classes.labels", [["a"], ["b"], ["c"]]),
        ("classes.labels", {"a": 1, "b": 2, "c": 3}),
        ("classes.labels", "abc"),
        ("classes.labels", 3),
        ("classes.extra", 3),
    ],
    "types": [
        ("classes.dtype", dtype)
        for dtype in (
            *("<i8", "|u1", "<f8", "|b1", "<M8[s]", "|V8", "|S5", "i4,i4", "(2,)U3", "<c16"),
            *("", "nonsense", "os.system", "U" * 10_000, "<U99999999999", "|V99999999999"),
            *("a,(", "(1,2", "1" * 5000 + "i4", "(" * 100_000, "<i8\n", "<i\u0664"),
            *(None, 8, ["O"], {"names": ["x"], "formats": ["O"]}),
        )
    ],
    "feature names": [("feature_names", ["x"]), ("feature_names", 4), ("feature_names", ["x"] * 5)],
}


@pytest.mark.parametrize(
    ("place", "value"), [case for cases in HEADERS.values() for case in cases], ids=repr
)
def test_rejects_header_values(path, place, value):
    def change(header, tensors):
        *folders, key = place.split(".")
        for folder in folders:
            header = header[folder]
        header[key] = value

    forge(path, change)
    assert_refused(path, "is damaged: ")


@pytest.mark.parametrize(
    "labels", [[None, 1, 2], [[1], [2], [3]], [{}, {}, {}], [1, 1, 2], ["a", 1, 2], [0.5, 1, 2]]
)
def test_rejects_object_labels(path, labels):
    forge(path, lambda header, tensors: header.update(classes={"dtype": "|O8", "labels": labels}))
    assert_refused(path, "is damaged: ")


@pytest.mark.parametrize(("dtype", "label"), [("|u1", 300), ("<i2", 2**70), ("<U1", 7), ("|b1", 2)])
def test_rejects_labels_outside_their_type(path, dtype, label):
    classes = {"dtype": dtype, "labels": [label, 0, 1]}
    forge(path, lambda header, tensors: header.update(classes=classes))
    assert_refused(path, "is damaged: ")


def first_synapse(value):
    def change(tensors):
        tensors["synapses"][0, 0] = value

    return change


TENSORS = {
    "transposed": lambda t: t.update(synapses=t["synapses"].T),
    "flat": lambda t: t.update(synapses=t["synapses"].ravel()),
    "a class too few": lambda t: t.update(synapses=t["synapses"][:2]),
    "samples too few": lambda t: t.update(samples=t["samples"][:2]),
    "samples too wide": lambda t: t.update(samples=t["samples"][np.newaxis]),
    "synapses of int64": lambda t: t.update(synapses=t["synapses"].astype(np.int64)),
    "synapses of float32": lambda t: t.update(synapses=t["synapses"].astype(np.float32)),
    "samples of int32": lambda t: t.update(samples=t["samples"].astype(np.int32)),
    "samples of float64": lambda t: t.update(samples=t["samples"].astype(np.float64)),
    "negative synapse": first_synapse(-1),
    "negative samples": lambda t: t.update(samples=-t["samples"]),
    "no synapses": lambda t: t.pop("synapses"),
    "no samples": lambda t: t.pop("samples"),
    "something else": lambda t: t.update(extra=np.ones(1)),
}
WEIGHTS = {
    "not a number": first_synapse(np.nan),
    "infinite": first_synapse(np.inf),
    "no factor": lambda t: t.pop("factor"),
    "factor 0": lambda t: t.update(factor=np.zeros(1)),
    "factor not a number": lambda t: t.update(factor=np.full(1, np.nan)),
    "two factors": lambda t: t.update(factor=np.ones(2)),
}


@pytest.mark.parametrize("change", TENSORS.values(), ids=TENSORS.keys())
def test_rejects_tensors(path, change):
    forge(path, lambda header, tensors: change(tensors))
    assert_refused(path, "is damaged: it(s synapses| holds the|s samples)")


@pytest.mark.parametrize("change", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("path", [DECAY], indirect=True)
def test_rejects_weights(path, change):
    forge(path, lambda header, tensors: change(tensors))
    assert_refused(path, "is damaged: it")


def changed(name, place, value):
    def change(tensors):
        tensors[name][place] = value

    return change


CALIBRATION = {
    "no common threshold": lambda t: t.pop("calibration_common_threshold"),
    "two common thresholds": lambda t: t.update(calibration_common_threshold=np.full(2, 2**62)),
    "a common threshold that cannot occur": changed("calibration_common_threshold", 0, 2**62 - 1),
    "a common threshold too high": changed("calibration_common_threshold", 0, 2**63 - 1),
    "a common threshold below the others": changed("calibration_common_threshold", 0, 7 << 59),
    "a negative common threshold": changed("calibration_common_threshold", 0, -1),
    "no thresholds": lambda t: t.pop("calibration_thresholds"),
    "thresholds of float64": lambda t: t.update(calibration_thresholds=np.full(3, 2.0**62)),
    "a threshold too few": lambda t: t.update(calibration_thresholds=np.full(2, 2**62)),
    "a threshold that cannot occur": changed("calibration_thresholds", 0, 2**62 - 1),
    "a threshold too high": changed("calibration_thresholds", 0, 2**63 - 1),
    "a threshold below the codes": changed("calibration_thresholds", slice(None), 0),
    "negative threshold": changed("calibration_thresholds", 0, -1),
    "the most negative threshold": changed("calibration_thresholds", 0, -(2**63)),
    "sizes that do not add up": changed("calibration_sizes", 0, 9),
    "sizes that overflow": changed("calibration_sizes", slice(None), [2**62, 2**62, 2**62]),
    "a code counted too often": changed("calibration_counts", 0, 5),
    "a code that overflows": changed("calibration_counts", slice(None), 2**62),
    "a code of no sample": changed("calibration_counts", 0, 0),
    "starts in disorder": changed("calibration_starts", 1, 2**40),
    "a first start that is not 0": changed("calibration_starts", 0, 1),
    "no starts": lambda t: t.update(calibration_starts=t["calibration_starts"][:0]),
    "codes cut short": lambda t: t.update(calibration_codes=t["calibration_codes"][:-1]),
    "codes of int64": lambda t: t.update(calibration_codes=t["calibration_codes"].astype(np.int64)),
    "a level 0": changed("calibration_codes", 1, 0),
    "a cell out of range": changed("calibration_codes", 0, 100),
    "a gap that never ends": changed("calibration_codes", slice(None), 255),
}


@pytest.mark.parametrize("change", CALIBRATION.values(), ids=CALIBRATION.keys())
@pytest.mark.parametrize("path", [{}], indirect=True)
def test_rejects_calibration_samples(path, change):
    forge(path, lambda header, tensors: change(tensors))
    assert_refused(path, "is damaged: ")


@pytest.mark.parametrize("path", [{}], indirect=True)
def test_drops_calibration_codes_that_were_not_counted(path):
    forge(path, lambda header, tensors: tensors["synapses"][0].fill(0))
    content = memory_of(kenyon.load(path)).content()
    assert content["calibration_thresholds"].tolist() == [0, 2**62, 2**62]
    assert content["calibration_sizes"][0] == 0
    assert (content["calibration_sizes"][1:] > 0).all()


@pytest.fixture
def derived_path(tmp_path):
    """Return the path of a small model with pairs, and with weights as derived values."""
    model = FlyClassifier(n_cells=10, readout="ridge").fit(X, Y)
    weights = np.random.default_rng(0).normal(size=(3, 10)).astype(np.float32)
    derived = model_file.Derived({"penalty": 0.1}, {"weights": weights})
    memory = memory_of(model)
    parameters = model._plain_parameters()
    content = model_file.Content(parameters, model.circuit_.coder, memory, [], derived)
    model_file.save(tmp_path / "fly.kenyon", content)
    return tmp_path / "fly.kenyon"


def weights(change):
    return lambda header, tensors: tensors.update(
        {"derived.weights": change(tensors["derived.weights"])}
    )


DERIVED = {
    "of other sums": lambda h, t: t.update(synapses=t["synapses"] + 1),
    "of other pairs": lambda h, t: t.update(pairs=t["pairs"].astype(np.int64)),
    "of another digest": lambda h, t: h["derived"].update(sums="0" * 64),
    "without a digest": lambda h, t: h["derived"].pop("sums"),
    "without parameters": lambda h, t: h["derived"].pop("parameters"),
    "with parameters that are none": lambda h, t: h["derived"].update(parameters=3),
    "not described": lambda h, t: h.pop("derived"),
    "described as a list": lambda h, t: h.update(derived=[]),
    "transposed": weights(np.transpose),
    "of a class too few": weights(lambda w: w[:2]),
    "of integers": weights(lambda w: w.astype(np.int32)),
    "of half precision": weights(lambda w: w.astype(np.float16)),
    "not a number": weights(lambda w: np.where(w == w[1, 1], np.nan, w)),
    "infinite": weights(lambda w: np.where(w == w[1, 1], -np.inf, w)),
    "of another name": lambda h, t: t.update({"derived.gradients": t.pop("derived.weights")}),
}


@pytest.mark.parametrize("change", DERIVED.values(), ids=DERIVED.keys())
def test_rejects_derived_values(derived_path, change):
    kenyon.load(derived_path)
    forge(derived_path, change)
    assert_refused(derived_path, "is damaged: ")


def test_rejects_any_changed_byte_of_derived_values(derived_path):
    whole = derived_path.read_bytes()
    values = read(derived_path)[1]["derived.weights"].tobytes()
    first = whole.index(values)
    for place in range(first, first + len(values), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        derived_path.write_bytes(damaged)
        assert_refused(derived_path, "is damaged: its content does not match its digest")


OLD_PARAMETERS = {
    "none": lambda p: p.clear(),
    "one list": lambda p: p.update(decay=0.0),
    "lists of different lengths": lambda p: p.update(decay=[0.0]),
}


@pytest.mark.parametrize("change", OLD_PARAMETERS.values(), ids=OLD_PARAMETERS.keys())
@pytest.mark.parametrize("path", ["golden-v2-compartments.kenyon"], indirect=True)
def test_rejects_parameters_of_version_2(path, change):
    forge(path, lambda header, tensors: change(header["parameters"]))
    assert_refused(path, "is damaged: ")


PARTS = {
    "one of them transposed": lambda t: t.update({"1.synapses": t["1.synapses"].T}),
    "one of them negative": lambda t: t.update({"0.synapses": -1 - t["0.synapses"]}),
    "one without samples": lambda t: t.pop("1.samples"),
    "a first one missing": lambda t: [t.pop(name) for name in list(t) if name[0] == "0"],
    "two that count": lambda t: t.pop("1.factor"),
    "something else": lambda t: t.update({"2": np.ones(1)}),
    "nothing at all": lambda t: t.clear(),
    "other samples": lambda t: t.update({"1.samples": t["1.samples"] + 1}),
    "a mark where none belongs": lambda t: t.update({"1.extinguished": np.zeros(3, dtype=bool)}),
    "a mark too few": lambda t: t.update({"0.extinguished": np.zeros(2, dtype=bool)}),
    "a mark that is a number": lambda t: t.update({"0.extinguished": np.zeros(3)}),
}


@pytest.mark.parametrize("change", PARTS.values(), ids=PARTS.keys())
@pytest.mark.parametrize("path", [COMPARTMENTS], indirect=True)
def test_rejects_compartments(path, change):
    forge(path, lambda header, tensors: change(tensors))
    assert_refused(path, "is damaged: it")


@pytest.mark.parametrize("path", [COMPARTMENTS], indirect=True)
def test_rejects_compartments_as_another_memory(path):
    for memory in ("counting", "decaying", "pairing"):
        forge(path, lambda header, tensors, memory=memory: header.update(memory=memory))
        assert_refused(path, "is damaged: it holds the tensors")
