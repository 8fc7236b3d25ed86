"""Tiny models of every kind, and every public call that changes a model."""

from __future__ import annotations

import threading
from copy import deepcopy

import numpy as np
import pytest

import kenyon
from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import Pipeline, make_pipeline

RANDOM = np.random.default_rng(0)
X = RANDOM.random((24, 6))
TEXTS = [f"é{i} {'abc'[i % 3] * 3} {i // 5}" for i in range(24)]
Y = [*"abc"] * 8
SIZES = {"n_cells": 40, "fan_in": 3, "n_active": 8, "n_threads": 1}
KINDS = {
    "fly": {"readout": "fly"},
    "bayes": {"readout": "bayes"},
    "ridge": {"readout": "ridge"},
    "decay": {"learning_rate": 0.1, "decay": 0.01},
    "compartments": {"compartments": [("auto", 0.0), (1.0, 0.05)]},
    "window": {"readout": "fly", "window": 12},
    "ridge window": {"readout": "ridge", "window": 12},
    "pipeline": {"readout": "ridge"},
    "pipeline texts": {"readout": "fly"},
}
PIPELINES = "pipeline", "pipeline texts"
ORDERED = "decay", "compartments", "window", "ridge window"


def new_model(kind, **parameters):
    fly = FlyClassifier(**{**SIZES, **KINDS[kind], **parameters})
    if kind not in PIPELINES:
        return fly
    return make_pipeline(TextEncoder("hashing"), fly, keep_texts=kind == "pipeline texts")


def samples(model):
    """Return the samples that a model takes."""
    return TEXTS if isinstance(model, Pipeline) else X


def fitted(kind):
    model = new_model(kind)
    return model.fit(samples(model)[:12], Y[:12])


def other(model):
    """Return a model with a common and a new class."""
    if isinstance(model, Pipeline):
        kind = "pipeline texts" if model.keep_texts else "pipeline"
    else:
        kind = "ridge" if model.circuit_.has_pairs else "fly"
    return new_model(kind).fit(samples(model)[12:18], [*"abcddd"])


def emptying(model):
    """Unlearn all samples of two classes, so that they disappear."""
    rows = [i for i in range(12) if Y[i] != "b"]
    model.unlearn([samples(model)[i] for i in rows], [Y[i] for i in rows])


CHANGES = {
    "fit": lambda model: model.fit(samples(model)[12:16], [*"axby"]),
    "partial_fit": lambda model: model.partial_fit(samples(model)[12:16], [*"abca"]),
    "partial_fit new classes": lambda model: model.partial_fit(
        samples(model)[12:16], [*"axby"], classes=[*"abcxyz"]
    ),
    "partial_fit weights": lambda model: model.partial_fit(
        samples(model)[12:15], [*"abx"], sample_weight=[2, 0, 3]
    ),
    "learn_one": lambda model: model.learn_one(samples(model)[12], "b"),
    "learn_one new class": lambda model: model.learn_one(samples(model)[12], "aa"),
    "unlearn": lambda model: model.unlearn(samples(model)[3:6], Y[3:6]),
    "unlearn classes": emptying,
    "drop_class": lambda model: model.drop_class("a"),
    "rename_class": lambda model: model.rename_class("a", "z"),
    "merge": lambda model: model.merge(other(model)),
    "extinguish": lambda model: model.extinguish(samples(model)[:4], Y[:4], 0.3),
}
EXTINGUISHABLE = "fly", "decay", "compartments"
IMPOSSIBLE = {
    *((kind, "merge") for kind in ORDERED),
    *((kind, f"unlearn{end}") for kind in ORDERED[:2] for end in ("", " classes")),
    *((kind, "extinguish") for kind in KINDS if kind not in EXTINGUISHABLE),
}
CASES = [
    pytest.param(kind, change, id=f"{kind}-{change}")
    for kind in KINDS
    for change in CHANGES
    if (kind, change) not in IMPOSSIBLE
]


def state(model):
    """Return everything that a model has learned, bit for bit."""
    if isinstance(model, Pipeline):
        with model._reading() as (*_, texts):
            kept = texts and sorted(texts.pairs())
        return {**state(model.classifier), "texts": kept}
    with model.circuit_.memory.reading as snapshot:
        content = {"classes": snapshot.memory.classes, **snapshot.memory.content()}
    return {
        name: (tensor.dtype.str, tensor.shape, tensor.tobytes()) for name, tensor in content.items()
    }


READS = {
    "predict": lambda model: model.predict(samples(model)),
    "predict_one": lambda model: model.predict_one(samples(model)[0]),
    "predict_proba": lambda model: model.predict_proba(samples(model)),
    "predict_top": lambda model: model.predict_top(samples(model), 2)[1],
    "decision_function": lambda model: model.decision_function(samples(model)),
    "novelty": lambda model: model.novelty(samples(model)),
    "explain": lambda model: explain(model),
}


def explain(model):
    if isinstance(model, Pipeline):
        return [word.effect for word in model.explain(TEXTS[0]).words]
    return model.explain(X[0]).contributions


class Prepared:
    """A model before and after a change, for comparison with models whose change was disturbed."""

    def __init__(self, kind, change):
        self._before, self.change = fitted(kind), CHANGES[change]
        after = self.fresh()
        self.change(after)
        assert state(after) != state(self._before)
        self._ways = {}
        for name, model in {"before": self._before, "after": after}.items():
            taught_on = deepcopy(model).learn_one(samples(model)[20], "b")
            self._ways[name] = state(model), state(taught_on)

    def fresh(self):
        """Return the model before the change, whose cached values are in use."""
        model = deepcopy(self._before)
        model.predict_proba(samples(model)[:1])
        return model

    def check(self, model, path):
        """Assert that the model is whole, and return "before" or "after"."""
        found = state(model)
        (name,) = [name for name, (expected, _) in self._ways.items() if expected == found]
        assert_current(model)
        model.save(path)
        loaded = kenyon.load(path)
        assert state(loaded) == found
        for each in (model, loaded):
            in_a_thread(lambda each=each: each.learn_one(samples(each)[20], "b"))
            assert state(each) == self._ways[name][1]
        assert_current(model)
        return name


def assert_current(model):
    """Assert that cached values are those of the sums."""
    inputs = samples(model)
    expected = deepcopy(model).decision_function(inputs)
    np.testing.assert_allclose(model.decision_function(inputs), expected, rtol=0, atol=1e-9)


def in_a_thread(call):
    """Run a call in another thread, which would wait for ever for a lock that stayed locked."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "a lock stayed locked"
