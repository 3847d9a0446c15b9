"""Names made fit for a figure: cut, distinct, and never taken for markup."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from examiner.wording import InputError

SHORTEST_LABEL = 8
# Control characters but for white space, surrogates, and marks of the direction of writing.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

_NUMBERED = re.compile(r"\(#\d+\)$")  # a name may look like one of our own numbers


def cut(name: str, limit: int) -> str:
    """Cut a long name in its middle: beginnings and ends are what tells names apart.

    Characters that cannot be seen, such as those that turn the direction of writing for all that
    follows, are left out.

    >>> cut("prioritized_dueling_ddqn", 15), cut("\u202enqd", 15)
    ('priorit…ng_ddqn', 'nqd')
    """
    flat = " ".join(_INVISIBLE.sub("", name).split()) or "(blank)"
    if len(flat) <= limit:
        return flat
    head = limit // 2
    return flat[:head] + "…" + flat[len(flat) - (limit - head - 1) :]


def distinct_labels(names: Sequence[str], limit: int) -> tuple[str, ...]:
    """Cut names, and number those that the cut made alike.

    >>> distinct_labels(["a" * 30 + "1" + "b" * 30, "a" * 30 + "2" + "b" * 30, "pong"], limit=12)
    ('aaa…bbb (#1)', 'aaa…bbb (#2)', 'pong')
    """
    if limit < SHORTEST_LABEL:
        raise InputError(f"Labels of {limit} characters are too short. Allow {SHORTEST_LABEL}.")
    found = [cut(name, limit) for name in names]
    seen = Counter(found)
    for index, (name, label) in enumerate(zip(names, found, strict=True)):
        if seen[label] > 1 or _NUMBERED.search(label):
            number = f" (#{index + 1})"
            found[index] = cut(name, max(limit - len(number), SHORTEST_LABEL - 1)) + number
    return tuple(found)


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
