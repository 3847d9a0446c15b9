"""Likeness: which tasks say the same, how far one factor goes, and who could be crowned."""

from __future__ import annotations

import numpy as np

from examiner.information import LikenessAnalysis
from examiner.information import likeness as analyse_likeness
from examiner.telling.figures import task_clusters as picture
from examiner.telling.finding import (
    Block,
    Column,
    Facts,
    Figure,
    Finding,
    Name,
    Prose,
    Table,
    Text,
    enumerated,
)
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import InputError, counted

KEY, TITLE = "likeness", "Tasks that are alike, and who could be crowned"
FEWEST_AGENTS = 5
FEWEST_TASKS = 3
MOST_TASKS = 1000
MOST_CELLS = 60_000
MOST_DRAWN = 200
MOST_CROWNS = 50


def likeness(study: Study) -> Finding:
    """Tell which tasks are alike and how much the choice of tasks decides who wins.

    >>> from examiner.results import Results
    >>> likeness(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))).applies
    False
    """
    agents, tasks = len(study.results.agents), len(study.results.tasks)
    if agents < FEWEST_AGENTS or tasks < FEWEST_TASKS:
        few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
        needed = f"{FEWEST_AGENTS} agents and {FEWEST_TASKS} tasks"
        return untold(
            KEY, TITLE, f"{few} are too few to tell which tasks are alike: have {needed}."
        )
    if tasks > MOST_TASKS or agents * tasks > MOST_CELLS:
        many = f"{agents:,} agents on {tasks:,} tasks take too long for a report: run `examiner cluster`."
        return untold(KEY, TITLE, many)
    try:
        found = analyse_likeness(
            study.results, [study.measure], rng=np.random.default_rng(study.seed)
        )
    except InputError as problem:
        return untold(KEY, TITLE, f"No likeness can be told: {problem}")
    blocks: list[Block] = [_factor(found)]
    if np.isfinite(found.main.correlation).any():
        blocks.append(_figure(found))
    blocks += [Text(_disagreeing(found)), _crowns(found), *noted(found.notes)]
    return Finding(KEY, TITLE, _lead(found), tuple(blocks))


def _lead(found: LikenessAnalysis) -> Prose:
    crowning = found.crowning
    where = "" if crowning.held_out is None else " on held-out trials"
    return (
        f"{crowning.crownable:,} of {counted(len(crowning.agents), 'agent')} can be made to win{where} by "
        f"a choice of {counted(crowning.size, 'task')}; one factor tells "
        f"{found.factor.first_factor_share.value:.0%} of how agents differ "
        f"({found.factor.first_factor_by_chance:.0%} by chance).",
    )


def _factor(found: LikenessAnalysis) -> Facts:
    factor = found.factor
    parts = (
        ("Mean correlation between tasks", factor.mean_task_correlation),
        ("Mean correlation between agents", factor.mean_agent_correlation),
        ("Share of the first factor", factor.first_factor_share),
    )
    facts = []
    for what, one in parts:
        low, high = three_digits(one.low), three_digits(one.high)
        ends = "" if np.isnan(one.low) else f" ({low} to {high})"
        facts.append((what, (three_digits(one.value) + ends,)))
    return Facts(tuple(facts))


def _figure(found: LikenessAnalysis) -> Figure:
    main = found.main
    order = main.order[:MOST_DRAWN]
    borders = [place for place in main.borders if place < len(order)]
    data = picture.data(main.tasks, main.correlation, order, borders)
    several = sum(len(names) > 1 for names in main.clusters)
    alone = sum(len(names) == 1 for names in main.clusters)
    cut = len(main.order) > len(order)
    shown = f" Shown are the first {len(order)} of {len(main.order):,} tasks." if cut else ""
    return Figure(
        key="task-clusters",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(
            f"{counted(several, 'cluster')} of several tasks, {counted(alone, 'task')} alone.",
        ),
        description="Heat map of the correlation of each two tasks, with lines between clusters.",
        legend=(
            f"Blue goes together, orange against; lines part clusters joined up to 1 − r = 0.8.{shown}",
        ),
        narrowest=220 + 9 * len(order),
    )


def _disagreeing(found: LikenessAnalysis) -> Prose:
    opposed = found.opposed.opposed
    parts: Prose = ("No task clearly ranks the agents against the rest.",)
    if opposed:
        parts = ("Against the rest, agents are ranked by ", *enumerated(opposed, 8), ".")
    if found.deceptive is not None and found.deceptive.deceptive:
        named = enumerated(found.deceptive.deceptive, 8)
        parts = (*parts, " Deceptive, agents that win more score less, on ", *named, ".")
    return parts


def _crowns(found: LikenessAnalysis) -> Table:
    crowning = found.crowning
    columns = (
        Column("agent", "name"),
        Column("lead", "number", "mean share on its best tasks, less that of the best other agent"),
        Column("wins", "text", "on these tasks"),
        Column("held out", "text", "on trials that had no part in choosing"),
        Column("tasks", "name", "under which it leads by most"),
    )
    order = np.argsort(-np.nan_to_num(crowning.lead, nan=-9.0), kind="stable")[:MOST_CROWNS]
    rows = tuple(
        (
            Name(crowning.agents[place]),
            float(crowning.lead[place]),
            "yes" if crowning.wins[place] else "no",
            "–" if crowning.held_out is None else ("yes" if crowning.held_out[place] else "no"),
            Name(", ".join(crowning.tasks[place])),
        )
        for place in order.tolist()
    )
    return Table(columns, rows, ("The tasks that would crown each agent.",))
