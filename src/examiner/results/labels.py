"""Labels people read: of items made of several columns, and of things that came without names."""

from __future__ import annotations

import json
from collections.abc import Sequence

from examiner.checking import check_names
from examiner.wording import InputError


def item_labels(items: Sequence[tuple[object, ...]]) -> tuple[str, ...]:
    """Label each item `task.level…`; where that is ambiguous, with the whole tuple as JSON.

    >>> item_labels([("freeway", 0), ("freeway", 1)])
    ('freeway.0', 'freeway.1')
    >>> item_labels([("a", "1.2"), ("a.1", "2")])
    ('["a", "1.2"]', '["a.1", "2"]')
    """
    labels = tuple(".".join(str(part) for part in item) for item in items)
    if len(set(labels)) == len(labels):
        return labels
    return tuple(json.dumps([str(part) for part in item], ensure_ascii=False) for item in items)


def numbered_names(names: Sequence[str] | None, count: int, what: str) -> tuple[str, ...]:
    """Return the names given, checked, or `what 1`, `what 2`, … where there are none.

    >>> numbered_names(None, 2, "agent")
    ('agent 1', 'agent 2')
    """
    if names is None:
        return tuple(f"{what} {number}" for number in range(1, count + 1))
    if len(names) != count:
        raise InputError(f"{len(names)} {what} names for {count} {what}s. Give one each.")
    return check_names([str(name) for name in names], what)
