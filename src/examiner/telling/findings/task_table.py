"""Task table: difficulty and discrimination of every task, with what to doubt."""

from __future__ import annotations

import numpy as np

from examiner.telling.finding import (
    Block,
    Cell,
    Column,
    Finding,
    Name,
    Notes,
    Prose,
    Table,
    enumerated,
)
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.resampled import untold
from examiner.telling.study import Study
from examiner.wording import counted

KEY, TITLE = "task_table", "Difficulty and discrimination"
MOST_ROWS = 500
MOST_ASIDE = 50


def task_table(study: Study) -> Finding:
    """List tasks, the most difficult first; those with a flag are marked.

    >>> from examiner.results import Results
    >>> task_table(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    blocks: list[Block] = [_table(made)]
    if made.fit.dropped:
        shown = made.fit.dropped[:MOST_ASIDE]
        aside: list[Prose] = [(Name(one.name), f": {one.reason}") for one in shown]
        if len(made.fit.dropped) > MOST_ASIDE:
            more = counted(len(made.fit.dropped) - MOST_ASIDE, "more task")
            aside.append((f"and {more}.",))
        blocks.append(Notes("Set aside", tuple(aside)))
    return Finding(KEY, TITLE, _lead(made), tuple(blocks))


def _lead(made: Fitted) -> Prose:
    items, errors = made.fit.items, made.fit.errors
    tasks = counted(len(items), "task")
    negative = items.slope < 0
    if errors is None:
        return (f"{int(negative.sum()):,} of {tasks} have negative discrimination.",)
    rising = int((errors.slope_low > 0).sum())
    falling = errors.slope_high < 0
    start = f"{rising:,} of {tasks} tell the able from others beyond doubt"
    if not negative.any():
        return (f"{start}; none has negative discrimination.",)
    names = [items.tasks[place] for place in np.flatnonzero(negative)]
    if not falling.any():
        return (f"{start}; negative, but within noise: ", *enumerated(names, 6), ".")
    beyond = [items.tasks[place] for place in np.flatnonzero(falling)]
    return (f"{start}; the able do worse, beyond noise, on ", *enumerated(beyond, 6), ".")


def _table(made: Fitted) -> Table:
    fit = made.fit
    guessed = bool((fit.items.guessing > 0).any() or (fit.items.ceiling < 1).any())
    columns = [
        Column("task", "name"),
        Column("difficulty", "number", "the ability with even chances"),
        Column("low", "number", "95 % (Fieller); none where it is unbounded"),
        Column("high", "number", "95 % (Fieller); none where it is unbounded"),
        Column("discrimination", "number", "slope; negative: the able do worse"),
        Column("±", "number", "its standard error"),
        *([Column("guessing", "number"), Column("ceiling", "number")] if guessed else []),
        Column("flags", "text", "what to doubt"),
    ]
    difficulty = fit.items.difficulty
    order = np.argsort(-np.nan_to_num(difficulty, nan=-np.inf), kind="stable")[:MOST_ROWS]
    rows = tuple(_row(made, int(place), guessed) for place in order)
    shown = (
        f" The {MOST_ROWS} most difficult of {len(difficulty):,} are shown."
        if len(difficulty) > MOST_ROWS
        else ""
    )
    return Table(tuple(columns), rows, (f"The most difficult first.{shown}",))


def _row(made: Fitted, place: int, guessed: bool) -> tuple[Cell, ...]:
    fit = made.fit
    errors = fit.errors

    def error(name: str) -> float | None:
        return None if errors is None else float(getattr(errors, name)[place])

    extra: tuple[Cell, ...] = ()
    if guessed:
        extra = (float(fit.items.guessing[place]), float(fit.items.ceiling[place]))
    return (
        Name(fit.items.tasks[place]),
        float(fit.items.difficulty[place]),
        error("difficulty_low"),
        error("difficulty_high"),
        float(fit.items.slope[place]),
        error("slope"),
        *extra,
        "; ".join(fit.flags[place]),
    )
