"""The error and the warning that users see, and how names and numbers are written in them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

NO_VALUE_AT = "No value at"
"""How a note begins that names agents of another budget: a command prints it in full before its answer."""


class InputError(ValueError):
    """An input cannot be used; the message says what is wrong, with which value, and what to do.

    >>> raise InputError("Cannot read 'scores.csv': no such file. Check the path.")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'scores.csv': no such file. Check the path.

    `row` is the row of a table (from 0) that the message is about, if any.
    """

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class RepeatedKeyError(InputError):
    """Two rows, `row` and `other_row`, have the same key; `key` describes it."""

    def __init__(self, message: str, *, row: int, other_row: int, key: str) -> None:
        super().__init__(message, row=row)
        self.other_row = other_row
        self.key = key


class ExaminerWarning(UserWarning):
    """Something was guessed, dropped or doubtful; the same sentence is kept in the results' notes."""


def shorten(name: object, limit: int = 60) -> str:
    """Quote a name for a message, and cut a long one.

    >>> shorten("x" * 100, limit=10)
    "'xxxxxxxxx…'"
    """
    text = str(name)
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def first_line(problem: BaseException, limit: int = 200) -> str:
    r"""Return the first line of an error of other software, cut in its middle if it is long.

    Such a line quotes the offending value, of any length, and ends with its place: both ends are kept.

    >>> first_line(ValueError("invalid thrift.\nstack backtrace: …"))
    'invalid thrift'
    >>> first_line(ValueError("cannot parse " + "9" * 5_000 + " in column 'epoch'"), limit=50)
    "cannot parse 999999999999999 … 99 in column 'epoch'"
    """
    line = (str(problem).splitlines() or [""])[0].rstrip(".")
    return (
        line
        if len(line) <= limit
        else f"{line[: limit * 3 // 5 - 2]} … {line[-(limit * 2 // 5) :]}"
    )


def visible(text: str) -> str:
    r"""Return text with control characters escaped, so that a terminal shows them and does not act on them.

    Names come from files, and an escape sequence in one could clear the screen, rename the window or
    write letters backwards. Line ends are kept.

    >>> visible("red\x1b[31m"), visible("two\nlines"), visible("\u202eevil"), visible("é ≤ 5")
    ('red\\x1b[31m', 'two\nlines', '\\u202eevil', 'é ≤ 5')
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text
    )


def listed(names: Iterable[object], limit: int = 8) -> str:
    """Name the first few of many, and say how many more there are.

    >>> listed(["alien", "pong", "venture"], limit=2)
    "'alien', 'pong' and 1 more"
    """
    shown = [shorten(name) for name in names]
    if len(shown) <= limit:
        return ", ".join(shown)
    return ", ".join(shown[:limit]) + f" and {len(shown) - limit} more"


def joined(names: Sequence[object], limit: int = 3) -> str:
    """Return names as part of a sentence, at most `limit` of them.

    >>> joined(["dqn", "rainbow"]), joined(["alien", "pong", "venture"], limit=2)
    ('dqn and rainbow', 'alien, pong and 1 more')
    """
    shown = [str(name) for name in names[:limit]]
    if len(names) > limit:
        return f"{', '.join(shown)} and {len(names) - limit:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def plural(noun: str) -> str:
    """Return the plural of a noun, the last word of a few.

    A noun may be the name of a column: one with digits or punctuation is not changed.

    >>> [plural(noun) for noun in ("task", "family", "match", "class", "play", "missing cell", "acc_norm")]
    ['tasks', 'families', 'matches', 'classes', 'plays', 'missing cells', 'values of acc_norm']
    """
    start, _, last = noun.rpartition(" ")
    if not last.isalpha():
        return f"values of {noun}"
    before = f"{start} " if start else ""
    if last.endswith("y") and last[-2:-1] not in ("", *"aeiou"):
        return f"{before}{last[:-1]}ies"
    if last.endswith(("s", "x", "z", "ch", "sh")):
        return f"{before}{last}es"
    return f"{before}{last}s"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "run"), counted(1200, "family")
    ('1 run', '1,200 families')
    """
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def unknown_name(kind: str, name: object, known: Collection[str]) -> InputError:
    """Build the error for a name that is not in a table: it lists those that are.

    >>> str(unknown_name("normaliser", "humn", ["human", "rank"]))
    "Unknown normaliser 'humn'. Did you mean 'human'? Known: 'human', 'rank'."
    """
    hint = nearest(str(name), known)
    return InputError(
        f"Unknown {kind} {shorten(name)}. {hint}Known: {listed(sorted(known), limit=40)}."
    )


def nearest(name: str, known: Collection[str]) -> str:
    """Ask whether the most similar known name was meant; return an empty text if none is similar.

    >>> nearest("humn", ["human", "rank"]), nearest("x", ["human"])
    ("Did you mean 'human'? ", '')
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]!r}? " if near else ""
