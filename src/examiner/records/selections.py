"""Chosen tasks to and from JSON files: `chosen.json` holds tasks, predictor and recipe."""

from __future__ import annotations

import json
from pathlib import Path

from examiner.results.checks import InputError, shorten
from examiner.results.writing import write_text
from examiner.selection.choosing import ChosenSet

SCHEMA = "examiner.chosen/1"
_MAKE = "Make one with `examiner select … -o chosen.json`."


def write_selection(chosen: ChosenSet, path: str | Path) -> Path:
    """Write chosen tasks with their predictor and recipe, whole or not at all; return where they are.

    >>> import tempfile
    >>> import numpy as np
    >>> import examiner as ex
    >>> scores = np.random.default_rng(0).normal(size=(8, 6))
    >>> material = ex.gather_material(ex.Results.from_numpy(scores), normalise=None)
    >>> rng = np.random.default_rng(0)
    >>> chosen = ex.chosen_set(material, ex.select(material, 2, "spread", rng=rng), rng=rng)
    >>> path = write_selection(chosen, Path(tempfile.mkdtemp()) / "chosen.json")
    >>> read_selection(path).selection.tasks == chosen.selection.tasks
    True
    """
    content = {"schema": SCHEMA, **chosen.to_dict()}
    text = json.dumps(_without_nan(content), allow_nan=False, ensure_ascii=False)
    return write_text(path, text + "\n")


def read_selection(path: str | Path) -> ChosenSet:
    """Read what `write_selection` wrote.

    >>> read_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Cannot read 'missing.json': No such file ...
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {shorten(path, 200)}: {reason}. Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{shorten(path, 200)} is no text, so no stored selection. {_MAKE}"
        ) from None
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(
            f"{shorten(path, 200)} is not JSON, so no stored selection. {_MAKE}"
        ) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise InputError(
            f"{shorten(path, 200)} says its schema is {shorten(schema)}, not {SCHEMA!r}. {_MAKE}"
        )
    return ChosenSet.from_dict(content)


def _without_nan(value: object) -> object:
    """NaN, which JSON lacks, becomes null; what reads it back knows that."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return value
