"""Chosen tasks to and from JSON files: `chosen.json` holds tasks, predictor and recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any  # JSON values

from examiner.selection.choosing import ChosenSet
from examiner.stored.documents import Kind

SELECTION = Kind("examiner.chosen/1", "selection", "examiner select … -o chosen.json")


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
    return SELECTION.write(_without_nan(chosen.to_dict()), path)


def read_selection(path: str | Path) -> ChosenSet:
    """Read what `write_selection` wrote.

    >>> read_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return ChosenSet.from_dict(SELECTION.read(path))


def _without_nan(value: Any) -> Any:
    """NaN, which JSON lacks, becomes null; what reads it back knows that."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return value
