"""What `examiner fit` prints for people: findings first, then tasks and agents, within 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from examiner.cli.output import print_line, print_table, printable
from examiner.irt.diagnostics.flags import (
    BOUNDARY,
    NEGATIVE,
    NO_ERROR,
    NO_GUESSING,
    NO_OVERDISPERSION,
    NO_SLIPPING,
    SEPARATED,
    SIGN_WITHIN_NOISE,
    UNBOUNDED_DIFFICULTY,
    weak_sentence,
)
from examiner.wording import counted, listed

if TYPE_CHECKING:
    from examiner.irt import IRTFit

ROWS_SHOWN = 40
_FEWEST_ORDERED = 4
_SERIOUS = (NEGATIVE, BOUNDARY, SEPARATED, NO_ERROR)
_SHORT = {
    NEGATIVE: "rewards the weak",
    BOUNDARY: "boundary",
    SEPARATED: "separated",
    NO_ERROR: "no error",
    SIGN_WITHIN_NOISE: "noise",
    UNBOUNDED_DIFFICULTY: "noise",  # Fieller's interval has no ends where the slope's has 0
    NO_GUESSING: "no guessing",
    NO_SLIPPING: "no ceiling",
    NO_OVERDISPERSION: "coin flips",
}
_MEANINGS = {
    "rewards the weak": "the able do worse, beyond noise",
    "boundary": "the likelihood rises without end, the number is where the fit stopped",
    "separated": "one ability divides success from failure, the slope is the prior's",
    "no error": "the likelihood is flat, nothing is known of the task",
    "noise": "discrimination may be 0 (95 %), so difficulty has no bounds",
    "no guessing": "the data want no guessing",
    "no ceiling": "the data want no ceiling below 1",
    "coin flips": "no overdispersion found",
}
_TITLES = {"difficulty_se": "±", "discrimination_se": "±", "ability_se": "±", "flags": "note"}

Row = dict[str, Any]  # Any: JSON values


def print_fit(made: IRTFit, content: Row, *, repeats_mean: bool) -> None:
    """Print what `fit_content` holds; without regularity where it only repeats the mean.

    >>> from examiner.cli.fit import fit_content
    >>> from examiner.irt import ItemParameters, indicators, known as known_fit
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(["t"], [2.0], difficulty=[0.5])
    >>> fit = known_fit(items, ResponseMatrix.from_array([[1], [0]], tasks=["t"]))
    >>> print_fit(fit, fit_content(fit, indicators(fit)), repeats_mean=True)  # doctest: +ELLIPSIS
    2pl, ml, 2 agents × 1 task; ...
    """
    weak = content["rewards_the_weak"]
    if weak:
        print_line(printable(weak_sentence(weak), 2_000))
    agents, tasks = counted(len(content["agents"]), "agent"), counted(len(content["tasks"]), "task")
    print_line(f"{made.model}, {made.estimator}, {agents} × {tasks}; {made.quadrature.kind}")
    starts = made.starts
    agreeing = (
        f"; {starts.agreeing} of {counted(len(starts.objectives), 'start')} agree"
        if starts.objectives
        else ""
    )
    print_line(f"{made.outcome.value} Log-likelihood {made.log_likelihood:.4f}{agreeing}")
    _print_tasks(content["tasks"], guessed=made.model in ("3pl", "4pl"))
    _print_agents(content["agents"], repeats_mean=repeats_mean)
    for one in content["dropped"][:ROWS_SHOWN]:
        print_line(f"Set aside: {printable(one['task'])}: {one['reason']}")
    _print_more(len(content["dropped"]), "task set aside", "tasks set aside")


def short_flags(flags: Sequence[str]) -> str:
    """The flags of a task in a few words, each fact once.

    >>> short_flags([SIGN_WITHIN_NOISE, UNBOUNDED_DIFFICULTY])
    'noise'
    """
    return ", ".join(dict.fromkeys(_SHORT.get(flag, flag) for flag in flags))


def _print_tasks(rows: list[Row], *, guessed: bool) -> None:
    order = sorted(rows, key=lambda row: np.nan_to_num(-row["difficulty"], nan=np.inf))
    tables: list[tuple[str, list[Row]]] = []
    serious = [row for row in order if set(row["flags"]) & set(_SERIOUS)]
    serious.sort(
        key=lambda row: min(_SERIOUS.index(flag) for flag in _SERIOUS if flag in row["flags"])
    )
    if len(order) <= ROWS_SHOWN:
        if serious and len(serious) < len(order):
            tables.append(("Tasks to look at", serious))
        tables.append(("Tasks, the most difficult first", order))
    else:
        half = ROWS_SHOWN // 2
        if serious:
            tables.append(("Tasks to look at", serious[:ROWS_SHOWN]))
        sure = [row for row in order if not {SIGN_WITHIN_NOISE, NEGATIVE} & set(row["flags"])]
        ordered = sure if len(sure) >= _FEWEST_ORDERED else order
        tables.append(("Tasks, the most difficult first", ordered[:half]))
        tables.append(("The least difficult tasks", ordered[max(half, len(ordered) - half) :]))
    header = ["task", "difficulty", "difficulty_se", "discrimination", "discrimination_se", "flags"]
    if guessed:
        header[5:5] = ["guessing", "ceiling"]
    titles = [_TITLES.get(name, name) for name in header]
    if guessed:
        titles[3] = "discr."
    if not any(row["flags"] for _, part in tables for row in part):
        header, titles = header[:-1], titles[:-1]
    for title, part in tables:
        if part:
            cells = [[_cell(row[name]) for name in header] for row in part]
            print_table(
                f"\n{title}",
                titles,
                cells,
                right=[n for n in range(1, len(header)) if header[n] != "flags"],
            )
    _print_more(
        len(serious) if len(order) > ROWS_SHOWN else 0, "task to look at", "tasks to look at"
    )
    shown = {row["task"] for _, part in tables for row in part}
    if len(shown) < len(order):
        print_line(f"{len(shown):,} of {counted(len(order), 'task')} are shown: all are in --json.")
    _print_doubts(order)


def _print_doubts(rows: list[Row]) -> None:
    """How many tasks each word was said of, and what it means."""
    said = [
        word
        for row in rows
        for word in dict.fromkeys(_SHORT.get(flag, "") for flag in row["flags"])
    ]
    print_line("± is one standard error.")
    for word, meaning in _MEANINGS.items():
        if word in said:
            print_line(f"{word} ({counted(said.count(word), 'task')}): {meaning}.")
    falling = [
        row["task"]
        for row in rows
        if row["discrimination"] < 0 and SIGN_WITHIN_NOISE in row["flags"]
    ]
    if falling:
        print_line(
            printable(f"Negative discrimination, but within noise: {listed(falling)}.", 2_000)
        )


def _print_agents(rows: list[Row], *, repeats_mean: bool) -> None:
    header = ["agent", "mean", "ability", "ability_se", "regularity", "generality", "slope"]
    if repeats_mean:
        header.remove("regularity")
    order = sorted(rows, key=lambda row: np.nan_to_num(-row["ability"], nan=np.inf))
    print_table(
        "\nAgents, the ablest first",
        [_TITLES.get(name, name) for name in header],
        [[row[name] for name in header] for row in order[:ROWS_SHOWN]],
        right=range(1, len(header)),
    )
    _print_more(len(order), "more agent", "more agents")
    if not repeats_mean:
        print_line("regularity: 1 / variance of an agent's results.")
    print_line(
        "generality: 1 / variance within bins of difficulty, high where an agent is\n"
        "good up to its ability and fails beyond. slope: how steeply its results fall\n"
        "with difficulty, through one half."
    )


def _cell(value: object) -> object:
    return short_flags(value) if isinstance(value, list) else value


def _print_more(rows: int, one: str, many: str) -> None:
    if rows > ROWS_SHOWN:
        rest = rows - ROWS_SHOWN
        print_line(f"… and {rest:,} {one if rest == 1 else many}: all are in --json")
