"""Ranking: agents by mean, median and interquartile mean of their comparable scores."""

from __future__ import annotations

import numpy as np

from examiner.scores import shared_ranks
from examiner.telling.figures import strips
from examiner.telling.finding import (
    Block,
    Column,
    Figure,
    Finding,
    Name,
    Prose,
    Table,
    Text,
    enumerated,
)
from examiner.telling.numbers import three_digits
from examiner.telling.study import Study
from examiner.wording import counted

MOST_DRAWN = 40
MOST_NAMED = 3


def ranking(study: Study) -> Finding:
    """Rank the agents, and say what the ranks cannot tell.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> results = Results.from_numpy([[0.5, 1.0], [0.0, 0.5]], agents=["dqn", "random"])
    >>> said(ranking(Study.of(results)).lead)
    'dqn leads by mean, median and interquartile mean.'
    """
    blocks: list[Block] = [Text(_unit(study)), _table(study)]
    blocks.extend(Text(caveat) for caveat in _caveats(study))
    if np.isfinite(study.comparable).any():
        blocks.append(_figure(study))
    return Finding("ranking", "Ranking", _lead(study), tuple(blocks))


def _lead(study: Study) -> Prose:
    agents = study.results.agents
    if not np.isfinite(study.aggregates.mean).any():
        return ("No agent has a comparable score, so there is nothing to rank.",)
    if len(agents) == 1:
        mean = three_digits(float(study.aggregates.mean[0]))
        return (
            "There is one agent, ",
            Name(agents[0]),
            f", with a mean of {mean}: nothing to rank.",
        )
    leaders: dict[tuple[str, ...], list[str]] = {}
    # Of zeros and ones a median is 0 or 1, and the middle half only repeats the mean.
    for what in ("mean",) if study.binary else ("mean", "median", "iqm"):
        best = shared_ranks(getattr(study.aggregates, what)) == 1
        names = tuple(agent for agent, first in zip(agents, best, strict=True) if first)
        leaders.setdefault(names, []).append("interquartile mean" if what == "iqm" else what)
    parts: list[str | Name] = []
    for place, (names, by) in enumerate(leaders.items()):
        listed = by[0] if len(by) == 1 else f"{', '.join(by[:-1])} and {by[-1]}"
        parts.append("; " if place else "")
        if len(names) > MOST_NAMED:
            parts.append(f"{len(names):,} agents tie for the lead by {listed}")
            continue
        verb = (" lead" if len(names) > 1 else " leads") if place == 0 else ""
        parts.extend((*enumerated(names), f"{verb} by {listed}"))
    return (*parts, ".")


def _unit(study: Study) -> Prose:
    start = ("Numbers are ", *study.unit, "; agents are ranked by the mean over their tasks.")
    tasks = study.comparable.shape[1]
    if tasks == 1:
        return (*start, " With one task, mean, median and interquartile mean are the same number.")
    if study.binary:
        return (*start, " Every cell is 0 or 1: the mean is the share of tasks solved.")
    return (*start, " The interquartile mean leaves out the best and the worst quarter.")


def _table(study: Study) -> Table:
    totals = study.aggregates
    order = study.order
    columns = (
        Column("rank", "count", "by mean; ties share the better rank"),
        Column("agent", "name"),
        Column("mean", "number", "over the tasks observed"),
        Column("median", "number", "half of the tasks lie above"),
        Column("IQM", "number", "interquartile mean: of the middle half"),
        Column("tasks", "count", "with a comparable score"),
    )
    rows = tuple(
        (
            int(study.ranks[agent]) if np.isfinite(study.ranks[agent]) else None,
            Name(study.results.agents[agent]),
            float(totals.mean[agent]),
            float(totals.median[agent]),
            float(totals.iqm[agent]),
            int(totals.tasks[agent]),
        )
        for agent in order
    )
    fewer = _observed_on_fewer(study)
    marked = frozenset(place for place, agent in enumerate(order) if agent in fewer)
    return Table(columns, rows, doubtful=marked)


def _observed_on_fewer(study: Study) -> frozenset[int]:
    """The few agents observed on fewer tasks than the rest; none where that is the rule."""
    tasks = study.aggregates.tasks
    fewer = np.flatnonzero(tasks < tasks.max())
    return frozenset(fewer.tolist()) if 2 * len(fewer) <= len(tasks) else frozenset()


def _caveats(study: Study) -> tuple[Prose, ...]:
    caveats: list[Prose] = []
    tasks = study.aggregates.tasks
    few, most = f"{int(tasks.min()):,}", f"{int(tasks.max()):,}"
    marked = _observed_on_fewer(study)
    if marked:
        names = [study.results.agents[agent] for agent in study.order if agent in marked]
        start = (
            f"Marked † and not comparable with the others, observed on fewer than {most} tasks: "
        )
        caveats.append((start, *enumerated(names), ". Their tasks may be the easier ones."))
    elif few != most:
        start = f"Agents were observed on different tasks, between {few} and {most} of them: "
        caveats.append((start, "a higher mean may come from easier tasks."))
    runs = study.counts["runs"]
    if runs == 1:
        caveats.append(
            (
                "Each cell is a single run: these numbers cannot tell whether the same agents, trained "
                "again, would come in the same order.",
            )
        )
    else:
        caveats.append(
            (
                f"Cells average up to {runs:,} runs. The table does not tell which differences would "
                "survive another set of them: the intervals of a later section do.",
            )
        )
    return tuple(caveats)


def _figure(study: Study) -> Figure:
    agents = study.order[:MOST_DRAWN]
    names = [study.results.agents[agent] for agent in agents]
    landmark = study.landmark
    centre = landmark.value if landmark else None
    data = strips.data(
        names,
        study.results.tasks,
        study.comparable[agents],
        study.aggregates.mean[agents],
        study.aggregates.iqm[agents],
        centre,
    )
    title = study.measure if study.normaliser is None else f"{study.measure} ({study.normaliser})"
    return Figure(
        key="ranking-strips",
        data=data._asdict(),
        drawing=strips.draw(data, title, centre),
        caption=_caption(study),
        description="One row an agent, one dot a task, with mean and interquartile mean.",
        legend=_legend(study, data),
        narrowest=520,
    )


def _caption(study: Study) -> Prose:
    first = int(study.order[0])
    scores = study.comparable[first]
    scores = scores[np.isfinite(scores)]
    name = Name(study.results.agents[first])
    if study.binary:
        solved = f" solves {int((scores == 1).sum()):,} of {counted(len(scores), 'task')} it was seen on."
        return (name, solved)
    low, high = (three_digits(float(end)) for end in np.percentile(scores, (25, 75)))
    spread = ("Half of the tasks of ", name, f" lie between {low} and {high}")
    if study.landmark is None:
        return (*spread, ".")
    reached = int((scores >= study.landmark.value).sum())
    level = f"{study.landmark.value:g} ({study.landmark.meaning})"
    return (*spread, f"; it reaches {level} on {reached:,} of {counted(len(scores), 'task')}.")


def _legend(study: Study, data: strips.StripData) -> Prose:
    parts = [] if data.dots else ["Single tasks are too many to draw as dots."]
    if data.axis.width is not None:
        parts.append("The axis is stretched: far out, equal steps are equal ratios.")
    total = len(study.results.agents)
    if total > MOST_DRAWN:
        parts.append(f"The first {MOST_DRAWN} of {total:,} agents are drawn.")
    if study.landmark is not None:
        parts.append(f"The dotted line is {study.landmark.value:g}, {study.landmark.meaning}.")
    return (" ".join(parts),) if parts else ()
