"""Single values of a plan: taken from their table, checked, and refused by their key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from examiner.wording import InputError, shorten, unknown_name

Table = Mapping[str, Any]  # Any: values of TOML, each checked where it is used


def known_keys(table: Table, keys: tuple[str, ...], what: str) -> None:
    """Refuse keys that are not known, with the nearest that is."""
    for key in table:
        if key not in keys:
            raise unknown_name(what, key, keys)


def text_of(table: Table, key: str, default: str | None, where: str = "") -> str:
    """Return the text under a key; a default of None means that it is needed."""
    value = table.get(key, default)
    if not isinstance(value, str) or not value:
        raise wrong_value(f"{where}.{key}" if where else key, value, "text")
    return value


def choice_of(
    table: Table,
    key: str,
    known: Mapping[str, Any] | tuple[str, ...],
    default: str,
    where: str = "",
) -> str:
    """Return the text under a key after checking that it is one of those known."""
    value = text_of(table, key, default, where)
    if value not in known:
        raise InputError(f"{where}.{key}: ".lstrip(".") + str(unknown_name(key, value, known)))
    return value


def count_of(table: Table, key: str, where: str = "") -> int | None:
    """Return the whole number under a key, at least 1; None where there is none."""
    value = table.get(key)
    if value is None or is_whole(value, 1):
        return value
    raise wrong_value(f"{where}.{key}" if where else key, value, "a whole number of at least 1")


def is_whole(value: object, least: int) -> TypeGuard[int]:
    """Tell whether a value is a whole number, at least so large."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def wrong_value(where: str, value: object, wanted: str) -> InputError:
    """Build the error for a value of the wrong kind, with the key it stands under."""
    said = "is missing" if value is None else f"is {shorten(value)}"
    return InputError(f"The plan's {where} {said}. Give {wanted}.")
