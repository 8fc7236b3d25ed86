"""Forgetting, compared with the learning rules written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kenyon_lab.theory.forgetting import (
    ORDERS,
    VERSIONS,
    Instance,
    find_smallest,
    margins,
    needed_overlap,
    pairs,
)


def literal_fates(version, first, second, order):
    """The class predicted for each first sample, before and after the second class."""
    first, second = np.array(first), np.array(second)
    weights = np.zeros((order.n_classes, len(second)), dtype=np.int64)
    fates = []
    for codes, target in ((first, order.first), ([second], order.second)):
        for code in codes:
            predicted = (weights @ code).argmax()
            if version in (3, 4) or predicted != target:
                weights[target] += code
            if version in (1, 3) and predicted != target:
                weights[predicted] -= code
        fates.append((first @ weights.T).argmax(axis=1).tolist())
    return [list(fate) for fate in zip(*fates, strict=True)]


def is_forgotten(version, first, second, order):
    fates = literal_fates(version, first, second, order)
    return all(fate == [order.first, order.second] for fate in fates)


@st.composite
def graded(draw):
    n_cells = draw(st.integers(1, 5))
    level = st.sampled_from([0, 0, 1, 100, 254, 255])
    code = st.lists(level, min_size=n_cells, max_size=n_cells).filter(lambda c: 255 in c)
    codes = draw(st.lists(code.map(tuple), min_size=2, max_size=4))
    return Instance(tuple(codes[:-1]), codes[-1])


@st.composite
def equal_winners(draw, least=1, most=5):
    n_cells = draw(st.integers(2, 9))
    n_active = draw(st.integers(1, n_cells - 1))
    cells = st.permutations(range(n_cells)).map(lambda order: order[:n_active])
    n_first = draw(st.integers(least, most))
    codes = np.zeros((n_first + 1, n_cells), dtype=int)
    for code in codes:
        code[draw(cells)] = 1
    return codes[:-1], codes[-1]


@given(graded(), st.sampled_from(VERSIONS), st.sampled_from(list(ORDERS.values())))
@settings(max_examples=30, deadline=None)
def test_instances_follow_the_rules(instance, version, order):
    fates = literal_fates(version, instance.first, instance.second, order)
    assert instance.run(version, order) == fates


@pytest.mark.parametrize("lowest", ORDERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_needed_overlap(version, lowest):
    for n_active in range(1, 12):
        for n_shared in range(n_active):
            codes = np.zeros((2, 2 * n_active - n_shared), dtype=int)
            codes[0, :n_active] = codes[1, n_active - n_shared :] = 1
            forgotten = is_forgotten(version, codes[:1], codes[1], ORDERS[lowest])
            assert forgotten == (n_shared >= needed_overlap(version, lowest, n_active))


def test_half_is_not_enough():
    order = ORDERS["the first"]
    assert needed_overlap(3, "the first", 4) == 3
    assert not Instance.of_cells(6, [(0, 1, 2, 3)], (2, 3, 4, 5)).is_forgotten(3, order)
    assert Instance.of_cells(5, [(0, 1, 2, 3)], (1, 2, 3, 4)).is_forgotten(3, order)


@given(equal_winners(least=2))
@settings(deadline=None)
def test_v3_never_forgets_a_whole_class_of_several_samples(codes):
    assert not is_forgotten(3, *codes, ORDERS["the first"])


@given(equal_winners(most=1), st.sampled_from(list(ORDERS.values())))
@settings(deadline=None)
def test_v4_never_forgets_what_differs(codes, order):
    (first,), second = codes
    if (first != second).any():
        assert not is_forgotten(4, [first], second, order)


def test_pairs_are_complete_up_to_renaming():
    found = [(i.n_cells, i.n_active, i.n_shared) for m in range(2, 7) for i in pairs(m)]
    every = {
        (2 * n_active - n_shared, n_active, n_shared)
        for n_active in range(1, 6)
        for n_shared in range(n_active)
    }
    assert found == sorted(size for size in every if size[0] <= 6)


def test_finds_the_smallest_pair():
    assert find_smallest(3, ORDERS["the first"], most_cells=3) is None
    smallest = find_smallest(1, ORDERS["the first"], most_cells=3)
    assert (smallest.n_cells, smallest.n_active, smallest.n_shared) == (3, 2, 1)


def test_margins_are_final_score_differences():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 4, (5, 6)), rng.integers(0, 4, (7, 6))
    for i, j in np.ndindex(5, 7):
        own = first[i] @ first[i]
        shared = first[i] @ second[j]
        assert margins(first, second, weakened=True)[i, j] == own - 2 * shared
        assert margins(first, second, weakened=False)[i, j] == own - shared
