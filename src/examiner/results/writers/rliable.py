"""rliable arrays: an npz file with one array [runs, tasks] per agent, and the tasks' names."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed, shorten
from examiner.results.codes import run_mean_table
from examiner.results.storage import check_ending, write_bytes
from examiner.results.table import Results

TASKS = "tasks"


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
    check_ending(path, (".npz",), "rliable")
    _check_names(results.agents)
    cells = run_mean_table(results)
    runs = _runs_each(results, cells)
    values = cells["value"].to_numpy().reshape(len(results.agents), len(results.tasks), runs)
    arrays = {TASKS: np.array(results.tasks)} | {
        agent: scores.T for agent, scores in zip(results.agents, values, strict=True)
    }
    return write_bytes(_npz(arrays), path)


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """What `np.savez_compressed` writes; it takes names as keywords, and some are its own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return buffer.getvalue()


def _runs_each(results: Results, cells: pl.DataFrame) -> int:
    """The number of runs, which must be the same everywhere."""
    counts = np.zeros((len(results.agents), len(results.tasks)), dtype=np.int64)
    np.add.at(counts, (cells["agent"].to_numpy(), cells["task"].to_numpy()), 1)
    most = int(counts.max())
    lacking = np.argwhere(counts < most)
    if len(lacking):
        shown = [
            f"{results.agents[agent]} on {results.tasks[task]} ({counts[agent, task]})"
            for agent, task in lacking[:20]
        ]
        more = f" and {len(lacking) - 4:,} more" if len(lacking) > 4 else ""
        raise InputError(
            f"rliable needs every agent to have the same runs of every task: there are up to "
            f"{counted(most, 'run')}, and fewer of {listed(shown[:4])}{more}. Keep the agents and tasks "
            f"that are whole (`--keep`, `--drop`), or write a tidy table."
        )
    return most


def _check_names(agents: tuple[str, ...]) -> None:
    for agent in agents:
        if agent == TASKS or re.search(r"[/\\\0]", agent) or agent.endswith(".npy"):
            raise InputError(
                f"An npz file cannot hold an array called {shorten(agent)}. Rename the agent."
            )
