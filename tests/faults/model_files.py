"""Small model files of every kind, and random changes that know the format."""

import json
import random
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kenyon import FlyClassifier, model_file
from kenyon._files import _DTYPE_NAMES, TensorFile
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline

GOLDEN = Path(__file__).parents[1] / "golden"
X = np.random.default_rng(3).normal(size=(12, 4))
Y = np.array(["a", "b", "c"] * 4)


class Parts(NamedTuple):
    """The parts of a file, which mutations change."""

    metadata: dict
    header: dict
    tensors: dict

    def copy(self):
        header = json.loads(json.dumps(self.header))
        return Parts(dict(self.metadata), header, dict(self.tensors))


def small(labels=Y, **parameters):
    return FlyClassifier(**{"n_cells": 8, "readout": "fly", **parameters}).fit(X, labels)


def named():
    model = small()
    model.feature_names_in_ = np.array(["p", "q", "r", "s"], dtype=object)
    return model


def read_first(model):
    model.predict_proba(X)
    return model


def pipeline(labels=Y, keep_texts=True, **parameters):
    fly = FlyClassifier(**{"n_cells": 8, "readout": "fly", **parameters})
    texts = [f"täxt {i}" for i in range(11)] + [""]
    return make_pipeline(TextEncoder("hashing"), fly, keep_texts=keep_texts).fit(texts, labels)


MODELS = {
    "counting": small,
    "named": named,
    "integers": lambda: small(np.arange(12) % 3 - 1, n_threads=1),
    "booleans": lambda: small(np.arange(12) % 2 == 0, readout="bayes"),
    "extinguished": lambda: small().extinguish(X[:2], Y[:2], 0.5),
    "empty": lambda: small().drop_class("a").drop_class("b").drop_class("c"),
    "window": lambda: small(window=7),
    "decaying": lambda: small(decay=0.01),
    "compartments": lambda: small(compartments=[("auto", 0.0), (1.0, 0.05), (0.5, 0.2)]),
    "one compartment": lambda: small(compartments=[(1.0, 0.05)]),
    "pairing": lambda: small(readout="ridge", penalty=0.5),
    "pairing, dropped": lambda: small(readout="ridge").drop_class("b"),
    "pairing, window": lambda: small(readout="ridge", window=9),
    "pairing, derived": lambda: read_first(small(readout="ridge", n_cells=5)),
    "pipeline": lambda: pipeline(keep_texts=False, window=9),
    "texts": pipeline,
    "texts, pairing": lambda: pipeline(np.arange(12) % 3, readout="ridge").drop_class(1),
    "texts, decaying": lambda: pipeline(decay=0.01),
    "texts, compartments": lambda: pipeline(compartments=[("auto", 0.0), (1.0, 0.05)]),
    "texts, empty": lambda: pipeline(["a"] * 12).drop_class("a"),
}


@cache
def originals():
    """Return the parts of all small models and golden files."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for make in MODELS.values():
            make().save(Path(folder) / "model")
            found.append(parse(Path(folder) / "model"))
    return [*found, *map(parse, sorted(GOLDEN.glob("*.kenyon")))]


def parse(path):
    file = TensorFile(path)
    tensors = {name: tensor.copy() for name, tensor in file.tensors().items()}
    return Parts(file.metadata, json.loads(file.metadata["model"]), tensors)


NUMBERS = (
    *(0, 1, -1, 2, 3, 4, 7, 8, 9, 16, 255, 256, 1000, 4095, 4096, 2**16, 2**31 - 1, 2**31, 2**32),
    *(
        2**37,
        2**37 + 1,
        2**53,
        2**62,
        2**63 - 1,
        2**63,
        2**64 - 1,
        2**64,
        -(2**63),
        10**30,
        -(10**40),
    ),
    *(
        0.0,
        -0.0,
        0.1,
        0.5,
        1.0,
        1.5,
        -0.5,
        1e-5,
        1e-320,
        5e-324,
        1e-100,
        1e30,
        1e100,
        1e308,
        -1e308,
    ),
    *(1 - 2**-53, 1 + 2**-52, float("nan"), float("inf"), float("-inf")),
)
LARGE = 2**20, 2**20 + 1, 2**21, 2**24, 2**24 + 1, 2**25, 2**30 - 1
TEXTS = (
    *("", "a", "b", "auto", "fly", "bayes", "ridge", "raw", "on-off", "signed", "cut", "subtract"),
    *("counting", "pairing", "decaying", "compartments", "|O", "<U1", "<i8", "|b1", "<f8", "<u8"),
    *("\0", "a\0", "\ud800", "é", "x" * 300, "1", "NaN", "weights", "\n"),
    *("text", "image", "hashing", "minilm", "0" * 64),
)


def any_value(rng):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(NUMBERS)
    if kind < 0.52:
        return rng.choice(LARGE)
    if kind < 0.75:
        return rng.choice(TEXTS)
    if kind < 0.9:
        return rng.choice((None, True, False))
    if kind < 0.98:
        return rng.choice(
            ([], {}, [[]], [None], {"a": 1}, ["auto", 0.1], [["auto", 0.0]], ["a"] * 4)
        )
    nested = []
    for _ in range(rng.choice((10, 100, 300))):
        nested = [nested]
    return nested


def places(value, found):
    """Collect all (container, key) of a tree."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        found.append((value, key))
        if isinstance(inner, dict | list):
            places(inner, found)
    return found


def change_header(rng, parts):
    container, key = rng.choice(places(parts.header, []))
    other, other_key = rng.choice(places(parts.header, []))
    before, action = container[key], rng.random()
    if action < 0.1:
        del container[key]
    elif action < 0.2 and isinstance(before, int | float):
        container[key] = rng.choice((before + 1, before - 1, 2 * before, -before, before / 2))
    elif action < 0.28:
        container[key] = json.loads(json.dumps(other[other_key]))
    elif action < 0.33 and isinstance(container, dict):
        container[rng.choice(("extra", *TEXTS))] = any_value(rng)
    elif action < 0.38 and isinstance(container, list):
        container.insert(rng.randrange(len(container) + 1), before)
    elif action < 0.42 and isinstance(before, list):
        rng.shuffle(before)
    elif action < 0.46:
        container[key] = str(before)
    elif action < 0.5:
        container[key] = [before]
    else:
        container[key] = any_value(rng)


def change_parameter(rng, parts):
    folder = parts.header.get(rng.choice(("parameters", "circuit", "encoder")))
    if isinstance(folder, dict) and folder:
        folder[rng.choice(list(folder))] = any_value(rng)


def change_sizes(rng, parts):
    """Change a size in the header and cut or extend all tensors that have it."""
    name = rng.choice(("n_cells", "classes", "n_features"))
    try:
        circuit, classes = parts.header["circuit"], parts.header["classes"]
        if name == "classes":
            old = len(classes["labels"])
            classes["labels"] = classes["labels"][: rng.randrange(old + 1)]
            new = len(classes["labels"])
        else:
            old, new = circuit[name], rng.choice((1, 2, 3, 5, 9, 12))
            circuit[name] = new
    except (KeyError, TypeError):
        return
    for key, tensor in parts.tensors.items():
        shape = [new if n == old else n for n in tensor.shape]
        if key.endswith("pairs"):
            shape = [new * (new + 1) // 2]
        parts.tensors[key] = np.resize(tensor, shape)


def change_values(rng, parts):
    if not parts.tensors:
        return
    name = rng.choice(list(parts.tensors))
    tensor = parts.tensors[name] = parts.tensors[name].copy()
    if tensor.size == 0:
        return
    flat, action = tensor.reshape(-1), rng.random()
    with np.errstate(all="ignore"):
        if action < 0.5:
            flat[rng.randrange(flat.size)] = extreme(rng, tensor.dtype)
        elif action < 0.6:
            flat[:] = extreme(rng, tensor.dtype)
        elif action < 0.7:
            flat[:] = flat[::-1].copy()
        elif action < 0.8:
            i, j = rng.randrange(flat.size), rng.randrange(flat.size)
            flat[[i, j]] = flat[[j, i]]
        elif action < 0.9 and tensor.dtype != bool:
            i = rng.randrange(flat.size)
            flat[i] = flat[i] + np.array(rng.choice((1, 3))).astype(tensor.dtype)
        else:
            i = rng.randrange(tensor.nbytes)
            tensor.reshape(-1).view(np.uint8)[i] ^= 1 << rng.randrange(8)


def extreme(rng, dtype):
    if dtype.kind == "f":
        return rng.choice([float(n) for n in NUMBERS])
    if dtype.kind == "b":
        return np.array(rng.choice((0, 1, 2, 255)), np.uint8).view(bool)
    limits = np.iinfo(dtype)
    whole = [int(n) for n in NUMBERS if isinstance(n, int)]
    return rng.choice(
        [n for n in (*whole, limits.max, limits.min) if limits.min <= n <= limits.max]
    )


def change_tensor(rng, parts):
    names = list(parts.tensors)
    action = rng.random()
    if not names or action < 0.1:
        own = (
            *names,
            "extra",
            "extinguished",
            "window_size",
            "derived.weights",
            "2.synapses",
            "pairs",
            "texts.bytes",
            "texts.ranks",
        )
        tensor = np.zeros(
            rng.choice(((), (1,), (0,), (3, 8), (2, 2))), rng.choice(("f4", "i8", "?"))
        )
        parts.tensors[rng.choice(own)] = tensor
        return
    name, other = rng.choice(names), rng.choice(names)
    tensor = parts.tensors[name]
    if action < 0.25:
        del parts.tensors[name]
    elif action < 0.35:
        parts.tensors[name], parts.tensors[other] = parts.tensors[other], tensor
    elif action < 0.42:
        del parts.tensors[name]
        renamed = rng.choice(
            (f"0.{name}", f"1.{name}", f"derived.{name}", name + "s", name[2:] or "n")
        )
        parts.tensors[renamed] = tensor
    elif action < 0.6:
        dtype = np.dtype(rng.choice(("i8", "i4", "u4", "u1", "f8", "f4", "f2", "?", "u8", "i2")))
        with np.errstate(all="ignore"):
            parts.tensors[name] = tensor.astype(dtype)
    elif action < 0.7:
        parts.tensors[name] = tensor.T
    elif action < 0.8:
        shape = rng.choice(((-1,), (1, -1), (-1, 1)))
        parts.tensors[name] = tensor.reshape(shape) if tensor.size else tensor
    elif action < 0.9:
        parts.tensors[name] = tensor[: rng.randrange(len(tensor) + 1)] if tensor.ndim else tensor
    else:
        parts.tensors[name] = np.concatenate([tensor, tensor[:1]]) if tensor.ndim else tensor


def change_metadata(rng, parts):
    name = rng.choice((*parts.metadata, "version", "extra"))
    if rng.random() < 0.3:
        parts.metadata.pop(name, None)
    else:
        parts.metadata[name] = rng.choice(
            ("1", "2", "3", "4", "5", "6", "-4", "4.0", "٤", *TEXTS[:3], "\n")
        )


MUTATIONS = (
    *(change_header,) * 4,
    *(change_parameter,) * 3,
    *(change_values,) * 4,
    *(change_tensor,) * 2,
    change_sizes,
    change_metadata,
)


def change_text(rng, text):
    """Change the JSON of a header as text."""
    place, action = rng.randrange(len(text) + 1), rng.random()
    if action < 0.2:
        return text.replace('"memory"', f'"{rng.choice(("memory", "circuit"))}": 1, "memory"', 1)
    if action < 0.4:
        digits = rng.choice(
            ("1e999", "-1e999", "NaN", "-Infinity", "9" * 5000, "1E400", "01", "0x1")
        )
        return text.replace("8", digits, 1)
    if action < 0.5:
        return text[:place] + rng.choice(("[" * 3000, '{"a":' * 3000, " " * 3000)) + text[place:]
    if action < 0.7:
        return text[:place]
    return text[:place] + rng.choice('{}[],:"\\0e-') + text[place + rng.randrange(2) :]


def serialise(rng, parts):
    """Return the bytes of a file; now and then its outer header is wrong."""
    header, body = {}, b""
    for name in sorted(parts.tensors, key=lambda n: (-parts.tensors[n].itemsize, n)):
        tensor = np.ascontiguousarray(parts.tensors[name])
        first, body = len(body), body + tensor.tobytes()
        place = {"dtype": _DTYPE_NAMES[tensor.dtype], "shape": list(parts.tensors[name].shape)}
        header[name] = {**place, "data_offsets": [first, len(body)]}
    if header and rng.random() < 0.03:
        place = header[rng.choice(list(header))]
        key = rng.choice(list(place))
        place[key] = rng.choice((any_value(rng), [0, 2**62], [2**32, 2**32], [0, 0], "BF16", [0]))
    entries = [("__metadata__", parts.metadata), *header.items()]
    if rng.random() < 0.02:
        entries.append(rng.choice(entries))
    outer = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in entries)
    encoded = ("{" + outer + "}").encode()
    encoded += b" " * (-len(encoded) % 8)
    return len(encoded).to_bytes(8, "little") + encoded + body


def mend(rng, parts):
    """Make the digests right, so that loading gets to the checks behind them."""
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in parts.tensors.items()}
    digests = model_file._digest_each(tensors)
    derived = parts.header.get("derived")
    if isinstance(derived, dict) and "sums" in derived:
        derived["sums"] = model_file._digest_sums(digests)
    text = json.dumps(parts.header)
    if rng.random() < 0.04:
        text = change_text(rng, text)
    metadata = parts.metadata
    if "model" in metadata:
        metadata["model"] = text
    if {"digest", "model", "version"} <= metadata.keys():
        is_new = metadata["version"] not in model_file.OLD
        metadata["digest"] = (
            model_file._digest(metadata, digests)
            if is_new
            else model_file._old_digest(metadata, tensors)
        )


def change_bytes(rng, content):
    """Change bytes of a file and mend nothing."""
    content, action = bytearray(content), rng.random()
    place = rng.randrange(len(content) if rng.random() < 0.5 else min(2500, len(content)))
    if action < 0.5:
        for _ in range(rng.choice((1, 1, 2, 8))):
            content[min(place + rng.randrange(4), len(content) - 1)] ^= rng.randrange(1, 256)
    elif action < 0.6:
        del content[place:]
    elif action < 0.7:
        del content[place : place + rng.choice((1, 2, 8))]
    elif action < 0.8:
        content[place:place] = rng.randbytes(rng.choice((1, 2, 8)))
    elif action < 0.9:
        content[:8] = rng.choice((0, 1, 2**25, 2**25 + 1, 10**8, 2**32, 2**63, 2**64 - 1)).to_bytes(
            8, "little"
        )
    else:
        content += rng.randbytes(rng.choice((1, 8, 100)))
    return bytes(content)


def mutated(seed):
    """Return the bytes of a changed file; equal seeds give equal bytes."""
    rng = random.Random(seed)
    parts = rng.choice(originals()).copy()
    if rng.random() < 0.1:
        return change_bytes(rng, serialise(rng, parts))
    for _ in range(rng.choice((1, 1, 2, 3))):
        rng.choice(MUTATIONS)(rng, parts)
    mend(rng, parts)
    return serialise(rng, parts)
