"""A report as JSON: the same findings, tables and figures' data, without the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from examiner.telling.finding import Block, Facts, Figure, Finding, Name, Notes, Table, Text, said

NULL_MEANS = "not observed, or not a finite number"


def jsonable(value: object) -> Any:  # Any: JSON
    """Return a value as plain JSON: arrays as lists, NaN and infinity as None.

    >>> jsonable({"a": np.array([1.0, np.nan]), "b": (1, Name("x"))})
    {'a': [1.0, None], 'b': [1, 'x']}
    """
    if isinstance(value, Name):
        return value.text
    if isinstance(value, np.ndarray):
        return jsonable(value.tolist())
    if isinstance(value, np.generic):
        return jsonable(value.item())
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(asdict(value))
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def section_dict(section: Finding) -> dict[str, Any]:  # Any: JSON
    """Return a section as JSON.

    >>> section_dict(Finding("ranking", "Ranking", (Name("dqn"), " leads.")))["finding"]
    'dqn leads.'
    """
    return {
        "key": section.key,
        "title": section.title,
        "finding": said(section.lead),
        "blocks": [_block(block) for block in section.blocks],
    }


def _block(block: Block) -> dict[str, Any]:  # Any: JSON
    match block:
        case Text():
            return {"kind": "text", "text": said(block.prose)}
        case Facts():
            return {"kind": "facts", "facts": {what: said(prose) for what, prose in block.pairs}}
        case Notes():
            items = [said(item) for item in block.items]
            return {"kind": "notes", "title": block.title, "notes": items}
        case Table():
            return _table(block)
        case Figure():
            return {
                "kind": "figure",
                "key": block.key,
                "caption": said(block.caption),
                "data": jsonable(block.data),
                "null_means": NULL_MEANS,
            }


def _table(table: Table) -> dict[str, Any]:  # Any: JSON
    return {
        "kind": "table",
        "caption": said(table.caption),
        "columns": [column.title for column in table.columns],
        "rows": jsonable(table.rows),
        "not_comparable": sorted(table.doubtful),
        "null_means": NULL_MEANS,
    }
