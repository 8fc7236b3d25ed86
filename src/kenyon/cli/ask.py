"""The command `ask`."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

import kenyon
from kenyon.cli.answers import Answerer
from kenyon.cli.inputs import accept_all_bytes, parse_input
from kenyon.cli.models import TEXT, kind_of
from kenyon.cli.options import AsJson, Elsewhere, FalseAlarms, Model, Top, Unknown
from kenyon.cli.visible import visible, visible_label

if TYPE_CHECKING:
    from kenyon.cli.models import AnyModel

EXAMPLES = """
kenyon ask intents.kenyon "where is my card?"
kenyon ask intents.kenyon "where is my card?" --why --unknown '?'
cut -f 2 questions.tsv | kenyon ask intents.kenyon - --json
kenyon ask pets.kenyon photo.jpg
kenyon ask flowers.kenyon 5.1,3.5,1.4,0.2
kenyon ask sensors.kenyon -- -0.3,1.2
"""


def ask(
    model: Model,
    texts: Annotated[
        list[str],
        typer.Argument(
            metavar="TEXT",
            help="Texts, or - for the lines of standard input. For a model of images, image files; "
            "for a model of features, numbers separated by commas. -- goes before a text that "
            "begins with -.",
        ),
    ],
    top: Top = 3,
    unknown: Unknown = None,
    false_alarms: FalseAlarms = 0.05,
    why: Annotated[
        bool,
        typer.Option(
            "--why", help="Show the effects of words and, if texts are kept, the nearest ones."
        ),
    ] = False,
    encoder: Elsewhere = None,
    as_json: AsJson = False,
) -> None:
    """Answer texts: the most probable classes, and why.

    --why leaves out one word after the other. The effect of a word is the log-odds of the answer
    minus its log-odds without the word. --json prints one line for each text.
    """
    found = kenyon.load(model, encoder=encoder)
    if why and kind_of(found) != TEXT:
        raise ValueError(f"--why explains texts, but {model} has not learned texts")
    answerer = Answerer(found, top, unknown, false_alarms)
    accept_all_bytes()
    is_first = True
    for place, text in _each(texts):
        try:
            answer = answer_one(answerer, found, text, why)
        except ValueError as error:
            raise ValueError(f"{place}{error}") from error
        if as_json:
            print(json.dumps(answer), flush=True)
            continue
        if not is_first:
            print()
        if len(texts) > 1 or texts == ["-"]:
            print(visible(text))
        print_answer(answer)
        is_first = False


def answer_one(answerer: Answerer, model: "AnyModel", text: str, why: bool) -> dict[str, Any]:
    """Return the answer to one input, as values that JSON can hold."""
    labels, probabilities, novelty, is_unknown = answerer(parse_input(text, model))
    pairs = zip(labels[0].tolist(), probabilities[0].tolist(), strict=True)
    top = [{"label": label, "probability": share} for label, share in pairs]
    answer: dict[str, Any] = {"input": text, "predicted": top[0]["label"], "top": top}
    if novelty is not None and is_unknown is not None:
        answer["novelty"], answer["threshold"] = float(novelty[0]), answerer.threshold
        if is_unknown[0]:
            answer["predicted"] = answerer.unknown
    return {**answer, **explain(model, text)} if why else answer


def explain(model: Any, text: str) -> dict[str, Any]:
    """Return why a model of texts answers as it does, as values that JSON can hold."""
    why: dict[str, Any] = {}
    if len(model.classes_) > 1:
        explanation = model.explain(text)
        words = [{"word": word.word, "effect": word.effect} for word in explanation.words]
        why["why"] = {
            "label": explanation.label,
            "log_odds": explanation.log_odds,
            "words": words,
        }
    if model.keep_texts:
        why["nearest"] = [
            {"text": near, "label": label, "similarity": similarity}
            for near, label, similarity in model.nearest(text)
        ]
    return why


def print_answer(answer: dict[str, Any]) -> None:
    """Print an answer for people."""
    if "novelty" in answer:
        sign = ">" if answer["novelty"] > answer["threshold"] else "<="
        rest = f"(novelty {answer['novelty']:.3f} {sign} {answer['threshold']:.3f})"
        print(f"{visible_label(answer['predicted'])}  {rest}")
    labels = [visible_label(row["label"]) for row in answer["top"]]
    for label, row in zip(labels, answer["top"], strict=True):
        print(f"{label:<{max(map(len, labels))}}  {row['probability']:6.1%}")
    print_why(answer)


def print_why(answer: dict[str, Any]) -> None:
    """Print the effects of words, and the nearest texts."""
    if "why" in answer:
        label, words = answer["why"]["label"], answer["why"]["words"]
        print(
            f"\nWords for and against {visible_label(label)} "
            "(leave one word out; change of its log-odds):"
        )
        for word in sorted(words, key=lambda word: -abs(word["effect"])):
            print(f"{word['effect']:+8.2f}  {visible(word['word'])}")
    if "nearest" in answer:
        print("\nNearest learned texts (cosine of their features):")
        for near in answer["nearest"]:
            label, text = visible_label(near["label"]), visible(near["text"])
            print(f"{near['similarity']:8.2f}  {label}: {text}")


def _each(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield texts, each after its place in errors."""
    for text in texts:
        if text != "-":
            yield "", text
            continue
        for number, line in enumerate(sys.stdin, 1):
            if line.strip():
                yield f"standard input, line {number}: ", line.rstrip("\r\n")
