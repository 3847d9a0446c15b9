"""More runs or more tasks: where scores vary, and the error other designs would have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.scores import DecisionStudy, VarianceComponents
from examiner.scores import decision as decision_study
from examiner.telling.figures import chart
from examiner.telling.figures.chart import Floats
from examiner.telling.finding import Column, Figure, Finding, NothingToTellError, Table, noted
from examiner.telling.numbers import three_digits
from examiner.telling.study import Study
from examiner.wording import counted

FEW_AGENTS = 3
PARTS = {
    "agent": "agents differ on average",
    "task": "tasks differ in level for all agents",
    "interaction": "agents have their own easy and hard tasks",
    "run": "runs of one agent on one task differ",
}


def finding(study: Study) -> Finding:
    """Split the variance, and answer what would make comparisons surer.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> rng = np.random.default_rng(0)
    >>> study = Study.of(Results.from_numpy(rng.random((3, 8, 4))))
    >>> said(finding(study).lead)[:13]
    'Runs make up '
    """
    if study.relative and len(study.results.agents) <= FEW_AGENTS:
        few = counted(len(study.results.agents), "agent")
        raise NothingToTellError(
            f"Scores that compare {few} with each other hold no sizes to split the variance of: use a "
            f"scale (`--normalise human`), or add agents."
        )
    made = decision_study(study.scores, measure=study.measure)
    if np.isnan(made.components.interaction):
        raise NothingToTellError(made.answer)
    shown = (_figure(study, made), _table(made.components), *noted(made.components.notes))
    return Finding(lead=(made.answer,), blocks=shown)


class DecisionData(NamedTuple):
    """What is drawn: `error` has shape [tasks, runs]; `now` is the design used: tasks, runs, error."""

    tasks: NDArray[np.int64]
    runs: NDArray[np.int64]
    error: Floats
    now: tuple[float, float, float]
    reliability: Floats | None = None


def draw(data: DecisionData, title: str = "score") -> chart.Drawing:
    """Draw the standard error of a difference; the darker the line, the fewer the runs.

    >>> figure = draw(DecisionData(np.array([1, 2]), np.array([1]), np.array([[2.0], [1.4]]), (2, 1, 1.4)))
    >>> [trace["name"] for trace in figure["data"]]
    ['1 run', 'these results']
    """
    steps = np.linspace(1, len(chart.SEQUENTIAL) - 3, max(len(data.runs), 2)).round().astype(int)
    tasks, (now_tasks, now_runs, now_error) = data.tasks.tolist(), data.now
    traces = [
        chart.line(
            tasks,
            data.error[:, column],
            counted(runs, "run"),
            chart.SEQUENTIAL[steps[column]],
            f"%{{x}} tasks, {runs} runs: %{{y:.3~g}}",
        )
        for column, runs in enumerate(data.runs.tolist())
    ]
    hover = f"%{{x}} tasks, {now_runs:.3g} runs: %{{y:.3~g}}"
    now = [now_tasks], [now_error], "these results", chart.MEAN, hover
    traces.append(chart.dots(*now, size=11, symbol="diamond"))
    y = chart.axis(f"standard error of a difference ({title})", rangemode="tozero")
    return chart.figure(traces, 400, chart.axis("tasks"), y)


def _figure(study: Study, made: DecisionStudy) -> Figure:
    found = made.components
    runs = made.runs if not np.isnan(found.run) else np.array([1])
    now = found.tasks, found.runs, made.now
    error = made.difference[:, : len(runs)]
    data = DecisionData(made.tasks, runs, error, now, made.reliability)
    told = f"With {found.tasks:,} tasks and {found.runs:.3g} runs the error is"
    return Figure(
        key="decision",
        drawn=data,
        drawing=draw(data, study.measure),
        caption=(f"{told} {three_digits(made.now)}.",),
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
    rows = [
        {
            "source": "agent × task" if part == "interaction" else part,
            "what it means": meaning,
            "variance": float(getattr(found, part)),
            "share": float(shares.get(part, np.nan)),
        }
        for part, meaning in PARTS.items()
    ]
    return Table.of(rows, columns)
