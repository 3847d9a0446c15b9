"""Bare .npy files: the evaluations of one run, named by its path alone."""

from __future__ import annotations

import re
from dataclasses import replace

from examiner.importers.arrays import read_array
from examiner.importers.axes import array_reading
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.suggestions import MissingNamesError
from examiner.importers.table_columns import TableOptions
from examiner.messages import InputError, shorten

_NAMED = re.compile(r"(?P<agent>.+?)_(?P<task>[^_]+-v\d+)_(?P<run>\d+)\.npy")
_TEMPLATE = "{agent}_{task}_{run}.npy"
_NAMED_NOTE = (
    f"Names of files like TD3_Ant-v1_0.npy are read as agent, task and run; to take them from elsewhere, "
    f"give a template (`--path '{_TEMPLATE}'`)."
)
_NOTE = (
    "An array [checkpoints] or [checkpoints, episodes] does not say when its checkpoints were made: they "
    "are counted. If they are so many steps apart, say so: `--time checkpoint*5000`."
)


def recognises(file: SourceFile) -> bool:
    r"""A file that begins as numpy saves one array.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"\x93NUMPY\x01\x00"))
    True
    """
    return file.head.startswith(b"\x93NUMPY")


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read the evaluations of a run, one a checkpoint, or several where the array has two axes.

    >>> import tempfile
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "TD3_Ant-v1_0.npy"
    >>> np.save(path, np.array([1.0, 5.0, 9.0]))
    >>> results = read(open_source(path), TableOptions()).results
    >>> results.agents, results.tasks, results.column("checkpoint")
    (('TD3',), ('Ant-v1',), [0, 1, 2])
    """
    if options.axes:
        return array_reading(file, options.axes)
    where = shorten(file.path, 200)
    like = _NAMED.fullmatch(file.path.name)
    names = {**(like.groupdict() if like else {}), **file.names}
    missing = [name for name in ("agent", "task") if name not in names]
    if missing:
        raise MissingNamesError(
            f"{where} is a bare array, which names no {' and no '.join(missing)}. Take them from its path: "
            f"`--path '{_TEMPLATE}'`.",
            missing,
            _TEMPLATE,
        )
    values = read_array(file)
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf" or not values.size:
        raise InputError(
            f"{where} has the shape {values.shape} and the kind {values.dtype}. Give numbers "
            f"[checkpoints] or [checkpoints, episodes]."
        )
    if values.ndim == 2 and values.shape[1] > 1 and "run" not in names:
        raise InputError(
            f"{where} has the shape {values.shape}, and its path names no run: the second axis may be "
            f"runs, or episodes of one run. Runs: `--axes checkpoints,runs`; episodes: `--axes "
            f"checkpoints,episodes`, or name the run in the path, for example `--path '{_TEMPLATE}'`."
        )
    reading = array_reading(replace(file, names=names), ("checkpoint", "trial")[: values.ndim])
    guess = [] if {"agent", "task"} <= set(file.names) else [_NAMED_NOTE]
    return replace(reading, results=reading.results.with_notes(_NOTE, *guess))
