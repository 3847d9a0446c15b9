"""Examinations to and from JSON files: saved after every answer, replayed and resumed later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.stored.documents import Kind

EXAMINATION = Kind("examiner.examination/1", "examination", "examiner examine … --save FILE")


def write_examination(examination: Examination, path: str | Path) -> Path:
    """Write an examination to a JSON file, whole or not at all, and return where it is.

    >>> import tempfile
    >>> import numpy as np
    >>> from examiner.adaptive import examine
    >>> items = ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1])
    >>> *_, last = examine(items, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> path = write_examination(last, Path(tempfile.mkdtemp()) / "examination.json")
    >>> read_examination(path, items).ability == last.ability
    True
    """
    return EXAMINATION.write(examination.to_dict(), path)


def read_examination(path: str | Path, source: TaskBank | ItemParameters | IRTFit) -> Examination:
    """Read what `write_examination` wrote, with the fit it was made with.

    >>> read_examination("missing.json", ItemParameters.of(["pong"], [1], [0]))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return Examination.from_dict(examination_content(path), source)


def examination_content(path: str | Path) -> dict[str, Any]:  # Any: JSON values
    """Return what a stored examination says, without a fit: `replay` takes it."""
    return EXAMINATION.read(path)
