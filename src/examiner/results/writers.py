"""Results written to files: tidy and wide tables, and the layouts that other tools read."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl

from examiner.messages import InputError, counted, listed, shorten
from examiner.results.every_eval_ever import check_folder, every_eval_ever
from examiner.results.storage import check_ending, file_kind, write_bytes, write_frame
from examiner.results.table import Results
from examiner.validation import check_known


def tidy(results: Results, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write one row per trial; only Parquet keeps scales and provenance.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> tidy(Results.from_numpy([[1.5]], ["a"], ["t"]), path).read_text()
    'agent,task,run,trial,score\\na,t,0,0,1.5\\n'
    """
    if file_kind(path)[0] == ".parquet":
        return results.save(path)
    return write_frame(results.to_polars(), path, for_spreadsheets=for_spreadsheets)


def wide(results: Results, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write the first measure with agents as rows; trials are averaged within runs, then runs.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> wide(Results.from_numpy([[[1.0, 2.0]]], ["a"], ["pong"]), path).read_text()
    'agent,pong\\na,1.5\\n'
    """
    runs = _run_means(results)
    cells = runs.group_by("agent", "task").agg(pl.col("value").mean())
    # One row a task here: numpy then hands polars each task's column without a copy.
    values = np.full((len(results.tasks), len(results.agents)), np.nan)
    values[cells["task"].to_numpy(), cells["agent"].to_numpy()] = cells["value"].to_numpy()
    first = "agent" if "agent" not in results.tasks else "agent name"
    columns = [
        pl.Series(name, column, nan_to_null=True)
        for name, column in zip(results.tasks, values, strict=True)
    ]
    frame = pl.DataFrame([pl.Series(first, results.agents), *columns])
    return write_frame(frame, path, for_spreadsheets=for_spreadsheets)


def py_irt(results: Results, path: str | Path) -> Path:
    """Write the first measure, which must be 0 or 1, once per agent and task.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "responses.jsonl"
    >>> results = Results.from_numpy([[1, 0]], ["bert"], ["q1", "q2"], measure="correct")
    >>> py_irt(results, path).read_text()
    '{"subject_id": "bert", "responses": {"q1": 1, "q2": 0}}\\n'
    """
    measure, values = results.measures[0], results.measure()
    observed = ~np.isnan(values)
    if not results.is_binary():
        odd = next(value for value in values[observed] if value not in (0, 1))
        raise InputError(
            f"py-irt holds responses of 0 or 1, and the measure {shorten(measure)} has {odd:g}. Mark "
            f"success first (`--success`, or `ex.scores.mark_success`), or choose another measure."
        )
    agents, tasks = results.agent_codes[observed], results.task_codes[observed]
    cells = agents.astype(np.int64) * len(results.tasks) + tasks
    if len(np.unique(cells)) < len(cells):
        most = int(np.bincount(cells).max())
        raise InputError(
            f"py-irt holds one response per agent and task, and there are up to "
            f"{counted(most, 'trial')} of one. Keep one trial each, or write a tidy table."
        )
    order = np.argsort(agents, kind="stable")
    ends = np.searchsorted(agents[order], np.arange(1, len(results.agents)))
    lines = []
    for agent, rows in zip(results.agents, np.split(order, ends), strict=True):
        responses = {
            results.tasks[task]: int(value)
            for task, value in zip(tasks[rows], values[observed][rows], strict=True)
        }
        lines.append(json.dumps({"subject_id": agent, "responses": responses}, ensure_ascii=False))
    return write_bytes(("\n".join(lines) + "\n").encode(), path)


TASKS = "tasks"
"""The array of an npz file that holds the names of tasks."""


def rliable(results: Results, path: str | Path) -> Path:
    """Write the first measure as [runs, tasks] for every agent; trials are averaged within a run.

    rliable needs every agent to have a value for every task in as many runs; task names are stored
    under `tasks`, which is to be taken out before the arrays are given to rliable.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.npz"
    >>> _ = rliable(Results.from_numpy([[[1.0, 2.0]]], ["dqn"], ["pong"]), path)
    >>> with np.load(path) as arrays:
    ...     arrays["dqn"].tolist(), arrays["tasks"].tolist()
    ([[1.0], [2.0]], ['pong'])
    """
    for agent in results.agents:
        if agent == TASKS or re.search(r"[/\\\0]", agent) or agent.endswith(".npy"):
            raise InputError(
                f"An npz file cannot hold an array called {shorten(agent)}. Rename the agent."
            )
    cells = _run_means(results)
    values = (
        cells["value"]
        .to_numpy()
        .reshape(len(results.agents), len(results.tasks), _runs_each(results, cells))
    )
    arrays = {TASKS: np.array(results.tasks)} | {
        agent: scores.T for agent, scores in zip(results.agents, values, strict=True)
    }
    # What `np.savez_compressed` writes; it takes names as keywords, and some are its own.
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return write_bytes(buffer.getvalue(), path)


def _runs_each(results: Results, cells: pl.DataFrame) -> int:
    """The number of runs, which must be the same everywhere."""
    counts = np.zeros((len(results.agents), len(results.tasks)), dtype=np.int64)
    np.add.at(counts, (cells["agent"].to_numpy(), cells["task"].to_numpy()), 1)
    most = int(counts.max())
    lacking = [
        f"{results.agents[agent]} on {results.tasks[task]} ({counts[agent, task]})"
        for agent, task in np.argwhere(counts < most)
    ]
    if lacking:
        raise InputError(
            f"rliable needs every agent to have the same runs of every task: there are up to "
            f"{counted(most, 'run')}, and fewer of {listed(lacking, limit=4)}. Keep the agents and tasks "
            f"that are whole (`--keep`, `--drop`), or write a tidy table."
        )
    return most


def _run_means(results: Results) -> pl.DataFrame:
    """One row for each agent, task and run, in this order: codes, and the mean of its trials."""
    keys = {"agent": results.agent_codes, "task": results.task_codes, "run": results.run_codes}
    values = pl.Series(results.measure()).fill_nan(None)
    rows = pl.DataFrame({**keys, "value": values}).drop_nulls()
    return rows.group_by(*keys).agg(pl.col("value").mean()).sort(*keys)


WRITERS = MappingProxyType(
    {
        "tidy": tidy,
        "wide": wide,
        "py-irt": py_irt,
        "rliable": rliable,
        "every-eval-ever": every_eval_ever,
    }
)
"""Layout → writer."""

ENDINGS = MappingProxyType({"py-irt": (".jsonl", ".ndjson"), "rliable": (".npz",)})
"""Layout → the endings it is written to, where it has its own."""


def write(
    results: Results, path: str | Path, layout: str = "tidy", *, for_spreadsheets: bool = False
) -> Path:
    """Write results to a file whose ending says the kind (.csv, .tsv, .ndjson, .parquet, .csv.gz, …).

    The file appears whole or not at all. Only tidy Parquet keeps scales and provenance. The layouts
    "py-irt" (.jsonl) and "rliable" (.npz) have endings of their own; "every-eval-ever" is a folder.
    With `for_spreadsheets`, names in CSV and TSV that begin as a formula does (`=cmd|…`, `+1`, `-a`,
    `@x`) get an apostrophe before them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> write(Results.from_numpy([[1.5]], ["a"], ["t"]), path).read_text()
    '{"agent":"a","task":"t","run":0,"trial":0,"score":1.5}\\n'
    """
    check_path(path, layout)
    if for_spreadsheets and layout in ("tidy", "wide"):
        return (tidy if layout == "tidy" else wide)(results, path, for_spreadsheets=True)
    return WRITERS[layout](results, path)


def check_path(path: str | Path, layout: str) -> None:
    """Refuse a layout that is not known, or an ending it is not written to, before a long reading.

    >>> check_path("scores.npz", "tidy")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot tell how to write 'scores.npz' from its ending. ...
    """
    check_known("layout", layout, WRITERS)
    if layout == "every-eval-ever":
        check_folder(Path(path))
    elif layout in ENDINGS:
        check_ending(path, ENDINGS[layout], layout)
    else:
        file_kind(path)
