"""Which tasks matter: difficulty, discrimination, information and flags of every task in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from examiner.answers import Answer, Table, bound, error, name, number, words
from examiner.messages import InputError
from examiner.reporting.finding import Finding, TaskTable
from examiner.reporting.study import Study
from examiner.validation import Floats


class OverviewTasks(Table):
    """Every task with what is known of it; flagged tasks first, then the most informative."""

    task: tuple[str, ...] = name("Task")
    mean: Floats = number("Mean of the agents, or the share of them that solve it", unit="score")
    difficulty: Floats | None = number("Ability at which success is even", default=None)
    difficulty_low: Floats | None = bound("difficulty", "low", default=None)
    difficulty_high: Floats | None = bound("difficulty", "high", default=None)
    discrimination: Floats | None = number(
        "How fast success rises with ability; negative: weaker agents do better", default=None
    )
    discrimination_error: Floats | None = error("discrimination", default=None)
    bits: Floats | None = number(
        "Information of the task alone: about ability, or about which agent is playing",
        unit="bits",
        title="information",
        default=None,
    )
    flags: tuple[tuple[str, ...], ...] | None = words("What it is flagged for", default=None)
    reasons: tuple[tuple[str, ...], ...] | None = words("Why it is flagged", default=None)


@dataclass(frozen=True, eq=False, repr=False)
class TaskOverview(Answer):
    """What `fit`, `information` and `audit` say of every task."""

    kind = "tasks"

    tasks: OverviewTasks
    sentence: str
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """How many tasks are flagged, or why none was audited."""
        return self.sentence


def finding(study: Study) -> Finding:
    """List every task with its difficulty, discrimination, information and flags.

    >>> from examiner.results import Results
    >>> finding(Study.of(Results.from_numpy(np.triu(np.ones((6, 6)))))).lead
    'None of 6 tasks is flagged for review.'
    """
    if len(study.results.agents) < 2:
        raise InputError("Tasks are described by how agents differ on them: have two agents.")
    overview = overview_of(study)
    columns = ("task", "mean", "difficulty", "discrimination", "bits", "flags", "reasons")
    shown = tuple(column for column in columns if column in overview.tasks.columns)
    lead = study.not_shown if isinstance(study.audited, str) else ""
    blocks = (_meanings(overview.tasks), TaskTable(overview.tasks, shown))
    return Finding(lead=lead, blocks=blocks, answer=overview)


def overview_of(study: Study) -> TaskOverview:
    """Gather what the fit, the information and the audit of a study say of its tasks."""
    tasks = study.results.tasks
    place = {task: row for row, task in enumerate(tasks)}
    observed = np.isfinite(study.comparable)
    count = np.maximum(observed.sum(axis=0), 1)
    mean = np.where(observed, study.comparable, 0.0).sum(axis=0) / count
    columns: dict[str, Any] = {  # Any: as the column declares
        "mean": np.where(observed.any(axis=0), mean, np.nan)
    }

    def spread(names: tuple[str, ...], values: Floats) -> Floats:
        column = np.full(len(tasks), np.nan)
        column[[place[name] for name in names]] = values
        return column

    if study.has_fit:
        fitted = study.fitted.fit.tasks
        for column in ("difficulty", "difficulty_low", "difficulty_high"):
            columns[column] = spread(fitted.task, fitted.values(column))
        columns["discrimination"] = spread(fitted.task, fitted.discrimination)
        columns["discrimination_error"] = spread(fitted.task, fitted.discrimination_error)
    bits = np.zeros(len(tasks))
    try:
        information = study.informed.tables["tasks"]
        columns["bits"] = bits = spread(information.values("task"), information.values("bits"))
    except InputError:
        pass  # the section on information says why
    seriousness = np.full(len(tasks), np.inf)
    if isinstance(study.audited, str):
        sentence = study.audited
    else:
        sentence, flagged = study.audited.headline, study.audited.flagged
        flags: list[tuple[str, ...]] = [()] * len(tasks)
        reasons: list[tuple[str, ...]] = [()] * len(tasks)
        for rank, task in enumerate(flagged.task):
            flags[place[task]], reasons[place[task]] = flagged.flags[rank], flagged.reasons[rank]
            seriousness[place[task]] = rank
        if len(flagged):  # else two empty columns
            columns |= {"flags": flags, "reasons": reasons}
    table = OverviewTasks(task=tasks, **columns, score_unit=study.axis_title)
    order = np.lexsort((np.where(np.isnan(bits), np.inf, -bits), seriousness))
    return TaskOverview(table.take(order), sentence)


def _meanings(tasks: Table) -> str:
    parts = []
    if "difficulty" in tasks.columns:
        parts.append(
            "Difficulty and discrimination are those of `fit`: an agent whose ability equals the "
            "difficulty succeeds half of the time."
        )
    if "bits" in tasks.columns:
        parts.append("Information is that of the task alone (`information`).")
    if "flags" in tasks.columns:
        parts.append("Flags are those of `audit`; each kind is tested at 5 % over all tasks.")
    return " ".join(parts)
