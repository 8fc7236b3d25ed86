"""Rank-one updates: the same scores as a new solution, without one where possible."""

from __future__ import annotations

import weakref
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kenyon
from kenyon.circuit import PairingMemory, versioned
from kenyon.circuit.updates import PendingUpdates
from kenyon.readouts import ridge
from tests.reading import model_state
from tests.readouts.test_ridge import TEST, X, Y, learned, solution

FIXED = {"n_cells": 600, "penalty": 0.1}


@contextmanager
def interrupted(owner, name, *, after=False):
    """Raise KeyboardInterrupt before or after a call of a function, and expect it."""
    function = getattr(owner, name)

    def interrupt(*arguments):
        if after:
            function(*arguments)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(owner, name, interrupt)
        with pytest.raises(KeyboardInterrupt):
            yield


def read(model):
    return model.decision_function(X[TEST])


def assert_reads_like(model, fresh, atol=1e-9):
    np.testing.assert_allclose(read(model), read(fresh), atol=atol)


@pytest.fixture
def solved(monkeypatch):
    """The numbers of samples for which a solution was computed from the sums."""
    seen, function = [], ridge._solve

    def solve(memory, shift, n_threads):
        seen.append(memory.pairs.n_samples)
        return function(memory, shift, n_threads)

    monkeypatch.setattr(ridge, "_solve", solve)
    return seen


@pytest.fixture
def model(solved):
    """A model that has been solved once; the list of solutions is empty again."""
    model = learned(slice(0, 800), **FIXED)
    read(model)
    assert len(solved) == 1
    solved.clear()
    return model


def test_few_samples_update_the_solution(model, solved):
    for start in range(800, 840, 5):
        model.partial_fit(X[start : start + 5], Y[start : start + 5])
        read(model)
    assert_reads_like(model, learned(slice(0, 840), **FIXED), atol=1e-11)
    assert solved == [840]
    assert solution(model).n_updates == 40


def test_many_updates_are_solved_anew(model, solved):
    for _ in range(6):
        for row in range(800, 860):
            model.learn_one(X[row], Y[row]).unlearn(X[row : row + 1], Y[row : row + 1])
            model.predict_one(X[row])
    assert solved == [800]


def test_the_residual_is_small_after_updates():
    model = learned(slice(0, 800), **FIXED)
    for start in range(800, 815, 5):
        read(model)
        model.partial_fit(X[start : start + 5], Y[start : start + 5])
    read(model.unlearn(X[5:10], Y[5:10]))
    with model.circuit_.memory.reading as snapshot:
        memory = snapshot.memory
        G, C = memory.pairs.expand(1), memory.synapses.T.astype(float)
        slots = memory.store.slot_of_rank.tolist()
    updated = solution(model)
    assert updated.n_updates == 20
    W = updated.solver.get(0, 10)[slots].T
    R = C - (G + np.tril(G, -1).T) @ W - updated.shift * W
    assert (np.linalg.norm(R, axis=0) <= 1e-12 * np.linalg.norm(C, axis=0)).all()


def test_a_loaded_model_is_not_solved_again(model, solved, tmp_path):
    model.rename_class(0, 50).drop_class(3)
    expected = read(model)
    model.save(tmp_path / "model.kenyon")
    other = kenyon.load(tmp_path / "model.kenyon")
    np.testing.assert_array_equal(read(other), expected)
    np.testing.assert_array_equal(read(other.rename_class(50, 0))[:, 1:], expected[:, :-1])
    assert not solved
    other.learn_one(X[800], Y[800])
    np.testing.assert_allclose(
        read(other), read(model.rename_class(50, 0).learn_one(X[800], Y[800]))
    )
    assert len(solved) == 1


def test_weights_of_another_penalty_are_not_used(model, solved, tmp_path):
    model.set_params(penalty=0.5).save(tmp_path / "model.kenyon")
    assert_reads_like(kenyon.load(tmp_path / "model.kenyon"), model)
    assert len(solved) == 2


def test_updated_weights_are_saved(model, solved, tmp_path):
    expected = read(model.learn_one(X[800], Y[800]))
    model.save(tmp_path / "model.kenyon")
    np.testing.assert_allclose(read(kenyon.load(tmp_path / "model.kenyon")), expected, atol=1e-12)
    assert not solved


def test_refresh_gives_equal_bits():
    model, fresh = learned(slice(0, 800)), learned(slice(0, 801))
    read(model)
    model.learn_one(X[800], Y[800]).novelty(X[TEST])
    np.testing.assert_array_equal(read(model.refresh()), read(fresh))


ACTIONS = [
    "learn",
    "learn_one",
    "drop_class",
    "unlearn",
    "rename",
    "reject",
    "merge",
    "interrupt",
    "lose",
    "hold",
]


@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.booleans()), max_size=12))
@settings(max_examples=30, deadline=None)
def test_scores_equal_those_of_a_new_model(actions):
    """Whatever happened, and whatever was read in between."""
    small = {"n_cells": 120, "n_active": 40, "penalty": 0.1}
    model, known, places = learned(slice(0, 300), **small), list(range(300)), iter(range(300, 900))
    n_dropped = 0

    def take(n):
        new = [next(places) for _ in range(n)]
        known.extend(new)
        return X[new], Y[new]

    with ExitStack() as readers, pytest.MonkeyPatch.context() as patched:
        patched.setattr(versioned, "_PATIENCE", 0)
        for action, is_read in actions:
            if action == "learn":
                model.partial_fit(*take(7))
            elif action == "learn_one":
                model.learn_one(*(array[0] for array in take(1)))
            elif action == "drop_class":
                model.learn_one(X[n_dropped], 77)
                if is_read:
                    model.predict(X[:1])
                model.drop_class(77)
                n_dropped += 1
            elif action == "unlearn":
                model.unlearn(X[known[:5]], Y[known[:5]])
                del known[:5]
            elif action == "rename":
                model.rename_class(3, 30).rename_class(30, 3)
            elif action == "reject":
                with pytest.raises(ValueError, match="not learned"):
                    model.unlearn(X[1000:1003], Y[1000:1003])
            elif action == "merge":
                rows = slice(next(places), next(places) + 1)
                known.extend(range(rows.start, rows.stop))
                model.merge(learned(rows, **small))
            elif action == "interrupt":
                with interrupted(PairingMemory, "learn"):
                    model.partial_fit(X[:7], Y[:7])
            elif action == "lose":  # the interrupt comes after the samples are learned
                with interrupted(PairingMemory, "learn", after=True):
                    model.partial_fit(*take(7))
                if model.n_samples_seen_ < len(known):  # into a copy, which was discarded
                    del known[-7:]
            elif action == "hold":  # a reader stays, so the next changes replace the memory
                readers.enter_context(model.circuit_.memory.reading)
            if is_read:
                model.predict(X[:1])
    assert model.n_samples_seen_ == len(known)
    fresh = learned(known, **small)
    for row in range(n_dropped):
        fresh.learn_one(X[row], 77).drop_class(77)
    assert_reads_like(model, fresh)


def test_many_samples_are_solved_anew():
    model = learned(slice(0, 50), penalty=1e-6)
    read(model)
    before = solution(model)
    model.partial_fit(X[50:900], Y[50:900])
    assert_reads_like(model, learned(penalty=1e-6), atol=1e-8)
    assert solution(model).solver is not before.solver


def test_a_merge_is_solved_anew(model, solved):
    model.merge(learned(slice(800, 802), **FIXED))
    read(model)
    assert len(solved) == 1
    assert_reads_like(model, learned(slice(0, 802), **FIXED))


@pytest.mark.parametrize(
    ("owner", "name", "after"), [(PairingMemory, "learn", True), (PendingUpdates, "record", False)]
)
def test_a_lost_update_is_solved_anew(model, solved, owner, name, after):
    with interrupted(owner, name, after=after):
        model.learn_one(X[800], Y[800])
    model.learn_one(X[801], Y[801])
    read(model)
    assert len(solved) == 1
    fresh = learned(slice(0, 802), **FIXED)
    assert model_state(model) == model_state(fresh)
    assert_reads_like(model, fresh)


def test_an_interrupted_replacement_needs_no_new_solution(model, solved):
    with model.circuit_.memory.reading, interrupted(PairingMemory, "learn"):
        model.learn_one(X[800], Y[800])
    model.learn_one(X[801], Y[801])
    read(model)
    assert not solved
    assert_reads_like(model, learned([*range(800), 801], **FIXED))


REJECTED = {
    "unlearn": (lambda model: model.unlearn(X[900:905], Y[900:905]), "not learned"),
    "learn": (lambda model: model.partial_fit(X[:2], ["a", "b"]), "are mixed"),
    "learn_one": (lambda model: model.learn_one(X[0], "a"), "are mixed"),
    "rename_class": (lambda model: model.rename_class(3, 4), "exists already"),
    "drop_class": (lambda model: model.drop_class(77), "has not been learned"),
    "extinguish": (
        lambda model: model.set_params(readout="fly").extinguish(X[:1], Y[:1], 0.5),
        "extinguish is not possible",
    ),
    "merge": (lambda model: model.merge(learned(readout="fly", n_cells=600)), "cannot be merged"),
}


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("name", REJECTED)
def test_a_rejected_change_needs_no_new_solution(model, solved, name, is_held):
    change, message = REJECTED[name]
    with ExitStack() as readers:
        if is_held:  # the change is tried on a copy
            readers.enter_context(model.circuit_.memory.reading)
        with pytest.raises(ValueError, match=message):
            change(model)
        model.set_params(readout="ridge").learn_one(X[800], Y[800])
    read(model)
    assert not solved
    assert_reads_like(model, learned(slice(0, 801), **FIXED))


def test_changes_of_labels_need_no_new_solution(model, solved):
    model.learn_one(X[800], 17).drop_class(17).rename_class(3, 30)
    classes = model.classes_.tolist()
    model.partial_fit(X[801:802], Y[801:802], classes=[*classes, 99]).drop_class(99)
    scores = read(model)
    assert not solved
    fresh = learned(slice(0, 800), **FIXED)
    fresh.learn_one(X[800], 17).drop_class(17).learn_one(X[801], Y[801])
    places = [0, 1, 2, 4, 5, 6, 7, 8, 9, 3]
    np.testing.assert_allclose(scores, read(fresh)[:, places], atol=1e-6)


def test_a_replaced_memory_keeps_its_solution(model, solved):
    readout, codes = model._readout(), model.circuit_.coder.native.encode(np.array(X[TEST]), 1)
    with model.circuit_.memory.reading as old:
        before = readout.scores(old, codes, 1)
        for place in range(800, 803):
            model.learn_one(X[place], Y[place])
            read(model)
            np.testing.assert_array_equal(readout.scores(old, codes, 1), before)
            assert readout.calibration_version(old, 1) == old.version
    assert not solved
    assert_reads_like(model, learned(slice(0, 803), **FIXED))


def test_a_solution_made_during_a_replacement_is_used_after_it(model, solved):
    memory = model.circuit_.memory
    model.merge(learned(slice(800, 802), **FIXED))  # needs a new solution
    codes = model.circuit_.coder.native.encode(X[802:803], 1)

    def learn(copy):
        copy.learn(codes, Y[802:803].tolist(), model._rates())
        read(model)

    memory.replace(learn)
    read(model)
    assert len(solved) == 1
    assert_reads_like(model, learned(slice(0, 803), **FIXED))


def test_another_penalty_is_another_solution():
    model = learned(penalty=1e-4)
    read(model)
    assert_reads_like(model.set_params(penalty=1.0), learned(penalty=1.0), atol=1e-12)


@pytest.mark.parametrize("change", ["penalty", "samples"])
def test_the_old_solution_is_freed_before_a_new_one_is_made(model, monkeypatch, change):
    old, function = weakref.ref(solution(model)), ridge._solve

    def solve(*arguments):
        assert old() is None
        return function(*arguments)

    monkeypatch.setattr(ridge, "_solve", solve)
    if change == "penalty":
        model.set_params(penalty=1.0)
    else:
        model.partial_fit(X[:800], Y[:800])
    read(model)
    assert old() is None


@pytest.mark.parametrize("n_classes", [5, 7])
def test_refresh_gives_equal_bits_in_every_order(n_classes):
    """Also where classes came in another order, and so have other slots."""
    rows = np.flatnonzero(Y[:600] < n_classes)
    models = [learned(order, n_cells=301, n_threads=1) for order in (rows, rows[::-1])]
    models[0].learn_one(X[rows[0]], Y[rows[0]]).unlearn(X[rows[:1]], Y[rows[:1]])
    one, other = (read(model.refresh()) for model in models)
    np.testing.assert_array_equal(one, other)


def test_scores_and_best_classes_have_equal_bits(model):
    for row in range(800, 806):
        model.learn_one(X[row], Y[row])
    model.predict_one(X[0])
    updated, codes = solution(model), model.circuit_.coder.native.encode(np.array(X[TEST]), 1)
    scores = updated.solver.scores(codes, updated.balance, updated.order, 1)
    ranks, best = updated.solver.top(codes, 10, updated.balance, updated.order, 1)
    assert updated.n_updates == 6
    np.testing.assert_array_equal(np.take_along_axis(scores, ranks, axis=1), best)


def test_a_tiny_penalty_is_not_updated(solved):
    model = learned(slice(0, 300), penalty=1e-8)
    read(model)
    model.learn_one(X[300], Y[300])
    assert_reads_like(model, learned(slice(0, 301), penalty=1e-8), atol=1e-12)
    assert len(solved) == 3


def test_accepts_a_huge_penalty():
    assert np.isfinite(read(learned(penalty=1e308))).all()
