"""CLINC150: queries to an assistant, of 150 intents and out of scope."""

from __future__ import annotations

import json
from typing import NamedTuple

from kenyon_lab.data.features import read_features
from kenyon_lab.data.info import DatasetInfo
from kenyon_lab.data.source import Source

SOURCE = Source(
    "clinc150/data_full.json",
    "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0",
    "https://raw.githubusercontent.com/clinc/oos-eval/master/data/data_full.json",
)
FEATURES = DatasetInfo(
    name="clinc150",
    summary="CLINC150 intents through MiniLM",
    n_train=15_000,
    n_test=4_500,
    n_features=384,
    n_classes=150,
    n_tasks=15,
    licence="CLINC150: CC BY 3.0; MiniLM: Apache-2.0",
    citation=(
        "Larson et al. 2019, An Evaluation Dataset for Intent Classification and Out-of-Scope "
        "Prediction, EMNLP; all-MiniLM-L6-v2 of sentence-transformers"
    ),
    read=read_features,
    sources=(SOURCE,),
    n_out_of_scope=1_000,
    encoder="MiniLM",
)


class Queries(NamedTuple):
    """The queries of one split and their intents."""

    texts: list[str]
    intents: list[str]


def read_queries(source: Source = SOURCE) -> dict[str, Queries]:
    """Return the queries of the splits train, test and oos_test."""
    try:
        splits = json.loads(source.read())
        queries = {name: Queries(*_columns(splits[name])) for name in ("train", "test", "oos_test")}
        if unknown := set(queries["test"].intents) - set(queries["train"].intents):
            raise ValueError(f"the intent {min(unknown)!r} is in test but not in train")
        return queries
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{source.path} does not hold queries and intents: {error}") from error


def _columns(pairs: list[list[str]]) -> tuple[list[str], list[str]]:
    texts, intents = (list(column) for column in zip(*pairs, strict=True))
    if not all(isinstance(word, str) for word in [*texts, *intents]):
        raise TypeError("some are not strings")
    return texts, intents
