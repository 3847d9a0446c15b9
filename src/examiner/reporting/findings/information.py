"""Information: how many bits tasks tell about which agent is playing, and which few tell most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from examiner.information import (
    InformationAnalysis,
    InformativeSet,
    TaskInformation,
    analyse,
    single_successes,
)
from examiner.information.permutation import FEWEST_TABLES, MOST_TABLES
from examiner.information.sets import LEAST_GAIN
from examiner.irt import ability_information
from examiner.messages import counted, listed
from examiner.reporting import ability_bits
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.finding import Figure, Finding, Sides, Text, noted
from examiner.reporting.per_cost import TaskPrices, cost_columns, priced
from examiner.reporting.prose import Name, Parts, Prose, enumerated, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Record, Table, column_of, records
from examiner.results.names import name_order

SIZE = 10
SHARE_TOLD = 0.9
"""Of what the best tasks tell together: how few of them tell so much is counted."""
MOST_BARS = 30
MOST_PAIRS = 5
CHANCE_WORK = 1.5e8
MOST_TIES = 3


def finding(study: Study) -> Finding:
    """Tell the bits of tasks and of the few that tell most.

    >>> from examiner.results import Results
    >>> from examiner.reporting.prose import said
    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8)) + 9 * np.eye(3, 4)[:, :, None]
    >>> said(finding(Study.of(Results.from_numpy(draws))).lead)[:28]
    '2 of 4 tasks carry 1.58 of t'
    """
    if single_successes(study.results, study.measure) and study.has_fit:
        return _about_ability(study)
    small, note = study.for_pairs
    note = f"{note} `examiner information` uses all results." if note else ""
    rng = np.random.default_rng(study.seed)
    reps = int(np.clip(CHANCE_WORK // _work(small), FEWEST_TABLES, MOST_TABLES))
    found = analyse(small.results, [study.measure], rng=rng, reps=reps)
    told = tell(found, seed=study.seed, not_shown=study.not_shown)
    blocks = (
        _curve(found),
        _bars(found, named=_beyond_chance(found, study.not_shown)),
        Text(_pairs(found)),
        *told.folded_tables,
        *noted((note, *found.notes) if note else found.notes),
    )
    return replace(told, blocks=blocks)


def _work(study: Study) -> float:
    agents, tasks = study.comparable.shape
    return float(min(SIZE, tasks) * tasks * agents**2 / 2)


def _about_ability(study: Study) -> Finding:
    """What single trials of 0 and 1 can tell: bits about ability."""
    made = study.fitted
    size = min(SIZE, len(made.fit.items))
    found = ability_information(made.fit, rng=study.seed, size=size)
    told = ability_bits.tell(found, seed=study.seed, not_shown=study.not_shown)
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
            f" tells most alone, {three_digits(float(found.bits[order[0]]))} bits.",
        ),
        description="Bars of bits about ability, one for each task, with their intervals.",
        legend=f"Shown are the first {len(order)} of {counted(len(found.tasks), 'task')}.",
        narrowest=360,
        sides=Sides(rows="tasks"),
    )
    why, *tables = told.blocks
    return replace(told, blocks=(why, bars, *tables, *noted([made.note] if made.note else [])))


def tell(
    found: InformationAnalysis,
    improved: InformativeSet | None = None,
    *,
    prices: TaskPrices | None = None,
    seed: int = 0,
    not_shown: str = "",
) -> Finding:
    """Tell the bits of every task and of the greedy set, and of a better set where one was sought.

    With `prices`, tasks that tell most for what they cost come first.

    `not_shown` says why agents may be alike, where a whole report has found that: then tasks are named
    only where bits are far beyond chance, of agents who differ in what they are good at.

    >>> from examiner.results import Results
    >>> results = Results.from_numpy(np.arange(12.0).reshape(2, 2, 3))
    >>> told = tell(analyse(results, rng=np.random.default_rng(0), reps=2)).data
    >>> list(told)[:4], told["max_bits"]
    (['agents', 'max_bits', 'tasks', 'greedy'], 1.0)
    """
    data = _data(found, improved)
    data["tasks"] = priced(data["tasks"], prices, "bits")
    columns = [
        Column("corrected", "number", "bits corrected for noise", "corrected_bits"),
        Column("low", "number"),
        Column("high", "number"),
        Column("by chance", "number", key="chance_bits"),
    ]
    tasks = [
        Column("task", "name"),
        *cost_columns(prices, "bits"),
        Column("bits", "number"),
        *columns,
    ]
    if prices is None:  # a terminal has no room for both; they are in the JSON
        tasks.append(Column("pairs separated", "count", key="pairs_separated"))
    greedy = [
        Column("task", "name"),
        Column("bits so far", "number", key="cumulative_bits"),
        *columns,
    ]
    never, pairs = found.separation.never, found.separation.pairs
    blocks: list[Table | Text] = [
        Table.of(data["tasks"], tasks, "Tasks"),
        Table.of(data["greedy"], greedy, "Greedy set"),
        Text(f"{counted(len(never), 'pair')} of {pairs:,} are separated by no single task."),
    ]
    blocks += [Text(_ties(found))] if any(found.chosen.tied_with) else []
    if improved is not None:
        start = f"By {improved.search}: {improved.bits:.4f} bits with "
        blocks.append(Text((start, Name(", ".join(improved.tasks)))))
    measures = ", ".join(found.channels.measures)
    shape = f"{counted(data['agents'], 'agent')}, {measures}"
    about = f"{shape}: at most {found.max_bits:.3f} bits; seed {seed}"
    return Finding(lead=_lead(found, not_shown), blocks=tuple(blocks), data=data, about=about)


def _beyond_chance(found: InformationAnalysis, not_shown: str) -> bool:
    """Whether tasks discriminate between agents beyond chance, by a permutation test of single tasks.

    Agents as able as each other may be good at different tasks: where they are not shown to differ in all,
    the least that some task may tell once noise is taken off must be beyond chance.
    """
    if found.chance is None:
        return True
    if not_shown and found.intervals is not None:
        found_low = found.intervals.task_low > found.chance.task_high
        return bool((found.chance.beyond & found_low).any())
    return found.chance.test.shown


def _set_beyond_chance(found: InformationAnalysis) -> bool:
    """Whether the few best tasks have more bits together than chance gives one time in twenty."""
    if found.chance is None:
        return True
    last = _enough(found) - 1
    return bool(found.chosen.cumulative_bits[last] > found.chance.greedy_high[last])


def _ties(found: InformationAnalysis) -> Prose:
    """Which tasks of the greedy set could be exchanged for others, the first few in full."""
    chosen = found.chosen
    tied = [
        (task, others)
        for task, others in zip(chosen.tasks, chosen.tied_with, strict=True)
        if others
    ]
    told = "; ".join(
        f"{task} with {listed(others, limit=MOST_TIES)}" for task, others in tied[:MOST_TIES]
    )
    more = f"; {counted(len(tied) - MOST_TIES, 'task')} more in --json" if tied[MOST_TIES:] else ""
    rule = "the one with most bits alone was chosen, then the first by name"
    return ("Ties: ", Name(told), f"{more}. Of tied tasks {rule}.")


def _enough(found: InformationAnalysis) -> int:
    """How few of the best tasks tell nearly all that the best tell together."""
    bits = found.chosen.cumulative_bits
    return int(np.argmax(bits >= SHARE_TOLD * bits[-1])) + 1


def _lead(found: InformationAnalysis, not_shown: str) -> Prose:
    bits = found.chosen.cumulative_bits
    if found.chance is not None and not _beyond_chance(found, not_shown):
        size = counted(len(found.chosen.tasks), "task")
        by_chance = three_digits(float(found.chance.greedy[-1]))
        told = (
            f"No task discriminates significantly between agents ({found.chance.test.words}). The {size} "
            f"with most bits give {three_digits(float(bits[-1]))} of {three_digits(found.max_bits)} bits, "
            f"and {by_chance} by chance."
        )
        return (told, " ", Name(not_shown)) if not_shown else told
    if found.chance is not None and not _set_beyond_chance(found):
        return _singly(found)
    enough = _enough(found)
    reached = three_digits(float(bits[enough - 1]))
    start = f"{enough} of {counted(len(found.tasks.tasks), 'task')} carry {reached}"
    most = f" of the {three_digits(found.max_bits)} bits needed to identify an agent"
    chance = ""
    if found.intervals is not None:
        likely, low = (
            float(part[enough - 1]) for part in (found.intervals.set, found.intervals.set_low)
        )
        chance = (
            f", {three_digits(likely)} corrected for noise (at least {three_digits(low)}, 97.5 %)"
        )
    if found.chance is not None:
        given = three_digits(float(found.chance.greedy[enough - 1]))
        chance += f"; {given} are expected by chance"
    return (start, most, chance, ": ", *enumerated(found.chosen.tasks[:enough], 5), ".")


def _singly(found: InformationAnalysis) -> Prose:
    """Tasks discriminate one by one, and sets of them have all bits there are by chance as well."""
    chance, bits, names = found.chance, found.tasks.bits, found.tasks.tasks
    assert chance is not None
    shown = np.flatnonzero(chance.beyond)
    shown = shown[np.lexsort((name_order(names)[shown], -bits[shown]))]
    told: Parts = (f"Tasks discriminate between agents ({chance.test.words})",)
    if len(shown):
        first, by_chance = (three_digits(float(part[shown[0]])) for part in (bits, chance.task))
        many = f"{len(shown):,} of {counted(len(names), 'task')}"
        told = (
            f"{many} {'discriminates' if len(shown) == 1 else 'discriminate'} significantly between agents "
            f"({chance.test.words}): ",
            *enumerated([names[task] for task in shown], 5),
            f" (the first has {first} bits, {by_chance} by chance)",
        )
    return (
        *told,
        f". A set of {counted(_enough(found), 'task')} has as many bits by chance: judge single tasks, or "
        f"fewer tasks.",
    )


def _pairs(found: InformationAnalysis) -> Prose:
    held = found.separation
    if not held.never:
        return "Every pair of agents is separated by some single task in 95 % of trials."
    named = [" and ".join(pair) for pair in held.never]
    verb = "are" if len(named) > 1 else "is"
    return (
        f"{len(named):,} of {counted(held.pairs, 'pair')} of agents {verb} separated by no single task "
        f"in 95 % of trials: ",
        *enumerated(named, MOST_PAIRS),
        ".",
    )


class InformationCurveData(NamedTuple):
    """What the curve draws; arrays of shape [size], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: Floats
    low: Floats
    high: Floats
    chance: Floats
    chance_high: Floats
    max_bits: float


def draw_curve(data: InformationCurveData) -> chart.Drawing:
    """Draw the curve, its interval as a band, chance as a dashed line, and the most as a dotted one.

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
        ("one in twenty by chance exceeds", data.chance_high, chart.BAR, "dot"),
    ):
        if np.isfinite(values).any():
            drawn = chart.line(along, values, name, colour, f"{name}: %{{y:.3f}} bits", dash=dash)
            marked = {"mode": "lines+markers"} if dash == "solid" else {}
            traces.append(drawn | marked)
    x = chart.names_axis(data.tasks, 20, tickangle=-45, showgrid=True)
    y = chart.axis("bits", range=[0, 1.08 * data.max_bits])
    return chart.figure(traces, 300, x, y, top=60, shapes=[chart.across(y=data.max_bits)])


def _curve(found: InformationAnalysis) -> Figure:
    chosen = found.chosen
    steps = len(chosen.tasks)
    data = InformationCurveData(
        tasks=tuple(chosen.tasks),
        bits=chosen.cumulative_bits,
        low=column_of(found.intervals, "set_low", steps),
        high=column_of(found.intervals, "set_high", steps),
        chance=column_of(found.chance, "greedy", steps),
        chance_high=column_of(found.chance, "greedy_high", steps),
        max_bits=found.max_bits,
    )
    told = three_digits(chosen.bits)
    return Figure(
        key="information-curve",
        drawn=data,
        drawing=draw_curve(data),
        caption=f"Each task adds most to those before it; together they tell {told} bits.",
        description="Rising line of bits over the tasks chosen, with chance below and the most above.",
        legend=(
            "The dotted line is log₂ of the number of agents. Chance deals the trials of each task out "
            "among the agents anew and chooses again. Bits are those of papers/004, eq. 3: nearly, not "
            "exactly, a mutual information."
        ),
        narrowest=420,
        sides=Sides(columns="tasks"),
    )


class InformationBarsData(NamedTuple):
    """What the bars draw; arrays of shape [tasks], NaN where there is none."""

    tasks: tuple[str, ...]
    bits: Floats
    low: Floats
    high: Floats
    chance: Floats
    max_bits: float


def draw_bars(data: InformationBarsData) -> chart.Drawing:
    """Draw one bar a task, first on top, a line for its interval and a mark for chance.

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


def _bars(found: InformationAnalysis, *, named: bool) -> Figure:
    bits = found.tasks.bits
    order = np.array(_most_first(found.tasks)[:MOST_BARS])
    order = order[np.isfinite(bits[order])]
    names = tuple(found.tasks.tasks[task] for task in order)
    data = InformationBarsData(
        tasks=names,
        bits=bits[order],
        low=column_of(found.intervals, "task_low", len(bits))[order],
        high=column_of(found.intervals, "task_high", len(bits))[order],
        chance=column_of(found.chance, "task", len(bits))[order],
        max_bits=found.max_bits,
    )
    many = f"Shown are the first {MOST_BARS} of {len(bits):,} tasks."
    return Figure(
        key="information-bars",
        drawn=data,
        drawing=draw_bars(data),
        caption=(Name(names[0]), f" tells most alone, {three_digits(float(bits[order[0]]))} bits.")
        if named
        else "Bits of single tasks, which are not shown to be more than chance.",
        description="Bars of bits, one for each task.",
        legend=many if len(bits) > MOST_BARS else "",
        narrowest=360,
        sides=Sides(rows="tasks"),
    )


def _most_first(tasks: TaskInformation) -> list[int]:
    """Columns of tasks, those with most bits first and ties by name; those without any bits last."""
    bits = np.rint(np.nan_to_num(tasks.bits, nan=-1.0) / LEAST_GAIN)
    order: list[int] = np.lexsort((name_order(tasks.tasks), -bits)).tolist()
    return order


def _data(found: InformationAnalysis, improved: InformativeSet | None) -> Record:
    """Everything as JSON values; tasks with most bits come first."""
    tasks, chosen, separation = found.tasks, found.chosen, found.separation

    rows, steps = len(tasks.tasks), len(chosen.tasks)
    each = records(
        task=tasks.tasks,
        bits=tasks.bits,
        bits_by_measure=[
            {name: float(bits[task]) for name, bits in tasks.by_measure.items()}
            for task in range(rows)
        ],
        chance_bits=column_of(found.chance, "task", rows),
        chance_high=column_of(found.chance, "task_high", rows),
        corrected_bits=column_of(found.intervals, "task", rows),
        low=column_of(found.intervals, "task_low", rows),
        high=column_of(found.intervals, "task_high", rows),
        pairs_separated=separation.pairs_of_task,
        usable=np.isfinite(tasks.bits),
        beyond_chance=[None] * rows if found.chance is None else found.chance.beyond,
    )
    return {
        "agents": len(found.channels.agents),
        "max_bits": found.max_bits,
        "tasks": [each[task] for task in _most_first(tasks)],
        "greedy": records(
            task=chosen.tasks,
            tied_with=[list(names) for names in chosen.tied_with],
            cumulative_bits=chosen.cumulative_bits,
            chance_bits=column_of(found.chance, "greedy", steps),
            chance_high=column_of(found.chance, "greedy_high", steps),
            corrected_bits=column_of(found.intervals, "set", steps),
            low=column_of(found.intervals, "set_low", steps),
            high=column_of(found.intervals, "set_high", steps),
        ),
        "enough": _enough(found),
        "p_value": None if found.chance is None else found.chance.test.p_value,
        "permutations": None if found.chance is None else found.chance.test.permutations,
        "set_beyond_chance": None if found.chance is None else _set_beyond_chance(found),
        "improved": None
        if improved is None
        else {"search": improved.search, "tasks": list(improved.tasks), "bits": improved.bits},
        "redundancy": found.redundancy.tolist(),
        "pairs": separation.pairs,
        "pairs_no_task_separates": [list(pair) for pair in separation.never],
        "agent_names": list(found.channels.agents),
        "measures": list(found.channels.measures),
        "unit": found.unit,
    }
