"""More runs or more tasks: where scores vary, and the error other designs would have."""

from __future__ import annotations

import numpy as np

from examiner.scores import DecisionStudy, VarianceComponents
from examiner.scores import decision as decision_study
from examiner.telling.figures import decision as picture
from examiner.telling.finding import Column, Figure, Finding, Name, Table
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import InputError, counted

KEY, TITLE = "decision", "More runs or more tasks?"
FEW_AGENTS = 3
PARTS = {
    "agent": "agents differ on average",
    "task": "tasks differ in level for all agents",
    "interaction": "agents have their own easy and hard tasks",
    "run": "runs of one agent on one task differ",
}


def decision(study: Study) -> Finding:
    """Split the variance, and answer what would make comparisons surer.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> rng = np.random.default_rng(0)
    >>> study = Study.of(Results.from_numpy(rng.random((3, 8, 4))))
    >>> said(decision(study).lead)[:13]
    'Runs make up '
    """
    if study.relative and len(study.results.agents) <= FEW_AGENTS:
        few = counted(len(study.results.agents), "agent")
        return untold(
            KEY,
            TITLE,
            f"Scores that compare {few} with each other hold no sizes to split the variance of: use a "
            f"scale (`--normalise human`), or add agents.",
        )
    try:
        made = decision_study(study.scores, measure=study.measure)
    except InputError as problem:
        return untold(KEY, TITLE, f"No decision study: {problem}")
    if np.isnan(made.components.interaction):
        return untold(KEY, TITLE, made.answer)
    notes = noted(made.components.notes)
    shown = (_figure(study, made), _table(made.components))
    return Finding(KEY, TITLE, (made.answer,), (*shown, *notes))


def _figure(study: Study, made: DecisionStudy) -> Figure:
    found = made.components
    runs = made.runs if not np.isnan(found.run) else np.array([1])
    data = picture.data(
        made.tasks, runs, made.difference[:, : len(runs)], (found.tasks, found.runs, made.now)
    )
    now = three_digits(made.now)
    return Figure(
        key="decision",
        data=data._asdict() | {"reliability": made.reliability},
        drawing=picture.draw(data, study.measure),
        caption=(f"With {found.tasks:,} tasks and {found.runs:.3g} runs the error is {now}.",),
        description="Falling lines of the expected error over tasks, one for each number of runs.",
        legend=("Tasks are taken as drawn from many like them.",),
        narrowest=360,
    )


def _table(found: VarianceComponents) -> Table:
    columns = (
        Column("source", "name"),
        Column("what it means", "text"),
        Column("variance", "number"),
        Column("share", "number", "of the variance of single runs' scores"),
    )
    shares = found.shares()
    rows = tuple(
        (
            Name("agent × task" if part == "interaction" else part),
            meaning,
            float(getattr(found, part)),
            float(shares.get(part, np.nan)),
        )
        for part, meaning in PARTS.items()
    )
    return Table(columns, rows)
