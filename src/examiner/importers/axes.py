"""Arrays whose axes are named: `--axes checkpoints,runs` of npy and npz files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.arrays import array_names, read_array, read_arrays
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.suggestions import MissingNamesError
from examiner.messages import InputError, listed, shorten
from examiner.results import Provenance

AXES = MappingProxyType(
    {
        "agents": "agent",
        "tasks": "task",
        "runs": "run",
        "checkpoints": "checkpoint",
        "trials": "trial",
        "episodes": "trial",
    }
)
"""Names of axes → the key that an index along it is."""


def parse_axes(text: str | Sequence[str]) -> tuple[str, ...]:
    """Return the keys of the axes of an array.

    >>> parse_axes("checkpoints,runs")
    ('checkpoint', 'run')
    """
    names = text.split(",") if isinstance(text, str) else list(text)
    keys = tuple(AXES.get(name.strip().lower(), name.strip()) for name in names)
    if not all(keys) or len(set(keys)) < len(keys):
        raise InputError(
            f"Cannot name the axes {shorten(text)}. Name each axis once, in order, among {listed(AXES)}: "
            f"`--axes checkpoints,runs`."
        )
    return keys


def array_reading(file: SourceFile, axes: Sequence[str]) -> Reading:
    """Read the arrays of a file whose axes are named; NaN was not observed.

    The arrays of an npz file are agents, or tasks where the agent is named otherwise.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npz"
    >>> np.savez(path, dqn=np.ones((3, 2)))
    >>> array_reading(open_source(path), ("run", "task")).results
    Results: 1 agent × 2 tasks, 3 runs, 1 trial; measures: score; 1 note
    """
    unknown = [key for key in axes if key not in AXES.values()]
    if unknown:
        raise InputError(
            f"The axis {shorten(unknown[0])} of arrays is none of {listed(AXES)}. Name one of these."
        )
    several = bool(array_names(file))
    arrays = read_arrays(file) if several else {"": read_array(file)}
    missing = [key for key in ("agent", "task") if key not in axes and key not in file.names]
    named = missing[0] if several and missing else None
    if named is None and len(arrays) > 1:
        raise InputError(
            f"{shorten(file.path, 200)} holds the arrays {listed(arrays)}, and both agents and tasks are "
            f"named otherwise. Leave one of them to the names of the arrays."
        )
    lacking = [key for key in missing if key != named]
    if lacking:
        template = "/".join(f"{{{key}}}" for key in lacking)
        raise MissingNamesError(
            f"{shorten(file.path, 200)} names no {' and no '.join(lacking)}. Take it from its path: "
            f"`--path '{template}'`; or name it: `--{lacking[0]} =NAME`.",
            lacking,
            template,
        )
    frame = pl.concat(
        [
            _frame(array, axes, name, file).with_columns(
                *([pl.lit(name).alias(named)] if named else [])
            )
            for name, array in arrays.items()
        ]
    )
    counted = [f"{key}s" for key in ("agent", "task") if key in axes]
    origin = Provenance(str(file.path), "npy", training="checkpoint" in axes)
    if counted:
        origin = origin.with_notes(
            f"The {listed(counted).replace(chr(39), '')} have no names: numbered."
        )
    return Reading.of(frame, file, origin, ["score"], ())


def _frame(array: NDArray[Any], axes: Sequence[str], name: str, file: SourceFile) -> pl.DataFrame:
    """One row per number of an array, with its index along each axis."""
    where = f"{shorten(name)} in {shorten(file.path, 200)}" if name else shorten(file.path, 200)
    if array.ndim != len(axes) or array.dtype.kind not in "biuf" or not array.size:
        raise InputError(
            f"{where} has the shape {array.shape} and the kind {array.dtype}, and {len(axes)} axes of "
            f"numbers are named ({listed(axes)}). Name each of its axes."
        )
    places = dict(zip(axes, np.indices(array.shape).reshape(array.ndim, -1), strict=True))
    columns = _with_trials(
        places, dict(zip(axes, array.shape, strict=True)), given_run="run" in file.names
    )
    named = {
        key: [f"{key} {index + 1}" for index in columns[key]]
        for key in ("agent", "task")
        if key in columns
    }
    frame = pl.DataFrame(columns).with_columns(score=array.astype(np.float64).ravel())
    return frame.with_columns(pl.Series(key, names) for key, names in named.items())


def _with_trials(
    places: Mapping[str, NDArray[np.int64]], sizes: Mapping[str, int], *, given_run: bool
) -> dict[str, NDArray[np.int64]]:
    """Number the trials of a run through all its checkpoints, as other training logs do."""
    columns = dict(places)
    if "checkpoint" in places:
        columns["trial"] = places["checkpoint"] * sizes.get("trial", 1) + places.get("trial", 0)
    if "run" not in places and not given_run:
        columns["run"] = np.zeros_like(next(iter(places.values())))
    return columns
