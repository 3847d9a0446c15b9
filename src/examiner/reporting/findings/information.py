"""Information: how much each task reveals about which agent is playing, and which few reveal most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.answers import Column, Table
from examiner.information import InformationAnalysis
from examiner.irt import AbilityInformation
from examiner.messages import counted, listed
from examiner.reporting.figures import chart
from examiner.reporting.finding import Figure, Finding, Notes, shown_table
from examiner.reporting.prose import enumerated, named, three_digits
from examiner.reporting.study import Study
from examiner.results import Results
from examiner.scores import ratio, task_costs
from examiner.validation import Floats

SINGLE_TRIALS = (
    "Every cell is a single trial of 0 or 1, which says nothing about how an agent varies: bits about "
    "which agent is playing need several trials per cell. Shown are bits about ability, under the "
    "fitted model."
)


def finding(study: Study) -> Finding:
    """Show the bits of tasks and of the most informative set.

    >>> from examiner.results import Results
    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8)) + 9 * np.eye(3, 4)[:, :, None]
    >>> finding(Study.of(Results.from_numpy(draws))).lead[:36]
    '2 of 4 tasks give 100 % of the infor'
    """
    analysis = study.informed
    if isinstance(analysis, AbilityInformation):
        shown = render_ability_information(analysis, seed=study.seed, not_shown=study.not_shown)
        notes = [study.fitted.note]
    else:
        shown = render_information(analysis, not_shown=study.not_shown)
        sample = study.for_pairs[1]
        command = f"{sample} `examiner information` uses all results." if sample else ""
        notes = [command, *analysis.notes]
    return replace(shown, blocks=(*shown.blocks, Notes([note for note in notes if note])))


def render_ability_information(
    information: AbilityInformation, *, seed: int = 0, not_shown: str = ""
) -> Finding:
    """Show the bits of tasks about ability, with their cost where it is a column, and of the best set.

    >>> from examiner.irt import ItemParameters, ability_information, known
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 2.0], [0.0, 0.0]))
    >>> shown = render_ability_information(ability_information(fit, rng=0, size=1))
    >>> [block.caption for block in shown.blocks if not isinstance(block, str | Figure)]
    ['Tasks', 'Tasks that carry most information together']
    """
    tasks, none = information.tasks, "No task reveals significantly about ability."
    columns = ["task", "bits_per_cost", "cost", "bits", "bits_low", "bits_high"]
    columns = [name for name in columns if name in tasks.columns]
    return Finding(
        lead=f"{none} {not_shown}" if not_shown else "",
        blocks=(
            SINGLE_TRIALS,
            _bars(tasks, 1.0, named_first=True),
            shown_table(tasks, [*columns, "fisher_information"], "Tasks"),
            shown_table(information.chosen, caption="Tasks that carry most information together"),
        ),
        beside={"about": "ability"},
        about=f"{counted(information.agents, 'agent')}, under the fitted model; seed {seed}",
        answer=information,
    )


def with_costs(information: AbilityInformation, results: Results, cost: str) -> AbilityInformation:
    """Give each task the cost of an attempt and its bits per cost, tasks with most of these first.

    >>> from examiner.irt import ItemParameters, ability_information, known
    >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1, 0], "seconds": [1, 3]}
    >>> bits = ability_information(known(ItemParameters.of(["t"], [1.0], [0.0])), rng=0, size=1)
    >>> with_costs(bits, Results.from_dict(table), "seconds").tasks.cost
    array([2.])
    """
    price = dict(zip(results.tasks, task_costs(results, cost, per="attempt").tolist(), strict=True))
    costs = np.array([price.get(task, np.nan) for task in information.tasks.task])
    unit = f"bits per {cost}"
    per = Column("bits_per_cost", "number", "Bits for their cost", unit, title="bits/cost")
    tasks: Table = information.tasks
    tasks = tasks.with_column(Column("cost", "number", "Cost of an attempt", cost), costs)
    tasks = tasks.with_column(per, ratio(np.array(tasks.values("bits")), costs))
    ranked = tasks.sorted_by("bits_per_cost", descending=True)
    return replace(information, tasks=ranked)  # type: ignore[arg-type]  # it has two more columns


def render_information(analysis: InformationAnalysis, *, not_shown: str = "") -> Finding:
    """Show the bits of every task and of the chosen set, and of a better set where one was searched.

    `not_shown` says why agents may be identical, where a whole report concluded that: then tasks are
    named only where bits are far beyond chance, of agents that are good at different tasks.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(12.0).reshape(2, 2, 3))
    >>> from examiner.information import analyse
    >>> render_information(analyse(results, reps=2)).data["max_bits"]
    1.0
    """
    discriminates, improved = _discriminates(analysis, not_shown), analysis.improved
    claim = analysis.headline
    if not discriminates:
        assert analysis.test is not None
        claim = f"No task discriminates significantly between agents ({analysis.test.words})."
    first = ["task"] if analysis.cost is None else ["task", "bits_per_cost", "cost"]
    columns = ["bits", "corrected_bits", "bits_low", "bits_high", "chance_bits"]
    last = ["pairs_separated"] if analysis.cost is None else []  # a terminal has no room for both
    present = [name for name in columns if name in analysis.tasks.columns]
    of_set = [name for name in ["task", *columns] if name in analysis.chosen.columns]
    never = [" and ".join(pair) for pair in analysis.separation.never]
    separation = analysis.separation.headline
    better = ""
    if improved is not None:
        better = (
            f"By {improved.search}: {improved.bits:.4f} bits with {', '.join(improved.tasks.task)}"
        )
    return Finding(
        lead=f"{claim} {analysis.certainty} {'' if discriminates else not_shown}".rstrip(),
        blocks=(
            _curve(analysis),
            _bars(analysis.tasks, analysis.max_bits, named_first=discriminates),
            shown_table(analysis.tasks, [*first, *present, *last], "Tasks"),
            shown_table(analysis.chosen, of_set, "Greedy set"),
            f"{separation[:-1]}: {enumerated(never, 5)}." if never else separation,
            _ties(analysis),
            better,
        ),
        about=(
            f"{counted(len(analysis.channels.agents), 'agent')}, "
            f"{', '.join(analysis.channels.measures)}: at most {analysis.max_bits:.3f} bits; seed "
            f"{analysis.seed}"
        ),
        answer=analysis,
    )


def _discriminates(analysis: InformationAnalysis, not_shown: str) -> bool:
    """Whether tasks discriminate significantly between agents, by a permutation test of single tasks.

    Agents of equal ability may be good at different tasks: where they do not differ significantly over
    all tasks, the lower bound of some task's bits without noise must be beyond chance.
    """
    tasks = analysis.tasks
    if analysis.test is None:
        return True
    if not_shown and tasks.bits_low is not None:
        return any(row.significant and row.bits_low > row.chance_high for row in tasks)
    return analysis.test.significant


def _ties(analysis: InformationAnalysis) -> str:
    """Which tasks of the greedy set could be exchanged for others, the first few in full."""
    tied = [row for row in analysis.chosen if row.tied_with]
    if not tied:
        return ""
    names = "; ".join(f"{row.task} with {listed(row.tied_with, limit=3)}" for row in tied[:3])
    more = f"; {counted(len(tied) - 3, 'task')} more in --json" if len(tied) > 3 else ""
    return (
        f"Ties: {names}{more}. Of tied tasks the one with most bits alone was chosen, then the first by "
        f"name."
    )


def _column(table: Table, name: str) -> Floats:
    """Return a column, NaN in every row where the table does not have it."""
    return np.array(table.values(name) if name in table.columns else np.full(len(table), np.nan))


def _curve(analysis: InformationAnalysis) -> Figure:
    """The bits of the set with its interval as a band, chance dashed, and the maximum dotted."""
    chosen = analysis.chosen
    low, high, chance, chance_high = (
        _column(chosen, name) for name in ("bits_low", "bits_high", "chance_bits", "chance_high")
    )
    along = np.arange(float(len(chosen)))
    traces = []
    if np.isfinite(low).any():
        traces.append(chart.band(along, low, high, "interval", chart.MIDDLE))
    for name, values, colour, dash in (
        ("chosen tasks", chosen.bits, chart.MIDDLE, "solid"),
        ("by chance", chance, chart.MEAN, "dash"),
        ("95th percentile by chance", chance_high, chart.BAR, "dot"),
    ):
        if np.isfinite(values).any():
            line = chart.line(along, values, name, colour, f"{name}: %{{y:.3f}} bits", dash=dash)
            traces.append(line | ({"mode": "lines+markers"} if dash == "solid" else {}))
    x = chart.names_axis(chosen.task, 20, tickangle=-45, showgrid=True)
    y = chart.axis("bits", range=[0, 1.08 * analysis.max_bits])
    most = [chart.across(y=analysis.max_bits)]
    total = three_digits(float(chosen.bits[-1]))
    return Figure(
        key="information-curve",
        data={
            "tasks": chosen.task,
            "bits": chosen.bits,
            "low": low,
            "high": high,
            "chance": chance,
            "chance_high": chance_high,
            "max_bits": analysis.max_bits,
        },
        drawing=chart.figure(traces, 300, x, y, top=60, shapes=most),
        caption=f"Each task adds most to those before it; together they give {total} bits.",
        description="Rising line of bits over the chosen tasks, with chance below and the maximum above.",
        legend=(
            "The dotted line is log₂ of the number of agents. By chance: runs of each task are permuted "
            "among the agents, and tasks are chosen again. Bits are those of papers/004, eq. 3: nearly a "
            "mutual information."
        ),
        narrowest=420,
        columns="tasks",
    )


def _bars(tasks: Table, max_bits: float, *, named_first: bool) -> Figure:
    """One bar per task, the first on top, a line for its interval and a mark for chance."""
    every = len(tasks)
    tasks = tasks.take(np.flatnonzero(np.isfinite(tasks.values("bits")))[:30])
    bits, low, high, chance = (
        _column(tasks, name) for name in ("bits", "bits_low", "bits_high", "chance_bits")
    )
    names = tuple(tasks.values("task"))
    rows = list(range(len(names)))
    bars = {"type": "bar", "orientation": "h", "marker": {"color": chart.BAR}, "name": "bits"}
    hover = "%{y}: %{x:.3f} bits<extra></extra>"
    traces: list[chart.Part] = [
        bars | {"x": chart.compact(bits), "y": rows, "hovertemplate": hover}
    ]
    if np.isfinite(low).any():
        traces.append(chart.segments(low, high, "interval", chart.MIDDLE))
    if np.isfinite(chance).any():
        hover = "by chance: %{x:.3f} bits"
        marks = chart.dots(chance, rows, "by chance", chart.MEAN, hover, size=14, symbol="line-ns")
        traces.append(marks)
    x = chart.axis(f"bits, of {max_bits:.2f} at most", rangemode="tozero")
    caption = "Bits of single tasks, which are not significantly more than by chance."
    if named_first:
        best = three_digits(float(bits[0]))
        caption = f"{named(names[0])} gives most information alone, {best} bits."
    return Figure(
        key="information-bars",
        data={
            "tasks": names,
            "bits": bits,
            "low": low,
            "high": high,
            "chance": chance,
            "max_bits": max_bits,
        },
        drawing=chart.figure(traces, 90 + 16 * len(rows), x, chart.rows_axis(names), bargap=0.3),
        caption=caption,
        description="Bars of bits, one for each task, with their intervals.",
        legend=f"Shown are the first {len(names)} of {every:,} tasks."
        if every > len(names)
        else "",
        narrowest=360,
        rows="tasks",
    )
