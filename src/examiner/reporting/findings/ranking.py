"""Who is better: agents with intervals, ranks and groups; and strips with one dot per task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import Stretch, stretch_for
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    RankedTable,
    Sides,
    Text,
    shown_table,
)
from examiner.reporting.prose import Name, Prose, Sentence, enumerated, labels, said, three_digits
from examiner.reporting.ranked import compared_means, grouped_agents, leader_claim
from examiner.reporting.study import Study
from examiner.scores import AgentAggregates, shared_ranks

MOST_DRAWN = 40
MOST_NAMED = 3
MOST_DOTS = 4000


def finding(study: Study) -> Finding:
    """Rank the agents as `scores` does, with intervals, ranges of ranks and groups of equal agents.

    >>> from examiner.results import Results
    >>> scores = np.array([[0.9, 1.0, 0.8, 0.9], [0.0, 0.1, 0.1, 0.2]])
    >>> said(finding(Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))).lead)
    'dqn is significantly better than random.'
    >>> alike = Results.from_numpy(np.random.default_rng(0).random((4, 9)))
    >>> said(finding(Study.of(alike)).lead)[:67]
    'No agent is significantly better: means lie between 0.465 and 0.565'
    """
    if not study.resampled.agents:
        return Finding(lead="No agent has a comparable score, so there is nothing to rank.")
    try:
        ranking = study.ranking
    except InputError as problem:  # as of raw scores where lower is better: no intervals, no tests
        plain = AgentAggregates(study.aggregates.take(study.order))
        reason = Text((Sentence(str(problem)),))
        shown = (Text(_unit(study)), shown_table(plain.agents), reason)
        return Finding(lead=_leaders(study), blocks=shown, answer=plain)
    blocks: list[Piece] = [Text(_unit(study)), _table(study)]
    blocks.append(Text(study.resampled.what_varies))
    blocks.extend(Text(caveat) for caveat in _caveats(study))
    return Finding(lead=_lead(study), blocks=tuple(blocks), answer=ranking)


def _lead(study: Study) -> Prose:
    agents = study.results.agents
    if len(agents) == 1:
        mean = three_digits(float(study.aggregates.mean[0]))
        return (
            "There is one agent, ",
            Name(agents[0]),
            f", with a mean of {mean}: nothing to rank.",
        )
    if study.none_better:
        ends = np.nanmin(study.aggregates.mean), np.nanmax(study.aggregates.mean)
        low, high = (three_digits(float(end)) for end in ends)
        start = f"No agent is significantly better: means lie between {low} and {high}."
        return (f"{start} ", Sentence(study.none_better))
    if study.first_agent is not None:
        return leader_claim(study)
    return (Sentence(study.ranking.headline),)


def _unit(study: Study) -> Prose:
    by = "mean over their tasks" if study.total is None else study.total.meaning
    start = ("Scores are ", *study.unit, f"; agents are ranked by the {by}.")
    if study.binary and study.comparable.shape[1] > 1:
        solved = " Every cell is 0 or 1: the mean is the share of tasks solved"
        shifted = ", rescaled to chance" if study.normaliser == "chance" else ""
        levels = "" if study.total is None or study.total.plain else ", through the levels named"
        return (*start, f"{solved}{shifted}{levels}.")
    return start


def _table(study: Study) -> RankedTable:
    table, tests = grouped_agents(study.ranking), study.tests
    fewer = {study.results.agents[row] for row in _observed_on_fewer(study)}
    marked = [row for row, agent in enumerate(table.values("agent")) if agent in fewer]
    columns = ("agent", "tasks", "mean", "mean_low", "mean_high", "rank", "rank_low", "rank_high")
    compared = None if isinstance(tests, str) or study.groups else compared_means(study, tests)
    return RankedTable(
        table,
        tuple(name for name in (*columns, "group") if name in table.columns),
        doubtful=frozenset(marked),
        compared=compared,
        test="" if isinstance(tests, str) else tests.test,
    )


def _observed_on_fewer(study: Study) -> frozenset[int]:
    """The few agents observed on fewer tasks than the others; none where that is the rule."""
    tasks = study.aggregates.tasks
    fewer = np.flatnonzero(tasks < tasks.max())
    return frozenset(fewer.tolist()) if 2 * len(fewer) <= len(tasks) else frozenset()


def _caveats(study: Study) -> tuple[Prose, ...]:
    tasks = study.aggregates.tasks
    few, most = f"{int(tasks.min()):,}", f"{int(tasks.max()):,}"
    marked = _observed_on_fewer(study)
    if marked:
        names = [study.results.agents[agent] for agent in study.order if agent in marked]
        start = (
            f"Marked † and not comparable with the others, observed on fewer than {most} tasks: "
        )
        return ((start, *enumerated(names), ". Their tasks may be the easier ones."),)
    if few == most:
        return ()
    start = f"Agents were observed on different tasks, between {few} and {most} of them: "
    return (f"{start}a higher mean may come from easier tasks.",)


def strips(study: Study) -> Finding:
    """Draw one row per agent with a dot per task, and say who leads by which aggregate.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[0.9, 1.0], [0.0, 0.1]], agents=["dqn", "random"])
    >>> said(strips(Study.of(results)).lead)
    'dqn leads by mean, median and interquartile mean.'
    """
    if not np.isfinite(study.comparable).any():
        raise NothingToTellError("No agent has a comparable score, so there is nothing to draw.")
    answer = AgentAggregates(study.aggregates.take(study.order))
    lead = (Sentence(study.none_better),) if study.none_better else _leaders(study)
    return Finding(lead=lead, blocks=(_figure(study), shown_table(answer.agents)), answer=answer)


def _leaders(study: Study) -> Prose:
    agents = study.results.agents
    leaders: dict[tuple[str, ...], list[str]] = {}
    # Of zeros and ones a median is 0 or 1, and the middle half only repeats the mean.
    for what in ("mean",) if study.binary else ("mean", "median", "iqm"):
        best = shared_ranks(getattr(study.aggregates, what)) == 1
        names = tuple(agent for agent, first in zip(agents, best, strict=True) if first)
        leaders.setdefault(names, []).append("interquartile mean" if what == "iqm" else what)
    parts: list[str | Name] = []
    for index, (names, by) in enumerate(leaders.items()):
        words = f" by {said(enumerated(by))}"
        parts.append("; " if index else "")
        if len(names) > MOST_NAMED:
            parts.append(f"{len(names):,} agents tie for the lead{words}")
            continue
        verb = (" lead" if len(names) > 1 else " leads") if index == 0 else ""
        parts.extend((*enumerated(names), f"{verb}{words}"))
    return (*parts, ".")


class StripData(NamedTuple):
    """What the strips draw; `scores` has shape [agents, tasks], the summaries [agents]."""

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: Floats
    lower_quartile: Floats
    upper_quartile: Floats
    mean: Floats
    iqm: Floats
    axis: Stretch
    dots: bool  # whether single tasks are drawn: beyond a few thousand they hide each other


def data(
    agents: Sequence[str],
    tasks: Sequence[str],
    scores: Floats,
    mean: Floats,
    iqm: Floats,
    centre: float | None = None,
) -> StripData:
    """Prepare the strips of agents, first agent on top.

    >>> scores = np.array([[0.0, 1.0, 2.0, 3.0, 4.0]])
    >>> drawn = data(["a"], list("tuvwx"), scores, np.array([2.0]), np.array([2.0]))
    >>> drawn.lower_quartile, drawn.upper_quartile
    (array([1.]), array([3.]))
    """
    quartiles = np.full((2, len(agents)), np.nan)
    for row, values in enumerate(scores):
        seen = values[np.isfinite(values)]
        if len(seen):
            quartiles[:, row] = np.percentile(seen, (25, 75))
    low, high = quartiles
    axis = stretch_for(scores, 0.0 if centre is None else centre)
    few = bool(np.isfinite(scores).sum() <= MOST_DOTS)
    return StripData(tuple(agents), tuple(tasks), scores, low, high, mean, iqm, axis, few)


def draw(data: StripData, title: str = "score", centre: float | None = None) -> chart.Drawing:
    """Draw one row an agent: dots are tasks, the bar its middle half; a line marks the centre.

    >>> scores = np.array([[0.0, 1.0]])
    >>> figure = draw(data(["a"], ["t", "u"], scores, np.array([0.5]), np.array([0.5])))
    >>> [trace["name"] for trace in figure["data"]]
    ['middle half', 'one task', 'mean', 'interquartile mean']
    """
    at = data.axis.positions
    traces = []
    if np.isfinite(data.lower_quartile).any():
        ends = at(data.lower_quartile), at(data.upper_quartile)
        middle = chart.segments(*ends, "middle half", chart.BAR)
        traces = [middle | {"opacity": 0.35, "line": {"width": 14, "color": chart.BAR}}]
    if data.dots:
        agent, task = np.nonzero(np.isfinite(data.scores))
        scores = data.scores[agent, task]
        # A fixed pattern instead of random jitter: the same results give the same picture.
        offset = ((task * 0.618034) % 1.0 - 0.5) * 0.5
        names = labels(data.tasks, 60)
        told = [
            [names[column], value]
            for column, value in zip(task, chart.compact(scores), strict=True)
        ]
        hover = "%{customdata[0]}: %{customdata[1]:.3~g}"
        points = chart.dots(
            at(scores), agent + offset, "one task", chart.DOTS, hover, size=5, customdata=told
        )
        traces.append(points | {"opacity": 0.75})
    rows = list(range(len(data.agents)))
    for name, values, symbol, colour, size in (
        ("mean", data.mean, "diamond", chart.MEAN, 11),
        ("interquartile mean", data.iqm, "line-ns", chart.MIDDLE, 18),
    ):
        if not np.isfinite(values).any():
            continue
        hover = name + ": %{customdata:.3~g}"
        marks = chart.dots(at(values), rows, name, colour, hover, size=size, symbol=symbol)
        traces.append(marks | {"customdata": chart.compact(values)})
    marked = [] if centre is None else [chart.across(x=float(at(np.array([centre]))[0]))]
    x = data.axis.axis(title, data.scores, room=0.09)
    return chart.figure(
        traces, 100 + 21 * len(rows), x, chart.rows_axis(data.agents), shapes=marked
    )


def _figure(study: Study) -> Figure:
    agents = study.order[:MOST_DRAWN]
    drawn = data(
        [study.results.agents[agent] for agent in agents],
        study.results.tasks,
        study.comparable[agents],
        study.aggregates.mean[agents],
        study.aggregates.iqm[agents],
        study.centre,
    )
    if study.binary:
        none = np.full(len(agents), np.nan)
        drawn = drawn._replace(lower_quartile=none, upper_quartile=none, iqm=none)
    return Figure(
        key="ranking-strips",
        drawn=drawn,
        drawing=draw(drawn, study.axis_title, study.centre),
        caption=_caption(study),
        description="One row an agent, one dot a task, with its mean and what else is in the legend.",
        legend=_legend(study, drawn),
        narrowest=440,
        sides=Sides(rows="agents"),
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


def _legend(study: Study, drawn: StripData) -> Prose:
    parts = [] if drawn.dots else ["Single tasks are too many to draw as dots."]
    if drawn.axis.width is not None:
        parts.append("The axis is stretched: far out, equal steps are equal ratios.")
    total = len(study.results.agents)
    if total > MOST_DRAWN:
        parts.append(f"The first {MOST_DRAWN} of {total:,} agents are drawn.")
    if study.landmark is not None:
        parts.append(f"The dotted line is {study.landmark.value:g}, {study.landmark.meaning}.")
    return " ".join(parts)
