"""Documents of earlier schemas, told as today's: a fit that was published stays readable."""

from __future__ import annotations

import math
from typing import Any

from examiner.results import Scales
from examiner.results.scale import Anchor
from examiner.wording import InputError

Content = dict[str, Any]  # Any: JSON values

_ANCHORS: dict[str, tuple[Anchor, ...]] = {
    "human": ("random", "reference"),
    "random-only": ("random",),
    "log": (),
}


def fit_of_schema_1(content: Content) -> Content:
    """Return a fit of `examiner.irt-fit/1` as one of today: its recipe was told in other words.

    >>> fit_of_schema_1({"model": "2pl", "recipe": None})
    {'model': '2pl', 'recipe': None}
    """
    recipe = content.get("recipe")
    if recipe is None:
        return content
    try:
        return content | {"recipe": _recipe(recipe)}
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"The recipe of this stored fit is damaged at {problem}. Make it again with `examiner fit … "
            f"-o fit.json`."
        ) from None


def fit_of_schema_2(content: Content) -> Content:
    """Return a fit of `examiner.irt-fit/2` as one of today, which it is: joint errors are only added since.

    >>> fit_of_schema_2({"model": "2pl"})
    {'model': '2pl'}
    """
    return content


def _recipe(old: Content) -> Content:
    scales = Scales.from_record(old["scales"])
    same = ("measure", "item", "reduction", "normaliser", "success", "share")
    return {name: old[name] for name in same} | {
        # Only the means of the agent to be beaten were kept, not its name.
        "beating": None if old["beating"] is None else "the agent to beat",
        "learnt": {
            "scales": old["scales"],
            "scale": _scale(old, scales),
            "beaten": old["beating"],
            "counts": old["counts"],
            "protocols": old["protocols"],
        },
    }


def _scale(old: Content, scales: Scales) -> Content | None:
    name, standing = old["normaliser"], old["standing"]
    if name is None:
        return None
    if standing is None:
        tasks = list(scales.tasks)
        known = scales.aligned(tasks, old["measure"], needs=_ANCHORS[name])
        marks = [getattr(known, anchor).tolist() for anchor in _ANCHORS[name]]
    else:
        tasks = list(standing["marks"])
        each = [list(row) for row in standing["marks"].values()]
        most = max((len(row) for row in each), default=0)
        padded = [row + [math.nan] * (most - len(row)) for row in each]
        marks = [list(column) for column in zip(*padded, strict=True)]
        if name != "rank":  # scores are measured in units of their own size today
            marks = [[1.0] * len(tasks), *marks]
    sign = scales.aligned(tasks, old["measure"]).sign.tolist()
    return {"tasks": tasks, "marks": [_plain(row) for row in marks], "sign": sign}


def _plain(row: list[Any]) -> list[Any]:  # Any: JSON values
    return [None if isinstance(value, float) and math.isnan(value) else value for value in row]
