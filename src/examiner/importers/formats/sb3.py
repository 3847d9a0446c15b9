"""Stable-Baselines3: Monitor logs of training, and `evaluations.npz`.

A log is `#{"t_start": …, "env_id": …}`, then `r,l,t` for every episode. One folder is one run:
`0.monitor.csv`, `1.monitor.csv`, … are its parallel workers, whose episodes are put in the order in which
they ended (t_start + t). Evaluations are episodes at some time steps of a training run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.archives import array_names, read_arrays
from examiner.importers.documents import parse_json
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.text import beginning, refuse_merge_markers, text_of
from examiner.importers.training import (
    Run,
    cumulative,
    run_of,
    step_note,
    times_of,
    training_reading,
)
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import PROBLEMS

_WORKER = re.compile(r"(?:\d+\.)?monitor\.csv")
_NEEDED = ("r", "l", "t")


class _Log(NamedTuple):
    """One file: its run, when it began, and its lines of episodes."""

    run: Run
    started: float
    header: bytes
    body: bytes
    notes: tuple[str, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """What the logs of one run have in common."""
        file = self.run.file
        worker = _WORKER.fullmatch(file.path.name.removesuffix(".gz")) is not None
        folder_or_file = file.path.parent if worker else file.path
        return folder_or_file, self.run.agent, self.run.task, self.run.number


def recognises_monitor(file: SourceFile) -> bool:
    """The first line is a comment with a JSON object that has `t_start`.

    >>> recognises_monitor(SourceFile(Path("x"), None, b'#{"t_start": 1.5, "env_id": "Pong-v5"}'))
    True
    """
    head = beginning(file)
    return head.startswith(b"#{") and b'"t_start"' in head.partition(b"\n")[0]


def read_monitor(files: Sequence[SourceFile], options: ReadOptions) -> list[Reading]:
    r"""Read the logs of many runs at once, the workers of each merged.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "monitor.csv"
    >>> _ = path.write_text('#{"t_start": 1.5, "env_id": "ALE/Pong-v5"}\nr,l,t\n-21,800,9.5\n')
    >>> results = read_monitor([open_source(path)], ReadOptions())[0].results
    >>> results.column("frames"), results.column("score")
    ([3200], [-21.0])
    """
    logs = [_log(file) for file in files]
    filled = [log for log in logs if log.body]
    if not filled:
        raise InputError(
            f"{shorten(files[0].path, 200)} holds no episodes. "
            f"Give a log of a run that finished at least one."
        )
    frame = _episodes(filled)
    restart_notes = _restart_notes(filled, frame)
    runs, counts, order = _merged(filled, frame)
    frame = frame if order is None else frame[order]
    factors = np.array([log.run.frames_of_length for log in filled])
    lengths = frame["l"].to_numpy() * factors[frame["file"].to_numpy()]
    times = times_of(runs, counts, cumulative(lengths, counts))
    others = frame.drop("r", "l", "file").rename({"t": "seconds"})
    own = ("score", *times, "length")
    others = others.rename({name: f"{name}_logged" for name in others.columns if name in own})
    columns = pl.DataFrame({"score": frame["r"], **times, "length": lengths}).with_columns(others)
    notes = [*_notes(logs, runs), *restart_notes]
    return [training_reading(runs, counts, columns, "sb3-monitor", notes, own)]


def _log(file: SourceFile) -> _Log:
    data, notes = text_of(file)
    first, _, rest = data.partition(b"\n")
    about = parse_json(first.removeprefix(b"#"), file.path, 1)
    started = about.get("t_start") if isinstance(about, dict) else None
    if not isinstance(started, int | float) or not abs(started) < 2**53:  # nor is NaN
        raise InputError(
            f'{shorten(file.path, 200)}, line 1, does not say when it began ("t_start": …). '
            f"Check that it is a Monitor log."
        )
    env_id = about.get("env_id")
    env_id = env_id if isinstance(env_id, str) and env_id not in ("", "None") else None
    header, _, body = rest.partition(b"\n")
    body = body.strip(b"\r\n")
    names = tuple(name.strip() for name in header.decode().strip().split(","))
    missing = [name for name in _NEEDED if name not in names]
    if missing or len(set(names)) < len(names):
        refuse_merge_markers(data, file.path)
        raise InputError(
            f"{shorten(file.path, 200)}, line 2, has the columns {listed(names)}, each of which must "
            f"stand once, and {listed(_NEEDED)} among them. Check that it is a Monitor log."
        )
    ended = body + b"\n" if body else b""
    return _Log(run_of(file, env_id), float(started), ",".join(names).encode(), ended, notes)


def _episodes(logs: Sequence[_Log]) -> pl.DataFrame:
    """All episodes: r, l, t, anything else that was logged, and the position of the log."""
    alike: dict[bytes, list[int]] = {}
    for position, log in enumerate(logs):
        alike.setdefault(log.header, []).append(position)
    frames = []
    for header, positions in alike.items():
        bodies = [logs[position].body for position in positions]
        rows = [body.count(b"\n") for body in bodies]
        frame = _parsed(b"".join([header, b"\n", *bodies]))
        if frame is None or len(frame) != sum(rows):
            single = [_parsed_alone(logs[position]) for position in positions]
            rows = [len(part) for part in single]
            frame = pl.concat(single, how="vertical_relaxed")
        frames.append(frame.with_columns(file=pl.Series(np.repeat(positions, rows))))
    if len(frames) == 1:
        return frames[0]
    return pl.concat(frames, how="diagonal_relaxed").sort("file", maintain_order=True)


def _parsed(data: bytes) -> pl.DataFrame | None:
    """The episodes of a text, or None where something in it is not as it should be."""
    known = {"r": pl.Float64, "l": pl.Int64, "t": pl.Float64}
    try:
        frame = pl.read_csv(data, schema_overrides=known, infer_schema_length=10_000)
    except PROBLEMS:
        return None
    lengths, seconds = frame["l"], frame["t"]
    whole = not (lengths.null_count() or seconds.null_count() or frame[:, -1].null_count())
    sound = whole and (lengths.min() or 0) >= 0 and seconds.is_finite().all()  # type: ignore[operator]
    return frame if sound and (lengths.max() or 0) < 2**53 else None  # type: ignore[operator]


def _parsed_alone(log: _Log) -> pl.DataFrame:
    """One log, each line looked at: slower, but it can say which line is wrong."""
    path = log.run.file.path
    frame = _parsed(log.header + b"\n" + log.body)
    if frame is not None and b"\n\n" not in log.body:
        return frame
    names = log.header.decode().split(",")
    rows = []
    for number, line in enumerate(log.body.decode().splitlines(), start=3):
        if not line.strip():
            continue
        try:
            fields = pl.read_csv(line.encode(), has_header=False, infer_schema=False).row(0)
        except PROBLEMS:  # a quotation mark that is never closed
            raise InputError(
                f"Cannot read {shorten(path, 200)}: line {number} is no list of fields: "
                f"{shorten(line)}. Correct or remove the line."
            ) from None
        if len(fields) != len(names):
            refuse_merge_markers(log.run.file.contents(), path)
            raise InputError(
                f"Cannot read {shorten(path, 200)}: line {number} has {len(fields)} fields, the header "
                f"has {len(names)}. It may be cut off: correct or remove the line."
            )
        rows.append(_checked(dict(zip(names, fields, strict=True)), path, number))
    return pl.DataFrame(rows, infer_schema_length=None, strict=False)


def _checked(fields: dict[str, str], path: Path, number: int) -> dict[str, object]:
    values: dict[str, object] = dict(fields)
    for name in _NEEDED:
        try:
            value = float(fields[name] or "nan")
            if name != "r" and not 0 <= value < 2**53:
                raise ValueError
        except ValueError:
            raise InputError(
                f"{shorten(path, 200)}, line {number}, has {shorten(fields[name])} in the column "
                f"{name!r}, where a number belongs. Correct or remove the line."
            ) from None
        values[name] = int(value) if name == "l" else value
    return values


def _merged(
    logs: Sequence[_Log], frame: pl.DataFrame
) -> tuple[list[Run], list[int], NDArray[np.int64] | None]:
    """The runs, how many episodes each has, and the order that puts each run's in a row, if any."""
    groups: dict[tuple[object, ...], int] = {}
    group_of_log = np.array([groups.setdefault(log.key, len(groups)) for log in logs])
    runs = {group: log.run for group, log in zip(group_of_log[::-1], reversed(logs), strict=True)}
    file = frame["file"].to_numpy()
    group = group_of_log[file]
    counts = np.bincount(group, minlength=len(groups)).tolist()
    ordered = [runs[number] for number in range(len(groups))]
    if len(groups) == len(logs):
        return ordered, counts, None
    # A resumed log starts its clock again; its lines still follow each other.
    time = frame.select(pl.col("t").cum_max().over("file"))["t"].to_numpy()
    started = np.array([log.started for log in logs])
    return ordered, counts, np.lexsort((time + started[file], group))


def _restart_notes(logs: Sequence[_Log], frame: pl.DataFrame) -> list[str]:
    """Note the logs whose clock falls back: training was restarted, or two runs share a file."""
    falls = (frame["t"].diff() < 0) & (frame["file"].diff() == 0)
    restarted = frame.filter(falls)["file"].unique(maintain_order=True)
    if restarted.is_empty():
        return []
    paths = [logs[position].run.file.path for position in restarted]
    return [
        f"In {counted(len(paths), 'log')}, the time 't' falls back, as after a restart, such as in "
        f"{shorten(paths[0], 200)}. All episodes of a log are read as one run, in the order of their "
        f"lines. If a log holds two runs, write each to its own file."
    ]


def _notes(logs: Sequence[_Log], runs: Sequence[Run]) -> list[str]:
    notes = [note for log in logs for note in log.notes]
    empty = [log.run.file.path for log in logs if not log.body]
    if empty:
        notes.append(
            f"{counted(len(empty), 'log')} without a finished episode: {listed(empty, limit=3)}."
        )
    workers = sum(bool(log.body) for log in logs)
    if workers > len(runs):
        notes.append(
            f"{counted(workers, 'log')} of parallel workers were merged into {counted(len(runs), 'run')}, "
            f"one a folder."
        )
    notes.extend(step_note([log.run for log in logs]))
    return notes


_TASK_NOTE = (
    "An evaluations file does not name its environment: unless a template does, the folder's name is "
    "taken, without its number. Frames are counted as the environment's name says."
)


def recognises_evaluations(file: SourceFile) -> bool:
    """An npz file with the arrays `timesteps` and `results`.

    >>> recognises_evaluations(SourceFile(Path("x"), None, b"agent,task"))
    False
    """
    return {"timesteps", "results"} <= set(array_names(file))


def read_evaluations(file: SourceFile, options: ReadOptions) -> Reading:
    """Read every evaluation episode, in order; `evaluation` numbers the checkpoints that were played.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "evaluations.npz"
    >>> np.savez(path, timesteps=[100, 200], results=[[1.0, 2.0], [3.0, 4.0]], ep_lengths=[[5] * 2] * 2)
    >>> results = read_evaluations(open_source(path), ReadOptions()).results
    >>> results.column("score"), results.column("steps")
    ([1.0, 2.0, 3.0, 4.0], [100, 100, 200, 200])
    """
    arrays = read_arrays(file)
    steps, scores = arrays.get("timesteps"), arrays.get("results")
    lengths = arrays.get("ep_lengths")
    # Environments that return arrays of one reward leave a last axis of length 1.
    scores, lengths = (
        array[..., 0] if array is not None and array.ndim == 3 and array.shape[2] == 1 else array
        for array in (scores, lengths)
    )
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
            run.unit: np.repeat(_whole(steps), each) * run.frames_of_step,
        }
        if lengths is not None:
            columns["length"] = _whole(lengths).ravel() * run.frames_of_length
    except ValueError:
        raise InputError(
            f"{where} has values that are no numbers, or no whole ones among its time steps and "
            f"lengths. Check the file."
        ) from None
    columns["evaluation"] = columns["checkpoint"] = np.repeat(np.arange(len(steps)), each)
    notes = () if "task" in file.names else (_TASK_NOTE,)
    return training_reading([run], [scores.size], pl.DataFrame(columns), "sb3-evaluations", notes)


def _whole(values: NDArray[Any]) -> NDArray[np.int64]:  # Any: of whatever kind was saved
    numbers = values.astype(np.float64)
    if not (np.isfinite(numbers).all() and (np.abs(numbers) < 2**53).all()):
        raise ValueError
    return numbers.astype(np.int64)
