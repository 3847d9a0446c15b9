"""Information: how much each task reveals about which agent is playing, and which few reveal most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from examiner.answers import Table as AnswerTable
from examiner.information import InformationAnalysis
from examiner.irt import AbilityInformation
from examiner.messages import counted, listed
from examiner.reporting import ability_bits
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Piece, Sides, Text, noted, shown_table
from examiner.reporting.prose import Name, Prose, Sentence, enumerated, three_digits
from examiner.reporting.study import Study

MOST_BARS = 30
MOST_PAIRS = 5
MOST_TIES = 3


def finding(study: Study) -> Finding:
    """Show the bits of tasks and of the most informative set.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8)) + 9 * np.eye(3, 4)[:, :, None]
    >>> said(finding(Study.of(Results.from_numpy(draws))).lead)[:36]
    '2 of 4 tasks give 100 % of the infor'
    """
    analysis = study.informed
    if isinstance(analysis, AbilityInformation):
        return _about_ability(study, analysis)
    note = study.for_pairs[1]
    note = f"{note} `examiner information` uses all results." if note else ""
    shown = render_information(analysis, not_shown=study.not_shown)
    blocks = (
        _curve(analysis),
        _bars(analysis, named=_discriminates(analysis, study.not_shown)),
        Text(_pairs(analysis)),
        *shown.folded_tables,
        *noted((note, *analysis.notes) if note else analysis.notes),
    )
    return replace(shown, blocks=blocks)


def _about_ability(study: Study, found: AbilityInformation) -> Finding:
    """Return what single trials of 0 and 1 can show: bits about ability."""
    shown = ability_bits.render_ability_information(
        found, seed=study.seed, not_shown=study.not_shown
    )
    order = np.argsort(-found.bits, kind="stable")[:MOST_BARS]
    names = tuple(found.tasks[task] for task in order)
    ends = (found.bits_low[order], found.bits_high[order])
    data = InformationBarsData(names, found.bits[order], *ends, np.full(len(order), np.nan), 1.0)
    bars = Figure(
        key="information-bars",
        drawn=data,
        drawing=draw_bars(data),
        caption=(
            Name(names[0]),
            f" gives most information alone, {three_digits(float(found.bits[order[0]]))} bits.",
        ),
        description="Bars of bits about ability, one for each task, with their intervals.",
        legend=f"Shown are the first {len(order)} of {counted(len(found.tasks), 'task')}.",
        narrowest=360,
        sides=Sides(rows="tasks"),
    )
    why, *tables = shown.blocks
    notes = noted([study.fitted.note] if study.fitted.note else [])
    return replace(shown, blocks=(why, bars, *tables, *notes))


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
    first = ["task"] if analysis.cost is None else ["task", "bits_per_cost", "cost"]
    columns = ["bits", "corrected_bits", "bits_low", "bits_high", "chance_bits"]
    last = ["pairs_separated"] if analysis.cost is None else []  # a terminal has no room for both
    present = [name for name in columns if name in analysis.tasks.columns]
    of_set = [name for name in ["task", *columns] if name in analysis.chosen.columns]
    blocks: list[Piece] = [
        shown_table(analysis.tasks, [*first, *present, *last], "Tasks"),
        shown_table(analysis.chosen, of_set, "Greedy set"),
        Text(analysis.separation.headline),
    ]
    blocks += [Text(_ties(analysis))] if any(analysis.chosen.tied_with or ()) else []
    improved = analysis.improved
    if improved is not None:
        start = f"By {improved.search}: {improved.bits:.4f} bits with "
        blocks.append(Text((start, Sentence(", ".join(improved.tasks.task)))))
    measures = ", ".join(analysis.channels.measures)
    about = (
        f"{counted(len(analysis.channels.agents), 'agent')}, {measures}: at most "
        f"{analysis.max_bits:.3f} bits; seed {analysis.seed}"
    )
    return Finding(
        lead=_lead(analysis, not_shown),
        blocks=tuple(blocks),
        about=about,
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


def _lead(analysis: InformationAnalysis, not_shown: str) -> Prose:
    if _discriminates(analysis, not_shown):
        return (Sentence(analysis.headline), " ", analysis.certainty)
    assert analysis.test is not None
    none = f"No task discriminates significantly between agents ({analysis.test.words})."
    return (none, " ", analysis.certainty, *((" ", Sentence(not_shown)) if not_shown else ()))


def _ties(analysis: InformationAnalysis) -> Prose:
    """Return which tasks of the greedy set could be exchanged for others, the first few in full."""
    tied = [row for row in analysis.chosen if row.tied_with]
    named = "; ".join(
        f"{row.task} with {listed(row.tied_with, limit=MOST_TIES)}" for row in tied[:MOST_TIES]
    )
    more = f"; {counted(len(tied) - MOST_TIES, 'task')} more in --json" if tied[MOST_TIES:] else ""
    rule = "the one with most bits alone was chosen, then the first by name"
    return ("Ties: ", Sentence(named), f"{more}. Of tied tasks {rule}.")


def _pairs(analysis: InformationAnalysis) -> Prose:
    never = [" and ".join(pair) for pair in analysis.separation.never]
    headline = analysis.separation.headline
    return (headline[:-1], ": ", *enumerated(never, MOST_PAIRS), ".") if never else headline


class InformationCurveData(NamedTuple):
    """The data of the curve; arrays of shape [size], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: Floats
    low: Floats
    high: Floats
    chance: Floats
    chance_high: Floats
    max_bits: float


def draw_curve(data: InformationCurveData) -> chart.Drawing:
    """Draw the curve, its interval as a band, chance as a dashed line, and the maximum as a dotted one.

    >>> none = np.full(2, np.nan)
    >>> drawn = draw_curve(InformationCurveData(("t", "u"), np.ones(2), none, none, none, none, 2.0))
    >>> [trace["name"] for trace in drawn["data"]]
    ['chosen tasks']
    """
    along = np.arange(float(len(data.tasks)))
    traces = []
    if np.isfinite(data.low).any():
        traces.append(chart.band(along, data.low, data.high, "interval", chart.MIDDLE))
    for name, values, colour, dash in (
        ("chosen tasks", data.bits, chart.MIDDLE, "solid"),
        ("by chance", data.chance, chart.MEAN, "dash"),
        ("95th percentile by chance", data.chance_high, chart.BAR, "dot"),
    ):
        if np.isfinite(values).any():
            drawn = chart.line(along, values, name, colour, f"{name}: %{{y:.3f}} bits", dash=dash)
            marked = {"mode": "lines+markers"} if dash == "solid" else {}
            traces.append(drawn | marked)
    x = chart.names_axis(data.tasks, 20, tickangle=-45, showgrid=True)
    y = chart.axis("bits", range=[0, 1.08 * data.max_bits])
    return chart.figure(traces, 300, x, y, top=60, shapes=[chart.across(y=data.max_bits)])


def _curve(analysis: InformationAnalysis) -> Figure:
    chosen = analysis.chosen
    data = InformationCurveData(
        tasks=chosen.task,
        bits=chosen.bits,
        low=_column(chosen, "bits_low"),
        high=_column(chosen, "bits_high"),
        chance=_column(chosen, "chance_bits"),
        chance_high=_column(chosen, "chance_high"),
        max_bits=analysis.max_bits,
    )
    total = three_digits(float(chosen.bits[-1]))
    return Figure(
        key="information-curve",
        drawn=data,
        drawing=draw_curve(data),
        caption=f"Each task adds most to those before it; together they give {total} bits.",
        description="Rising line of bits over the chosen tasks, with chance below and the maximum above.",
        legend=(
            "The dotted line is log₂ of the number of agents. By chance: runs of each task are permuted "
            "among the agents, and tasks are chosen again. Bits are those of papers/004, eq. 3: nearly a "
            "mutual information."
        ),
        narrowest=420,
        sides=Sides(columns="tasks"),
    )


def _column(table: AnswerTable, name: str) -> Floats:
    """Return a column, NaN in every row where the table does not have it."""
    return np.array(table.values(name) if name in table.columns else np.full(len(table), np.nan))


class InformationBarsData(NamedTuple):
    """The data of the bars; arrays of shape [tasks], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: Floats
    low: Floats
    high: Floats
    chance: Floats
    max_bits: float


def draw_bars(data: InformationBarsData) -> chart.Drawing:
    """Draw one bar per task, first on top, a line for its interval and a mark for chance.

    >>> none = np.array([np.nan])
    >>> bars = InformationBarsData(("t",), np.array([1.5]), none, none, np.array([0.1]), 2.0)
    >>> [trace["name"] for trace in draw_bars(bars)["data"]]
    ['bits', 'by chance']
    """
    rows = list(range(len(data.tasks)))
    bars = {"type": "bar", "orientation": "h", "marker": {"color": chart.BAR}, "name": "bits"}
    hover = "%{y}: %{x:.3f} bits<extra></extra>"
    traces: list[dict[str, Any]] = [
        bars | {"x": chart.compact(data.bits), "y": rows, "hovertemplate": hover}
    ]
    if np.isfinite(data.low).any():
        traces.append(chart.segments(data.low, data.high, "interval", chart.MIDDLE))
    if np.isfinite(data.chance).any():
        hover = "by chance: %{x:.3f} bits"
        traces.append(
            chart.dots(data.chance, rows, "by chance", chart.MEAN, hover, size=14, symbol="line-ns")
        )
    x = chart.axis(f"bits, of {data.max_bits:.2f} at most", rangemode="tozero")
    return chart.figure(traces, 90 + 16 * len(rows), x, chart.rows_axis(data.tasks), bargap=0.3)


def _bars(analysis: InformationAnalysis, *, named: bool) -> Figure:
    finite = np.flatnonzero(np.isfinite(analysis.tasks.bits))[:MOST_BARS]
    tasks = analysis.tasks.take(finite)
    data = InformationBarsData(
        tasks=tasks.task,
        bits=tasks.bits,
        low=_column(tasks, "bits_low"),
        high=_column(tasks, "bits_high"),
        chance=_column(tasks, "chance_bits"),
        max_bits=analysis.max_bits,
    )
    best = f" gives most information alone, {three_digits(float(tasks.bits[0]))} bits."
    total = len(analysis.tasks)
    return Figure(
        key="information-bars",
        drawn=data,
        drawing=draw_bars(data),
        caption=(Name(tasks.task[0]), best)
        if named
        else "Bits of single tasks, which are not significantly more than by chance.",
        description="Bars of bits, one per task.",
        legend=f"Shown are the first {MOST_BARS} of {total:,} tasks." if total > MOST_BARS else "",
        narrowest=360,
        sides=Sides(rows="tasks"),
    )
