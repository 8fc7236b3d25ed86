"""TextEncoder as a scikit-learn transformer: inputs, parameters, copies."""

import copy
import pickle
from enum import Enum

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import estimator_checks, get_tags

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder, hashing

TEXTS = ["where is my card?", "", "book a flight", "naïve 東京 \N{SNOWMAN}", "where is my card?"]
LEARNED = ["where is my card", "a lost card", "book a flight", "any flight to Paris"]
LABELS = ["card", "card", "flight", "flight"]


class Word(str, Enum):
    CARD = "card"


@pytest.fixture
def encoder():
    return TextEncoder("hashing").fit(TEXTS)


KINDS = {
    "tuple": tuple,
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "column": lambda texts: np.array(texts, dtype=object)[:, None],
    "pandas": pd.Series,
    "polars": pl.Series,
    "pandas frame": lambda texts: pd.DataFrame({"text": texts}),
    "polars frame": lambda texts: pl.DataFrame({"text": texts}),
    "index": lambda texts: pd.Series(texts, index=range(7, 7 + len(texts))),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_accepts_sequences(encoder, kind):
    np.testing.assert_array_equal(encoder.transform(kind(TEXTS)), encoder.transform(TEXTS))


def test_subclasses_of_strings_are_texts(encoder):
    found = encoder.transform([Word.CARD, np.str_("card")])
    np.testing.assert_array_equal(found, encoder.transform(["card", "card"]))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        ("hello", "X must be a list of texts, but is one text: 'hello'"),
        (b"hello", "X must be a list of texts, but is one text: b'hello'"),
        (["a", None], r"X must hold texts, but X\[1\] is None"),
        (["a", "b", float("nan")], r"X must hold texts, but X\[2\] is nan"),
        ([3], r"X must hold texts, but X\[0\] is 3"),
        ([b"a"], r"X must hold texts, but X\[0\] is b'a'"),
        ([["a"]], r"X must hold texts, but X\[0\] is \['a'\]"),
        (pd.Series(["a", None]), r"X must hold texts, but X\[1\] is (None|nan)"),
        (pl.Series(["a", None]), r"X must hold texts, but X\[1\] is None"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "but has 2 columns"),
        (np.array([["a", "b"]]), r"but has the shape \(1, 2\)"),
        (np.ones((2, 1)), r"X must hold texts, but X\[0\] is 1.0"),
        (3, "X must be a list of texts, but is of type int"),
        ({"a"}, "X must be a list of texts, but is of type set"),
        (pl.LazyFrame({"a": ["x"]}), "X must be a list of texts, but is of type LazyFrame"),
        ((text for text in "ab"), "X must be a list of texts, but is of type generator"),
        (["a", "\ud800"], r"X must hold texts of valid Unicode, but X\[1\] is '\\ud800'"),
    ],
)
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_refuses_other_inputs(encoder, method, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        getattr(encoder, method)(X)


@pytest.mark.parametrize(
    ("parameters", "kind", "sentence"),
    [
        ({"batch_size": 0}, ValueError, "batch_size must be from 1"),
        ({"batch_size": "8"}, TypeError, "batch_size must be an integer"),
        ({"n_threads": 0}, ValueError, "n_threads must be from 1"),
        ({"cache": 3}, TypeError, "cache must be True, False or a folder, but is 3"),
        ({"cache": ""}, ValueError, "cache must be True, False or a folder, but is ''"),
        ({"model": None}, TypeError, "model must be a name or a folder, but is None"),
        ({"model": ""}, ValueError, "model must be a name or a folder, but is ''"),
        ({"model": "a\nb"}, ValueError, "model must be a name or a folder"),
        ({"model": b"minilm"}, TypeError, "model must be a name or a folder"),
    ],
)
def test_refuses_other_parameters(parameters, kind, sentence):
    with pytest.raises(kind, match=sentence):
        TextEncoder(**{"model": "hashing", **parameters}).fit(TEXTS)


def test_no_texts(encoder):
    assert encoder.transform([]).shape == (0, 2048)
    assert encoder.transform([]).dtype == np.float32


def test_needs_no_fit():
    unfitted = TextEncoder("hashing")
    fitted = TextEncoder("hashing").fit()
    np.testing.assert_array_equal(unfitted.transform(TEXTS), fitted.transform(TEXTS))
    assert unfitted.description() == fitted.description()
    unfitted.check()
    assert not hasattr(unfitted, "digest_"), "a call that does not fit changes nothing"
    with pytest.raises((NotFittedError, AttributeError)):
        unfitted.get_feature_names_out()


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda encoder: pickle.loads(pickle.dumps(encoder))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies(encoder, duplicate):
    again = duplicate(encoder)
    assert again.description() == encoder.description()
    np.testing.assert_array_equal(again.transform(TEXTS), encoder.transform(TEXTS))


def test_joblib_and_clone(encoder, tmp_path):
    joblib.dump(encoder, tmp_path / "encoder.joblib")
    joblib.load(tmp_path / "encoder.joblib").check()
    cloned = clone(encoder.set_params(batch_size=7, cache=False))
    assert cloned.get_params() == encoder.get_params()
    assert not hasattr(cloned, "digest_")


def test_feature_names_and_frames(encoder):
    names = encoder.get_feature_names_out()
    assert names[:2].tolist() == ["textencoder0", "textencoder1"]
    assert len(names) == encoder.n_features_out_ == 2048
    frame = encoder.set_output(transform="pandas").transform(TEXTS)
    assert frame.columns.tolist() == names.tolist()
    assert isinstance(encoder.set_output(transform="polars").transform(TEXTS), pl.DataFrame)


def test_in_pipelines_and_unions():
    for classifier in LogisticRegression(), FlyClassifier():
        model = make_pipeline(TextEncoder("hashing"), classifier).fit(LEARNED, LABELS)
        assert model.predict(LEARNED).tolist() == LABELS
    union = FeatureUnion([("a", TextEncoder("hashing")), ("b", TextEncoder("hashing"))])
    assert union.fit_transform(TEXTS).shape == (len(TEXTS), 4096)


@pytest.mark.parametrize("column", ["text", ["text"]])
def test_in_a_column_transformer(column):
    frame = pd.DataFrame({"text": TEXTS, "colour": list("rgbrg")})
    columns = ColumnTransformer(
        [("text", TextEncoder("hashing"), column), ("colour", OneHotEncoder(), ["colour"])],
        sparse_threshold=0,
    )
    assert columns.fit_transform(frame).shape == (len(TEXTS), 2051)


def test_in_a_grid_search():
    search = GridSearchCV(
        make_pipeline(TextEncoder("hashing"), FlyClassifier()),
        {"textencoder__batch_size": [8, 16]},
        cv=2,
    )
    search.fit(LEARNED * 4, LABELS * 4)
    assert search.best_score_ == 1


def test_checks_of_scikit_learn_that_need_no_numbers():
    tags = get_tags(TextEncoder())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit
    for check in (
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_parameters_default_constructible,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_valid_tag_types,
    ):
        check("TextEncoder", TextEncoder("hashing"))


def test_progress(encoder, capfd):
    encoder.transform(TEXTS)
    assert capfd.readouterr() == ("", "")
    encoder.set_params(progress=True).transform(TEXTS)
    assert "5/5" in capfd.readouterr().err


def test_hashed_features_have_unit_length_or_are_zero(encoder):
    lengths = np.linalg.norm(encoder.transform([*TEXTS, "?!"]), axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 1, 1, 1, 1], atol=1e-6)


def test_hashed_features_never_change(encoder):
    """The digest names the definition: features that change need a new version."""
    features = encoder.transform(["where is my card?"])[0]
    largest = np.argsort(-np.abs(features), kind="stable")[:5]
    assert encoder.digest_[:16] == "635aacdba6e916f1"
    assert largest.tolist() == [682, 1258, 1389, 1424, 1558]
    assert np.flatnonzero(features).size == 49


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=8))
def test_hashed_texts_are_independent(texts):
    encoder = TextEncoder("hashing")
    together = encoder.transform(texts)
    alone = [encoder.transform([text])[0] for text in texts]
    np.testing.assert_array_equal(together, np.array(alone).reshape(len(texts), 2048))
    np.testing.assert_array_equal(encoder.transform(texts[::-1]), together[::-1])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text("aA\u0130\u03a3\u03c3 \t\x1c\u3000'.-é_1€", max_size=40), min_size=1, max_size=8
    )
)
def test_hashed_features_are_those_of_whole_texts(texts):
    """To hash each word once is faster, and gives the same bits."""
    kinds = [
        {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"\b\w+\b"},
        {"analyzer": "char_wb", "ngram_range": (2, 5)},
    ]
    sums = sum(
        HashingVectorizer(n_features=2048, norm=None, **kind).transform(texts).toarray()
        for kind in kinds
    )
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    expected = sums.astype(np.float32) / np.where(lengths == 0, 1, lengths)
    np.testing.assert_array_equal(
        TextEncoder("hashing").transform(texts), expected.astype(np.float32), strict=True
    )


def test_long_texts_are_hashed_in_passes_of_bounded_size(encoder, monkeypatch):
    texts = ["my card " * n for n in (1, 9, 0, 30, 2, 2)]
    expected = encoder.transform(texts)
    sizes = []
    sum_n_grams = hashing._sum_n_grams

    def count(passed):
        sizes.append([len(text) for text in passed])
        return sum_n_grams(passed)

    monkeypatch.setattr(hashing, "_sum_n_grams", count)
    monkeypatch.setattr(hashing, "CHARACTERS_PER_PASS", 80)
    np.testing.assert_array_equal(encoder.transform(texts), expected)
    assert sizes == [[8, 72], [0, 240], [16, 16]]
