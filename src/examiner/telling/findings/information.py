"""Information: how many bits tasks tell about which agent is playing, and which few tell most."""

from __future__ import annotations

import numpy as np

from examiner.information import InformationAnalysis, analyse
from examiner.telling.figures import information_bars, information_curve
from examiner.telling.finding import Block, Figure, Finding, Name, Prose, Text, enumerated
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import InputError, counted

KEY, TITLE = "information", "What tells agents apart"
SIZE = 10
MOST_BARS = 30
MOST_PAIRS = 5
MOST_WORK = 6e8
"""Exponentials a report may spend on one choice of tasks: some ten seconds."""
CHANCE_WORK = 1.5e8
MOST_REPS = 100


def information(study: Study) -> Finding:
    """Tell the bits of tasks and of the few that tell most.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> draws = np.random.default_rng(0).normal(size=(3, 4, 8)) + 9 * np.eye(3, 4)[:, :, None]
    >>> said(information(Study.of(Results.from_numpy(draws))).lead)[:28]
    '2 of 4 tasks tell 1.58 of th'
    """
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    work = min(SIZE, tasks) * tasks * agents**2 / 2
    if work > MOST_WORK:
        return untold(
            KEY,
            TITLE,
            f"{agents:,} agents on {tasks:,} tasks are too many for a report: run `examiner information`.",
        )
    try:
        found = analyse(
            study.results,
            [study.measure],
            rng=np.random.default_rng(study.seed),
            reps=int(min(MOST_REPS, CHANCE_WORK // work)),
        )
    except InputError as problem:
        return untold(KEY, TITLE, f"No bits can be told: {problem}")
    blocks: tuple[Block, ...] = (
        _curve(found),
        _bars(found),
        Text(_pairs(found)),
        *noted(found.notes),
    )
    return Finding(KEY, TITLE, _lead(found), blocks)


def _lead(found: InformationAnalysis) -> Prose:
    bits = found.chosen.cumulative_bits
    enough = int(np.argmax(bits >= 0.95 * bits[-1])) + 1
    reached = three_digits(float(bits[enough - 1]))
    told = f"{enough} of {counted(len(found.tasks.tasks), 'task')} tell {reached}"
    most = f" of the {three_digits(found.max_bits)} bits that would name the agent"
    chance = ""
    if found.chance is not None:
        chance = f"; chance alone would seem to give {three_digits(float(found.chance.greedy[enough - 1]))}"
    return (told, most, chance, ": ", *enumerated(found.chosen.tasks[:enough], 5), ".")


def _curve(found: InformationAnalysis) -> Figure:
    chosen, chance, intervals = found.chosen, found.chance, found.intervals
    data = information_curve.data(
        chosen.tasks,
        chosen.cumulative_bits,
        found.max_bits,
        None if intervals is None else (intervals.set_low, intervals.set_high),
        None if chance is None else (chance.greedy, chance.greedy_high),
    )
    return Figure(
        key="information-curve",
        data=data._asdict(),
        drawing=information_curve.draw(data),
        caption=(
            f"Each task adds most to those before it; together they tell {three_digits(chosen.bits)} bits.",
        ),
        description="Rising line of bits over the tasks chosen, with chance below and the most above.",
        legend=(
            "The dotted line is log₂ of the number of agents. Chance deals the trials of each task out "
            "among the agents anew and chooses again. Bits are those of papers/004, eq. 3: nearly, not "
            "exactly, a mutual information.",
        ),
        narrowest=420,
    )


def _bars(found: InformationAnalysis) -> Figure:
    bits = found.tasks.bits
    order = np.argsort(-np.nan_to_num(bits, nan=-1.0), kind="stable")[:MOST_BARS]
    order = order[np.isfinite(bits[order])]
    chance, intervals = found.chance, found.intervals
    data = information_bars.data(
        [found.tasks.tasks[place] for place in order],
        bits[order],
        found.max_bits,
        None if intervals is None else intervals.task_low[order],
        None if intervals is None else intervals.task_high[order],
        None if chance is None else chance.task[order],
    )
    shown = (
        "" if len(bits) <= MOST_BARS else f"Shown are the first {MOST_BARS} of {len(bits):,} tasks."
    )
    first = int(order[0])
    return Figure(
        key="information-bars",
        data=data._asdict(),
        drawing=information_bars.draw(data),
        caption=(
            Name(found.tasks.tasks[first]),
            f" tells most alone, {three_digits(float(bits[first]))} bits.",
        ),
        description="Bars of bits, one for each task.",
        legend=(shown,) if shown else (),
        narrowest=360,
    )


def _pairs(found: InformationAnalysis) -> Prose:
    held = found.separation
    if not held.never:
        return (
            "Every pair of agents is told apart by some single task, nineteen times of twenty.",
        )
    named = [" and ".join(pair) for pair in held.never]
    verb = "are" if len(named) > 1 else "is"
    return (
        f"{len(named):,} of {counted(held.pairs, 'pair')} of agents {verb} told apart by no single task "
        f"nineteen times of twenty: ",
        *enumerated(named, MOST_PAIRS),
        ".",
    )
