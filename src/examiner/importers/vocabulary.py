"""Names by which columns of tables and well-known tasks are recognised; the best known first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examiner.results import BESIDE_RESULTS, MEASURES, atari_game


def _named(words: str, others: str) -> tuple[str, ...]:
    """Each word alone, before `name` and before `id`, and other names; the words in their order."""
    derived = (f"{word}{ending}" for word in words.split() for ending in ("", "_name", "_id"))
    return tuple(dict.fromkeys((*derived, *others.split())))


AGENT_COLUMNS = _named(
    "agent algorithm algo model method system technique controller player framework engine solver policy "
    "approach llm classifier optimizer learner submission team bot generator",
    "exp_name subject_id alias",
)
TASK_COLUMNS = _named(
    "task game env environment question instance doc problem benchmark dataset item query scenario puzzle "
    "challenge competition",
    "sample_id example_id test_id test_name map_name",
)
OTHER_MEASURES = (
    *("resolved", "rew", "eprewmean", "ep_rew_mean", "is_correct", "is_resolved", "passed"),
    *("solved", "acc", "pass@1", "pass_rate", "success_rate", "win_rate", "exact_match"),
    *("result", "auc", "f1"),
)
"""Measures of tables without one of the usual names, also after a slash: `rollout/ep_rew_mean`."""
METRIC_COLUMNS = ("metric", "metric_name", "metric.name", "measure")
"""Columns that say what the value of a row measures."""
TIME_COLUMNS = (
    *("frames", "frame", "env_frames", "total_frames", "num_frames", "global_step", "env_step"),
    *("env_steps", "total_env_steps", "num_env_steps", "environment_steps", "total_steps"),
    *("total_env_interacts", "env_interactions", "total_timesteps", "num_timesteps"),
    *("timesteps_total", "timesteps_so_far", "timesteps", "timestep", "total_num_steps"),
    *("training_steps", "training_step", "train_steps", "num_steps", "steps", "step", "_step"),
    *("step_count",),
)
"""Columns that are time where rows of runs can be ordered by them; the first of several."""
LENGTHS = (
    *("length", "episode_length", "ep_length", "ep_len", "episode_len", "episode_lengths"),
    "lengths",
)
"""Columns and lists that hold the lengths of episodes: rows beside them are episodes, no checkpoints."""
KEY_COLUMNS = ("run", "seed", "trial")
"""Columns of a wide table that are keys of its rows, and neither agents nor tasks."""
RANKS = frozenset({"rank", "ranking", "position", "#"})
INDEX_COLUMN = "Unnamed: 0"
"""What pandas calls the index of a table that was written with it, when it reads it back."""
KEY = "key"
"""The column with the names of records that are the values of a JSON object."""
RUN_NAME = re.compile(r"(?:run|seed|trial|rep)[-_ ]?\d+", re.IGNORECASE)
"""A name that an object gives to a run."""
KNOWN_COLUMNS = frozenset(
    {*BESIDE_RESULTS, *MEASURES, *OTHER_MEASURES, *AGENT_COLUMNS, *TASK_COLUMNS}
)
"""Names that mean something in a header."""


def columns_like(names: Sequence[str], recognised: Sequence[str]) -> list[str]:
    """Return the columns that have one of the recognised names, in the order of those.

    The name or id in an object counts as the object: `model.name`.

    >>> columns_like(["Env", "Score", "Task"], TASK_COLUMNS), columns_like(["model.name"], AGENT_COLUMNS)
    (['Task', 'Env'], ['model.name'])
    >>> columns_like(["taskId", "Model Name"], (*TASK_COLUMNS, *AGENT_COLUMNS))
    ['taskId', 'Model Name']
    """
    exact_first = sorted(names, key=lambda name: name not in recognised)
    plain = {name: _plain(name) for name in exact_first}
    like = [name for alias in recognised for name in exact_first if plain[name] == alias]
    # Trackers write the parameters of runs so: `run.hparams.env_id`.
    ends = {
        name: plain[name].rpartition(".")[2] for name in exact_first if "hparams." in plain[name]
    }
    return like or [name for alias in recognised for name in ends if ends[name] == alias]


def _plain(name: str) -> str:
    """A name in small letters, its words joined by underscores: of `taskId`, `Model Name`, `Score (%)`."""
    bare = re.sub(r"\s*(?:%|\(%\)|↑|\(↑\))$", "", name.strip())
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]+", "_", bare).lower()
    return re.sub(r"\.(name|id)$", "", words)


def measure_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that are measures by their names.

    >>> measure_columns(["agent", "Reward", "score"]), measure_columns(["rollout/ep_rew_mean"])
    (['score', 'Reward'], ['rollout/ep_rew_mean'])
    """
    usual = columns_like(names, MEASURES)
    if usual:
        return usual
    recognised = {*MEASURES, *OTHER_MEASURES}
    # Of several, nobody can say which one is meant.
    others = [name for name in names if re.split(r"[/.]", name.strip().lower())[-1] in recognised]
    return others if len(others) == 1 else []


def time_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that go by a known name of time, the best known first.

    Case, blanks and what stands before a slash do not count, but a name without it comes first.

    >>> time_columns(["score", "Global Step", "frames", "time/total_timesteps", "TotalEnvInteracts"])
    ['frames', 'Global Step', 'TotalEnvInteracts', 'time/total_timesteps']
    """

    def plain(name: str) -> str:
        return re.sub(r"[\s_-]+", "", name.lower())

    whole = {plain(name): name for name in reversed(names)}
    ends = {plain(name.rpartition("/")[2]): name for name in reversed(names) if "/" in name}
    known = [plain(name) for name in TIME_COLUMNS]
    return list(
        dict.fromkeys(
            columns[name] for columns in (whole, ends) for name in known if name in columns
        )
    )


# -------------------------------------------------------------------- tasks

_ENVIRONMENT = re.compile(r"\S+-v\d+")
_CONTROL_SUITE = re.compile(
    r"(?:dmc[_-])?(?:acrobot|(?:ball[_-]in[_-])?cup|cartpole|cheetah|dog|finger|fish|hopper|humanoid"
    r"|manipulator|pendulum|point[_-]mass|quadruped|reacher|swimmer\d*|walker)[_-][a-z0-9_-]+"
)
_PROCGEN_AND_MUJOCO = frozenset(
    [
        "bigfish",
        "bossfight",
        "caveflyer",
        "chaser",
        "climber",
        "coinrun",
        "dodgeball",
        "fruitbot",
        "heist",
        "jumper",
        "leaper",
        "maze",
        "miner",
        "ninja",
        "plunder",
        "starpilot",
        "ant",
        "halfcheetah",
        "hopper",
        "humanoid",
        "humanoidstandup",
        "inverteddoublependulum",
        "invertedpendulum",
        "reacher",
        "swimmer",
        "walker2d",
    ]
)


def is_known_task(name: str) -> bool:
    """Tell whether a name is that of a well-known task: an Atari game, an environment's id, a suite's.

    >>> [is_known_task(name) for name in ("Pong", "Hopper-v4", "walker_run", "bigfish", "DQN", "GPT-4")]
    [True, True, True, True, False, False]
    """
    plain = name.strip().lower()
    return (
        plain in _PROCGEN_AND_MUJOCO
        or _ENVIRONMENT.fullmatch(plain) is not None
        or _CONTROL_SUITE.fullmatch(plain) is not None
        or atari_game(name) is not None
    )


def mostly_tasks(names: Sequence[str]) -> bool:
    """Tell whether more than half of some names are those of well-known tasks.

    >>> mostly_tasks(["pong", "Hopper-v4", "dqn"]), mostly_tasks([])
    (True, False)
    """
    return 2 * sum(map(is_known_task, names)) > len(names)
