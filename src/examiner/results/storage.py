"""Results and matrices to and from Parquet, without loss: the table, and a JSON note in its metadata."""

from __future__ import annotations

import json
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from examiner.results.attributes import Attributes
from examiner.results.codes import name_column
from examiner.results.matrix import ResponseMatrix
from examiner.results.provenance import Provenance
from examiner.results.scale import Scales
from examiner.results.table import Results, assemble
from examiner.results.writing import atomic_path
from examiner.wording import InputError, shorten

METADATA_KEY = "examiner"
RESULTS_SCHEMA = "examiner.results/1"
MATRIX_SCHEMA = "examiner.matrix/1"


def save_results(results: Results, path: str | Path) -> Path:
    """Write results to Parquet with their scales, attributes and provenance.

    >>> import tempfile
    >>> results = Results.from_dict({"agent": ["a"], "task": ["t"], "score": [1]})
    >>> path = save_results(results, Path(tempfile.mkdtemp()) / "results.parquet")
    >>> load_results(path).agents
    ('a',)
    """
    note = {
        "schema": RESULTS_SCHEMA,
        "item": results.item,
        "measures": results.measures,
        "scales": results.scales.to_dicts(),
        "tasks": results.task_attributes.to_dict(),
        "agents": results.agent_attributes.to_dict(),
        "provenance": asdict(results.provenance),
    }
    return _write(results._frame, path, note)


def load_results(path: str | Path) -> Results:
    """Read what `save_results` wrote; other Parquet files are read with `ex.read`.

    >>> load_results("missing.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.parquet': no such file. Check the path.
    """
    note = stored_note(path)
    if note is None or note.get("schema") != RESULTS_SCHEMA:
        raise InputError(
            f"{shorten(path, 200)} was not written by `Results.save`. Read it with `ex.read`."
        )
    return results_from_note(pl.read_parquet(path, glob=False), note)


def results_from_note(frame: pl.DataFrame, note: dict[str, Any]) -> Results:  # Any: JSON values
    """Build results from a stored frame and the note stored with it.

    >>> frame = pl.DataFrame({"agent": ["a"], "task": ["t"], "score": [1.0]})
    >>> history = {"source": "x", "format": "y", "steps": [], "notes": []}
    >>> note = {"measures": ["score"], "item": [], "scales": [], "provenance": history}
    >>> results_from_note(frame, note).provenance.source
    'x'
    """
    history = note["provenance"]
    return assemble(
        frame,
        note["measures"],
        note["item"],
        Scales.from_dicts(note["scales"]),
        Provenance(
            source=history["source"],
            format=history["format"],
            steps=tuple(history["steps"]),
            notes=tuple(history["notes"]),
            training=bool(history.get("training", False)),
            reduction=history.get("reduction"),
        ),
        Attributes.from_dict("task", note["tasks"]) if "tasks" in note else None,
        Attributes.from_dict("agent", note["agents"]) if "agents" in note else None,
    )


def save_matrix(matrix: ResponseMatrix, path: str | Path) -> Path:
    """Write a matrix to Parquet: a row for each observed cell, names and order in the metadata.

    >>> import tempfile
    >>> path = save_matrix(ResponseMatrix.from_array([[1, 0]]), Path(tempfile.mkdtemp()) / "m.parquet")
    >>> load_matrix(path).shape
    (1, 2)
    """
    agent, task = np.nonzero(matrix.observed)
    columns = {
        "agent": name_column("agent", matrix.agents, agent),
        "task": name_column("task", matrix.tasks, task),
    }
    if matrix.is_counts:
        columns["successes"] = pl.Series(matrix.successes[agent, task])
        columns["trials"] = pl.Series(matrix.trials[agent, task])
    else:
        columns["value"] = pl.Series(matrix.to_numpy()[agent, task])
    note = {"schema": MATRIX_SCHEMA, "agents": matrix.agents, "tasks": matrix.tasks}
    return _write(pl.DataFrame(columns), path, note)


def load_matrix(path: str | Path) -> ResponseMatrix:
    """Read what `save_matrix` wrote.

    >>> load_matrix("missing.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.parquet': no such file. Check the path.
    """
    note = stored_note(path)
    if note is None or note.get("schema") != MATRIX_SCHEMA:
        raise InputError(f"{shorten(path, 200)} was not written by `ResponseMatrix.save`.")
    frame = pl.read_parquet(path, glob=False)
    agents, tasks = note["agents"], note["tasks"]
    cells = frame["agent"].to_physical().to_numpy(), frame["task"].to_physical().to_numpy()
    if "value" in frame.columns:
        values = np.full((len(agents), len(tasks)), np.nan)
        values[cells] = frame["value"].to_numpy()
        return ResponseMatrix._checked(None, None, values, agents, tasks)
    counts = np.zeros((2, len(agents), len(tasks)), dtype=frame["trials"].to_numpy().dtype)
    counts[0][cells], counts[1][cells] = frame["successes"].to_numpy(), frame["trials"].to_numpy()
    return ResponseMatrix.from_counts(counts[0], counts[1], agents, tasks)


def stored_note(path: str | Path | BytesIO) -> dict[str, Any] | None:  # Any: JSON values
    """Return the note examiner left in a Parquet file, or None where there is none.

    >>> stored_note("missing.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.parquet': no such file. Check the path.
    """
    if not isinstance(path, BytesIO) and not Path(path).is_file():
        raise InputError(f"Cannot read {shorten(path, 200)}: no such file. Check the path.")
    try:
        text = pl.read_parquet_metadata(path).get(METADATA_KEY)
        if isinstance(path, BytesIO):
            path.seek(0)
        note = None if text is None else json.loads(text)
    except (pl.exceptions.PolarsError, OSError, ValueError):
        raise InputError(
            f"{shorten(path, 200)} is not a whole Parquet file. It may be cut off or of another "
            f"kind: write it again, or name its format with `--format`."
        ) from None
    return note if isinstance(note, dict) else None


def _write(frame: pl.DataFrame, path: str | Path, note: dict[str, Any]) -> Path:
    with atomic_path(path) as temporary:
        frame.write_parquet(temporary, metadata={METADATA_KEY: json.dumps(note)})
    return Path(path)
