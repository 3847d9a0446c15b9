"""Sentences and labels: names that users chose, and numbers, as people read them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from examiner.messages import InputError, joined
from examiner.reporting.widths import display_width, first_columns, last_columns

ABSENT = "–"
MINUS = "−"
SHORTEST_LABEL = 8
# Control characters but for white space, surrogates, and marks of the direction of writing.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_MARKS = re.compile("[\u2068\u2069]")
_NAMED = re.compile("\u2068(.*?)\u2069", re.DOTALL)
_NUMBERED = re.compile(r"\(#\d+\)$")  # a name may look like one of our own numbers


def named(name: str) -> str:
    """Return a name that a user chose as part of a sentence, between Unicode's marks of an isolate.

    Whatever it holds, it does not turn the direction of the sentence, and a page may cut it.

    >>> f"{named('dqn')} leads."
    '\u2068dqn\u2069 leads.'
    """
    return f"\u2068{_MARKS.sub('', name)}\u2069"


def plain_text(sentence: str) -> str:
    """Return a sentence without the marks of its names.

    >>> plain_text(f"{named('dqn')} leads.")
    'dqn leads.'
    """
    return _MARKS.sub("", sentence)


class Part(NamedTuple):
    """A part of a sentence: a name, or our own words."""

    text: str
    is_name: bool


def parts_of(sentence: str) -> list[Part]:
    """Return the parts of a sentence.

    >>> parts_of(f"{named('dqn')} leads.")
    [Part(text='dqn', is_name=True), Part(text=' leads.', is_name=False)]
    """
    texts = _NAMED.split(sentence)  # every second one is a name
    return [Part(text, at % 2 == 1) for at, text in enumerate(texts) if text]


def headline(lead: str) -> tuple[str, str]:
    """Part a finding into its first sentence and the others; a name may hold anything.

    >>> headline("Runs make up 2 % of the error: more tasks help more.")[1]
    ''
    >>> headline(f"{named('a. b')} leads. So it is. c is last.")[1]
    'So it is. c is last.'
    """
    first = ""
    for part in parts_of(lead):
        if part.is_name:
            first += named(part.text)
            continue
        start, stop, _ = part.text.partition(". ")
        first += start
        if stop:
            return f"{first}.", lead[len(first) + len(stop) :]
    return lead, ""


def without_invisible(text: str) -> str:
    """Return text without characters that cannot be seen, such as those that turn all that follows.

    >>> without_invisible("\u202enqd")
    'nqd'
    """
    return _INVISIBLE.sub("", text)


def enumerated(names: Sequence[str], limit: int = 12) -> str:
    """Name the first few of many as part of a sentence.

    >>> plain_text(enumerated(["alien", "pong", "venture"], limit=2))
    'alien, pong and 1 more'
    """
    return joined([named(name) for name in names], limit)


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

    >>> cut("prioritized_dueling_ddqn", 15), cut("\u202enqd", 15)
    ('priorit…ng_ddqn', 'nqd')
    """
    flat = " ".join(without_invisible(name).split()) or "(blank)"
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
    shortened = [cut(name, limit) for name in short]
    occurrences = Counter(shortened)
    for index, (name, label) in enumerate(zip(short, shortened, strict=True)):
        if occurrences[label] > 1 or _NUMBERED.search(label):
            number = f" (#{index + 1})"
            shortened[index] = cut(name, max(limit - len(number), SHORTEST_LABEL - 1)) + number
    return tuple(shortened)


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
