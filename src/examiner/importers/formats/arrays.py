"""Arrays of numbers: [runs, tasks] of each algorithm as rliable has them, bare npy files, named axes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.archives import array_dimensions, array_names, read_array, read_arrays
from examiner.importers.documents import parse_json
from examiner.importers.files import SourceFile
from examiner.importers.objects import is_table, object_reading
from examiner.importers.options import AXES, ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.suggestions import MissingNamesError
from examiner.importers.text import beginning, text_of
from examiner.messages import InputError, listed, shorten
from examiner.results import Provenance, name_column, numbered_names
from examiner.validation import check_names

Arrays = Mapping[str, NDArray[Any]]  # Any: numbers or text
TASK_ARRAYS = ("tasks", "task", "games", "game", "task_names", "game_names", "env_ids")
"""Names under which an array of text names the tasks."""
_JSON = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*(?:\[|"(?:[^"\\]|\\.)*"\s*[,\]])')
_NUMBERS = re.compile(rb":\s*\[\s*(?:[-\d\[]|NaN|null)")
_NOTE = "The tasks have no names in this file: they are called 'task 1', 'task 2', …"
_NPY_NAME = re.compile(r"(?P<agent>.+?)_(?P<task>[^_]+-v\d+)_(?P<run>\d+)\.npy")
_NPY_TEMPLATE = "{agent}_{task}_{run}.npy"
_NPY_NAME_NOTE = (
    f"Names of files like TD3_Ant-v1_0.npy are read as agent, task and run; to take them from elsewhere, "
    f"give a template (`--path '{_NPY_TEMPLATE}'`)."
)
_NPY_NOTE = (
    "An array [checkpoints] or [checkpoints, episodes] does not say when its checkpoints were made: they "
    "are counted. If they are so many steps apart, say so: `--time checkpoint*5000`."
)


def recognises(file: SourceFile) -> bool:
    """An npz file of arrays [runs, tasks], or a JSON object whose first value is a list of lists.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b'{"DQN": [[0.5, 1.2]]}'))
    True
    """
    head = beginning(file)
    if _JSON.match(head) is not None and (_NUMBERS.search(head) is not None or not file.whole):
        return True
    dimensions = array_dimensions(file)
    others = [name for name, count in dimensions.items() if count != 2]
    return len(others) < len(dimensions) and all(name in TASK_ARRAYS for name in others)


def read(file: SourceFile, options: ReadOptions) -> Reading:
    """Read scores [runs, tasks] of every algorithm; NaN was not observed.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.json"
    >>> _ = path.write_text('{"DQN": [[0.5, 1.2], [0.7, 1.0]]}')
    >>> read(open_source(path), ReadOptions()).results
    Results: 1 agent × 2 tasks, 2 runs, 1 trial; measures: score; 1 note
    """
    zipped = bool(array_names(file))
    if zipped and options.axes:
        return axes_reading(file, options.axes)
    notes: tuple[str, ...] = ()
    arrays: Arrays
    if zipped:
        arrays = read_arrays(file)
    else:
        text = text_of(file)
        notes = text.notes
        content = parse_json(text.data, file.path)
        if isinstance(content, dict) and is_table(content):
            return object_reading(content, file, options, notes)
        arrays = _json_arrays(content, file)
    tasks = _task_names(arrays, file)
    scores = {
        name: array
        for name, array in arrays.items()
        if name not in TASK_ARRAYS or _is_scores(array)
    }
    _check_scores(scores, tasks, file)
    if tasks is None and zipped:
        raise InputError(
            f"{shorten(file.path, 200)} names neither tasks (in an array of text, `tasks`) nor the axes "
            f"of its arrays, of which the first has the shape {next(iter(arrays.values())).shape}. As "
            f"rliable has them: `--axes runs,tasks`; others, for example: `--axes checkpoints,runs`."
        )
    if tasks is None:
        notes = (*notes, _NOTE)
    frame = _rows(scores, ("run", "task"), file, "agent", tasks)
    origin = Provenance(str(file.path), "rliable").with_notes(*notes)
    return Reading.of(frame, file, origin, ["score"], ())


def _is_scores(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and array.dtype.kind in "biuf"


def _json_arrays(content: object, file: SourceFile) -> Arrays:
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{shorten(file.path, 200)} is not an object of algorithm: [[…]]. Give one array an algorithm."
        )
    arrays = {}
    for name, value in content.items():
        try:
            array = np.array(value)
            if array.dtype.kind not in "biufU":  # None where nothing was observed
                array = np.array(value, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"{shorten(name)} in {shorten(file.path, 200)} is not an array [runs, tasks] of numbers. "
                f"Give every run the same number of tasks, null where nothing was observed."
            ) from None
        arrays[name] = array
    return arrays


def _task_names(arrays: Arrays, file: SourceFile) -> tuple[str, ...] | None:
    of_text = [name for name in TASK_ARRAYS if name in arrays and arrays[name].dtype.kind == "U"]
    if not of_text:
        return None
    names = arrays[of_text[0]]
    if names.ndim != 1:
        raise InputError(
            f"{shorten(of_text[0])} in {shorten(file.path, 200)} has the shape {names.shape}. "
            f"Give one name a task."
        )
    with Whereabouts.of(file).named():
        return check_names(names.tolist(), "task")


def _check_scores(scores: Arrays, tasks: Sequence[str] | None, file: SourceFile) -> None:
    path = shorten(file.path, 200)
    if not scores:
        raise InputError(f"{path} holds no scores. Give an array an algorithm.")
    for name, array in scores.items():
        if not name or not _is_scores(array) or not array.size:
            raise InputError(
                f"The array {shorten(name)} in {path} has the shape {array.shape} and the "
                f"kind {array.dtype}. Give numbers [runs, tasks]; name tasks in an array `tasks` of text."
            )
    first, array = next(iter(scores.items()))
    width = array.shape[1] if tasks is None else len(tasks)
    for name, array in scores.items():
        if array.shape[1] != width:
            expected = f"{width} are named" if tasks else f"{shorten(first)} has {width}"
            raise InputError(
                f"{shorten(name)} in {path} has {array.shape[1]} tasks, and {expected}. "
                f"Give every algorithm the same tasks."
            )


# -------------------------------------------------------------------- npy


def recognises_npy(file: SourceFile) -> bool:
    r"""A file that begins as numpy saves one array.

    >>> from pathlib import Path
    >>> recognises_npy(SourceFile(Path("x"), None, b"\x93NUMPY\x01\x00"))
    True
    """
    return file.head.startswith(b"\x93NUMPY")


def read_npy(file: SourceFile, options: ReadOptions) -> Reading:
    """Read the evaluations of a run, one a checkpoint, or several where the array has two axes.

    Its path alone names the run.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "TD3_Ant-v1_0.npy"
    >>> np.save(path, np.array([1.0, 5.0, 9.0]))
    >>> results = read_npy(open_source(path), ReadOptions()).results
    >>> results.agents, results.tasks, results.column("checkpoint")
    (('TD3',), ('Ant-v1',), [0, 1, 2])
    """
    if options.axes:
        return axes_reading(file, options.axes)
    path = shorten(file.path, 200)
    like = _NPY_NAME.fullmatch(file.path.name)
    names = {**(like.groupdict() if like else {}), **file.names}
    missing = [name for name in ("agent", "task") if name not in names]
    if missing:
        raise MissingNamesError(
            f"{path} is a bare array, which names no {' and no '.join(missing)}. Take them from its path: "
            f"`--path '{_NPY_TEMPLATE}'`.",
            missing,
            _NPY_TEMPLATE,
        )
    values = read_array(file)
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf" or not values.size:
        raise InputError(
            f"{path} has the shape {values.shape} and the kind {values.dtype}. Give numbers "
            f"[checkpoints] or [checkpoints, episodes]."
        )
    if values.ndim == 2 and values.shape[1] > 1 and "run" not in names:
        raise InputError(
            f"{path} has the shape {values.shape}, and its path names no run: the second axis may be "
            f"runs, or episodes of one run. Runs: `--axes checkpoints,runs`; episodes: `--axes "
            f"checkpoints,episodes`, or name the run in the path, for example `--path '{_NPY_TEMPLATE}'`."
        )
    reading = axes_reading(replace(file, names=names), ("checkpoint", "trial")[: values.ndim])
    guess = [] if {"agent", "task"} <= set(file.names) else [_NPY_NAME_NOTE]
    return replace(reading, results=reading.results.with_notes(_NPY_NOTE, *guess))


# -------------------------------------------------------------------- named axes


def axes_reading(file: SourceFile, axes: Sequence[str]) -> Reading:
    """Read the arrays of a file whose axes are named, `--axes checkpoints,runs`; NaN was not observed.

    The arrays of an npz file are agents, or tasks where the agent is named otherwise.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "x.npz"
    >>> np.savez(path, dqn=np.ones((3, 2)))
    >>> axes_reading(open_source(path), ("run", "task")).results
    Results: 1 agent × 2 tasks, 3 runs, 1 trial; measures: score; 1 note
    """
    unknown = [key for key in axes if key not in AXES.values()]
    if unknown:
        raise InputError(
            f"The axis {shorten(unknown[0])} of arrays is none of {listed(AXES)}. Name one of these."
        )
    zipped = bool(array_names(file))
    arrays = read_arrays(file) if zipped else {"": read_array(file)}
    missing = [key for key in ("agent", "task") if key not in axes and key not in file.names]
    key_of_names = missing.pop(0) if zipped and missing else None
    if key_of_names is None and len(arrays) > 1:
        raise InputError(
            f"{shorten(file.path, 200)} holds the arrays {listed(arrays)}, and both agents and tasks are "
            f"named otherwise. Leave one of them to the names of the arrays."
        )
    if missing:
        template = "/".join(f"{{{key}}}" for key in missing)
        raise MissingNamesError(
            f"{shorten(file.path, 200)} names no {' and no '.join(missing)}. Take it from its path: "
            f"`--path '{template}'`; or name it: `--{missing[0]} =NAME`.",
            missing,
            template,
        )
    for name, array in arrays.items():
        if array.ndim != len(axes) or array.dtype.kind not in "biuf" or not array.size:
            which = f"{shorten(name)} in " if name else ""
            raise InputError(
                f"{which}{shorten(file.path, 200)} has the shape {array.shape} and the kind {array.dtype}, "
                f"and {len(axes)} axes of numbers are named ({listed(axes)}). Name each of its axes."
            )
    origin = Provenance(str(file.path), "npy", training="checkpoint" in axes)
    numbered = " and ".join(f"{key}s" for key in ("agent", "task") if key in axes)
    if numbered:
        origin = origin.with_notes(f"The {numbered} have no names: numbered.")
    frame = _rows(arrays, axes, file, key_of_names)
    return Reading.of(frame, file, origin, ["score"], ())


def _rows(
    arrays: Arrays,
    axes: Sequence[str],
    file: SourceFile,
    key_of_names: str | None,
    tasks: Sequence[str] | None = None,
) -> pl.DataFrame:
    """One row per number of the arrays, with its index along each axis, or its name there."""
    parts = []
    for number, array in enumerate(arrays.values()):
        places = dict(zip(axes, np.indices(array.shape).reshape(array.ndim, -1), strict=True))
        sizes = dict(zip(axes, array.shape, strict=True))
        if "checkpoint" in places:
            # Trials of a run are numbered through all its checkpoints, as other training logs have them.
            of_checkpoint = places.get("trial", 0)
            places["trial"] = places["checkpoint"] * sizes.get("trial", 1) + of_checkpoint
        if "run" not in places and "run" not in file.names:
            places["run"] = np.zeros(array.size, dtype=np.int64)
        if key_of_names is not None:
            places[key_of_names] = np.full(array.size, number)
        parts.append(places)
    columns = {key: np.concatenate([places[key] for places in parts]) for key in parts[0]}
    names = {}
    for key in {"agent", "task"} & columns.keys():
        count = int(columns[key].max()) + 1
        given = [*arrays] if key == key_of_names else tasks if key == "task" else None
        names[key] = name_column(key, given or numbered_names(None, count, key), columns[key])
    scores = np.concatenate([array.astype(np.float64).ravel() for array in arrays.values()])
    return pl.DataFrame(columns | names).with_columns(score=scores)
