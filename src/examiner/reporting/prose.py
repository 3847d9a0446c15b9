"""Sentences and labels: names told from our own words, and numbers, as people read them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from examiner.messages import InputError
from examiner.reporting.widths import display_width, first_columns, last_columns

ABSENT = "–"
MINUS = "−"
SHORTEST_LABEL = 8
# Control characters but for white space, surrogates, and marks of the direction of writing.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_NUMBERED = re.compile(r"\(#\d+\)$")  # a name may look like one of our own numbers


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a user chose: it may hold anything, and is never part of our own sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Sentence(Name):
    """A sentence or list with names in it: escaped as a name is, since they are, but never cut."""


Parts: TypeAlias = tuple[str | Name, ...]
"""A sentence in parts, so that the names in it can be told from our words."""
Prose: TypeAlias = str | Parts
"""A sentence: our own words alone, or in parts where names are among them."""


def parts_of(prose: Prose) -> Parts:
    """Return the parts of a sentence.

    >>> parts_of("Nobody leads."), parts_of((Name("dqn"), " leads."))
    (('Nobody leads.',), (Name(text='dqn'), ' leads.'))
    """
    return (prose,) if isinstance(prose, str) else prose


def said(prose: Prose) -> str:
    """Return a sentence as plain text.

    >>> said((Name("dqn"), " leads."))
    'dqn leads.'
    """
    return "".join(part.text if isinstance(part, Name) else part for part in parts_of(prose))


def enumerated(names: Sequence[str], limit: int = 12) -> Parts:
    """Name the first few of many as part of a sentence.

    >>> said(enumerated(["alien", "pong", "venture"], limit=2))
    'alien, pong and 1 more'
    """
    parts: list[str | Name] = []
    shown = names[:limit]
    for index, name in enumerate(shown):
        if index:
            last = index == len(shown) - 1 and len(names) <= limit
            parts.append(" and " if last else ", ")
        parts.append(Name(name))
    if len(names) > limit:
        parts.append(f" and {len(names) - limit:,} more")
    return tuple(parts)


def three_digits(value: float) -> str:
    """Write a number with three significant digits.

    >>> three_digits(0.123456), three_digits(1234.5), three_digits(-2.0), three_digits(math.nan)
    ('0.123', '1,234', '−2', '–')
    """
    if not math.isfinite(value):
        return ABSENT
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.2e}".replace("-", MINUS)
    text = f"{value:,.{_decimals(value)}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace("-", MINUS)


def aligned(values: Sequence[float]) -> list[str]:
    """Write a column with as many decimals as its typical value needs for three digits.

    >>> aligned([4.234, 0.791, 12.1, math.nan])
    ['4.23', '0.79', '12.10', '–']
    """
    seen = sorted(abs(value) for value in values if math.isfinite(value) and value)
    if not seen:
        return [three_digits(value) for value in values]
    decimals = _decimals(seen[(len(seen) - 1) // 2])
    # Columns of very unlike sizes would lose the small ones or pad the large ones: each for itself.
    if decimals > 4 or seen[-1] >= 1e7:
        return [three_digits(value) for value in values]
    return [
        f"{value:,.{decimals}f}".replace("-", MINUS) if math.isfinite(value) else ABSENT
        for value in values
    ]


def percent(share: float) -> str:
    """Write a share in whole percent; what was merely never seen, or always, is not said to be sure.

    >>> percent(0.898), percent(1.0), percent(0.001)
    ('90 %', 'more than 99 %', 'less than 1 %')
    """
    if share > 0.99:
        return "more than 99 %"
    return "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def _decimals(value: float) -> int:
    if value == 0:
        return 0
    return max(0, 2 - math.floor(math.log10(abs(value))))


def cut(name: str, limit: int) -> str:
    """Cut a name of more columns than a limit in its middle: names differ in beginnings and ends.

    Characters that cannot be seen, such as those that turn the direction of writing for all that
    follows, are left out.

    >>> cut("prioritized_dueling_ddqn", 15), cut("\u202enqd", 15)
    ('priorit…ng_ddqn', 'nqd')
    """
    flat = " ".join(_INVISIBLE.sub("", name).split()) or "(blank)"
    if max(len(flat), display_width(flat)) <= limit:  # some letters have no width
        return flat
    head = limit // 2
    return first_columns(flat, head) + "…" + last_columns(flat, limit - head - 1)


def distinct_labels(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Cut names, and number those that the cut made alike.

    >>> distinct_labels(["a" * 30 + "1" + "b" * 30, "a" * 30 + "2" + "b" * 30, "pong"], limit=12)
    ('aaa…bbb (#1)', 'aaa…bbb (#2)', 'pong')
    """
    if limit < SHORTEST_LABEL:
        raise InputError(f"Labels of {limit} characters are too short. Allow {SHORTEST_LABEL}.")
    short = _without_common_start(names, limit)
    found = [cut(name, limit) for name in short]
    seen = Counter(found)
    for index, (name, label) in enumerate(zip(short, found, strict=True)):
        if seen[label] > 1 or _NUMBERED.search(label):
            number = f" (#{index + 1})"
            found[index] = cut(name, max(limit - len(number), SHORTEST_LABEL - 1)) + number
    return tuple(found)


def _without_common_start(names: Sequence[str], limit: int) -> Sequence[str]:
    """Leave out the words that all names begin with, where names are too long for a label."""
    if len(names) < 2 or all(len(name) <= limit for name in names):
        return names
    start = next(
        (
            names[0][:at]
            for at in range(min(map(len, names)), 0, -1)
            if len({name[:at] for name in names}) == 1
        ),
        "",
    )
    end = max((start.rfind(mark) + 1 for mark in "/_-. :"), default=0)
    return [f"…{name[end:]}" for name in names] if end >= SHORTEST_LABEL // 2 else names


def plain(text: str) -> str:
    """Escape what plotly would read as markup in a label, a title or a hover box.

    Plotly reads `<b>`, `<br>` and `<a href>` in text, and `$…$` as mathematics.

    >>> plain("<b>a & b</b> $x$")
    '&lt;b&gt;a &amp; b&lt;/b&gt; &#36;x&#36;'
    """
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("$", "&#36;")


def labels(names: Sequence[str], limit: int) -> list[str]:
    """Return names as a figure shows them: cut, distinct, and no markup.

    >>> labels(["<b>"], limit=12)
    ['&lt;b&gt;']
    """
    return [plain(label) for label in distinct_labels(names, limit)]
