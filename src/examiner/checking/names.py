"""Names as users give them: text, not empty, each once, and one of those that are known."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from examiner.wording import InputError, shorten, unknown_name


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


def check_known(kind: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not in a table, and list those that are.

    >>> check_known("unit", "games", ["runs", "tasks"])
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown unit 'games'. Known: 'runs', 'tasks'.
    """
    if name not in known:
        raise unknown_name(kind, name, known)


def known_name(kind: str, name: object, known: Collection[str]) -> str:
    """Return a name as its table spells it, whatever its case and its hyphens; refuse any other.

    >>> known_name("normaliser", "Min_Max", ["human", "min-max"])
    'min-max'
    """
    spelled = {own.replace("_", "-"): own for own in known}
    found = spelled.get(str(name).lower().replace("_", "-"))
    if found is None:
        raise unknown_name(kind, name, known)
    return found
