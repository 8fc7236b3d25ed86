"""Extinguishing an association: what it promises, and that nothing else is touched."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kenyon
from kenyon import FlyClassifier
from kenyon.circuit import Rates, counting
from tests.refusal import COMPARTMENTS, FADING, X, Y, assert_refused, snapshot, taught

MODELS = {
    "auto": {},
    "rate": {"learning_rate": 0.3},
    "decaying": FADING,
    "compartments": COMPARTMENTS,
}
every_model = pytest.mark.parametrize("parameters", MODELS.values(), ids=list(MODELS))
shares = st.floats(0.01, 1)

# Of a weight, at most: "auto" stands for a rate of 2 with ten samples, and so for a cap of 128.
# What is taken is rounded up, by less than one count a synapse.
COUNT = 1 / 128


def parts(model):
    """The memories of a model, or of its compartments."""
    with model.circuit_.memory.reading as snapshot:
        return getattr(memory, "parts", (memory,))


def active(model, x):
    return model.circuit_.coder.encode_one(x).to_csr()[1]


@every_model
@given(st.integers(0, 29), st.sampled_from("abc"), shares)
@settings(max_examples=15, deadline=None)
def test_only_synapses_from_active_cells_to_the_class_change(parameters, row, label, share):
    model = taught(**parameters)
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
def test_the_score_falls_by_the_share_and_no_other_score_falls(parameters, row, label, share):
    model = taught(**parameters)
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
def test_samples_at_once_one_by_one_or_shuffled_weaken_alike(parameters, rows, random, share):
    whole, single = taught(**parameters), taught(**parameters)
    whole.extinguish(X[rows], Y[rows], share)
    for row in random.sample(rows, len(rows)):
        single.extinguish(X[[row]], Y[[row]], share)
    assert snapshot(single) == snapshot(whole)


@every_model
def test_all_of_it_leaves_nothing_and_repeating_ends_at_nothing(parameters):
    at_once = taught(**parameters).extinguish(X[:1], ["a"], 1.0)
    assert at_once.decision_function(X[:1])[0, 0] == 0
    slowly = taught(**parameters)
    for _ in range(200):
        slowly.extinguish(X[:1], ["a"], 0.2)
    assert slowly.decision_function(X[:1])[0, 0] < 1e-9
    if parameters in ({}, MODELS["rate"]):
        assert snapshot(slowly) == snapshot(at_once)


def test_what_is_hidden_above_the_cap_does_not_come_to_light():
    model = taught(learning_rate=1.0)
    for _ in range(50):
        model.learn_one(X[0], "a")
    assert parts(model)[0].synapses[0, active(model, X[0])].max() > 50 * 255
    before = model.decision_function(X[:1])[0, 0]
    after = model.extinguish(X[:1], ["a"], 0.4).decision_function(X[:1])[0, 0]
    assert after == pytest.approx(0.6 * before, rel=0.01)
    assert parts(model)[0].synapses[0, active(model, X[0])].max() == 255 - 102


def test_what_is_taken_is_rounded_as_the_product_and_not_as_its_binary_form():
    memory = parts(taught(learning_rate=1.0))[0].copy()
    codes = taught().circuit_.coder.encode_one(X[0])
    slot, cells = memory.labels.slot("a"), codes.to_csr()[1]
    for count, left in ((100, 93), (1, 0), (0, 0)):
        memory.store.set(slot, np.full(memory.n_cells, count, np.int32), 10)
        memory.extinguish(codes, np.array(["a"]), 0.07, Rates(1.0))
        assert set(memory.store.get(slot)[cells].tolist()) == {left}


def test_interrupted_it_leaves_no_class_weakened_without_a_mark(monkeypatch):
    memory = parts(taught())[0].copy()
    before, kept = memory.synapses, counting.disable

    def interrupt(store, slot):
        kept(store, slot)
        if len(memory.extinguished) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(counting, "disable", interrupt)
    codes = taught().circuit_.coder.native.encode(X, 1)
    with pytest.raises(KeyboardInterrupt):
        memory.extinguish(codes, Y, 0.5, Rates())
    changed = (memory.synapses != before).any(axis=1)
    assert memory.classes[changed].tolist() == ["a"]
    assert memory.extinguished == {"a", "b"}


def test_rates_of_compartments_are_refused_where_there_is_one():
    memory = parts(taught(**FADING))[0]
    codes = taught().circuit_.coder.encode_one(X[0])
    with pytest.raises(ValueError, match="those of 2 compartments"):
        memory.extinguish(codes, np.array(["a"]), 0.5, Rates(0.1, 0.1, (Rates(),)))


def test_the_class_can_be_learned_again():
    model = taught(learning_rate=0.3).extinguish(X[:1], ["a"], 1.0)
    assert model.predict_one(X[0]) != "a"
    for _ in range(4):
        model.learn_one(X[0], "a")
    assert model.predict_one(X[0]) == "a"


EXTINGUISHED = "for the label 'a': some of its synapses were extinguished"


def test_its_samples_can_no_longer_be_unlearned_but_those_of_others_can():
    model = taught().extinguish(X[:1], ["a"], 0.3)
    assert_refused(
        model, lambda m: m.unlearn(X[:3], Y[:3]), ValueError, f"unlearn .*{EXTINGUISHED}"
    )
    others = Y != "a"
    model.unlearn(X[others], Y[others])
    assert model.classes_.tolist() == ["a"]


def test_it_is_taken_over_but_not_merged_with_another():
    weakened = taught().extinguish(X[:1], ["a"], 0.3)
    for target, other in ((weakened, taught()), (taught(), weakened), (weakened, weakened)):
        assert_refused(target, lambda m, o=other: m.merge(o), ValueError, f"merge .*{EXTINGUISHED}")
    before = parts(weakened)[0].synapses[0]
    merged = taught().drop_class("a").merge(weakened.drop_class("b"))
    np.testing.assert_array_equal(parts(merged)[0].synapses[0], before)
    assert_refused(merged, lambda m: m.unlearn(X[:1], ["a"]), ValueError, EXTINGUISHED)
    merged.unlearn(X[1:2], ["b"])


def test_the_mark_follows_its_class(tmp_path):
    model = taught().extinguish(X[:1], ["a"], 0.3).rename_class("a", "z")
    sentence = "for the label 'z'"
    assert_refused(model, lambda m: m.unlearn(X[:1], ["z"]), ValueError, sentence)
    model.save(tmp_path / "fly.kenyon")
    loaded = kenyon.load(tmp_path / "fly.kenyon")
    assert snapshot(loaded) == snapshot(model)
    assert_refused(loaded, lambda m: m.unlearn(X[:1], ["z"]), ValueError, sentence)
    loaded.drop_class("z").learn_one(X[0], "z").unlearn(X[:1], ["z"])
    loaded.save(tmp_path / "fly.kenyon")
    assert snapshot(kenyon.load(tmp_path / "fly.kenyon")) == snapshot(loaded)


def test_what_changes_nothing_leaves_no_mark():
    model = taught()
    before = snapshot(model)
    assert snapshot(model.extinguish(np.zeros((1, 5)), ["a"], 0.5)) == before
    model.unlearn(X[:1], Y[:1])


@every_model
@pytest.mark.parametrize(
    ("call", "sentence"),
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
def test_what_cannot_be_extinguished(parameters, call, sentence):
    assert_refused(taught(**parameters), call, ValueError, sentence)


def test_readouts_in_which_no_weight_changes_alone():
    sentence = "readout must be 'fly' to extinguish, but is '(bayes|ridge)'"
    for readout in ("bayes", "ridge"):
        model = taught(readout=readout)
        assert_refused(model, lambda m: m.extinguish(X[:1], ["a"], 0.5), ValueError, sentence)
    model.set_params(readout="fly")
    refused = "not possible where pairs of cells are counted"
    assert_refused(model, lambda m: m.extinguish(X[:1], ["a"], 0.5), ValueError, refused)


def test_nothing_learned():
    with pytest.raises(ValueError, match="is not fitted yet"):
        FlyClassifier().extinguish(X, Y, 0.5)
