"""Agents that reach a limit of an indicator, such as a generality below which nobody qualifies."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np

from examiner.irt.indicators.generality import Indicators
from examiner.messages import InputError, shorten

_COMPARISONS: MappingProxyType[str, Callable[[Any, float], Any]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)
_CONDITION = re.compile(r"\s*(ability|generality|regularity|slope|mean)\s*(>=|<=|>|<)\s*(\S+)\s*")


def qualified(indicators: Indicators, condition: str) -> tuple[str, ...]:
    """Return the agents that meet a condition: "generality >= 3", "ability > 0".

    A limit hides less than a compound of ability and generality (papers/002, section V). Agents whose
    indicator is not known do not qualify; an infinite generality does.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(list("tu"), np.ones(2), difficulty=[-1.0, 1.0])
    >>> fit = known(items, ResponseMatrix.from_array([[0, 0], [1, 1]], "ab", "tu"))
    >>> qualified(indicators(fit, bins=1), "ability > 0")
    ('b',)
    """
    parts = _CONDITION.fullmatch(condition)
    try:
        limit = float(parts[3]) if parts else np.nan
    except ValueError:
        limit = np.nan
    if parts is None or np.isnan(limit):
        raise InputError(
            f"The condition {shorten(condition)} is not understood. Compare ability, generality, "
            f"regularity, slope or mean with a number: 'generality >= 3'."
        )
    values = getattr(indicators, parts[1])
    meets = _COMPARISONS[parts[2]](values, limit) & ~np.isnan(values)
    if not meets.any():
        best = f"{np.nanmin(values):.3g} to {np.nanmax(values):.3g}"
        raise InputError(
            f"No agent has {condition.strip()}; {parts[1]} is {best}. Choose another limit."
        )
    return tuple(agent for agent, meet in zip(indicators.agents, meets, strict=True) if meet)
