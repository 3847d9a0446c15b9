"""Refuse stored numbers that no analysis can have written: negative errors, impossible intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from examiner.messages import InputError

_NO_INTERVAL = ("reach",)
"""Names whose low and high parts are not the ends of one interval."""
_ESTIMATES = {"low": "value", "ability_low": "ability"}
"""The estimate of an interval by the name of its lower end."""


def check_plausible(content: Mapping[str, Any], file: str, remedy: str) -> None:  # Any: JSON values
    """Refuse negative errors, intervals that end below their beginning, and estimates outside their own.

    >>> check_plausible({"error": 0.5, "low": -1.0, "high": 1.0}, "'x.json'", "Make it again.")
    """
    for path, name, holder in _numbers_by_name(content, ""):
        value = holder[name]
        if name.endswith(("error", "errors", "posterior_sd")):
            if any(number < 0 for number in _flat(value)):
                raise InputError(f"{file} has a negative number in {path + name!r}. {remedy}")
        elif name == "low" or (name.endswith("_low") and name[:-4] not in _NO_INTERVAL):
            stem = _ESTIMATES.get(name, "")
            parts = (value, holder.get(name[:-3] + "high"), holder.get(stem))
            low, high, estimate = (list(_flat(part)) for part in parts)
            if len(low) == len(high) and any(map(float.__gt__, low, high)):
                raise InputError(
                    f"{file} has an interval in {path + name!r} that ends below its beginning. {remedy}"
                )
            if len(low) == len(high) == len(estimate) and any(map(_outside, estimate, low, high)):
                raise InputError(
                    f"{file} has a number in {path + stem!r} that lies outside its own interval. {remedy}"
                )


def _numbers_by_name(
    content: Any, path: str
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:  # Any: JSON values
    """Every named value, with its path and the object that contains it."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield path, name, content
            yield from _numbers_by_name(value, f"{path}{name}.")
    elif isinstance(content, list):
        for number, value in enumerate(content):
            if isinstance(value, (Mapping, list)):
                yield from _numbers_by_name(value, f"{path}{number}.")


def _flat(value: Any) -> Iterator[float]:  # Any: JSON values
    """The numbers of a value or list; NaN for null."""
    if isinstance(value, list):
        for part in value:
            yield from _flat(part)
    elif isinstance(value, (int, float)) or value in ("inf", "-inf", "nan"):
        yield float(value)
    elif value is None:
        yield float("nan")


def _outside(estimate: float, low: float, high: float) -> bool:
    """Whether an estimate lies outside its interval by more than rounding."""
    near = 1e-9 * max(abs(low), abs(high))
    return estimate < low - near or estimate > high + near
