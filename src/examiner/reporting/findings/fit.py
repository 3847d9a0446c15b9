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
    slope_verdicts,
)
from examiner.messages import counted, listed
from examiner.reporting.figures import difficulty_map
from examiner.reporting.finding import (
    Figure,
    Finding,
    Notes,
    Piece,
    Record,
    ShownTable,
    Text,
    shown_table,
)
from examiner.reporting.prose import Name, Prose, Sentence, enumerated
from examiner.reporting.study import Study

MOST_ASIDE = 50
FLAT = "flat"
SERIOUS = (NEGATIVE, FLAT, NO_ERROR)
"""Flags of tasks to review: one that separates agents cleanly is healthy."""
SHORT = {
    NEGATIVE: "negative",
    FLAT: "flat",
    BOUNDARY: "boundary",
    SEPARATED: "separated",
    NO_ERROR: "no error",
    SLOPE_NOT_SIGNIFICANT: "not significant",
    UNBOUNDED_DIFFICULTY: "no bounds",
    NEGATIVE_ALONE: "perhaps negative",
    NO_GUESSING: "no guessing",
    NO_SLIPPING: "no ceiling",
    NO_OVERDISPERSION: "as independent",
}
CORRECTED = "5 %, Benjamini–Hochberg"
"""How many tasks are judged at once."""
MEANINGS = {
    "negative": f"weaker agents do better ({CORRECTED})",
    "flat": f"discriminates less than half as much as tasks do on average ({CORRECTED})",
    "boundary": "the likelihood rises without end, the number is where the fit stopped",
    "separated": "one ability divides success from failure, the slope is the prior's",
    "no error": "the likelihood is flat, nothing is known of the task",
    "not significant": "the slope may be 0 (95 %), difficulty has no bounds",
    "perhaps negative": "discrimination is negative, but not significantly over all tasks "
    f"({CORRECTED})",
    "no bounds": "the interval of difficulty has no bounds",
    "no guessing": "the estimated chance of guessing is 0",
    "no ceiling": "the estimated ceiling is 1",
    "as independent": "trials of one cell vary as independent trials do",
}
_SHOWN = ("task", "difficulty", "difficulty_error", "discrimination", "discrimination_error")


def finding(study: Study) -> Finding:
    """List tasks, the most difficult first; those with a flag are marked."""
    fit = study.fitted.fit
    columns = ["task", "difficulty", "difficulty_low", "difficulty_high"]
    columns += ["discrimination", "discrimination_error", *_ends_of_curves(fit), "flags"]
    table = shown_table(fit.tasks, columns, "The most difficult first.")
    blocks = (_map(fit.tasks), table, *_excluded(fit, MOST_ASIDE))
    return Finding(lead=_lead(fit), blocks=blocks, answer=fit)


def _ends_of_curves(fit: IRTFit) -> tuple[str, ...]:
    """The columns of guessing and ceiling, where a curve does not run from 0 to 1."""
    guessed = bool((fit.items.guessing > 0).any() or (fit.items.ceiling < 1).any())
    return ("guessing", "ceiling") if guessed or fit.model in ("3pl", "4pl") else ()


def _map(tasks: FittedTasks) -> Figure:
    drawn = difficulty_map.data(
        tasks.task, tasks.difficulty, tasks.discrimination, tasks.discrimination_error
    )
    beyond = int((np.abs(drawn.difficulty) > difficulty_map.REACH).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge are drawn on it." if beyond else ""
    return Figure(
        key="difficulty-map",
        drawn=drawn,
        drawing=difficulty_map.draw(drawn),
        caption="Tasks by difficulty and discrimination.",
        description="One point per task: difficulty to the right, discrimination upwards.",
        legend=f"Lines are one standard error. Below the dotted line weaker agents do better.{edge}",
        narrowest=360,
    )


def _lead(fit: IRTFit) -> Prose:
    items, errors = fit.items, fit.errors
    tasks = counted(len(items), "task")
    negative = items.slope < 0
    if errors is None:
        return f"{int(negative.sum()):,} of {tasks} have negative discrimination."
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        return f"No task has significantly positive discrimination. {fit.evidence.sentences()[0]}"
    slopes = slope_verdicts(fit)
    start = f"{int(slopes.rising.sum()):,} of {tasks} have significantly positive discrimination"
    start = f"{start} ({CORRECTED}); {_alike(fit)}"
    if not negative.any():
        return f"{start}; none has negative discrimination."
    significant = bool(slopes.falling.any())
    words = "weaker agents do better on " if significant else "negative, but not significantly: "
    names = [
        items.tasks[task] for task in np.flatnonzero(slopes.falling if significant else negative)
    ]
    return (f"{start}; {words}", *enumerated(names, 6), ".")


def _alike(fit: IRTFit) -> str:
    """Whether tasks discriminate differently, in half a sentence."""
    test = None if fit.evidence is None else fit.evidence.discrimination
    if fit.evidence is None or test is None:
        return "whether tasks differ in discrimination was not tested"
    if fit.evidence.slopes_differ:
        return f"tasks differ significantly in discrimination ({test.p})"
    return f"tasks do not differ significantly in discrimination ({test.p})"


def _excluded(fit: IRTFit, most: int | None = None) -> tuple[Notes, ...]:
    items: list[Prose] = [(Name(task.name), f": {task.reason}") for task in fit.dropped[:most]]
    if most is not None and len(fit.dropped) > most:
        items.append((f"and {counted(len(fit.dropped) - most, 'more task')}.",))
    return (Notes("Excluded", tuple(items)),) if items else ()


def render_fit(fit: IRTFit, told: Indicators, *, repeats_mean: bool = False) -> Finding:
    """Return the tasks, flagged ones first, and the agents; regularity only where it is not the mean.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(["t"], [2.0], difficulty=[0.5])
    >>> fit = known(items, ResponseMatrix.from_array([[1], [0]], tasks=["t"]))
    >>> render_fit(fit, indicators(fit)).data["tasks"][0]["difficulty"]
    0.5
    """
    flat = _flat(fit)
    notes = _flags_of(fit.tasks, flat)
    shape = f"{counted(len(told.agents), 'agent')} × {counted(len(fit.items), 'task')}"
    starts = fit.starts
    verb = "agrees" if starts.agreeing == 1 else "agree"
    agree = f"; {starts.agreeing} of {counted(len(starts.objectives), 'start')} {verb}"
    outcome = f"{fit.outcome.value} Log-likelihood {fit.log_likelihood:.4f}"
    sentences = list(fit.evidence.sentences()) if fit.evidence else []
    negative = negative_tasks(fit)
    lead: Prose = (Sentence(negative_sentence(negative)),) if negative else "".join(sentences[:1])
    sentences = sentences if negative else sentences[1:]
    blocks = (
        *(Text(sentence) for sentence in sentences),
        Text(f"{outcome}{agree if starts.objectives else ''}"),
        _agent_table(fit, told, repeats_mean=repeats_mean),
        *((shown_table(fit.tables["editions"]),) if fit.editions else ()),
        *_task_tables(fit, notes),
        *_doubts(fit.tasks, notes),
        *_infinite(told),
        *_excluded(fit),
    )
    about = f"{fit.model}, {fit.estimator}, {shape}; {fit.quadrature.kind}"
    if fit.items.landmark is not None:
        about += (
            f"; difficulty is the ability at which a score of {fit.items.landmark[0]:g} is expected"
        )
    return Finding(
        lead=lead, blocks=blocks, beside=_with_indicators(fit, told, flat), about=about, answer=fit
    )


def _infinite(told: Indicators) -> tuple[Notes, ...]:
    """Why a generality is infinite, which tables show as a dash."""
    items = tuple(
        (Name(agent), f": {flag}")
        for agent, raised in zip(told.agents, told.flags, strict=True)
        for flag in raised
        if flag.startswith("generality is infinite")
    )
    return (Notes("Infinite", items),) if items else ()


def _with_indicators(fit: IRTFit, told: Indicators, flat: Sequence[str]) -> Record:
    """What the JSON of a fit has with indicators: they are in the table of agents."""
    content, more = fit.to_dict(), told.to_dict()
    return {
        **{name: more[name] for name in told.tables},
        "flat": None if fit.matrix is None else list(flat),
        "notes": [*content["notes"], *more["notes"]],
        "columns": content["columns"]
        | {name: part for name, part in more["columns"].items() if name != "scalars"},
    }


def _flags_of(tasks: FittedTasks, flat: Sequence[str]) -> list[list[str]]:
    """The flags of tasks, with the one that needs responses."""
    return [
        [*raised, FLAT] if task in flat else list(raised)
        for task, raised in zip(tasks.task, tasks.flags, strict=True)
    ]


def _task_tables(fit: IRTFit, raised: Sequence[Sequence[str]]) -> list[Piece]:
    tasks = fit.tasks
    serious = [row for row, words in enumerate(raised) if set(words) & set(SERIOUS)]
    serious.sort(
        key=lambda row: min(SERIOUS.index(word) for word in SERIOUS if word in raised[row])
    )
    parts = {"Tasks, the most difficult first": list(range(len(tasks)))}
    if len(serious) < len(tasks):
        parts = {"Flagged tasks": serious, **parts}
    columns = [*_SHOWN, *_ends_of_curves(fit)]
    table: Table = tasks
    if any(raised):
        note = Column("note", "text", "Flags, explained below the table", title="note")
        table = tasks.with_column(note, list(map(short_flags, raised)))
        columns.append("note")
    return [shown_table(table.take(rows), columns, title) for title, rows in parts.items() if rows]


def short_flags(raised: Sequence[str]) -> str:
    """The flags of a task in a few words, each fact once.

    >>> short_flags([SLOPE_NOT_SIGNIFICANT, UNBOUNDED_DIFFICULTY])
    'not significant'
    """
    words = list(dict.fromkeys(SHORT.get(flag, flag) for flag in raised))
    if SHORT[SLOPE_NOT_SIGNIFICANT] in words:  # which implies it
        words = [word for word in words if word != SHORT[UNBOUNDED_DIFFICULTY]]
    return "; ".join(words)


def _doubts(tasks: FittedTasks, raised: Sequence[Sequence[str]]) -> list[Text]:
    """How many tasks have each flag, and what it means."""
    words = [word for row in raised for word in short_flags(row).split("; ")]
    sentences = ["± is one standard error."]
    for word, meaning in MEANINGS.items():
        if word in words:
            sentences.append(f"{word} ({counted(words.count(word), 'task')}): {meaning}.")
    falling = [
        task
        for task, slope, flagged in zip(tasks.task, tasks.discrimination, raised, strict=True)
        if slope < 0 and NEGATIVE not in flagged
    ]
    if falling:
        sentences.append(f"Negative discrimination, but not significantly: {listed(falling)}.")
    return [Text((Sentence(sentence),)) for sentence in sentences]


def _agent_table(fit: IRTFit, told: Indicators, *, repeats_mean: bool) -> ShownTable:
    agents = told.tables["agents"]
    columns = ["agent", "mean", "ability", "ability_error", "regularity", "generality", "slope"]
    if repeats_mean:
        columns.remove("regularity")
    if not fit.groups:
        return shown_table(agents, columns, "Agents, the highest ability first")
    group = {agent: number for number, names in enumerate(fit.groups, 1) for agent in names}
    numbers = np.array([group.get(agent, 0) for agent in agents.values("agent")])
    number = Column("group", "count", "Agents of different groups have no task in common")
    grouped = agents.with_column(number, numbers).take(np.argsort(numbers, kind="stable"))
    caption = "Agents by group, the highest ability of each first: groups cannot be compared"
    return shown_table(grouped, [columns[0], "group", *columns[1:]], caption)


def _flat(fit: IRTFit) -> list[str]:
    """Tasks that discriminate little, where agents differ significantly and responses are at hand."""
    differ = fit.evidence is not None and fit.evidence.abilities_differ
    if fit.matrix is None or not differ or fit.groups:
        return []
    negative = set(negative_tasks(fit))
    return [task for task in flat_tasks(fit.matrix) if task not in negative]
