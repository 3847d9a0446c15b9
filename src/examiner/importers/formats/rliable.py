"""rliable arrays: one array [runs, tasks] per algorithm, in an npz file or a JSON object."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.arrays import array_dimensions, array_names, read_arrays
from examiner.importers.axes import array_reading
from examiner.importers.files import SourceFile
from examiner.importers.objects import is_table, object_reading
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, parse_json, text_of
from examiner.messages import InputError, shorten
from examiner.results import Provenance, name_column, numbered_names
from examiner.validation import check_names

TASK_ARRAYS = ("tasks", "task", "games", "game", "task_names", "game_names", "env_ids")
"""Names under which an array of text names the tasks."""

_JSON = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*(?:\[|"(?:[^"\\]|\\.)*"\s*[,\]])')
_NUMBERS = re.compile(rb":\s*\[\s*(?:[-\d\[]|NaN|null)")
_NOTE = "The tasks have no names in this file: they are called 'task 1', 'task 2', …"


def recognises(file: SourceFile) -> bool:
    """An npz file of arrays [runs, tasks], or a JSON object whose first value is a list of lists.

    >>> recognises(SourceFile(Path("x"), None, b'{"DQN": [[0.5, 1.2]]}'))
    True
    """
    head = beginning(file)
    if _JSON.match(head) is not None and (_NUMBERS.search(head) is not None or not file.whole):
        return True
    dimensions = array_dimensions(file)
    others = [name for name, count in dimensions.items() if count != 2]
    return len(others) < len(dimensions) and all(name in TASK_ARRAYS for name in others)


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read scores [runs, tasks] of every algorithm; NaN was not observed.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.json"
    >>> _ = path.write_text('{"DQN": [[0.5, 1.2], [0.7, 1.0]]}')
    >>> read(open_source(path), TableOptions()).results
    Results: 1 agent × 2 tasks, 2 runs, 1 trial; measures: score; 1 note
    """
    notes: tuple[str, ...] = ()
    if array_names(file) and options.axes:
        return array_reading(file, options.axes)
    if array_names(file):
        arrays = read_arrays(file)
    else:
        text = text_of(file)
        notes = text.notes
        content = parse_json(text.data, file.path)
        if isinstance(content, dict) and is_table(content):
            return object_reading(content, file, options, notes)
        arrays = _json_arrays(content, file.path)
    tasks = _task_names(arrays, file.path)
    scores = {
        name: array
        for name, array in arrays.items()
        if name not in TASK_ARRAYS or _is_scores(array)
    }
    frame = _frame(scores, tasks, file.path)
    if tasks is None and array_names(file):
        raise InputError(
            f"{shorten(file.path, 200)} names neither tasks (in an array of text, `tasks`) nor the axes "
            f"of its arrays, of which the first has the shape {next(iter(arrays.values())).shape}. As "
            f"rliable has them: `--axes runs,tasks`; others, for example: `--axes checkpoints,runs`."
        )
    if tasks is None:
        notes = (*notes, _NOTE)
    origin = Provenance(str(file.path), "rliable").with_notes(*notes)
    return Reading.of(frame, file, origin, ["score"], ())


def _is_scores(array: NDArray[Any]) -> bool:
    return array.ndim == 2 and array.dtype.kind in "biuf"


def _json_arrays(content: object, path: Path) -> dict[str, NDArray[Any]]:
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{shorten(path, 200)} is not an object of algorithm: [[…]]. Give one array an algorithm."
        )
    arrays = {}
    for name, value in content.items():
        try:
            array = np.array(value)
            if array.dtype.kind not in "biufU":  # None where nothing was observed
                array = np.array(value, dtype=np.float64)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"{shorten(name)} in {shorten(path, 200)} is not an array [runs, tasks] of numbers. "
                f"Give every run the same number of tasks, null where nothing was observed."
            ) from None
        arrays[name] = array
    return arrays


def _task_names(arrays: dict[str, NDArray[Any]], path: Path) -> tuple[str, ...] | None:
    found = [name for name in TASK_ARRAYS if name in arrays and arrays[name].dtype.kind == "U"]
    if not found:
        return None
    names = arrays[found[0]]
    if names.ndim != 1:
        raise InputError(
            f"{shorten(found[0])} in {shorten(path, 200)} has the shape {names.shape}. "
            f"Give one name a task."
        )
    with Whereabouts([path]).named():
        return check_names(names.tolist(), "task")


def _frame(
    scores: dict[str, NDArray[Any]], tasks: tuple[str, ...] | None, path: Path
) -> pl.DataFrame:
    if not scores:
        raise InputError(f"{shorten(path, 200)} holds no scores. Give an array an algorithm.")
    for name, array in scores.items():
        if not name or not _is_scores(array) or not array.size:
            raise InputError(
                f"The array {shorten(name)} in {shorten(path, 200)} has the shape {array.shape} and the "
                f"kind {array.dtype}. Give numbers [runs, tasks]; name tasks in an array `tasks` of text."
            )
    first, array = next(iter(scores.items()))
    width = array.shape[1] if tasks is None else len(tasks)
    for name, array in scores.items():
        if array.shape[1] != width:
            expected = f"{width} are named" if tasks else f"{shorten(first)} has {width}"
            raise InputError(
                f"{shorten(name)} in {shorten(path, 200)} has {array.shape[1]} tasks, and {expected}. "
                f"Give every algorithm the same tasks."
            )
    agent = np.repeat(np.arange(len(scores)), [array.size for array in scores.values()])
    run, task = np.hstack([np.indices(array.shape).reshape(2, -1) for array in scores.values()])
    values = [array.astype(np.float64).ravel() for array in scores.values()]
    names = name_column("task", numbered_names(tasks, width, "task"), task)
    return pl.DataFrame([name_column("agent", list(scores), agent), names]).with_columns(
        run=run, trial=0, score=np.concatenate(values)
    )
