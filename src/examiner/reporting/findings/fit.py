"""A fit: difficulty and discrimination of every task, with what to doubt, and what agents are like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from examiner.irt import Indicators, IRTFit, flat_tasks, slope_verdicts
from examiner.irt.diagnostics import flags
from examiner.messages import counted, listed
from examiner.reporting.figures import difficulty_map
from examiner.reporting.finding import Figure, Finding, Notes, Text
from examiner.reporting.prose import Name, Prose, enumerated
from examiner.reporting.study import Study
from examiner.reporting.table import Column, Piece, Record, Table, column_of, records
from examiner.validation import to_record

MOST_ASIDE = 50
FLAT = "flat"
SERIOUS = (flags.NEGATIVE, FLAT, flags.NO_ERROR)
"""What makes a task one to look at: one that separates the able from others cleanly is healthy."""
SHORT = {
    flags.NEGATIVE: "negative",
    FLAT: "flat",
    flags.BOUNDARY: "boundary",
    flags.SEPARATED: "separated",
    flags.NO_ERROR: "no error",
    flags.SIGN_WITHIN_NOISE: "not significant",
    flags.UNBOUNDED_DIFFICULTY: "no bounds",
    flags.NEGATIVE_ALONE: "maybe negative",
    flags.NO_GUESSING: "no guessing",
    flags.NO_SLIPPING: "no ceiling",
    flags.NO_OVERDISPERSION: "coin flips",
}
CORRECTED = "5 %, Benjamini–Hochberg"
"""How many tasks are judged at once."""
MEANINGS = {
    "negative": f"negative discrimination, weaker agents do better ({CORRECTED})",
    "flat": f"discriminates less than half as well as the typical task ({CORRECTED})",
    "boundary": "the likelihood rises without end, the number is where the fit stopped",
    "separated": "one ability divides success from failure, the slope is the prior's",
    "no error": "the likelihood is flat, nothing is known of the task",
    "not significant": "discrimination may be 0 (95 %), so difficulty has no bounds",
    "maybe negative": f"discrimination is negative, but not significantly over all tasks ({CORRECTED})",
    "no bounds": "the interval of difficulty has no bounds",
    "no guessing": "the data want no guessing",
    "no ceiling": "the data want no ceiling below 1",
    "coin flips": "no overdispersion found",
}

Rows = list[dict[str, Any]]  # Any: JSON values


def finding(study: Study) -> Finding:
    """List tasks, the most difficult first; those with a flag are marked."""
    made = study.fitted
    fit = made.fit
    guessed = bool((fit.items.guessing > 0).any() or (fit.items.ceiling < 1).any())
    columns = [
        Column("task", "name"),
        Column("difficulty", "number", "the ability with even chances"),
        Column("low", "number", "95 % (Fieller); none where it is unbounded", "difficulty_low"),
        Column("high", "number", "95 % (Fieller); none where it is unbounded", "difficulty_high"),
        Column("discrimination", "number", "slope; negative: weaker agents do better"),
        Column("±", "number", "its standard error", "discrimination_se"),
        *([Column("guessing", "number"), Column("ceiling", "number")] if guessed else []),
        Column("flags", "text", "what to doubt"),
    ]
    rows = _most_difficult_first(_tasks(fit))
    table = Table.of(rows, columns, "The most difficult first.")
    blocks = (_map(rows), table, *_aside(fit, MOST_ASIDE))
    return Finding(lead=_lead(fit), blocks=blocks, data={"tasks": rows})


def _map(rows: Rows) -> Figure:
    names = tuple(row["task"] for row in rows)
    keys = ("difficulty", "discrimination", "discrimination_se")
    drawn = difficulty_map.data(names, *(np.array([row[key] for row in rows]) for key in keys))
    beyond = int((np.abs(drawn.difficulty) > difficulty_map.REACH).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge stand at it." if beyond else ""
    return Figure(
        key="difficulty-map",
        drawn=drawn,
        drawing=difficulty_map.draw(drawn),
        caption="Tasks by difficulty and discrimination.",
        description="One point a task: difficulty to the right, discrimination upwards.",
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
    seen = slope_verdicts(fit)
    positive = f"{int(seen.rising.sum()):,} of {tasks} have significantly positive discrimination"
    start = f"{positive} ({CORRECTED}); {_alike(fit)}"
    if not negative.any():
        return f"{start}; none has negative discrimination."
    some = bool(seen.falling.any())
    words = "weaker agents do better on " if some else "negative, but not significantly: "
    names = [items.tasks[task] for task in np.flatnonzero(seen.falling if some else negative)]
    return (f"{start}; {words}", *enumerated(names, 6), ".")


def _alike(fit: IRTFit) -> str:
    """Whether tasks discriminate differently, in half a sentence."""
    test = None if fit.evidence is None else fit.evidence.discrimination
    if fit.evidence is None or test is None:
        return "whether they discriminate differently was not tested"
    if fit.evidence.slopes_differ:
        return f"tasks discriminate differently ({test.p})"
    return f"tasks do not differ significantly in discrimination ({test.p})"


def _aside(fit: IRTFit, most: int | None = None) -> tuple[Notes, ...]:
    items: list[Prose] = [(Name(task.name), f": {task.reason}") for task in fit.dropped[:most]]
    if most is not None and len(fit.dropped) > most:
        items.append((f"and {counted(len(fit.dropped) - most, 'more task')}.",))
    return (Notes("Excluded", tuple(items)),) if items else ()


def tell(fit: IRTFit, told: Indicators, *, repeats_mean: bool = False) -> Finding:
    """Tell the tasks, those to look at first, and the agents; regularity only where it is no mean.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(["t"], [2.0], difficulty=[0.5])
    >>> fit = known(items, ResponseMatrix.from_array([[1], [0]], tasks=["t"]))
    >>> tell(fit, indicators(fit)).data["tasks"][0]["difficulty"]
    0.5
    """
    data = _data(fit, told)
    weak, flat = data["rewards_the_weak"], set(data["flat"] or ())
    tasks = [
        row | {"flags": [*row["flags"], FLAT]} if row["task"] in flat else row
        for row in data["tasks"]
    ]
    shape = f"{counted(len(data['agents']), 'agent')} × {counted(len(data['tasks']), 'task')}"
    starts = fit.starts
    agree = f"; {starts.agreeing} of {counted(len(starts.objectives), 'start')} agree"
    outcome = f"{fit.outcome.value} Log-likelihood {fit.log_likelihood:.4f}"
    sentences = list(fit.evidence.sentences()) if fit.evidence else []
    lead: Prose = (Name(flags.weak_sentence(weak)),) if weak else "".join(sentences[:1])
    sentences = sentences if weak else sentences[1:]
    blocks = (
        *(Text(sentence) for sentence in sentences),
        Text(f"{outcome}{agree if starts.objectives else ''}"),
        _agent_table(data["agents"], group_numbers(fit.groups), repeats_mean=repeats_mean),
        *_task_tables(tasks, guessed=fit.model in ("3pl", "4pl")),
        *_doubts(tasks),
        *_aside(fit),
    )
    about = f"{fit.model}, {fit.estimator}, {shape}; {fit.quadrature.kind}"
    if fit.items.landmark is not None:
        about += (
            f"; difficulty is the ability at which a score of {fit.items.landmark[0]:g} is expected"
        )
    return Finding(lead=lead, blocks=blocks, data=data, about=about)


def _task_tables(rows: Rows, *, guessed: bool) -> list[Piece]:
    order = _most_difficult_first(rows)
    serious = [row for row in order if set(row["flags"]) & set(SERIOUS)]
    serious.sort(
        key=lambda row: min(SERIOUS.index(flag) for flag in SERIOUS if flag in row["flags"])
    )
    parts = {"Tasks, the most difficult first": order}
    if len(serious) < len(order):
        parts = {"Flagged tasks": serious, **parts}
    flagged = any(row["flags"] for row in order)
    columns = [
        Column("task", "name"),
        Column("difficulty", "number"),
        Column("±", "number", key="difficulty_se"),
        Column("discr." if guessed else "discrimination", "number", key="discrimination"),
        Column("±", "number", key="discrimination_se"),
        *([Column("guessing", "number"), Column("ceiling", "number")] if guessed else []),
        *([Column("note", "text")] if flagged else []),
    ]
    return [
        Table.of([row | {"note": short_flags(row["flags"])} for row in part], columns, title)
        for title, part in parts.items()
        if part
    ]


def short_flags(raised: Sequence[str]) -> str:
    """The flags of a task in a few words, each fact once.

    >>> short_flags([flags.SIGN_WITHIN_NOISE, flags.UNBOUNDED_DIFFICULTY])
    'not significant'
    """
    words = list(dict.fromkeys(SHORT.get(flag, flag) for flag in raised))
    if SHORT[flags.SIGN_WITHIN_NOISE] in words:  # which says so of difficulty too
        words = [word for word in words if word != SHORT[flags.UNBOUNDED_DIFFICULTY]]
    return ", ".join(words)


def _doubts(rows: Rows) -> list[Text]:
    """How many tasks each word was said of, and what it means."""
    words = [word for row in rows for word in short_flags(row["flags"]).split(", ")]
    told = ["± is one standard error."]
    for word, meaning in MEANINGS.items():
        if word in words:
            told.append(f"{word} ({counted(words.count(word), 'task')}): {meaning}.")
    falling = [
        row["task"]
        for row in _most_difficult_first(rows)
        if row["discrimination"] < 0 and flags.NEGATIVE not in row["flags"]
    ]
    if falling:
        told.append(f"Negative discrimination, but not significantly: {listed(falling)}.")
    return [Text((Name(sentence),)) for sentence in told]


def group_numbers(groups: Sequence[Sequence[str]]) -> dict[str, int]:
    """Number groups of agents from 1; nothing where all agents hang together.

    >>> group_numbers([["a", "b"], ["c"]])["c"]
    2
    """
    return {agent: number for number, group in enumerate(groups, 1) for agent in group}


def _agent_table(rows: Rows, group: Mapping[str, int], *, repeats_mean: bool) -> Table:
    columns = [
        Column("agent", "name"),
        Column("mean", "number"),
        Column("ability", "number"),
        Column("±", "number", key="ability_se"),
        Column("regularity", "number", "1 / variance of an agent's results"),
        Column(
            "generality",
            "number",
            "1 / variance within bins of difficulty, high where an agent is good up to its ability and "
            "fails beyond",
        ),
        Column("slope", "number", "how steeply its results fall with difficulty, through one half"),
    ]
    if repeats_mean:
        del columns[4]
    order = sorted(rows, key=lambda row: np.nan_to_num(-row["ability"], nan=np.inf))
    if not group:
        return Table.of(order, columns, "Agents, the highest ability first")
    order = sorted(
        (row | {"group": group.get(row["agent"], 0)} for row in order), key=lambda row: row["group"]
    )
    columns.insert(1, Column("group", "number", "agents of different groups share no task"))
    return Table.of(
        order,
        columns,
        "Agents by group, the highest ability of each first: groups cannot be compared",
    )


def _most_difficult_first(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: np.nan_to_num(-row["difficulty"], nan=np.inf))


def _tasks(fit: IRTFit) -> Rows:
    items = fit.items

    def error(name: str) -> Any:  # Any: an array
        return column_of(fit.errors, name, len(items))

    precise = {}
    if items.precision is not None:
        precise = {"precision": items.precision, "precision_se": error("precision")}
    return records(
        task=items.tasks,
        difficulty=items.difficulty,
        discrimination=items.slope,
        guessing=items.guessing,
        ceiling=items.ceiling,
        difficulty_se=error("difficulty"),
        discrimination_se=error("slope"),
        flags=fit.flags,
        intercept=items.intercept,
        intercept_se=error("intercept"),
        difficulty_low=error("difficulty_low"),
        difficulty_high=error("difficulty_high"),
        discrimination_low=error("slope_low"),
        discrimination_high=error("slope_high"),
        **precise,
    )


def _evidence(fit: IRTFit) -> Record | None:
    """Both tests, what they show, and the tasks that discriminate more or less than on average."""
    if fit.evidence is None:
        return None
    seen, names = slope_verdicts(fit), np.array(fit.items.tasks, dtype=object)
    test = fit.evidence.discrimination
    return {
        "abilities": fit.evidence.abilities._asdict(),
        "discrimination": None if test is None else test._asdict(),
        "level": fit.evidence.level,
        "abilities_differ": fit.evidence.abilities_differ,
        "slopes_differ": fit.evidence.slopes_differ,
        "tells_the_able": names[seen.rising].tolist(),
        "discriminates_more": names[seen.steeper].tolist(),
        "discriminates_less": names[seen.flatter].tolist(),
    }


def _flat(fit: IRTFit) -> list[str]:
    """Tasks that tell little of the able, where agents are shown to differ and responses are at hand."""
    shown = fit.evidence is not None and fit.evidence.abilities_differ
    if fit.matrix is None or not shown or fit.groups:
        return []
    weak = set(flags.rewarding_the_weak(fit))
    return [task for task in flat_tasks(fit.matrix) if task not in weak]


def _data(fit: IRTFit, told: Indicators) -> Record:
    return {
        "model": fit.model,
        "estimator": fit.estimator,
        "outcome": fit.outcome.value,
        "converged": fit.converged,
        "log_likelihood": fit.log_likelihood,
        "objective": fit.objective,
        "aic": fit.aic,
        "bic": fit.bic,
        "nodes": len(fit.quadrature),
        "tasks": _tasks(fit),
        "agents": records(
            agent=told.agents,
            mean=told.mean,
            ability=told.ability,
            ability_se=told.ability_error,
            regularity=told.regularity,
            generality=told.generality,
            slope=told.slope,
            flags=told.flags,
        ),
        "dropped": [{"task": task.name, "reason": task.reason} for task in fit.dropped],
        "left_out": [{"agent": agent.name, "reason": agent.reason} for agent in fit.left_out],
        "response": fit.items.response,
        "landmark": None if fit.items.landmark is None else float(fit.items.landmark[0]),
        "population_sd": fit.population_sd,
        "parameters": fit.parameters,
        "iterations": fit.iterations,
        "starts": {"objectives": list(fit.starts.objectives), "agreeing": fit.starts.agreeing},
        "quadrature": fit.quadrature.kind,
        "priors": to_record(fit.priors),
        "bins": None
        if told.bins is None
        else {"edges": told.bins.edges.tolist(), "tasks": told.bins.counts.tolist()},
        "correlations": [each._asdict() for each in told.correlations],
        "flat": None if fit.matrix is None else _flat(fit),
        "rewards_the_weak": list(flags.rewarding_the_weak(fit)),
        "evidence": _evidence(fit),
        "leading": list(told.leading),
    }
