"""Names by which columns of plain tables are recognised, in any capitalisation; the best known first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from examiner.results import BESIDE_RESULTS, MEASURES

AGENT_COLUMNS = (
    *("agent", "algorithm", "algo", "model", "model_name", "method", "exp_name", "system"),
    *("technique", "controller", "player", "subject_id", "alias", "agent_name", "agent_id"),
    *("model_id", "framework", "engine", "solver", "policy", "approach", "llm", "algorithm_name"),
    *("method_name",),
)
TASK_COLUMNS = (
    *("task", "game", "env", "environment", "env_id", "env_name", "task_id", "question_id"),
    *("instance_id", "doc_id", "problem", "benchmark", "dataset", "task_name", "problem_id"),
    *("game_name", "sample_id", "example_id", "item_id", "item", "query", "scenario"),
    *("environment_name", "test_id", "question"),
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
KNOWN_COLUMNS = frozenset(
    {*BESIDE_RESULTS, *MEASURES, *OTHER_MEASURES, *AGENT_COLUMNS, *TASK_COLUMNS}
)
"""Names that mean something in a header."""


def columns_like(names: Sequence[str], recognised: Sequence[str]) -> list[str]:
    """Return the columns that have one of the recognised names, in the order of those.

    The name or id in an object counts as the object: `model.name`.

    >>> columns_like(["Env", "Score", "Task"], TASK_COLUMNS), columns_like(["model.name"], AGENT_COLUMNS)
    (['Task', 'Env'], ['model.name'])
    """
    exact_first = sorted(names, key=lambda name: name not in recognised)
    plain = {name: re.sub(r"\.(name|id)$", "", name.strip().lower()) for name in exact_first}
    like = [name for alias in recognised for name in exact_first if plain[name] == alias]
    # Trackers write the parameters of runs so: `run.hparams.env_id`.
    ends = {
        name: plain[name].rpartition(".")[2] for name in exact_first if "hparams." in plain[name]
    }
    return like or [name for alias in recognised for name in ends if ends[name] == alias]


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
