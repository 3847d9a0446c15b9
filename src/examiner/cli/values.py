"""From the text of an option to its value: words, numbers, and numbers or words."""

from __future__ import annotations

import csv
from collections.abc import Callable
from typing import Any, TypeVar

from examiner.messages import InputError, shorten

Parsed = TypeVar("Parsed")


def parsed(kind: Callable[[str], Parsed], text: str, complaint: str) -> Parsed:
    """Convert the text of an option, or raise an error with this complaint.

    >>> parsed(int, "few", "The size is 'few'. Give a whole number.")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The size is 'few'. Give a whole number.
    """
    try:
        return kind(text)
    except ValueError:
        raise InputError(complaint) from None


def number_or(
    *words: str, complaint: str, kind: Callable[[str], Any] = float
) -> Callable[[str], Any]:  # Any: a number, or one of the words
    """Return what reads a number or one of these words; the complaint has the text in place of `{}`.

    >>> clusters = number_or("auto", kind=int, complaint="The number is {}. Give 1 or more, or 'auto'.")
    >>> clusters("3"), clusters("auto")
    (3, 'auto')
    """
    return lambda text: (
        text if text in words else parsed(kind, text, complaint.format(shorten(text)))
    )


def numbers(complaint: str) -> Callable[[str], list[float]]:
    """Return what reads numbers with commas between them.

    >>> numbers("The points are {}. Give frames.")("1e6,5e6")
    [1000000.0, 5000000.0]
    """
    return lambda text: [
        parsed(float, part, complaint.format(shorten(text))) for part in text.split(",")
    ]


def words_of(text: str) -> list[str]:
    """Split a list at its commas; a name with a comma is quoted, as in CSV.

    >>> words_of("iqm, mean"), words_of('"a, b",c')
    (['iqm', 'mean'], ['a, b', 'c'])
    """
    if '"' not in text:
        return [word.strip() for word in text.split(",")]
    try:
        return [
            word.strip() for word in next(csv.reader([text], skipinitialspace=True, strict=True))
        ]
    except csv.Error:
        raise InputError(
            f"The quotation marks in the list {shorten(text)} do not match. Quote each name that has a "
            f"comma, as in '\"a, b\",c', and write a quotation mark in it twice."
        ) from None


def item_columns(text: str) -> tuple[str, ...]:
    """Read the columns of an item but for the task, which comes first.

    >>> item_columns("task,level"), item_columns("task")
    (('level',), ())
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names[:1] != ("task",):
        raise InputError(
            f"An item begins with the task: `--item task` or `--item task,level`, not {shorten(text)}."
        )
    return names[1:]


success_of = number_or(
    *("reference", "human", "random"),
    complaint="Success is {}. Give a number, 'reference' or 'random'.",
)
"""The value of `--success`: a number, or a reference of the task's scale."""
