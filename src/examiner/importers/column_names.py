"""Names by which columns of plain tables are recognised, in any capitalisation; the best known first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examiner.results import BESIDE_RESULTS, MEASURES


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
