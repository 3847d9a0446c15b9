"""How wide texts are on a screen, where a Chinese letter or an emoji takes two columns."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len

_SECOND_COLUMN = "\ufdd0"
"""Stands for the second column of a wide letter: no letter of any script, and no blank."""


def display_width(text: str) -> int:
    """Return the columns that a text takes.

    >>> display_width("pong"), display_width("乒乓球")
    (4, 6)
    """
    return len(text) if text.isascii() else cell_len(text)


def first_columns(text: str, width: int) -> str:
    """Return a beginning of a text that fits.

    >>> first_columns("pong", 2), first_columns("乒乓球", 5)
    ('po', '乒乓')
    """
    end = min(len(text), max(width, 0))
    while display_width(text[:end]) > width:
        end -= 1
    return text[:end]


def last_columns(text: str, width: int) -> str:
    """Return an end of a text that fits.

    >>> last_columns("pong", 2), last_columns("乒乓球", 5)
    ('ng', '乓球')
    """
    start = max(len(text) - max(width, 0), 0)
    while start < len(text) and display_width(text[start:]) > width:
        start += 1
    return text[start:]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Return a text with blanks up to a width, to its left where it is to stand at the right.

    >>> padded("乒乓球", 8) + "|", padded("1.5", 5, right=True)
    ('乒乓球  |', '  1.5')
    """
    blanks = " " * (width - display_width(text))
    return blanks + text if right else text + blanks


def wrapped_lines(text: str, width: int, indent: str = "") -> list[str]:
    """Return a text in lines of at most this width that break between words only.

    >>> wrapped_lines("乒乓球 leads by far.", 12)
    ['乒乓球 leads', 'by far.']
    """
    if not text.isascii():
        text = "".join(letter + _SECOND_COLUMN * (display_width(letter) - 1) for letter in text)
    lines = textwrap.wrap(
        text,
        max(width, 1),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_SECOND_COLUMN, "") for line in lines]
