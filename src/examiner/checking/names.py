"""Names as users give them: text, not empty, each once."""

from __future__ import annotations

from collections.abc import Sequence

from examiner.wording import InputError, shorten


def check_names(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple after refusing empty and repeated ones.

    >>> check_names(["a", "b", "a"], "agent")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The agent name 'a' appears twice. Give every agent its own name.
    """
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(
                f"The {what} name at position {position + 1} is {shorten(name)}, "
                f"a {type(name).__name__}. Names must be text."
            )
        if not name:
            raise InputError(
                f"The {what} name at position {position + 1} is empty. Give every {what} a name."
            )
        if name in seen:
            raise InputError(
                f"The {what} name {shorten(name)} appears twice. Give every {what} its own name."
            )
        seen.add(name)
    return tuple(names)
