"""Stable-Baselines3 `evaluations.npz`: evaluation episodes at some time steps of a training run."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.arrays import array_names, read_arrays
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.tables import TableOptions
from examiner.importers.training import run_of, training_reading
from examiner.wording import InputError, shorten

_TASK_NOTE = (
    "An evaluations file does not name its environment: unless a template does, the folder's name is "
    "taken, without its number. Frames are counted as the environment's name says."
)


def recognises(file: SourceFile) -> bool:
    """An npz file with the arrays `timesteps` and `results`.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"agent,task"))
    False
    """
    return {"timesteps", "results"} <= set(array_names(file))


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read every evaluation episode, in order; `evaluation` numbers the times they were played.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "evaluations.npz"
    >>> np.savez(path, timesteps=[100, 200], results=[[1.0, 2.0], [3.0, 4.0]], ep_lengths=[[5] * 2] * 2)
    >>> results = read(open_source(path), TableOptions()).results
    >>> results.column("score"), results.column("frames")
    ([1.0, 2.0, 3.0, 4.0], [100, 100, 200, 200])
    """
    arrays = read_arrays(file)
    steps, scores = arrays.get("timesteps"), arrays.get("results")
    lengths = arrays.get("ep_lengths")
    where = shorten(file.path, 200)
    if steps is None or scores is None or scores.ndim != 2 or steps.shape != scores.shape[:1]:
        raise InputError(
            f"{where} has no arrays `timesteps` [evaluations] and `results` [evaluations, episodes] "
            f"that fit each other. Check that it is an evaluations file."
        )
    if lengths is not None and lengths.shape != scores.shape:
        raise InputError(
            f"In {where}, `ep_lengths` has the shape {lengths.shape} and `results` {scores.shape}. "
            f"They must be alike: check the file."
        )
    if not scores.size:
        raise InputError(f"{where} holds no evaluations. Give a file with at least one.")
    run = run_of(file)
    each = scores.shape[1]
    try:
        columns = {
            "score": scores.astype(np.float64).ravel(),
            "frames": np.repeat(_whole(steps), each) * run.frames_of_step,
        }
        if lengths is not None:
            columns["length"] = _whole(lengths).ravel() * run.frames_of_length
    except ValueError:
        raise InputError(
            f"{where} has values that are no numbers, or no whole ones among its time steps and "
            f"lengths. Check the file."
        ) from None
    columns["evaluation"] = np.repeat(np.arange(len(steps)), each)
    notes = () if "task" in file.names else (_TASK_NOTE,)
    return training_reading([run], [scores.size], pl.DataFrame(columns), "sb3-evaluations", notes)


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:  # Any: of whatever kind was saved
    numbers = values.astype(np.float64)
    if not (np.isfinite(numbers).all() and (np.abs(numbers) < 2**53).all()):
        raise ValueError
    return numbers.astype(np.int64)
