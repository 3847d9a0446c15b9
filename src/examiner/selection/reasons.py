"""Why each selected task is in the set: what it adds, and which other tasks it is similar to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, flag, name, number, text, words
from examiner.scores import correlate_pairs, value_unit
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import SelectionEvidence, correlations_of
from examiner.selection.greedy import TaskSet
from examiner.selection.prediction import Predictor
from examiner.validation import Floats


class SelectedTasks(Table):
    """One row per selected task, in the order of selection.

    A selection that was read from a file has the first two columns only.
    """

    task: tuple[str, ...] = name("Task")
    gain: Floats = number("What the task adds to those above it, in the method's own unit")
    weight: Floats | None = number(
        "Change of the predicted aggregate with one standard deviation of the task",
        unit="standard deviations",
        default=None,
    )
    correlation: Floats | None = number("Correlation with the aggregate", default=None)
    mean: Floats | None = number("Mean score of the agents", unit="score", default=None)
    cost: Floats | None = number("Cost of the task", default=None)
    group: tuple[str, ...] | None = text("Group of the task", default=None)
    required: NDArray[np.bool_] | None = flag("The task had to be selected", default=None)
    similar: tuple[tuple[str, ...], ...] | None = words(
        "Tasks not selected whose scores correlate most with it", default=None
    )


class RepresentedTasks(Table):
    """The tasks that were not selected and are most similar to each one that was."""

    task: tuple[str, ...] = name("Selected task")
    other: tuple[str, ...] = name("Task that was not selected")
    correlation: Floats = number("Correlation of their scores over agents")


class SelectionReasons(NamedTuple):
    """Why each task is in a selection."""

    tasks: SelectedTasks
    similar: RepresentedTasks


def reasons_of(
    whole: Benchmark, evidence: SelectionEvidence, chosen: TaskSet, predictor: Predictor
) -> SelectionReasons:
    """Return why each task was selected, from the evidence of all agents.

    >>> from examiner.results import Results
    >>> from examiner.selection import select
    >>> scores = np.random.default_rng(0).normal(size=(8, 6)) + np.arange(8)[:, None]
    >>> [len(task.similar) for task in select(Results.from_numpy(scores), 2, "regression").tasks]
    [3, 3]
    """
    values, target, columns = evidence.values, evidence.target, list(chosen.columns)
    assert target is not None
    correlations = correlations_of(values, columns)
    others = np.setdiff1d(np.arange(values.shape[1]), columns)
    # Tasks that were not selected, named for each one that was
    nearest = [others[np.argsort(-row[others], kind="stable")[:3]].tolist() for row in correlations]
    selected = values[:, columns]
    spread = max(float(target.std()), 1e-300)
    reasons: dict[str, Any] = {  # Any: as the column declares
        "task": chosen.tasks,
        "gain": chosen.gain,
        "weight": predictor.beta * selected.std(axis=0) / predictor.unit / spread,
        "correlation": correlate_pairs(selected, np.broadcast_to(target[:, None], selected.shape))[
            0
        ],
        "mean": selected.mean(axis=0),
        "cost": whole.terms.cost[columns] if whole.terms.priced else None,
        "group": None if evidence.groups is None else [evidence.groups[at] for at in columns],
        "required": np.isin(columns, whole.terms.must),
        "similar": [[evidence.tasks[other] for other in row] for row in nearest],
        "score_unit": value_unit(whole.recipe),
    }
    pairs = [(number, other) for number, row in enumerate(nearest) for other in row]
    similar = RepresentedTasks(
        task=tuple(chosen.tasks[number] for number, _ in pairs),
        other=tuple(evidence.tasks[other] for _, other in pairs),
        correlation=np.array([correlations[pair] for pair in pairs]),
    )
    return SelectionReasons(SelectedTasks(**reasons), similar)
