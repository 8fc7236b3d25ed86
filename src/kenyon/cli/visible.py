"""Texts of strangers without characters that act on a terminal or a page."""

from __future__ import annotations

import unicodedata

_HIDDEN = ("Cc", "Cs", "Zl", "Zp")
# Marks, embeddings, overrides and isolates, which turn the direction of the text around them.
_BIDIRECTIONAL = {chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F))}
_BIDIRECTIONAL |= {chr(code) for code in range(0x2066, 0x206A)}


def visible(text: object) -> str:
    r"""Return a text on one line, in which control characters are replaced by U+FFFD.

    Examples
    --------
    >>> visible("a\tb\x1b[31m")
    'a b�[31m'
    """
    return "".join(_shown(letter) for letter in str(text))


def visible_label(label: object) -> str:
    """Return a label as visible text, also if it is empty."""
    text = visible(label)
    return text if text.strip() else "(empty)"


def _shown(letter: str) -> str:
    if letter in "\t\n\r\u2028\u2029":
        return " "
    hidden = unicodedata.category(letter) in _HIDDEN or letter in _BIDIRECTIONAL
    return "\N{REPLACEMENT CHARACTER}" if hidden else letter
