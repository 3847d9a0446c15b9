"""Training logs: the episodes of a learning agent, in frames, under the names its folder gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.cells import spread
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading, Whereabouts
from examiner.results import Provenance
from examiner.results.table import assemble
from examiner.wording import shorten

FRAMES_PER_STEP = 4
"""Emulator frames an Atari agent's action lasts in the usual wrappers."""

_AGENT_NOTE = (
    "Training logs do not say which agent learnt: {} is taken. To take it from elsewhere, give a "
    "template (`--path '{{agent}}/{{task}}_{{run}}/'`)."
)
AGENT_NOTE = _AGENT_NOTE.format("the name of the run's folder")
ZOO_NOTE = _AGENT_NOTE.format(
    "in folders called like their environment, the name of the folder above"
)
_COLUMNS = ("agent", "task", "run", "trial", "score", "frames", "length")


@dataclass(frozen=True, slots=True)
class Run:
    """One training run: who learnt what, under which number, and in which environment.

    Logs are written inside the wrapper that skips frames: episodes of `…NoFrameskip-v4` are so long in
    emulator frames, those of `ALE/…-v5` and `…Deterministic-v4`, which skip in the emulator, in steps.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x"), None, b"")
    >>> runs = [Run(file, "dqn", "pong", "0", name) for name in ("PongNoFrameskip-v4", "ALE/Pong-v5", "Go")]
    >>> [run.frames_of_length for run in runs], [run.frames_of_step for run in runs]
    ([1, 4, 1], [4, 4, 1])
    """

    file: SourceFile
    agent: str
    task: str
    number: str
    environment: str
    note: str | None = None

    @property
    def frames_of_length(self) -> int:
        """How many emulator frames one unit of a logged episode length is."""
        skipping = self.environment.startswith(("ALE/", "ALE-"))
        return FRAMES_PER_STEP if skipping or "Deterministic-v" in self.environment else 1

    @property
    def frames_of_step(self) -> int:
        """How many emulator frames one agent step is: four in Atari, else one."""
        return FRAMES_PER_STEP if "NoFrameskip-v" in self.environment else self.frames_of_length


def run_of(
    file: SourceFile,
    env_id: str | None = None,
    agent: str | None = None,
    number: str | None = None,
) -> Run:
    """Name the run a log belongs to: by the template, else by what is known, else by its folder.

    >>> from pathlib import Path
    >>> run = run_of(SourceFile(Path("logs/ppo/Pong-v5_3/0.monitor.csv"), None, b""), "Pong-v5")
    >>> run.agent, run.task, run.number
    ('ppo', 'Pong-v5', '3')
    """
    folder, above = [*file.path.absolute().parent.parts[:0:-1], "run", "agent"][:2]
    task = file.names.get("task", env_id)
    like_task = None
    if env_id is not None:
        like_task = re.fullmatch(re.escape(env_id.replace("/", "-")) + r"(?:_(\d+))?", folder)
    if task is None:
        like_task = re.fullmatch(r"(.+?)_(\d+)", folder)
        task = like_task[1] if like_task else folder
    if number is None and like_task:
        number = like_task[like_task.re.groups]
    agent, note = file.names.get("agent", agent), None
    if agent is None:
        agent, note = (above, ZOO_NOTE) if like_task else (folder, AGENT_NOTE)
    return Run(file, agent, task, file.names.get("run", number or "0"), env_id or task, note)


def step_note(runs: Sequence[Run]) -> tuple[str, ...]:
    """Say where steps were taken as frames.

    >>> from pathlib import Path
    >>> step_note([Run(SourceFile(Path("x"), None, b""), "dqn", "pong", "0", "ALE/Pong-v5")])
    ("Agent steps of Atari environments are counted as 4 frames each, such as in 'ALE/Pong-v5'.",)
    """
    atari = [run.environment for run in runs if run.frames_of_length > 1]
    if not atari:
        return ()
    return (
        f"Agent steps of Atari environments are counted as {FRAMES_PER_STEP} frames each, such as in "
        f"{shorten(atari[0])}.",
    )


def training_reading(
    runs: Sequence[Run],
    episodes: Sequence[int],
    columns: pl.DataFrame,
    format: str,
    notes: Sequence[str] = (),
) -> Reading:
    """Read runs that stand one after the other in a table, each with its number of episodes.

    `columns` has score, frames, length and whatever else the log holds; trials are the episodes of
    a run in order.

    >>> from pathlib import Path
    >>> run = Run(SourceFile(Path("x"), None, b""), "dqn", "pong", "0", "pong")
    >>> log = pl.DataFrame({"score": [1.0, 2.0], "frames": [10, 20], "length": [10, 10]})
    >>> training_reading([run], [2], log, "sb3-monitor").results.column("trial")
    [0, 1]
    """
    run_of_row = np.repeat(np.arange(len(runs)), episodes)
    extra = {name for run in runs for name in run.file.names} - {"agent", "task", "run"}
    names = {
        "agent": [run.agent for run in runs],
        "task": [run.task for run in runs],
        "run": [run.number for run in runs],
    } | {name: [run.file.names.get(name, "") for run in runs] for name in sorted(extra)}
    taken = {*_COLUMNS, *extra} - set(columns.columns[:3])
    columns = columns.rename(
        {name: f"{name}_logged" for name in columns.columns[3:] if name in taken}
    )
    trial = cumulative(np.ones(len(columns), dtype=np.int64), episodes) - 1
    frame = pl.DataFrame([spread(name, values, run_of_row) for name, values in names.items()])
    frame = pl.concat([frame.with_columns(trial=trial), columns], how="horizontal")
    origin = Provenance(str(runs[0].file.path), format, training=True)
    origin = origin.with_notes(*notes, *(run.note for run in runs if run.note))
    where = Whereabouts([run.file.path for run in runs], episodes)
    with where.named():
        return Reading(assemble(frame, ["score"], None, origin), where)


def cumulative(lengths: NDArray[np.int64], counts: Sequence[int]) -> NDArray[np.int64]:
    """Add lengths up within each run; runs stand one after the other.

    >>> cumulative(np.array([10, 5, 7]), [2, 1]).tolist()
    [10, 15, 7]
    """
    total = np.cumsum(lengths)
    ends = np.cumsum(counts)
    before = np.concatenate(([0], total))[ends - np.asarray(counts)]
    added: NDArray[np.int64] = total - np.repeat(before, counts)
    return added
