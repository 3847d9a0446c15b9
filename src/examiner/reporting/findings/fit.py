"""A fit: difficulty and discrimination of every task, with what to doubt, and indicators of agents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.answers import Column, Table
from examiner.irt import (
    BOUNDARY,
    NEGATIVE,
    NEGATIVE_ALONE,
    NO_ERROR,
    NO_GUESSING,
    NO_OVERDISPERSION,
    NO_SLIPPING,
    SEPARATED,
    SLOPE_NOT_SIGNIFICANT,
    UNBOUNDED_DIFFICULTY,
    FittedTasks,
    Indicators,
    IRTFit,
    flat_tasks,
    negative_sentence,
    negative_tasks,
)
from examiner.messages import counted, listed
from examiner.reporting.ability_scale import agents_by_group
from examiner.reporting.figures import chart
from examiner.reporting.finding import Block, Figure, Finding, Notes, Record, shown_table
from examiner.reporting.prose import labels, named
from examiner.reporting.study import Study

FLAT = "flat"
SERIOUS = (NEGATIVE, FLAT, NO_ERROR)
"""Flags of tasks to review: one that separates agents cleanly is healthy."""
CORRECTED = "5 %, Benjamini–Hochberg"
"""How many tasks are judged at once."""
FLAGS = {
    NEGATIVE: ("negative", f"weaker agents do better ({CORRECTED})"),
    FLAT: (FLAT, f"discriminates less than half as much as tasks do on average ({CORRECTED})"),
    BOUNDARY: (
        "boundary",
        "the likelihood rises without end, the number is where the fit stopped",
    ),
    SEPARATED: (
        "separated",
        "one ability divides success from failure, the slope is the prior's",
    ),
    NO_ERROR: ("no error", "the likelihood is flat, nothing is known of the task"),
    SLOPE_NOT_SIGNIFICANT: (
        "not significant",
        "the slope may be 0 (95 %), difficulty has no bounds",
    ),
    NEGATIVE_ALONE: (
        "perhaps negative",
        f"discrimination is negative, but not significantly over all tasks ({CORRECTED})",
    ),
    UNBOUNDED_DIFFICULTY: ("no bounds", "the interval of difficulty has no bounds"),
    NO_GUESSING: ("no guessing", "the estimated chance of guessing is 0"),
    NO_SLIPPING: ("no ceiling", "the estimated ceiling is 1"),
    NO_OVERDISPERSION: (
        "as independent",
        "trials of one cell vary as independent trials do",
    ),
}
"""Flags of tasks → in a word or two, and what they mean."""
REACH = 6.0
"""Difficulties further out are drawn at the edge: few are, and none is estimated precisely."""


def finding(study: Study) -> Finding:
    """List tasks with their flags, the most difficult first."""
    fit = study.fitted.fit
    interval = ("difficulty_low", "difficulty_high")
    blocks = (*_evidence(fit), *_task_blocks(fit, _flat(fit), interval), _excluded(fit, 50))
    return Finding(blocks=blocks, answer=fit)


def render_fit(fit: IRTFit, indicators: Indicators, *, repeats_mean: bool = False) -> Finding:
    """Return the tasks, flagged ones first, and the agents; regularity only where it is not the mean.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(["t"], [2.0], difficulty=[0.5])
    >>> fit = known(items, ResponseMatrix.from_array([[1], [0]], tasks=["t"]))
    >>> render_fit(fit, indicators(fit)).data["tasks"][0]["difficulty"]
    0.5
    """
    starts, flat = fit.starts, _flat(fit)
    outcome = f"{fit.outcome.value} Log-likelihood {fit.log_likelihood:.4f}"
    if starts.objectives:
        verb = "agrees" if starts.agreeing == 1 else "agree"
        outcome += f"; {starts.agreeing} of {counted(len(starts.objectives), 'start')} {verb}"
    columns = ["mean", "ability", "ability_error", "regularity", "generality", "slope"]
    if repeats_mean:
        columns.remove("regularity")
    # which tables show as a dash
    infinite = [
        f"{named(agent)}: {flag}"
        for agent, flags in zip(indicators.agents, indicators.flags, strict=True)
        for flag in flags
        if flag.startswith("generality is infinite")
    ]
    shape = f"{counted(len(indicators.agents), 'agent')} × {counted(len(fit.items), 'task')}"
    about = f"{fit.model}, {fit.estimator}, {shape}; {fit.quadrature.kind}"
    if fit.items.landmark is not None:
        about += (
            f"; difficulty is the ability at which a score of {fit.items.landmark[0]:g} is expected"
        )
    sentence, *evidence = _evidence(fit)
    return Finding(
        lead=sentence,
        blocks=(
            *evidence,
            outcome,
            agents_by_group(fit, indicators, columns, "Agents, the highest ability first."),
            shown_table(fit.tables["editions"]) if fit.editions else None,
            *_task_blocks(fit, flat, ("difficulty_error",)),
            Notes(infinite, "Infinite"),
            _excluded(fit),
        ),
        beside=_with_indicators(fit, indicators, flat),
        about=about,
        answer=fit,
    )


def _evidence(fit: IRTFit) -> list[str]:
    """Which tasks have negative discrimination, then whether agents and tasks differ significantly."""
    negative = negative_tasks(fit)
    sentences = [negative_sentence(negative)] if negative else []
    return [*sentences, *(fit.evidence.sentences() if fit.evidence else [])] or [""]


def _with_indicators(fit: IRTFit, indicators: Indicators, flat: list[str]) -> Record:
    """What the JSON of a fit has with indicators: they are in the table of agents."""
    content, more = fit.to_dict(), indicators.to_dict()
    return {
        **{name: more[name] for name in indicators.tables},
        "flat": None if fit.matrix is None else flat,
        "notes": [*content["notes"], *more["notes"]],
        "columns": content["columns"]
        | {name: part for name, part in more["columns"].items() if name != "scalars"},
    }


def _flat(fit: IRTFit) -> list[str]:
    """Tasks that discriminate little, where agents differ significantly and responses are at hand."""
    differ = fit.evidence is not None and fit.evidence.abilities_differ
    if fit.matrix is None or not differ or fit.groups:
        return []
    negative = set(negative_tasks(fit))
    return [task for task in flat_tasks(fit.matrix) if task not in negative]


def _task_blocks(fit: IRTFit, flat: Sequence[str], bounds: tuple[str, ...]) -> list[Block]:
    """The figure of tasks, their tables, and what their flags mean; `flat` needs responses."""
    raised = [
        [*flags, FLAT] if task in flat else list(flags)
        for task, flags in zip(fit.tasks.task, fit.tasks.flags, strict=True)
    ]
    table: Table = fit.tasks
    columns = ["task", "difficulty", *bounds, "discrimination", "discrimination_error"]
    if (
        (fit.items.guessing > 0).any()
        or (fit.items.ceiling < 1).any()
        or fit.model in ("3pl", "4pl")
    ):
        columns += ["guessing", "ceiling"]  # the curve does not run from 0 to 1
    if any(raised):
        note = Column("note", "text", "Flags, explained below the table", title="note")
        table = table.with_column(note, list(map(short_flags, raised)))
        columns.append("note")
    serious = [row for row, flags in enumerate(raised) if set(flags) & set(SERIOUS)]
    serious.sort(
        key=lambda row: min(SERIOUS.index(flag) for flag in raised[row] if flag in SERIOUS)
    )
    flagged = shown_table(table.take(serious), columns, "Flagged tasks")
    return [
        _map(fit.tasks),
        *([flagged] if len(serious) < len(table) else []),
        shown_table(table, columns, "Tasks, the most difficult first"),
        *_meanings(fit.tasks, raised),
    ]


def short_flags(raised: Sequence[str]) -> str:
    """The flags of a task in a few words, each fact once.

    >>> short_flags([SLOPE_NOT_SIGNIFICANT, UNBOUNDED_DIFFICULTY])
    'not significant'
    """
    flags = dict.fromkeys(raised)
    if SLOPE_NOT_SIGNIFICANT in flags:  # which implies it
        flags.pop(UNBOUNDED_DIFFICULTY, None)
    return "; ".join(FLAGS[flag][0] if flag in FLAGS else flag for flag in flags)


def _meanings(tasks: FittedTasks, raised: Sequence[Sequence[str]]) -> list[str]:
    """How many tasks have each flag, and what it means."""
    words = [word for flags in raised for word in short_flags(flags).split("; ")]
    sentences = ["± is one standard error."]
    for word, meaning in FLAGS.values():
        if word in words:
            sentences.append(f"{word} ({counted(words.count(word), 'task')}): {meaning}.")
    falling = [
        task
        for task, slope, flags in zip(tasks.task, tasks.discrimination, raised, strict=True)
        if slope < 0 and NEGATIVE not in flags
    ]
    if falling:
        sentences.append(f"Negative discrimination, but not significantly: {listed(falling)}.")
    return sentences


def _excluded(fit: IRTFit, most: int | None = None) -> Notes:
    items = [f"{named(task.name)}: {task.reason}" for task in fit.dropped[:most]]
    if most is not None and len(fit.dropped) > most:
        items.append(f"and {counted(len(fit.dropped) - most, 'more task')}.")
    return Notes(items, "Excluded")


def _map(tasks: FittedTasks) -> Figure:
    """Difficulty to the right and discrimination, with its error, upwards."""
    shown = np.clip(tasks.difficulty, -REACH, REACH)
    hover = "%{text}: difficulty %{customdata}, discrimination %{y:.2f}"
    points = chart.dots(shown, tasks.discrimination, "tasks", chart.DOTS, hover)
    points |= {"text": labels(tasks.task, 60), "customdata": chart.compact(tasks.difficulty, 3)}
    points["error_y"] = chart.error_bars(tasks.discrimination_error, chart.DOTS + chart.LIGHT)
    x, y = chart.axis("difficulty"), chart.axis("discrimination")
    points |= chart.linked("tasks", tasks.task)
    level = [chart.across(y=0.0)]
    beyond = int((np.abs(tasks.difficulty) > REACH).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge are drawn on it." if beyond else ""
    return Figure(
        key="difficulty-map",
        data={
            "tasks": tasks.task,
            "difficulty": tasks.difficulty,
            "discrimination": tasks.discrimination,
            "error": tasks.discrimination_error,
            "shown": shown,
        },
        drawing=chart.figure([points], 295, x, y, legend=False, top=10, shapes=level),
        caption="Tasks by difficulty and discrimination.",
        description="One point per task: difficulty to the right, discrimination upwards.",
        legend=f"Lines are one standard error. Below the dotted line weaker agents do better.{edge}",
        narrowest=360,
    )
