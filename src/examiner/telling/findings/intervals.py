"""How sure one can be of the aggregates: each with its interval."""

from __future__ import annotations

import numpy as np

from examiner.scores import AGGREGATES, AggregateIntervals, suggested_aggregate
from examiner.scores import intervals as aggregate_intervals
from examiner.telling.figures import intervals as picture
from examiner.telling.finding import (
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Name,
    Prose,
    Table,
    Text,
)
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import Resampled, noted, resampled, untold, what_varies
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "intervals", "How sure the ranking is"
SHOWN = ("iqm", "mean", "median")


def intervals(study: Study) -> Finding:
    """Give each aggregate an interval, and say whether the leader's is clear of all others.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(intervals(study).lead)[:50]
    'dqn leads by interquartile mean: 0.85 (95 % interv'
    """
    shown = resampled(study)
    if not shown.agents:
        return untold(
            KEY, TITLE, "No agent has a comparable score, so there is nothing to be sure of."
        )
    names = _shown_aggregates(study)
    try:
        made = aggregate_intervals(
            shown.results,
            names,
            rng=np.random.default_rng(study.seed),
            reps=shown.reps,
            unit=shown.unit,
            measure=study.measure,
        )
    except InputError as problem:
        return untold(KEY, TITLE, f"No intervals: {problem}")
    blocks: list[Block] = [Text(what_varies(shown, study)), _figure(made, shown)]
    blocks += [_table(made, shown), *noted(made.notes)]
    return Finding(KEY, TITLE, _lead(made, shown), tuple(blocks))


def _lead(made: AggregateIntervals, shown: Resampled) -> Prose:
    order = np.argsort(-made.value[:, 0], kind="stable")
    best, others = int(order[0]), order[1:]
    value, low, high = (float(part[best, 0]) for part in (made.value, made.low, made.high))
    title = AGGREGATES[made.aggregates[0]].title
    start = f" leads by {title}: {three_digits(value)}"
    if len(order) == 1:
        start = f" has a {title} of {three_digits(value)}"
    if np.isnan(low):
        return (Name(made.agents[best]), f"{start}, and these data cannot say how surely.")
    interval = (
        f" (95 % interval {three_digits(low)} to {three_digits(high)}, over other {made.unit})"
    )
    if not len(others):
        return (Name(made.agents[best]), f"{start}{interval}.")
    if bool((made.high[others, 0] < low).all()):
        return (Name(made.agents[best]), f"{start}{interval}, clear of all other intervals.")
    # Agents share tasks: intervals may overlap where the paired comparison below is clear.
    return (Name(made.agents[best]), f"{start}{interval}.")


def _shown_aggregates(study: Study) -> tuple[str, ...]:
    if suggested_aggregate(study.scores, study.measure) == "mean":
        return ("mean",)  # the middle of zeros and ones is a zero or a one
    return (*SHOWN, "optimality_gap") if study.normaliser == "human" else SHOWN


def _figure(made: AggregateIntervals, shown: Resampled) -> Figure:
    rows = shown.places(made.agents)
    titles = [AGGREGATES[name].title for name in made.aggregates]
    data = picture.data(shown.agents, titles, made.value[rows], made.low[rows], made.high[rows])
    return Figure(
        key="intervals",
        data=data._asdict() | {"unit": made.unit, "interval": made.interval, "reps": made.reps},
        drawing=picture.draw(data),
        caption=(f"Aggregates with 95 % intervals over other {made.unit}.",),
        description="One row an agent, one panel an aggregate: a point with its interval.",
        narrowest=240 + 150 * len(titles),
    )


def _table(made: AggregateIntervals, shown: Resampled) -> Table:
    columns = [Column("agent", "name")]
    for name in made.aggregates:
        title = "IQM" if name == "iqm" else AGGREGATES[name].title
        columns += [
            Column(title, "number", AGGREGATES[name].title),
            Column(f"{title}: low", "number", f"lower end, unit: {made.unit}"),
            Column(f"{title}: high", "number", f"upper end, unit: {made.unit}"),
        ]
    rows: list[tuple[Cell, ...]] = []
    for place in shown.places(made.agents):
        cells: list[Cell] = [Name(made.agents[place])]
        for column in range(len(made.aggregates)):
            cells += [float(part[place, column]) for part in (made.value, made.low, made.high)]
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))
