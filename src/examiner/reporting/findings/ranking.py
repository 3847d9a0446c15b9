"""Who is better: agents with intervals, ranks and groups; and strips with one dot per task."""

from __future__ import annotations

import numpy as np

from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import Block, Figure, Finding, RankedTable, shown_table
from examiner.reporting.prose import enumerated, labels, named, three_digits
from examiner.reporting.ranked import better_on_most_tasks, compared_means, grouped_agents
from examiner.reporting.study import Study
from examiner.scores import AgentAggregates, Ranking, shared_ranks


def finding(study: Study) -> Finding:
    """Rank the agents as `scores` does, with intervals, ranges of ranks and groups of equal agents.

    >>> from examiner.results import Results
    >>> scores = np.array([[0.9, 1.0, 0.8, 0.9], [0.0, 0.1, 0.1, 0.2]])
    >>> finding(Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))).lead[:64]
    'dqn has the best mean, and is significantly better than random. '
    >>> alike = Results.from_numpy(np.random.default_rng(0).random((4, 9)))
    >>> finding(Study.of(alike)).lead[:67]
    'No agent is significantly better: means lie between 0.465 and 0.565'
    """
    if not study.resampled.agents:
        return Finding(lead="No agent has a comparable score, so there is nothing to rank.")
    try:
        ranking = study.ranking
    except InputError as problem:  # as of raw scores where lower is better: no intervals, no tests
        plain = AgentAggregates(study.aggregates.take(study.order))
        blocks: tuple[Block, ...] = (_unit(study), shown_table(plain.agents), str(problem))
        return Finding(lead=_leaders(study), blocks=blocks, answer=plain)
    blocks = (_unit(study), _table(study), study.resampled.what_varies, _caveat(study))
    return Finding(lead=who_leads(study), blocks=blocks, answer=ranking)


def who_leads(study: Study) -> str:
    """Say which agents are best and by which tests, or that none is significantly better."""
    agents, ranking, tests = study.results.agents, study.ranking, study.tests
    if len(agents) == 1:
        mean = three_digits(float(study.aggregates.mean[0]))
        return f"There is one agent, {named(agents[0])}, with a mean of {mean}: nothing to rank."
    if study.none_better:
        ends = np.nanmin(study.aggregates.mean), np.nanmax(study.aggregates.mean)
        low, high = (three_digits(float(end)) for end in ends)
        return (
            f"No agent is significantly better: means lie between {low} and {high}. "
            f"{study.none_better}"
        )
    sentences = [ranking.headline]
    if not isinstance(tests, str):
        if ahead := better_on_most_tasks(study, tests):
            do = "does" if len(ahead) == 1 else "do"
            sentences.append(f"{enumerated(ahead, 3)} {do} better on most tasks.")
        sentences += [tests.headline, tests.too_few_tasks]
    if ranking.ranks is not None:
        sentences.append(ranking.ranks.headline)
    return " ".join(filter(None, sentences))


def _unit(study: Study) -> str:
    by = "mean over their tasks" if study.total is None else study.total.meaning
    start = f"Scores are {study.unit}; agents are ranked by the {by}."
    if study.binary and study.comparable.shape[1] > 1:
        solved = " Every cell is 0 or 1: the mean is the share of tasks solved"
        shifted = ", rescaled to chance" if study.normaliser == "chance" else ""
        levels = "" if study.total is None or study.total.plain else ", through the levels named"
        return f"{start}{solved}{shifted}{levels}."
    return start


def _table(study: Study) -> RankedTable:
    table, tests = grouped_agents(study.ranking), study.tests
    fewer = _observed_on_fewer(study)
    columns = ("agent", "tasks", "mean", "mean_low", "mean_high", "rank", "rank_low", "rank_high")
    compared = None if isinstance(tests, str) or study.groups else compared_means(study, tests)
    return RankedTable(
        table,
        tuple(name for name in (*columns, "group") if name in table.columns),
        doubtful=frozenset(
            row for row, agent in enumerate(table.values("agent")) if agent in fewer
        ),
        compared=compared,
        test="" if isinstance(tests, str) else tests.test,
    )


def _observed_on_fewer(study: Study) -> list[str]:
    """The few agents observed on fewer tasks than the others; none where that is the rule."""
    tasks = study.aggregates.tasks
    fewer = [study.results.agents[row] for row in study.order if tasks[row] < tasks.max()]
    return fewer if 2 * len(fewer) <= len(tasks) else []


def _caveat(study: Study) -> str:
    """What a reader should know where agents were not observed on the same tasks."""
    tasks = study.aggregates.tasks
    few, most = f"{int(tasks.min()):,}", f"{int(tasks.max()):,}"
    if marked := _observed_on_fewer(study):
        return (
            f"Marked † and not comparable with the others, observed on fewer than {most} tasks: "
            f"{enumerated(marked)}. Their tasks may be the easier ones."
        )
    if few == most:
        return ""
    return (
        f"Agents were observed on different tasks, between {few} and {most} of them: a higher mean may "
        f"come from easier tasks."
    )


def render_ranking(ranking: Ranking, *, seed: int = 0) -> Finding:
    """Show the ranking of agents, which agent beats which, and what would make it more precise.

    >>> from examiner.results import Results
    >>> from examiner.scores import rank
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(2, 4, 5)))
    >>> render_ranking(rank(results, rng=0, reps=100)).data["agents"][0]["agent"]
    'agent 2'
    """
    used, tests = ranking.aggregates, ranking.tests
    columns = ["a", "b", "probability", "probability_low", "probability_high", "difference"]
    columns += [] if tests is None else ["p_adjusted"]
    halves = "" if ranking.ranks is None else ranking.ranks.halves
    return Finding(
        lead=f"{ranking.headline} {halves}".rstrip(),
        blocks=(
            shown_table(ranking.agents),
            None if ranking.groups is None else shown_table(ranking.groups),
            shown_table(ranking.pairs, columns),
            _many_pairs(ranking),
            "" if tests is None else f"{tests.headline} {tests.too_few_tasks}".rstrip(),
            ranking.decision.headline,
        ),
        about=(
            f"{used.level:.0%} intervals, unit: {used.unit}, {used.interval}, {used.reps:,} resamples, "
            f"seed {seed}"
        ),
        answer=ranking,
    )


def _many_pairs(ranking: Ranking) -> str:
    """Warn that each pair has an interval of its own: of many, some exclude one half by chance."""
    count = len(ranking.pairs)
    if count < 2:
        return ""
    by_chance = three_digits(count * (1 - ranking.aggregates.level))
    return (
        f"Intervals are of single pairs, not adjusted for {count:,} pairs: where agents are identical, "
        f"about {by_chance} exclude 0.5. Values of p are adjusted."
    )


def strips(study: Study) -> Finding:
    """Draw one row per agent with a dot per task, and say who leads by which aggregate.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[0.9, 1.0], [0.0, 0.1]], agents=["dqn", "random"])
    >>> strips(Study.of(results)).answer.headline
    'dqn has the highest mean: 0.95.'
    """
    if not np.isfinite(study.comparable).any():
        raise InputError("No agent has a comparable score, so there is nothing to draw.")
    answer = AgentAggregates(study.aggregates.take(study.order))
    blocks = (_strips(study), shown_table(answer.agents))
    return Finding(lead=study.none_better or _leaders(study), blocks=blocks, answer=answer)


def _leaders(study: Study) -> str:
    leaders: dict[tuple[str, ...], list[str]] = {}
    # Of zeros and ones a median is 0 or 1, and the middle half only repeats the mean.
    for what in ("mean",) if study.binary else ("mean", "median", "iqm"):
        rows = np.flatnonzero(shared_ranks(getattr(study.aggregates, what)) == 1)
        names = tuple(study.results.agents[row] for row in rows)
        leaders.setdefault(names, []).append("interquartile mean" if what == "iqm" else what)
    parts: list[str] = []
    for names, by in leaders.items():
        verb = "" if parts else " leads" if len(names) == 1 else " lead"
        who = f"{enumerated(names)}{verb}"
        if len(names) > 3:
            who = f"{len(names):,} agents tie for the lead"
        parts.append(f"{who} by {enumerated(by)}")
    return f"{'; '.join(parts)}."


def _strips(study: Study) -> Figure:
    """One row an agent, the best on top: dots are tasks, the bar is its middle half."""
    rows = study.order[:40]  # readable rows
    agents, tasks = [study.results.agents[row] for row in rows], study.results.tasks
    scores, mean, iqm = (
        part[rows] for part in (study.comparable, study.aggregates.mean, study.aggregates.iqm)
    )
    low, high = np.full((2, len(rows)), np.nan)
    if study.binary:
        iqm = low
    else:
        observed = np.isfinite(scores).any(axis=1)
        low[observed], high[observed] = np.nanpercentile(scores[observed], (25, 75), axis=1)
    axis = stretch_for(scores, study.centre or 0.0)
    places, along, at = list(range(len(rows))), np.arange(float(len(rows))), axis.positions
    traces: list[chart.Part] = []
    if np.isfinite(low).any():
        middle = chart.segments(at(low), at(high), "middle half", chart.BAR)
        traces.append(middle | {"opacity": 0.35, "line": {"width": 14, "color": chart.BAR}})
    dots = bool(np.isfinite(scores).sum() <= 4000)  # more hide each other
    if dots:
        agent, task = np.nonzero(np.isfinite(scores))
        values, names = scores[agent, task], labels(tasks, 60)
        # A fixed pattern instead of random jitter: the same results give the same picture.
        offset = ((task * 0.618034) % 1.0 - 0.5) * 0.5
        details = [[names[t], v] for t, v in zip(task, chart.compact(values), strict=True)]
        hover = "%{customdata[0]}: %{customdata[1]:.3~g}"
        points = chart.dots(
            at(values), along[agent] + offset, "one task", chart.DOTS, hover, size=5
        )
        traces.append(points | {"opacity": 0.75, "customdata": details})
    for name, values, symbol, colour, size in (
        ("mean", mean, "diamond", chart.MEAN, 11),
        ("interquartile mean", iqm, "line-ns", chart.MIDDLE, 18),
    ):
        if np.isfinite(values).any():
            hover = name + ": %{customdata:.3~g}"
            marks = chart.dots(at(values), places, name, colour, hover, size=size, symbol=symbol)
            traces.append(marks | {"customdata": chart.compact(values)})
    marked = []
    if study.centre is not None:
        marked = [chart.across(x=float(at(np.array([study.centre]))[0]))]
    x, y = axis.axis(study.axis_title, scores, room=0.09), chart.rows_axis(agents)
    legend = [
        "" if dots else "Single tasks are too many to draw as dots.",
        ""
        if axis.width is None
        else "The axis is stretched: far out, equal steps are equal ratios.",
    ]
    if len(study.results.agents) > len(agents):
        total = len(study.results.agents)
        legend.append(f"The first {len(agents)} of {total:,} agents are drawn.")
    if study.landmark is not None:
        legend.append(f"The dotted line is {study.landmark.value:g}, {study.landmark.meaning}.")
    return Figure(
        key="ranking-strips",
        data={
            "agents": tuple(agents),
            "tasks": tasks,
            "scores": scores,
            "lower_quartile": low,
            "upper_quartile": high,
            "mean": mean,
            "iqm": iqm,
            "axis": axis,
            "dots": dots,
        },
        drawing=chart.figure(traces, 100 + 21 * len(rows), x, y, shapes=marked),
        caption=_caption(study),
        description="One row an agent, one dot a task, with its mean and what else is in the legend.",
        legend=" ".join(filter(None, legend)),
        narrowest=440,
        rows="agents",
    )


def _caption(study: Study) -> str:
    first = int(study.order[0])
    scores = study.comparable[first]
    scores = scores[np.isfinite(scores)]
    name, tasks = named(study.results.agents[first]), counted(len(scores), "task")
    if study.binary:
        return f"{name} solves {int((scores == 1).sum()):,} of {tasks} it was seen on."
    low, high = (three_digits(float(end)) for end in np.percentile(scores, (25, 75)))
    spread = f"Half of the tasks of {name} lie between {low} and {high}"
    if study.landmark is None:
        return f"{spread}."
    reached = int((scores >= study.landmark.value).sum())
    level = f"{study.landmark.value:g} ({study.landmark.meaning})"
    return f"{spread}; it reaches {level} on {reached:,} of {tasks}."
