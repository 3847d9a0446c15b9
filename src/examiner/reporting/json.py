"""Findings as JSON: the same sentences, tables and figures' data, without the page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from examiner.reporting.finding import Block, Board, Facts, Figure, Finding, Notes, ShownTable
from examiner.reporting.prose import plain_text

NULL_MEANS = "not observed, or not a finite number"


def jsonable(value: object) -> Any:  # Any: JSON
    """Return a value as plain JSON: arrays and sets as lists, NaN and infinity as None.

    >>> jsonable({"a": np.array([1.0, np.nan]), "b": (1, "x")})
    {'a': [1.0, None], 'b': [1, 'x']}
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        finite = np.isfinite(value)
        if finite.all():
            return value.tolist()
        shown = value.astype(object)
        shown[~finite] = None
        return shown.tolist()
    if isinstance(value, (np.ndarray, np.generic)):
        return jsonable(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        kinds = set(map(type, value))
        if kinds <= {int, str} or (kinds == {float} and all(map(math.isfinite, value))):
            return list(value)  # chances of ranks of 5,000 agents are 25 million numbers
        return [jsonable(entry) for entry in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(jsonable, value), key=str)
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def one_object(schema: str, content: Mapping[str, Any]) -> str:  # Any: JSON values
    """Return one JSON object that begins with its schema; NaN and infinity become null.

    >>> one_object("examiner.example/1", {"mean": float("nan")})
    '{"schema": "examiner.example/1", "mean": null}'
    """
    return json.dumps({"schema": schema, **jsonable(content)}, allow_nan=False)


def section_of(finding: Finding) -> dict[str, Any]:  # Any: JSON
    """Return a finding as a section of a report.

    >>> section_of(Finding("ranking", "Ranking", "dqn leads."))["finding"]
    'dqn leads.'
    """
    shown = [block for block in finding.blocks if not isinstance(block, Board)]
    return {
        "key": finding.key,
        "title": finding.title,
        "chapter": finding.chapter,
        "finding": plain_text(finding.lead),
        "failure": None if finding.failure is None else finding.failure._asdict(),
        "blocks": [_block(block) for block in shown],
    }


def _block(block: Block) -> dict[str, Any]:  # Any: JSON
    match block:
        case str():
            return {"kind": "text", "text": plain_text(block)}
        case Facts():
            return {
                "kind": "facts",
                "facts": {what: plain_text(fact) for what, fact in block.pairs},
            }
        case Notes():
            items = [plain_text(item) for item in block.items]
            return {"kind": "notes", "title": block.title, "notes": items}
        case ShownTable():
            return {
                "kind": "table",
                "caption": plain_text(block.caption),
                "columns": [column.title for column in block.columns],
                "rows": [jsonable(row) for row in block.rows],
                "not_comparable": sorted(getattr(block, "doubtful", ())),
                "null_means": NULL_MEANS,
            }
        case _:
            assert isinstance(block, Figure)
            return {
                "kind": "figure",
                "key": block.key,
                "caption": plain_text(block.caption),
                "data": jsonable(block.data),
                "null_means": NULL_MEANS,
            }
