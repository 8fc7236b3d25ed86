"""Results whose pages are tested."""

from dataclasses import replace

from kenyon.text_explanation import WordEffect
from tests.cli.evaluation.rows import Rows

FACTS = {"model": "intents.kenyon", "file": "test.csv", "encoder": "hashing", "Kenyon": "0.2.0"}
HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eright to left\u202c",
    "שלום עולם מה שלומך היום",
    "\x1b[31mred\x00\x07",
    "]]></style><style>*{display:none}",
    "a" * 400,
    "漢字" * 30,
    "&amp; &lt;b&gt;",
    "line\nbreak\ttab",
    "",
    "https://example.com/?a=b#c",
]


def explained(result):
    """Return a result with an effect for each word of the confident errors."""
    errors = []
    for error in result.errors:
        words, end = [], 0
        for number, word in enumerate(error.input.split()):
            start = error.input.index(word, end)
            end = start + len(word)
            words.append(WordEffect(word, start, end, (-1) ** number * 0.7 * number))
        errors.append(replace(error, words=words))
    return replace(result, errors=errors)


def result_of(n_rows, classes, texts=None, **options):
    rows = Rows(n_rows, classes, **options)
    if texts is not None:
        rows.texts = [texts[i % len(texts)] for i in range(n_rows)]
    return explained(rows.evaluate())


def few():
    return result_of(300, ["cat", "dog", "horse", "sheep"], with_outside=True, strange=["mouse"])


def ten():
    return result_of(2000, range(10))


def many():
    names = [f"class_{i}_with_a_rather_long_name" for i in range(1000)]
    return result_of(5000, names, sharpness=2.0)


def thirty():
    return result_of(3000, [f"intent_{i:02d}" for i in range(30)], sharpness=2.0)


def hostile():
    return result_of(400, HOSTILE, HOSTILE, strange=["<b>strange</b>"], with_outside=True)


def one_class():
    return result_of(20, ["only"])


def only_outside():
    rows = Rows(30, ["a", "b"], with_outside=True)
    rows.ranks[:] = -2
    return rows.evaluate()


def only_strange():
    rows = Rows(30, ["a", "b"])
    rows.ranks[:] = -1
    rows.labels = ["x"] * 30
    return rows.evaluate()


RESULTS = (few, ten, thirty, many, hostile, one_class, only_outside, only_strange)
