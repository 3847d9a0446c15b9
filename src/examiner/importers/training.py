"""Training logs: rows of a learning agent, in frames or steps, under the names its folder gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from examiner.importers.cells import spread
from examiner.importers.files import SourceFile
from examiner.importers.options import FRAMES_PER_STEP
from examiner.importers.readings import Reading, Whereabouts
from examiner.messages import shorten
from examiner.results import Provenance, assemble, atari_game

EPISODE_TAGS = ("charts/episodic_return", "rollout/episodic_return")
"""Under what training scripts log the return of single episodes."""
CHECKPOINT_TAGS = (
    *("eval/mean_reward", "eval/episodic_return", "eval/return", "evaluation/return", "eval/score"),
    *("rollout/ep_rew_mean", "rollout/return_mean", "train/episode_reward", "episode/score"),
)
"""Under what they log means of evaluations or of the last episodes: checkpoints, the best known first."""

_AGENT_NOTE = (
    "Training logs do not say which agent learnt: {} is taken. To take it from elsewhere, give a "
    "template (`--path '{{agent}}/{{task}}_{{run}}/'`)."
)
AGENT_NOTE = _AGENT_NOTE.format("the name of the run's folder")
ZOO_NOTE = _AGENT_NOTE.format(
    "in folders called like their environment, the name of the folder above"
)
FOLDER_NOTE = _AGENT_NOTE.format("what stands before the environment in the folder's name")
_COLUMNS = ("agent", "task", "run", "trial", "score", "frames", "steps", "length", "checkpoint")
_LIKE_AN_ENVIRONMENT = re.compile(r".+-v\d+(?:_(\d+))?")


@dataclass(frozen=True, slots=True)
class Run:
    """One training run: who learnt what, under which number, and in which environment.

    Logs are written inside the wrapper that skips frames: episodes of `…NoFrameskip-v4` are so long in
    emulator frames, those of `ALE/…-v5` and `…Deterministic-v4`, which skip in the emulator, in steps.
    Other environments have steps only, and so have `Pong-v4` and its like, which skip by chance.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x"), None, b"")
    >>> runs = [Run(file, "dqn", "pong", "0", name) for name in ("PongNoFrameskip-v4", "Pong-v5", "Go-v5")]
    >>> [run.frames_of_length for run in runs], [run.frames_of_step for run in runs]
    ([1, 4, 1], [4, 4, 1])
    >>> [run.unit for run in runs]
    ['frames', 'frames', 'steps']
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
        name = self.environment
        skipping = name.startswith(("ALE/", "ALE-")) or "Deterministic-v" in name
        skipping |= name.endswith("-v5") and atari_game(name) is not None
        return FRAMES_PER_STEP if skipping else 1

    @property
    def frames_of_step(self) -> int:
        """How many emulator frames one agent step is: four in Atari, else one."""
        return FRAMES_PER_STEP if "NoFrameskip-v" in self.environment else self.frames_of_length

    @property
    def unit(self) -> Literal["frames", "steps"]:
        """What its time is counted in: emulator frames where it is known how many a step is."""
        return "frames" if self.frames_of_step > 1 else "steps"


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
    >>> run = run_of(SourceFile(Path("logs/a2c-Ant-v3/0.monitor.csv"), None, b""), "Ant-v3")
    >>> run.agent, run.task
    ('a2c', 'Ant-v3')
    """
    folder, above = [*file.path.absolute().parent.parts[:0:-1], "run", "agent"][:2]
    task = file.names.get("task", env_id)
    like_task = before_task = None
    if env_id is not None:
        before_task = _before_environment(folder, env_id, any_version=True)
        like_task = re.fullmatch(re.escape(env_id.replace("/", "-")) + r"(?:_(\d+))?", folder)
        # A folder may be called by a later version than the log: Pendulum-v1 holds Pendulum-v0.
        like_task = like_task or before_task or _LIKE_AN_ENVIRONMENT.fullmatch(folder)
    if task is None:
        like_task = re.fullmatch(r"(.+?)_(\d+)", folder)
        task = like_task[1] if like_task else folder
    if number is None and like_task:
        number = like_task[like_task.re.groups]
    agent, note = file.names.get("agent", agent), None
    if agent is not None and env_id is not None and task != env_id:
        # A template parts `ppo-MiniGrid-Empty-v0` at its last hyphen; the log knows its whole name.
        parted = _before_environment(f"{agent}-{task}", env_id)
        agent, task = (parted[1], env_id) if parted else (agent, task)
    if agent is None and before_task:
        agent, note = before_task[1], FOLDER_NOTE
    if agent is None:
        agent, note = (above, ZOO_NOTE) if like_task else (folder, AGENT_NOTE)
    return Run(file, agent, task, file.names.get("run", number or "0"), env_id or task, note)


def _before_environment(
    text: str, env_id: str, *, any_version: bool = False
) -> re.Match[str] | None:
    """The name that stands before an environment's id, and the number after it."""
    like = re.escape(env_id.replace("/", "-"))
    if any_version:
        like = re.sub(r"(?<=v)\d+$", lambda _: r"\d+", like)
    return re.fullmatch(rf"(.+?)[-_]{like}(?:_(\d+))?", text)


def cleanrl_names(name: str) -> tuple[str, str, str] | None:
    """Return the environment, the agent and the seed of a run that is named as CleanRL does.

    >>> cleanrl_names("Pong-v5__ppo_atari__3__1650000000"), cleanrl_names("lucky-sun-7")
    (('Pong-v5', 'ppo_atari', '3'), None)
    """
    names = name.split("__")
    return (names[0], names[1], names[2]) if len(names) == 4 else None


def times_of(
    runs: Sequence[Run], counts: Sequence[int], times: NDArray[np.int64]
) -> dict[str, pl.Series]:
    """Put times under the names of their units, null where a run has the other.

    >>> from pathlib import Path
    >>> runs = [Run(SourceFile(Path("x"), None, b""), "a", "t", "0", name) for name in ("Pong-v5", "Go-v0")]
    >>> {name: column.to_list() for name, column in times_of(runs, [1, 1], np.array([4, 7])).items()}
    {'frames': [4, None], 'steps': [None, 7]}
    """
    units = [run.unit for run in runs]
    if len(set(units)) == 1:
        return {units[0]: pl.Series(times)}
    in_frames = pl.Series(np.repeat([unit == "frames" for unit in units], counts))
    column = pl.Series(times)
    return {"frames": column.set(~in_frames, None), "steps": column.set(in_frames, None)}


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
    own: Sequence[str] = ("score", "frames", "steps", "length", "checkpoint"),
) -> Reading:
    """Read runs that stand one after the other in a table, each with its number of episodes.

    `columns` has the score, the time in frames or steps, and the length, or those of them in `own`, and
    whatever else the log holds; trials are the rows of a run in order.

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
    ours = [name for name in own if name in columns.columns]
    taken = {*_COLUMNS, *extra} - set(ours)
    columns = columns.rename({name: f"{name}_logged" for name in columns.columns if name in taken})
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
