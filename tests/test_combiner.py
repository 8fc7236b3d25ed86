"""Parts that are learned in different places add up to the model of one machine, bit for bit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kenyon
from kenyon import Combiner, FlyClassifier
from tests.reading import memory_of

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 5))
Y = RANDOM.choice(["a", "b", "c", "d"], 60)
WEIGHTS = RANDOM.integers(0, 4, 60)
SIZES = {"n_cells": 40, "fan_in": 3, "n_active": 8}
READOUTS = "fly", "bayes", "ridge"
MAX_COUNT = 2**31 - 1


def saved(model, folder):
    """Return the file of a model, without derived values."""
    model.refresh().save(folder / "model.kenyon")
    return (folder / "model.kenyon").read_bytes()


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_any_partition_and_any_tree_give_the_file_of_one_machine(readout, weights, tmp_path):
    expected = saved(FlyClassifier(**SIZES, readout=readout).fit(X, Y, weights), tmp_path)

    @settings(max_examples=25)
    @given(data=st.data())
    def check(data):
        combiner = Combiner(FlyClassifier(**SIZES, readout=readout))
        order = np.array(data.draw(st.permutations(range(len(X)))))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(X)), max_size=6)))
        columns = [X, Y] if weights is None else [X, Y, weights]
        batches = [tuple(column[rows] for column in columns) for rows in np.split(order, cuts)]
        parts = [combiner.learn([batch]) for batch in batches]
        while len(parts) > 1:
            n = data.draw(st.integers(2, len(parts)))
            chosen = [parts.pop(data.draw(st.integers(0, len(parts) - 1))) for _ in range(n)]
            # A part, or a combiner, that has travelled is the same.
            combiner = pickle.loads(pickle.dumps(combiner))
            parts.append(combiner.merge(chosen))
        assert parts[0] == expected

    check()


def test_batches_of_one_task_are_learned_one_after_the_other(tmp_path):
    batches = ((X[i : i + 7], Y[i : i + 7]) for i in range(0, len(X), 7))
    part = Combiner(FlyClassifier(**SIZES)).learn(batches)
    assert part == saved(FlyClassifier(**SIZES).fit(X, Y), tmp_path)


def test_a_task_that_runs_again_counts_once():
    combiner = Combiner(FlyClassifier(**SIZES))
    first = combiner.learn([(X[:30], Y[:30])])
    assert combiner.learn([(X[:30], Y[:30])]) == first
    second = combiner.learn([(X[30:], Y[30:])])
    assert combiner.merge([first, second]) == combiner.merge([first, second])
    assert combiner.model(combiner.merge([second, first])).n_samples_seen_ == len(X)


def test_a_part_is_the_content_of_a_model_file(tmp_path):
    combiner = Combiner(FlyClassifier(**SIZES))
    part = combiner.learn([(X, Y)])
    (tmp_path / "part.kenyon").write_bytes(part)
    loaded, model = kenyon.load(tmp_path / "part.kenyon"), combiner.model(part)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert model.n_threads is loaded.n_threads is None


def test_the_derived_values_of_a_model_do_not_travel():
    combiner = Combiner(FlyClassifier(**SIZES))
    part = combiner.learn([(X, Y)])
    model = combiner.model(part)
    model.predict_proba(X)
    again = Combiner(model).merge([part])
    assert again == part


@pytest.mark.parametrize("make_seed", [lambda: None, lambda: np.random.RandomState(3)])
def test_all_parts_have_the_circuit_of_one_seed(make_seed):
    combiner = Combiner(FlyClassifier(**SIZES, random_state=make_seed()))
    parts = [pickle.loads(pickle.dumps(combiner)).learn([(X[i::2], Y[i::2])]) for i in range(2)]
    assert combiner.model(combiner.merge(parts)).n_samples_seen_ == len(X)


def test_the_seed_is_drawn_as_by_fit():
    ours, theirs = np.random.RandomState(3), np.random.RandomState(3)
    part = Combiner(FlyClassifier(**SIZES, random_state=ours)).learn([(X, Y)])
    model = FlyClassifier(**SIZES, random_state=theirs).fit(X, Y)
    assert Combiner(model).model(part).circuit_.coder == model.circuit_.coder
    assert ours.randint(1000) == theirs.randint(1000)


def test_parts_of_a_fitted_model_hold_new_samples_alone(tmp_path):
    model = FlyClassifier(**SIZES, random_state=np.random.RandomState(5)).fit(X[:20], Y[:20])
    combiner = Combiner(model)
    part = combiner.merge([combiner.learn([(X[i::3], Y[i::3])]) for i in range(20, 23)])
    new = np.concatenate([np.arange(60)[i::3] for i in range(20, 23)])
    assert combiner.model(part).n_samples_seen_ == len(new)
    expected = saved(kenyon.load(_file(model, tmp_path)).partial_fit(X[new], Y[new]), tmp_path)
    assert saved(model.merge(combiner.model(part)), tmp_path) == expected


def _file(model, folder):
    model.save(folder / "before.kenyon")
    return folder / "before.kenyon"


def test_names_of_features_are_those_of_the_frames():
    frame = pd.DataFrame(X, columns=[*"vwxyz"])
    combiner = Combiner(FlyClassifier(**SIZES))
    part = combiner.merge([combiner.learn([(frame[i::2], Y[i::2])]) for i in range(2)])
    assert combiner.model(part).feature_names_in_.tolist() == [*"vwxyz"]
    with pytest.raises(ValueError, match="different names"):
        combiner.merge([part, combiner.learn([(X, Y)])])


def test_nothing_is_the_part_of_no_samples():
    combiner = Combiner(FlyClassifier(**SIZES))
    nothing = [
        combiner.learn([]),
        combiner.learn([(X[:0], Y[:0])]),
        combiner.learn([(X, Y, np.zeros(60))]),
        combiner.merge([]),
        combiner.merge([b"", b""]),
        Combiner(FlyClassifier(**SIZES).fit(X, Y)).learn([]),
    ]
    assert nothing == [b""] * 6
    with pytest.raises(ValueError, match="nothing to learn"):
        combiner.model(b"")


def test_declared_classes_are_in_every_part():
    combiner = Combiner(FlyClassifier(**SIZES))
    part = combiner.learn([(X, Y)], classes=[*"abcdz"])
    assert combiner.model(combiner.merge([part])).classes_.tolist() == [*"abcdz"]
    with pytest.raises(ValueError, match="not in classes"):
        combiner.learn([(X, Y)], classes=["a"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decay": 0.1}, "decay must be 0 to learn in parts, but is 0.1"),
        ({"compartments": [("auto", 0.0), (1.0, 0.5)]}, "decay must be 0 .* 0.5"),
        ({"window": 10}, "window must be None to learn in parts, but is 10"),
        ({"readout": "fry"}, "readout must be one of"),
        ({"n_cells": 0}, "n_cells must be from 1"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_models_that_cannot_be_learned_in_parts_are_refused_at_once(parameters, message):
    with pytest.raises(ValueError, match=message):
        Combiner(FlyClassifier(**parameters))


@pytest.mark.parametrize(
    ("fitted", "now", "message"),
    [
        ({"decay": 0.1}, {"decay": 0.0}, "learning in parts is not possible: with decay"),
        ({"window": 10}, {"window": None}, "window must be None"),
    ],
)
def test_a_fitted_model_is_what_it_was_fitted_as(fitted, now, message):
    model = FlyClassifier(readout="fly", **fitted).fit(X, Y).set_params(**now)
    with pytest.raises(ValueError, match=message):
        Combiner(model)


def test_parts_of_other_circuits_are_refused():
    one, other = (
        Combiner(FlyClassifier(**SIZES, random_state=seed)).learn([(X, Y)]) for seed in (1, 2)
    )
    with pytest.raises(ValueError, match="different circuits cannot be merged: seed is 1"):
        Combiner(FlyClassifier(**SIZES)).merge([one, other])


def test_a_damaged_part_is_refused_in_one_sentence():
    combiner = Combiner(FlyClassifier(**SIZES))
    part = combiner.learn([(X, Y)])
    for damaged in (part[:-1], part[:-1] + bytes([part[-1] ^ 1]), b"no part", b"\xff" * 20):
        for read in (combiner.model, lambda part: combiner.merge([part])):
            with pytest.raises(ValueError, match=r"^the part is (damaged|not a Kenyon model)"):
                read(damaged)


def test_one_batch_is_no_iterable_of_batches():
    combiner = Combiner(FlyClassifier(**SIZES))
    with pytest.raises(TypeError, match=r"^batches must be .*, but one is a numpy.ndarray$"):
        combiner.learn((X, Y))
    with pytest.raises(TypeError, match=r"^batches must be .*, but one has 1 values$"):
        combiner.learn([(X,)])
    for parts in (b"part", ["part"]):
        with pytest.raises(TypeError, match=r"^a part must be bytes, but is of type (int|str)$"):
            combiner.merge(parts)


def test_other_things_are_no_classifier():
    with pytest.raises(TypeError, match=r"^classifier must be a kenyon\.FlyClassifier"):
        Combiner(FlyClassifier)


def test_counters_refuse_one_sample_too_many_at_full_strength():
    # 255 * 8,421,504 is the last multiple of 255 that a counter holds.
    limit = MAX_COUNT // 255
    assert limit == 8_421_504
    combiner = Combiner(FlyClassifier(**SIZES, readout="fly"))
    x = [[3.0, -1.0, 0.5, 2.0, 0.0]]
    one, full, doubled = combiner.learn([(x, ["a"])]), b"", b""
    for bit in range(limit.bit_length()):
        doubled = combiner.merge([doubled, doubled]) if bit else one
        if limit >> bit & 1:
            full = combiner.merge([full, doubled])
    model = combiner.model(full)
    assert model.n_samples_seen_ == limit
    assert memory_of(model).synapses.max() == 255 * limit
    with pytest.raises(OverflowError, match="a counter would exceed 2147483647"):
        combiner.merge([full, one])
    # Under another label there is room.
    other = combiner.learn([(x, ["a, more"])])
    assert combiner.model(combiner.merge([full, other])).n_samples_seen_ == limit + 1
