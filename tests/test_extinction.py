"""Extinguishing weakens one association and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kenyon
from kenyon import FlyClassifier
from kenyon.circuit import Rates, counting
from tests import reading
from tests.reading import memory_of
from tests.refusal import COMPARTMENTS, DECAY, X, Y, assert_refused, fitted, state

MODELS = {
    "auto": {},
    "rate": {"learning_rate": 0.3},
    "decaying": DECAY,
    "compartments": COMPARTMENTS,
}
every_model = pytest.mark.parametrize("parameters", MODELS.values(), ids=list(MODELS))
shares = st.floats(0.01, 1)

COUNT = 1 / 128
"""The largest weight of one count: with ten samples "auto" means a rate of 2, so a cap of 128.

The reduction of a synapse is rounded up, by less than one count.
"""


def parts(model):
    """Return the memory of a model, or of each of its compartments."""
    memory = memory_of(model)
    return getattr(memory, "parts", (memory,))


def active(model, x):
    return model.circuit_.coder.native.encode_one(x).to_csr()[1]


@every_model
@given(st.integers(0, 29), st.sampled_from("abc"), shares)
@settings(max_examples=15, deadline=None)
def test_only_active_synapses_to_the_class_change(parameters, row, label, share):
    model = fitted(**parameters)
    before = [part.synapses for part in parts(model)]
    model.extinguish(X[[row]], [label], share)
    rank = "abc".index(label)
    touched = np.zeros(before[0].shape, dtype=bool)
    touched[rank, active(model, X[row])] = True
    for part, old in zip(parts(model), before, strict=True):
        np.testing.assert_array_equal(part.synapses[~touched], old[~touched])
        assert (part.synapses[touched] <= old[touched]).all()
        weakened = part.synapses[touched] < old[touched]
        assert weakened[old[touched] > 0].all()
    assert model.class_count_.tolist() == [10, 10, 10]


@every_model
@given(st.integers(0, 29), st.sampled_from("abc"), shares)
@settings(max_examples=15, deadline=None)
def test_only_the_score_of_the_class_falls_by_the_share(parameters, row, label, share):
    model = fitted(**parameters)
    before = model.decision_function(X[[row]])[0]
    after = model.extinguish(X[[row]], [label], share).decision_function(X[[row]])[0]
    rank = "abc".index(label)
    expected = (1 - share) * before[rank]
    rounding = len(active(model, X[row])) * COUNT
    assert expected - rounding <= after[rank] <= expected + 1e-9
    np.testing.assert_array_equal(np.delete(after, rank), np.delete(before, rank))


@every_model
@given(st.lists(st.integers(0, 29), min_size=1, max_size=12), st.randoms(), shares)
@settings(max_examples=15, deadline=None)
def test_batch_equals_one_by_one_equals_shuffled(parameters, rows, random, share):
    whole, single = fitted(**parameters), fitted(**parameters)
    whole.extinguish(X[rows], Y[rows], share)
    for row in random.sample(rows, len(rows)):
        single.extinguish(X[[row]], Y[[row]], share)
    assert state(single) == state(whole)


@every_model
def test_a_share_of_1_or_many_calls_reach_zero(parameters):
    at_once = fitted(**parameters).extinguish(X[:1], ["a"], 1.0)
    assert at_once.decision_function(X[:1])[0, 0] == 0
    slowly = fitted(**parameters)
    for _ in range(200):
        slowly.extinguish(X[:1], ["a"], 0.2)
    assert slowly.decision_function(X[:1])[0, 0] < 1e-9
    if parameters in ({}, MODELS["rate"]):
        assert state(slowly) == state(at_once)


def test_counts_above_the_cap_are_removed_first():
    model = fitted(learning_rate=1.0)
    for _ in range(50):
        model.learn_one(X[0], "a")
    assert parts(model)[0].synapses[0, active(model, X[0])].max() > 50 * 255
    before = model.decision_function(X[:1])[0, 0]
    after = model.extinguish(X[:1], ["a"], 0.4).decision_function(X[:1])[0, 0]
    assert after == pytest.approx(0.6 * before, rel=0.01)
    assert parts(model)[0].synapses[0, active(model, X[0])].max() == 255 - 102


def test_reduction_ignores_binary_rounding():
    memory = parts(fitted(learning_rate=1.0))[0].copy()
    codes = fitted().circuit_.coder.native.encode_one(X[0])
    slot, cells = memory.labels.slot("a"), codes.to_csr()[1]
    for count, left in ((100, 93), (1, 0), (0, 0)):
        memory.store.set(slot, np.full(memory.n_cells, count, np.int32), 10)
        memory.extinguish(codes, ["a"], 0.07, (Rates(1.0),))
        assert set(memory.store.get(slot)[cells].tolist()) == {left}


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_weakened_classes_are_marked_and_leave_the_calibration_sample(n_classes):
    memory = parts(fitted())[0].copy()
    before, rows = memory.synapses, np.flatnonzero(np.arange(30) % 3 < n_classes)
    codes = fitted().circuit_.coder.native.encode(X[rows], 1)
    memory.extinguish(codes, Y[rows].tolist(), 0.5, (Rates(),))
    changed = (memory.synapses != before).any(axis=1)
    assert memory.classes[changed].tolist() == sorted(memory.labels.extinguished)
    assert memory.labels.extinguished == set("abc"[:n_classes])
    thresholds = memory.content()["calibration_thresholds"]
    assert (thresholds == 0).tolist() == changed.tolist()


def test_an_interrupt_leaves_no_unmarked_class(monkeypatch):
    memory, reduction = parts(fitted())[0].copy(), counting._reduction
    before, n_calls = reading.state(memory), []

    def interrupt(*arguments):
        n_calls.append(arguments)
        if len(n_calls) == 15:  # in the second class; each has ten samples
            raise KeyboardInterrupt
        return reduction(*arguments)

    monkeypatch.setattr(counting, "_reduction", interrupt)
    codes = fitted().circuit_.coder.native.encode(X, 1)
    with pytest.raises(KeyboardInterrupt):
        memory.extinguish(codes, Y.tolist(), 0.5, (Rates(),))
    assert reading.state(memory) == before
    assert not memory.labels.extinguished


def test_rejects_rates_of_several_compartments():
    memory = parts(fitted(**DECAY))[0]
    codes = fitted().circuit_.coder.native.encode_one(X[0])
    with pytest.raises(ValueError, match="compartments has 2 entries, but the model has one"):
        memory.extinguish(codes, ["a"], 0.5, (Rates(0.1, 0.1), Rates()))


def test_class_can_be_learned_again():
    model = fitted(learning_rate=0.3).extinguish(X[:1], ["a"], 1.0)
    assert model.predict_one(X[0]) != "a"
    for _ in range(4):
        model.learn_one(X[0], "a")
    assert model.predict_one(X[0]) == "a"


EXTINGUISHED = "for the label 'a': some of its synapses were extinguished"


def test_rejects_unlearning_the_class_alone():
    model = fitted().extinguish(X[:1], ["a"], 0.3)
    assert_refused(
        model, lambda m: m.unlearn(X[:3], Y[:3]), ValueError, f"unlearn .*{EXTINGUISHED}"
    )
    others = Y != "a"
    model.unlearn(X[others], Y[others])
    assert model.classes_.tolist() == ["a"]


def test_class_is_copied_but_not_merged():
    weakened = fitted().extinguish(X[:1], ["a"], 0.3)
    for target, other in ((weakened, fitted()), (fitted(), weakened), (weakened, weakened)):
        assert_refused(target, lambda m, o=other: m.merge(o), ValueError, f"merge .*{EXTINGUISHED}")
    before = parts(weakened)[0].synapses[0]
    merged = fitted().drop_class("a").merge(weakened.drop_class("b"))
    np.testing.assert_array_equal(parts(merged)[0].synapses[0], before)
    assert_refused(merged, lambda m: m.unlearn(X[:1], ["a"]), ValueError, EXTINGUISHED)
    merged.unlearn(X[1:2], ["b"])


def test_the_mark_is_renamed_saved_and_dropped_with_its_class(tmp_path):
    model = fitted().extinguish(X[:1], ["a"], 0.3).rename_class("a", "z")
    message = "for the label 'z'"
    assert_refused(model, lambda m: m.unlearn(X[:1], ["z"]), ValueError, message)
    model.save(tmp_path / "fly.kenyon")
    loaded = kenyon.load(tmp_path / "fly.kenyon")
    assert state(loaded) == state(model)
    assert_refused(loaded, lambda m: m.unlearn(X[:1], ["z"]), ValueError, message)
    loaded.drop_class("z").learn_one(X[0], "z").unlearn(X[:1], ["z"])
    loaded.save(tmp_path / "fly.kenyon")
    assert state(kenyon.load(tmp_path / "fly.kenyon")) == state(loaded)


def test_no_change_leaves_no_mark():
    model = fitted()
    before = state(model)
    assert state(model.extinguish(np.zeros((1, 5)), ["a"], 0.5)) == before
    model.unlearn(X[:1], Y[:1])


@every_model
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.extinguish(X[:1], ["z"], 0.5), "the label 'z' has not been learned"),
        (lambda m: m.extinguish(X[:2], ["a", "z"], 0.5), "the label 'z' has not been learned"),
        (
            lambda m: m.extinguish(X[:1], ["a"], 0),
            "share must be a number above 0, up to 1, but is",
        ),
        (lambda m: m.extinguish(X[:1], ["a"], 1.01), "share must be a number .*, but is 1.01"),
        (lambda m: m.extinguish(X[:1], ["a"], None), "share must be a number .*, but is None"),
        (lambda m: m.extinguish(X[:1], ["a"], np.nan), "share must be a number .*, but is nan"),
        (lambda m: m.extinguish(X[:1, :3], ["a"], 0.5), "X has 3 features"),
        (lambda m: m.extinguish(X[:2], ["a"], 0.5), "inconsistent numbers of samples"),
    ],
)
def test_rejects_bad_arguments(parameters, call, message):
    assert_refused(fitted(**parameters), call, ValueError, message)


def test_rejects_other_readouts():
    message = "readout must be 'fly' to extinguish, but is '(bayes|ridge)'"
    for readout in ("bayes", "ridge"):
        model = fitted(readout=readout)
        assert_refused(model, lambda m: m.extinguish(X[:1], ["a"], 0.5), ValueError, message)
    model.set_params(readout="fly")
    refused = "extinguish is not possible: readout 'ridge' computes every weight from all pairs"
    assert_refused(model, lambda m: m.extinguish(X[:1], ["a"], 0.5), ValueError, refused)


def test_requires_fit():
    with pytest.raises(ValueError, match="is not fitted yet"):
        FlyClassifier().extinguish(X, Y, 0.5)
