"""TensorBoard event files: CleanRL's `runs/{env_id}__{exp_name}__{seed}__{time}`, Stable-Baselines3's logs.

CleanRL writes the return of every episode; Stable-Baselines3 the mean of evaluations and that of the last
100 episodes, which are checkpoints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.training import (
    CHECKPOINT_TAGS,
    EPISODE_TAGS,
    Run,
    cleanrl_names,
    run_of,
    training_reading,
)
from examiner.messages import InputError, counted, listed, shorten

_LENGTH = "charts/episodic_length"
_TAGS = (*EPISODE_TAGS, *CHECKPOINT_TAGS)
_STEP_NOTE = "Global steps of Atari environments are counted as 4 frames each."
_SCALARS = {"tag": pl.String(), "step": pl.Int64(), "value": pl.Float64()}


def recognises(file: SourceFile) -> bool:
    """An event file begins with a record that says `brain.Event`.

    >>> recognises(SourceFile(Path("x"), None, bytes(20) + b"brain.Event:2"))
    True
    """
    return b"brain.Event:" in file.head[:64]


def read_many(files: Sequence[SourceFile], options: ReadOptions) -> list[Reading]:
    """Read the event files of many runs, those of one folder as one run; needs `tensorboard`.

    >>> read_many([], ReadOptions())
    []
    """
    folders: dict[Path, list[SourceFile]] = {}
    for file in files:
        folders.setdefault(file.path.parent, []).append(file)
    readings, empty = [], []
    for group in folders.values():
        rows = [row for file in group for row in _scalars(file)]
        scalars = pl.DataFrame(rows, schema=_SCALARS, orient="row")
        tag = next((tag for tag in _TAGS if tag in scalars["tag"]), None)
        if tag is not None:
            readings.append(_run_reading(group[0], scalars, tag))
        else:
            empty.append(group[0].path)
    if empty and not readings:
        raise InputError(
            f"{shorten(empty[0], 200)} holds no episodes, and no means, under any of the tags "
            f"{listed(_TAGS, limit=12)}. Give event files that CleanRL or Stable-Baselines3 wrote."
        )
    if empty:
        note = f"{counted(len(empty), 'event file')} without episodes: {listed(empty, limit=3)}."
        readings[0] = replace(readings[0], results=readings[0].results.with_notes(note))
    return readings


def _run_reading(file: SourceFile, scalars: pl.DataFrame, tag: str) -> Reading:
    returns, lengths = (scalars.filter(tag=name) for name in (tag, _LENGTH))
    run = _run(file)
    time = {run.unit: pl.col("step") * run.frames_of_step}
    notes = [_STEP_NOTE] if run.frames_of_step > 1 else []
    if tag in CHECKPOINT_TAGS:
        columns = returns.select(score="value", **time, checkpoint=pl.int_range(pl.len()))
        notes.append(
            f"Values under the tag {tag!r} are means, and read as checkpoints, not episodes."
        )
        return training_reading([run], [len(returns)], columns, "cleanrl", notes)
    columns = returns.select(score="value", **time, length=None)
    # The two are written at the same step, one after the other.
    if lengths["step"].equals(returns["step"]):
        length = lengths["value"].cast(pl.Int64, strict=False) * run.frames_of_length
        columns = columns.with_columns(length=length)
    return training_reading([run], [len(returns)], columns, "cleanrl", notes)


def _run(file: SourceFile) -> Run:
    """The run that a folder's name tells of: environment, agent, seed and time."""
    parts = file.path.absolute().parts
    names = cleanrl_names(parts[-2]) if len(parts) > 1 else None
    if names is None:
        return run_of(file)
    env_id, agent, seed = names
    if len(parts) > 2 and parts[-3] == "ALE":
        env_id = f"ALE/{env_id}"
    return run_of(file, env_id, agent, seed)


def _scalars(file: SourceFile) -> Iterator[tuple[str, int, float]]:
    try:
        import tensorboard.backend.event_processing.event_file_loader as loader  # type: ignore[import-not-found,import-untyped,unused-ignore]  # optional
    except ImportError:
        raise InputError(
            f"{shorten(file.path, 200)} is a TensorBoard event file, and reading it needs the package "
            f"`tensorboard`. Run `pip install tensorboard`."
        ) from None
    try:
        for event in loader.LegacyEventFileLoader(str(file.path)).Load():
            for value in event.summary.value:
                if value.tag in (*_TAGS, _LENGTH):
                    yield value.tag, int(event.step), _number(value)
    except InputError:
        raise
    except Exception as problem:  # tensorboard raises whatever its parsers do
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the event file is damaged "
            f"({type(problem).__name__}). Copy it again, or leave it out."
        ) from problem


def _number(value: Any) -> float:  # Any: a protocol buffer
    if value.HasField("tensor"):
        tensor = value.tensor
        return float(
            tensor.float_val[0]
            if tensor.float_val
            else np.frombuffer(tensor.tensor_content, "<f4")[0]
        )
    return float(value.simple_value)
