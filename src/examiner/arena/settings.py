"""Settings of agents, checked when an agent is made: a wrong one should not fail hours later."""

from __future__ import annotations

import math

from examiner.wording import InputError


def check_number(
    name: str, value: object, *, whole: bool = False, least: float = 0, most: float = math.inf
) -> None:
    """Refuse what is no number, no whole one where that is needed, or out of range.

    >>> check_number("budget", 500, whole=True, least=1)
    >>> check_number("max_nodes", 1e7, whole=True, least=1)
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: The setting max_nodes is 10000000.0. Give a whole number of at \
least 1.
    """
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not least <= value <= most or math.isinf(value):  # type: ignore[operator, arg-type]
        wanted = f"a {'whole ' if whole else ''}number of at least {least}"
        upper = "" if math.isinf(most) else f" and at most {most:.12g}"
        raise InputError(f"The setting {name} is {value!r}. Give {wanted}{upper}.")
