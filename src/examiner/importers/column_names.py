"""Names by which columns of plain tables are recognised, in any capitalisation; the best known first."""

from __future__ import annotations

from collections.abc import Sequence

from examiner.results import BESIDE_RESULTS, MEASURES

AGENT_COLUMNS = (
    *("agent", "algorithm", "algo", "model", "model_name", "method", "exp_name", "system"),
    *("technique", "controller", "player", "subject_id", "alias"),
)
TASK_COLUMNS = (
    *("task", "game", "env", "environment", "env_id", "env_name", "task_id", "question_id"),
    *("instance_id", "doc_id", "problem", "benchmark", "dataset"),
)
OTHER_MEASURES = ("resolved", "rew", "eprewmean", "ep_rew_mean")
"""Measures of tables without one of the usual names, also after a slash: `rollout/ep_rew_mean`."""
METRIC_COLUMNS = ("metric", "metric_name", "measure")
"""Columns that say what the value of a row measures."""
KEY = "key"
"""The column with the names of records that are the values of a JSON object."""
KNOWN_COLUMNS = frozenset(
    {*BESIDE_RESULTS, *MEASURES, *OTHER_MEASURES, *AGENT_COLUMNS, *TASK_COLUMNS}
)
"""Names that mean something in a header."""


def columns_like(names: Sequence[str], recognised: Sequence[str]) -> list[str]:
    """Return the columns that have one of the recognised names, in the order of those.

    >>> columns_like(["Env", "Score", "Task"], TASK_COLUMNS)
    ['Task', 'Env']
    """
    exact_first = sorted(names, key=lambda name: name not in recognised)
    return [name for known in recognised for name in exact_first if name.strip().lower() == known]


def measure_columns(names: Sequence[str]) -> list[str]:
    """Return the columns that are measures by their names.

    >>> measure_columns(["agent", "Reward", "score"]), measure_columns(["rollout/ep_rew_mean"])
    (['score', 'Reward'], ['rollout/ep_rew_mean'])
    """
    usual = columns_like(names, MEASURES)
    if usual:
        return usual
    ends = [name.rpartition("/")[2] for name in names]
    return [
        names[place]
        for name in OTHER_MEASURES
        for place, end in enumerate(ends)
        if end.strip().lower() == name
    ]
