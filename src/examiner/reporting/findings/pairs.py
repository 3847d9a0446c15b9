"""Agents compared in pairs: which differ significantly, by how much, and on which tasks."""

from __future__ import annotations

import numpy as np

from examiner.answers import Row
from examiner.messages import InputError, counted
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import Stretch
from examiner.reporting.finding import Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import labels, three_digits
from examiner.reporting.ranked import compared_means
from examiner.reporting.study import Study
from examiner.scores import (
    MCNEMAR,
    T_OF_RUNS,
    T_OVER_GROUPS,
    T_OVER_TASKS,
    Comparison,
    Significance,
)

_ASSUMED = {
    MCNEMAR: (
        "McNemar's exact test compares the items that one of the two alone solved; it assumes that items "
        "are independent of each other."
    ),
    T_OVER_TASKS: (
        "The test and the interval are Student's t of the mean difference over tasks; they assume that "
        "tasks are independent of each other, and enough for their mean to be nearly normal."
    ),
    T_OVER_GROUPS: (
        "The test and the interval are Student's t of the mean difference over groups of tasks (CR2, with "
        "Bell and McCaffrey's degrees of freedom); they assume that groups are independent of each other."
    ),
    T_OF_RUNS: (
        "The test and the interval are Welch's t of the mean difference over runs, with these tasks held "
        "fixed; they assume that runs are independent of each other. `--unit tasks` gives those over "
        "other tasks."
    ),
}
_METHODS = {
    MCNEMAR: "by Newcombe's method for pairs",
    T_OVER_TASKS: "by Student's t over common tasks",
    T_OVER_GROUPS: "by Student's t over groups of common tasks",
    T_OF_RUNS: "by Welch's t over runs of the common tasks",
}


def finding(study: Study) -> Finding:
    """Test which agents differ in their mean, and say what differences these data could show at all.

    >>> from examiner.results import Results
    >>> scores = np.linspace(0.1, 0.9, 24).reshape(8, 3).T
    >>> finding(Study.of(Results.from_numpy(scores))).lead
    "3 of 3 pairs of agents differ significantly (Student's t-test over 8 tasks, at 5 % after Holm)."
    """
    tests = study.tests
    if isinstance(tests, str):
        raise InputError(tests)
    pairs = compared_means(study, tests)
    first = np.flatnonzero([agent == study.resampled.agents[0] for agent in pairs.a])
    columns = ["b", "difference", "difference_low", "difference_high", "difference_error"]
    columns += ["detectable", "p_adjusted", "tasks"]
    caption = (
        "The first agent by mean less each other, with the least difference these data could show."
    )
    blocks = (
        _method(tests),
        _critical_difference(tests, study.axis_title),
        shown_table(pairs.take(first), columns, caption),
        Notes(tests.notes),
    )
    return Finding(lead=study.none_better or tests.headline, blocks=blocks, answer=tests)


def _method(tests: Significance) -> str:
    runs = "other runs of the same agents on these tasks"
    sentences = [
        f"Means of agents are compared in pairs, by {tests.test}, with Holm's correction for all pairs.",
        f"The test speaks of {runs if tests.unit == 'runs' else 'other tasks like these'}.",
    ]
    pairs = tests.common[np.triu_indices(len(tests.agent_names), 1)]
    few, most = int(pairs.min()), int(pairs.max())
    if few < len(tests.tasks):
        many = f"{few:,}" if few == most else f"between {few:,} and {most:,}"
        sentences.append(
            f"Some results are missing: each pair is tested on the tasks that both have, {many} of "
            f"{len(tests.tasks):,}."
        )
    sentences.append(tests.too_few_tasks)
    if not np.isnan(tests.p_value):
        sentences.append(f"Friedman's test of ranks has p = {tests.p_value:.2g}.")
    return " ".join(filter(None, sentences))


def _critical_difference(tests: Significance, title: str) -> Figure:
    """The best half of the agents on the left and the others on the right, as Demšar (2006) draws them.

    A bar joins a group of agents among whom no pair differs, from its best to its worst.
    """
    order = np.argsort(-tests.mean, kind="stable")
    place = np.argsort(order, kind="stable")
    rows = order[:40]  # as many as fit below each other
    agents, mean, count = [tests.agent_names[row] for row in rows], tests.mean[rows], len(rows)
    ends = [[int(place[agent]) for agent in clique] for clique in tests.cliques]
    bars = tuple(
        (min(group), min(max(group), count - 1)) for group in ends if min(group) < count - 1
    )
    half, first = (count + 1) // 2, 1.0 + 0.4 * len(bars)
    low, high = float(mean.min()), float(mean.max())
    span = (high - low) or max(abs(high), 1.0)
    edges = high + 0.04 * span, low - 0.04 * span
    shapes, notes = [], []
    for agent, (name, at) in enumerate(zip(labels(agents, 28), mean.tolist(), strict=True)):
        left = agent < half
        level = -(first + (agent if left else count - 1 - agent))
        edge = edges[0] if left else edges[1]
        shapes += [_stroke(at, 0, at, level), _stroke(at, level, edge, level)]
        anchor = {"x": edge, "y": level, "xanchor": "right" if left else "left"}
        notes.append({"text": f"{name} ({three_digits(at)})", "showarrow": False} | anchor)
    for number, (best, worst) in enumerate(bars):
        left_end, right_end = float(mean[best]) + 0.01 * span, float(mean[worst]) - 0.01 * span
        height = -0.5 - 0.4 * number
        bar = _stroke(left_end, height, right_end, height)
        shapes.append(bar | {"line": {"width": 5, "color": chart.BAR}})
    marks = Stretch().ticks(low, high) or (low,)
    x = chart.axis(
        f"mean {title}",
        side="top",
        range=[high + 1.3 * span, low - 1.3 * span],  # room for the names on either side
        tickmode="array",
        tickvals=list(marks),
        ticktext=[f"{mark:g}" for mark in marks],
        showgrid=False,
    )
    y = chart.axis(range=[-first - half, 0], visible=False)
    hover = "%{text}: %{x:.3~g}"
    points = chart.dots(mean.tolist(), [0] * count, "", chart.DOTS, hover, size=8)
    points |= {"cliponaxis": False, "text": labels(agents, 28)}
    height = 80 + 21 * int(np.ceil(first + half))
    drawing = chart.figure([points], height, x, y, legend=False, shapes=shapes, annotations=notes)
    return Figure(
        key="critical-difference",
        data={
            "agents": tuple(agents),
            "mean": mean,
            "bars": bars,
            "p": tests.p,
            "posthoc": tests.posthoc,
        },
        drawing=drawing,
        caption="Means of agents; a bar joins agents among whom no pair differs significantly.",
        description="A line of means with a label for each agent and bars over groups.",
        legend=f"Left is better. By {tests.test}, at 5 % after Holm.",
        # the names on either side, eight letters of a mean, and a third of it all between them
        narrowest=max(680, 7 * 3 * (min(28, max(map(len, tests.agent_names))) + 8)),
    )


def _stroke(x0: float, y0: float, x1: float, y1: float) -> chart.Part:
    ends = {"x0": x0, "y0": y0, "x1": x1, "y1": y1}
    return {"type": "line", "line": {"width": 1, "color": chart.GREY}} | ends


def render_comparison(comparison: Comparison, *, seed: int = 0) -> Finding:
    """Show differences with their intervals, tests with what they assume, and every common task.

    >>> from examiner.results import Results
    >>> from examiner.scores import compare
    >>> results = Results.from_numpy([[1.0] * 8 + [0.0], [0.0] * 8 + [1.0]], agents=["new", "old"])
    >>> render_comparison(compare(results, "new", "old")).lead[:49]
    'new is significantly better than old (difference '
    """
    pairs, first, how = comparison.pairs, comparison.pairs[0], comparison.how
    assumed = [_ASSUMED[name] for name in dict.fromkeys(pairs.test)]
    if len(pairs) > 1:
        assumed.append("p is adjusted by Holm for all pairs.")
    columns = ["b", "difference", "difference_low", "difference_high", "probability"]
    power = "With one common task nothing can be said about what these data could have shown."
    if not np.isnan(first.detectable):
        fixed = f", with these tasks held fixed {three_digits(first.detectable_fixed)}"
        power = (
            f"The smallest true difference whose interval over tasks like these would exclude 0 four times "
            f"in five is {three_digits(first.detectable)}"
            f"{'' if np.isnan(first.detectable_fixed) else fixed}."
        )
    return Finding(
        blocks=(
            shown_table(pairs, [*columns, "p_adjusted", "tasks"]),
            " ".join(assumed),
            power,
            *(_tasks(comparison, pair) for pair in pairs),
        ),
        about=(
            f"{100 * comparison.level:g} % intervals, of differences {_METHODS[first.test]}, of `beats` by "
            f"{how.reps:,} resamples of {how.unit}, seed {seed}"
        ),
        answer=comparison,
    )


def _tasks(comparison: Comparison, gap: Row) -> ShownTable:
    """Every task, from where the first is furthest ahead; of zeros and ones, the tasks that differ."""
    table = comparison.tasks
    rows = [row for row, other in enumerate(table.b) if other == gap.b]
    columns = ["task", "mean_a", "mean_b", "difference", "probability"]
    caption = f"{gap.a} (a) and {gap.b} (b), task by task"
    if gap.test == MCNEMAR:
        both, only_a, only_b, neither = items = [
            int(gap[name]) for name in ("both", "only_a", "only_b", "neither")
        ]
        rows, columns = [row for row in rows if table.difference[row]], columns[:-1]
        caption = (
            f"Items that one of {gap.a} (a) and {gap.b} (b) alone solved: a {only_a:,}, b {only_b:,}; both "
            f"{both:,}, neither {neither:,}, of {counted(sum(items), 'item')}"
        )
    return shown_table(table.take(rows), columns, caption)
