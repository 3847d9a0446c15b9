"""A few selected tasks: why each is in the set, its cost, and how well they predict held-out agents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.messages import counted
from examiner.reporting.board import board_of
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, ShownTable, shown_table
from examiner.reporting.prose import enumerated, plain, three_digits
from examiner.reporting.study import Study
from examiner.selection import MethodJudgement, Selection

GAINS = {
    "share of the target's variance explained": "share of the variance of the aggregate that the task "
    "explains in addition to those above it",
    "error of the aggregate removed": "reduction of the error for held-out agents by adding the task to "
    "those above it",
    "bits": "information about which agent is playing that the task adds to those above it",
    "mean log information": "increase of the mean logarithm of the Fisher information about abilities",
    "slope at the abilities": "slope of success with ability, at the abilities of the agents",
    "tasks it stands for": "number of tasks that the task represents",
    "nearness to an even step": "closeness of the task's difficulty to its step on an even scale",
    "correlation with the other tasks": "correlation of the task with the mean of all others",
    "lot drawn": "order of the random draw",
}
"""What the gains of methods mean, by their unit."""
ALARMS = (
    "Shares are over pairs of held-out agents, each in both orders, as earlier and later. A drop is "
    "reported where the predicted one is at least half as large, so that as many are missed as are "
    "reported wrongly, except for ties. Newer agents, better than most of these, are more like the best "
    "third. Two versions of one agent share more of their errors than two agents do: both shares are lower "
    "for them."
)


def finding(study: Study) -> Finding:
    """Show how few tasks are enough, and which.

    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(10, 6)) + np.arange(10)[:, None]
    >>> section = finding(Study.of(Results.from_numpy(scores)))
    >>> [block.key for block in section.blocks if isinstance(block, Figure)]
    ['cost-quality']
    """
    material, selection, judgement, note = study.selected
    shown = render_selection(selection, sizes=judgement.sizes)
    lead = f"{shown.lead} They are {enumerated(selection.tasks.task, 8)}."
    if study.not_shown:
        lead = f"{study.not_shown} So there is nothing for a few tasks to predict: {shown.lead}"
    notes = [added for added in judgement.notes if added not in study.results.notes]
    board = board_of(material, judgement, len(selection))
    blocks = (board, judgement.headline, *shown.blocks, Notes([note, *notes] if note else notes))
    return replace(shown, lead=lead, blocks=blocks)


def render_selection(selection: Selection, *, sizes: tuple[int, ...] = ()) -> Finding:
    """Show which tasks are selected and why, and how well they predict held-out agents.

    Methods are compared at these sizes, by default at that of the selection.

    >>> from examiner.results import Results
    >>> from examiner.selection import select
    >>> len(render_selection(select(Results.from_numpy(np.eye(8, 6)), 2, "spread", rng=0)).data["tasks"])
    2
    """
    tasks, judgement, figures = selection.tasks, selection.judgement, selection.figures
    columns = ["task", "cost", "gain", "weight", "correlation", "similar"]
    columns = [name for name in columns if name in tasks.columns]
    caption = f"Selected tasks; gain: {GAINS.get(selection.unit, selection.unit)}"
    budget = "" if selection.budget is None else f" of a budget of {selection.budget:,.6g}"
    cost = f"Cost: {selection.cost:,.6g}{budget}; all tasks cost {selection.cost_of_all or 0:,.6g}"
    return Finding(
        blocks=(
            None if judgement is None else _figure(judgement, priced=tasks.cost is not None),
            *_record(selection),
            shown_table(tasks, columns, caption),
            "" if tasks.cost is None else cost,
            "" if judgement is None else judgement.limits,
            "" if selection.beyond is None else selection.beyond.sentence(),
            *(
                ()
                if judgement is None or figures is None
                else validation_tables(judgement, sizes or (int(figures.size),))
            ),
        ),
        about=(
            f"{len(selection)} of {counted(len(selection.predictor.all_tasks), 'task')} by "
            f"{selection.method}, {len(selection.predictor.agents)} agents, {selection.target}; seed "
            f"{selection.seed}, input {selection.fingerprint}"
        ),
        answer=selection,
    )


def _record(selection: Selection) -> tuple[str | ShownTable, ...]:
    """How a tiny version predicted held-out agents, and how often it reports a regression wrongly."""
    record = selection.record
    if record is None or selection.judgement is not None:  # which shows more
        return ()
    errors = (
        f"The 95 % interval of the mean absolute error is {three_digits(record.error_low)} to "
        f"{three_digits(record.error_high)}; random selections of the same size have "
        f"{three_digits(record.random_error)}. {record.coverage:.0%} of "
        f"{counted(record.agents, 'agent')} were inside their {selection.level:.0%} intervals."
    )
    return errors, shown_table(selection.tables["alarms"], caption="Regressions"), ALARMS


def render_judgement(judgement: MethodJudgement) -> Finding:
    """Show how every method does at every size, and how many tasks are enough.

    >>> from examiner.results import Results
    >>> from examiner.selection import Holdout, judge
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> judgement = judge(results, [2], ["spread"], rng=0, holdout=Holdout(draws=5))
    >>> [row["method"] for row in render_judgement(judgement).data["methods"]]
    ['spread', 'random', 'full']
    """
    shape = f"{len(judgement.agents)} agents on {len(judgement.tasks)} tasks, {judgement.target}"
    return Finding(
        blocks=(judgement.limits, *validation_tables(judgement)),
        about=f"{shape}, {judgement.folds}; seed {judgement.seed}, input {judgement.fingerprint}",
        answer=judgement,
    )


def render_task_trial(judgement: MethodJudgement) -> Finding:
    """Show what tasks picked by hand predict of every held-out agent, and the errors.

    >>> from examiner.results import Results
    >>> from examiner.selection import judge_tasks
    >>> scores = np.random.default_rng(0).normal(size=(9, 6)) + np.arange(9)[:, None]
    >>> judgement = judge_tasks(Results.from_numpy(scores), ["task 1"])
    >>> render_task_trial(judgement).data["methods"][0]["cost"]
    1.0
    """
    columns = ["rank", "agent", "predicted", "truth", "true_rank"]
    caption = f"Agents, each predicted while it was held out ({judgement.folds})"
    return Finding(
        blocks=(judgement.limits, shown_table(judgement.predictions(), columns, caption)),
        about=f"Tasks: {', '.join(judgement.sets[0][0])}",
        answer=judgement,
    )


def validation_tables(
    judgement: MethodJudgement, sizes: tuple[int, ...] = ()
) -> tuple[ShownTable, ...]:
    """Return how methods predict and order held-out agents, at all sizes or some."""
    methods, folds = judgement.methods, judgement.folds
    rows = methods.take([at for at, size in enumerate(methods.size) if not sizes or size in sizes])
    predicting = ("r2", "r2_low", "r2_high", "mae", "relative_error", "coverage")
    ordering = ("kendall", "top1", "top3", "bits", "minimum_detectable_difference")
    compared = ("r2_remainder", "r2_remainder_low", "r2_remainder_high", "optimistic_r2")
    captions = {
        f"Predicting held-out agents ({folds})": predicting,
        f"Ordering held-out agents ({folds})": ordering,
        "R² on the tasks not selected, and without holding out agents": compared,
    }
    return tuple(
        shown_table(rows, ("method", "size", *columns), caption)
        for caption, columns in captions.items()
    )


def _figure(judgement: MethodJudgement, *, priced: bool) -> Figure:
    """R² over the size or cost of the set: a line for each method, random sets as a band."""
    methods, sizes = (*judgement.names, "random"), judgement.sizes
    rows = [[judgement.row(name, size) for size in sizes] for name in methods]
    cost, r2, low, high = (
        np.array([[row[name] for row in line] for line in rows])
        for name in ("cost", "r2", "r2_low", "r2_high")
    )
    traces = [chart.band(cost[-1], low[-1], high[-1], "19 of 20 random sets", chart.BAR)]
    colours = iter(chart.QUALITATIVE * 3)
    for row, name in enumerate(methods):
        marked = {"best_of": (chart.MEAN, 4, "solid"), "random": (chart.BAR, 2, "dash")}.get(name)
        colour, width, dash = marked or (next(colours), 1.5, "solid")
        label, ends = plain(name), chart.compact(np.column_stack([low[row], high[row]]))
        hover = "%{customdata[0]} tasks: R² %{y:.3f} (%{customdata[1]} to %{customdata[2]})"
        hover = f"{label}, {hover}"
        line = chart.line(cost[row], r2[row], label, colour, hover, width=width, dash=dash)
        details = [[size, *end] for size, end in zip(sizes, ends, strict=True)]
        traces.append(line | {"mode": "lines+markers", "customdata": details})
    # Far below 0 a set is worse than predicting the mean, however much.
    lowest = max(-0.2, float(np.nanmin(r2)) - 0.05)
    x = chart.axis("cost of the set" if priced else "tasks in the set", rangemode="tozero")
    y = chart.axis("R² of held-out agents", range=[lowest, 1.02])
    best = judgement.row(judgement.names[0], sizes[-1])
    return Figure(
        key="cost-quality",
        data={
            "methods": methods,
            "sizes": sizes,
            "cost": cost,
            "r2": r2,
            "low": low,
            "high": high,
            "priced": priced,
        },
        drawing=chart.figure(traces, 350, x, y, top=90),
        caption=(
            f"With {best.size} tasks {best.method} reaches R² {three_digits(best.r2)}; selected and judged "
            f"on the same agents it would seem to reach {three_digits(best.optimistic_r2)}."
        ),
        description="Lines of R² over the size of the set, one for each method; random sets as a band.",
        legend=(
            f"Every point is about held-out agents, used neither for selecting nor for fitting "
            f"({judgement.folds}): tasks are selected again in each fold. `examiner select` computes the "
            f"same, and `examiner select --judge` compares other methods in the same way."
        ),
        narrowest=420,
    )
