"""Bare .npy files: the evaluations of one run, named by its path alone."""

from __future__ import annotations

import numpy as np
import polars as pl

from examiner.importers.arrays import read_array
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.tables import TableOptions
from examiner.importers.training import Run, training_reading
from examiner.wording import InputError, shorten

_MAGIC = b"\x93NUMPY"
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
    return file.head.startswith(_MAGIC)


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read the evaluations of a run, one a checkpoint, or several where the array has two axes.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> from dataclasses import replace
    >>> path = Path(tempfile.mkdtemp()) / "TD3_Ant-v1_0.npy"
    >>> np.save(path, np.array([1.0, 5.0, 9.0]))
    >>> named = replace(open_source(path), names={"agent": "TD3", "task": "Ant-v1", "run": "0"})
    >>> read(named, TableOptions()).results.column("checkpoint")
    [0, 1, 2]
    """
    missing = [name for name in ("agent", "task") if name not in file.names]
    where = shorten(file.path, 200)
    if missing:
        raise InputError(
            f"{where} is a bare array, which names no {' and no '.join(missing)}. Take them from its path, "
            f"for example `--path '{{agent}}_{{task}}_{{run}}.npy'`."
        )
    values = read_array(file)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.dtype.kind not in "biuf" or not values.size:
        raise InputError(
            f"{where} has the shape {values.shape} and the kind {values.dtype}. Give numbers "
            f"[checkpoints] or [checkpoints, episodes]."
        )
    points, each = values.shape
    columns = {
        "score": values.astype(np.float64).ravel(),
        "checkpoint": np.repeat(np.arange(points), each),
    }
    names = file.names
    run = Run(file, names["agent"], names["task"], names.get("run", "0"), names["task"])
    return training_reading([run], [values.size], pl.DataFrame(columns), "npy", [_NOTE])
