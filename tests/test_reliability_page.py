"""docs/reliability.md states the limits that the code has."""

import re
from pathlib import Path

import pytest

from kenyon import _files, _native, kept_texts, model_checks

PAGE = Path(__file__).parents[1] / "docs/reliability.md"
LIMITS = {
    "features": _native.MAX_FEATURES,
    "cells": _native.MAX_CELLS,
    "connections: cells times fan-in": _native.MAX_CONNECTIONS,
    "fan-in": _native.MAX_FAN_IN,
    "classes": _native.MAX_CLASSES,
    "samples of a model": _native.MAX_SAMPLES,
    "a counter": _native.MAX_COUNT,
    "compartments": _native.MAX_COMPARTMENTS,
    "header of a file": _files.MAX_HEADER_BYTES,
    "labels of a file, as an array of strings": model_checks.MAX_LABEL_BYTES,
    "kept texts of a model, in UTF-8": kept_texts.MAX_TEXT_BYTES,
}
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def number(text):
    """Return the number that a cell begins with: 4,095, 2²⁴ or 32 MB."""
    power, plain, unit = re.match(r"(?:2([⁰¹²³⁴⁵⁶⁷⁸⁹]+)|([\d,]+)( MB)?)", text).groups()
    if power:
        return 2 ** int(power.translate(DIGITS))
    return int(plain.replace(",", "")) * (2**20 if unit else 1)


def test_every_limit_is_the_one_of_the_code():
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    shown = {name: value for name, value in rows if name in LIMITS}
    assert shown.keys() == LIMITS.keys()
    for name, value in shown.items():
        assert number(value) == LIMITS[name], name


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4,095", 4095), ("3: x", 3), ("2²⁴", 2**24), ("3 MB", 3 << 20)],
)
def test_the_reader_of_numbers(text, expected):
    assert number(text) == expected
