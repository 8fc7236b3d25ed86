"""Sparse matrices whose arrays were changed; started by test_damaged_sparse.

Such a matrix may end the process. This one prints a line of JSON before and after each call.
"""

import json

import numpy as np
from scipy import sparse

from kenyon import FlyClassifier, SparseCoder
from tests.refusal import X as DENSE
from tests.refusal import Y, fitted, state

X = np.where(DENSE > 0.4, DENSE, 0)  # 30 rows, 5 columns
FORMATS = "csr", "csc", "bsr", "coo", "dia", "dok", "lil"
FAR = 10**8


def set_at(name, place, value):
    """Return a function that changes one entry of an array."""

    def change(matrix):
        getattr(matrix, name)[place] = value

    return change


def cut(name, n):
    """Return a function that drops the last entries of an array."""

    def change(matrix):
        setattr(matrix, name, getattr(matrix, name)[:-n].copy())

    return change


def as_type(name, dtype):
    def change(matrix):
        setattr(matrix, name, getattr(matrix, name).astype(dtype))

    return change


def set_coordinate(axis, value):
    def change(matrix):
        (matrix.row, matrix.col)[axis][3] = value

    return change


def cut_coordinates(matrix):
    matrix.row, matrix.col = matrix.row[:-3].copy(), matrix.col[:-3].copy()


def set_key(*key):
    def change(matrix):
        getattr(matrix, "_dict", matrix)[key] = 1.0

    return change


def set_row(value):
    def change(matrix):
        matrix.rows[2][-1] = value

    return change


def lengthen_row(matrix):
    matrix.data[2].extend([1.0] * 1000)


def huge_offset(matrix):
    matrix.offsets = matrix.offsets.astype(np.int64)
    matrix.offsets[-1] = 2**32


COMPRESSED = {
    "large index": (set_at("indices", 4, FAR), f"indices of at least 0 and below .+, but .* {FAR}"),
    "negative index": (set_at("indices", 4, -FAR), "indices of at least 0 and below .+, but"),
    "large last start": (set_at("indptr", -1, FAR), f"indptr entries .* but one is {FAR}"),
    "large start": (set_at("indptr", 1, FAR), f"indptr entries .* but one is {FAR}"),
    "negative start": (set_at("indptr", 1, -FAR), "indptr entries of at least 0 .* but one is"),
    "late start": (set_at("indptr", 0, 1), "indptr that begins with 0, but it begins with 1"),
    "falling start": (set_at("indptr", 1, 40), "indptr that never decreases, but .* follows 40"),
    "few starts": (cut("indptr", 2), "indptr with .+ entries, but it has .+"),
    "few indices": (cut("indices", 3), "indptr entries of at least 0 and below"),
    "few data": (cut("data", 3), "as many indices as data, but has .+ and .+"),
    "fractions": (
        as_type("indices", np.float64),
        "indices that are integers .* but they are float64",
    ),
}
DAMAGES = {
    "csr": COMPRESSED,
    "csc": COMPRESSED,
    "bsr": COMPRESSED,
    "coo": {
        "large row": (
            set_coordinate(0, 30),
            "row indices of at least 0 and below 30, but one .* 30",
        ),
        "negative row": (set_coordinate(0, -FAR), "row indices of at least 0 and below 30, but"),
        "large column": (set_coordinate(1, FAR), "column indices of at least 0 and below 5, but"),
        "negative column": (set_coordinate(1, -1), "column indices .* below 5, but one is -1"),
        "few indices": (cut_coordinates, "as many row indices as data, but has"),
        "few data": (cut("data", 3), "as many row indices as data, but has"),
    },
    "dia": {
        "few offsets": (cut("offsets", 3), "as many offsets as data, but has"),
        "few data": (lambda m: setattr(m, "data", m.data[:-1].copy()), "as many offsets as data"),
        "huge offset": (huge_offset, "offsets of at least -2147483647 .* but one is 4294967296"),
        "fractions": (
            as_type("offsets", np.float64),
            "offsets that are integers .* but they are float64",
        ),
    },
    "dok": {
        "large row": (set_key(30, 0), "a dok matrix with valid indices, but"),
        "large column": (set_key(0, FAR), "a dok matrix with valid indices, but"),
        "negative column": (set_key(0, -FAR), "a dok matrix with valid indices, but"),
        "huge column": (set_key(0, 2**80), "a dok matrix with valid indices, but"),
    },
    "lil": {
        "large column": (set_row(FAR), f"indices of at least 0 and below 5, but one is {FAR}"),
        "negative column": (set_row(-FAR), "indices of at least 0 and below 5, but one is"),
        "huge column": (set_row(2**80), "a lil matrix with valid indices, but"),
        "long data": (lengthen_row, "a lil matrix with valid indices, but"),
    },
}


def damaged(kind, form, damage):
    options = {"blocksize": (3, 1)} if form == "bsr" else {}
    matrix = getattr(sparse, f"{form}_{kind}")(X, **options)
    DAMAGES[form][damage][0](matrix)
    return matrix


def calls(model, coder):
    """Return every call that takes samples, by name."""
    reads = "predict", "predict_proba", "predict_top", "decision_function", "novelty"
    return {
        "fit": lambda x: model.fit(x, Y),
        "partial_fit": lambda x: model.partial_fit(x, Y),
        "first partial_fit": lambda x: FlyClassifier().partial_fit(x, Y),
        "unlearn": lambda x: model.unlearn(x, Y),
        "extinguish": lambda x: model.extinguish(x, Y, 0.5),
        "score": lambda x: model.score(x, Y),
        "SparseCoder.fit": lambda x: SparseCoder().fit(x),
        "SparseCoder.fit_transform": lambda x: SparseCoder().fit_transform(x),
        "SparseCoder.transform": coder.transform,
        "SparseCoder.levels": coder.levels,
        **{name: getattr(model, name) for name in (*reads, "score_samples")},
    }


def main():
    model, coder = fitted(), SparseCoder(n_cells=100).fit(X)
    before = state(model)
    for form in FORMATS:
        for damage in DAMAGES[form]:
            for kind in ("array", "matrix"):
                for name, call in calls(model, coder).items():
                    case = [kind, form, damage, name]
                    print(json.dumps(case), flush=True)
                    try:
                        call(damaged(kind, form, damage))
                        error = None
                    except Exception as raised:
                        error = [type(raised).__name__, str(raised)]
                    print(json.dumps([*case, error]), flush=True)
    assert state(model) == before


if __name__ == "__main__":
    main()
