"""Examinations to and from JSON files: saved after every answer, replayed and resumed later."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.results.checks import InputError, shorten
from examiner.results.writing import write_text

SCHEMA = "examiner.examination/1"


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
    content = {"schema": SCHEMA, **examination.to_dict()}
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n")


def read_examination(path: str | Path, source: TaskBank | ItemParameters | IRTFit) -> Examination:
    """Read what `write_examination` wrote, with the fit it was made with.

    >>> read_examination("missing.json", ItemParameters.of(["pong"], [1], [0]))
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Cannot read 'missing.json': No such file ...
    """
    return Examination.from_dict(examination_content(path), source)


def examination_content(path: str | Path) -> dict[str, Any]:  # Any: JSON values
    """Return what a stored examination says, without a fit: `replay` takes it."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {shorten(path, 200)}: {reason}. Check the path.") from None
    except (ValueError, RecursionError):  # what is no text, or no JSON
        raise InputError(f"{shorten(path, 200)} is not JSON, so no stored examination.") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise InputError(
            f"{shorten(path, 200)} says its schema is {shorten(schema)}, not {SCHEMA!r}. Store an "
            f"examination with `examiner examine … --save FILE`."
        )
    return dict(content)
