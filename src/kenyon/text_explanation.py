"""The words of a text, and how much the answer depends on each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from kenyon.readouts.readout import Floats

MAX_WORDS = 200
"""Words of a text that are left out, one after the other; later ones are not."""
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


class WordEffect(NamedTuple):
    """A word of a text, and what the log-odds of a label lose without it."""

    word: str
    start: int
    """The word is `text[start:end]`."""
    end: int
    effect: float


@dataclass(frozen=True)
class TextExplanation:
    """How much an answer depends on each word: leave one word out, and ask again.

    The effect of a word is the log-odds of the label for the text, minus its log-odds for the text
    without the word. A positive effect: the word speaks for the label. Log-odds are the logarithm
    of p / (1 - p) for the calibrated probability p.

    This is what the answer of this model loses when one word is missing, and nothing more. The
    encoder reads words in their context, so effects do not add up to the log-odds. Words that occur
    twice, and words of a phrase, stand in for each other: each may have a small effect where all of
    them together have a large one. An effect is no probability, and no cause in the world.

    Only the first 200 words are left out.

    Attributes
    ----------
    text : str
    label : the class that is explained
    log_odds : float
        The log-odds of the label for the whole text.
    words : list of (word, start, end, effect)
        In the order of the text; the word is `text[start:end]`.

    Examples
    --------
    >>> from kenyon import FlyClassifier
    >>> from kenyon.encoders import TextEncoder
    >>> from kenyon.pipeline import make_pipeline
    >>> texts = ["pay my bill", "a bill to pay", "play a song", "a song of love"]
    >>> pipeline = make_pipeline(TextEncoder("hashing"), FlyClassifier())
    >>> explanation = pipeline.fit(texts, ["bank", "bank", "music", "music"]).explain("sing a song")
    >>> explanation.label
    'music'
    >>> max(explanation.words, key=lambda word: word.effect).word
    'song'
    """

    text: str
    label: Any
    log_odds: float
    words: list[WordEffect]

    def __str__(self) -> str:
        """Return the label and the words, those with the largest effects first."""
        words = sorted(self.words, key=lambda word: -abs(word.effect))
        lines = (f"{word.effect:+8.2f}  {word.word}" for word in words)
        return "\n".join([f"{self.label}: log-odds {self.log_odds:+.2f}", *lines])


def explain_text(
    text: str, choose: Callable[[Floats], tuple[int, Any]], log_odds: Callable[[list[str]], Floats]
) -> TextExplanation:
    """Return the effect of each word.

    Parameters
    ----------
    text : str
    choose : callable
        Takes the log-odds of all classes for the text, and returns the rank and the label of the
        class to explain.
    log_odds : callable
        Returns the log-odds of all classes for each of several texts.
    """
    places = [match.span() for match in islice(_WORD.finditer(text), MAX_WORDS)]
    odds = log_odds([text, *(text[:start] + text[end:] for start, end in places)])
    rank, label = choose(odds[0])
    whole, *others = odds[:, rank].tolist()
    words = [
        WordEffect(text[start:end], start, end, whole - without)
        for (start, end), without in zip(places, others, strict=True)
    ]
    return TextExplanation(text, label, whole, words)
