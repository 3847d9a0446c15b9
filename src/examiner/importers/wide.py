"""Wide tables: whether the first column names agents or tasks, and which columns are neither."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import polars as pl

from examiner.importers.cells import without_missing_words
from examiner.importers.conditions import dividing_columns
from examiner.importers.options import Orientation
from examiner.importers.suggestions import MissingNamesError, one_result_per_row, suggested_measure
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    INDEX_COLUMN,
    KEY_COLUMNS,
    RANKS,
    TASK_COLUMNS,
    TIME_COLUMNS,
    columns_like,
    is_known_task,
    mostly_tasks,
)
from examiner.messages import InputError, listed, shorten
from examiner.results import ITEM_COLUMNS, numbers_in

_COSTS = frozenset(
    {*("time", "runtime", "duration", "latency", "seconds", "cost", "price", "ram", "memory")}
    | {*("tokens", "params", "parameters", "flops")}
)
"""Words that name costs, alone or with others such as `total`."""
_QUANTITIES = _COSTS | {"size", "count", "length", "rate", "sec", "score", "accuracy", "error"}
"""Words that say at the end of a name what is counted or measured."""
_AVERAGES = frozenset({"mean", "average", "avg"})
_OF_COSTS = _AVERAGES | {
    *("total", "number", "of", "per", "train", "training", "test", "testing", "inference"),
    *("cpu", "gpu", "wall", "clock", "wallclock"),
}
_TIMES = frozenset({*TIME_COLUMNS, "epoch", "epochs", "iteration", "iterations", "episode"})
_STATISTICS = frozenset(
    {"std", "stdev", "std_dev", "stddev", "stderr", "std_err", "sem", "variance", "ci", "±"}
)
_SPREAD = re.compile(
    r"\b(?:st(?:an)?d(?:ard)? ?(?:dev(?:iation)?|err(?:or)?)|stdev|std|sem|variance|moe)\b"
)
"""Words that make the name of a column that of its spread: `mmlu_stderr`, `std_dev_moves`."""


def orientation(frame: pl.DataFrame, asked: Orientation | None) -> tuple[bool, tuple[str, ...]]:
    """Return whether the rows of a wide table are tasks, and what was guessed for it.

    A column that names neither is refused: a count, a time, a statistic; so are numbers as names. Costs
    and different quantities are refused where nobody says what the columns are.

    >>> table = pl.DataFrame({"name": ["pong", "venture"], "dqn": [18, 380], "ppo": [20, 0]})
    >>> orientation(table, None)[0]
    True
    """
    first, *others = frame.columns
    keys = wide_keys(frame)
    others = [name for name in others if name not in keys]
    _refuse_columns(others, frame)
    dividing = [] if keys else dividing_columns(frame, [first])
    if dividing:
        what = (
            f"Rows of one {shorten(first)} differ in {listed(dividing)}, which is neither an agent nor a "
            f"task. Keep the rows of one value (`--where "
            f"{shlex.quote(f'{dividing[0]}={frame[dividing[0]][0]}')}`)."
        )
        raise one_result_per_row(what, frame.columns, named=not holds_numbers(frame[:, 0]))
    if asked is not None:
        return asked == "rows", ()
    _refuse_quantities(others, frame)
    named_tasks, named_agents = (
        bool(columns_like([first], known)) for known in (TASK_COLUMNS, AGENT_COLUMNS)
    )
    rows = frame[:, 0].drop_nulls().unique(maintain_order=True).cast(pl.String).to_list()
    if not (named_tasks or named_agents):
        _refuse_numbers(frame)
    rows_are_tasks = mostly_tasks(rows) and not mostly_tasks(others)
    if keys and not mostly_tasks(others):
        _refuse_measures(keys[0], others)
    if rows_are_tasks and named_agents:
        raise InputError(
            f"The first column is called {shorten(first)}, and its names are known tasks "
            f"({listed(rows, limit=3)}). Say which they are: `--tasks-are rows` or `--tasks-are columns`."
        )
    if named_tasks:
        return True, (
            f"The first column is called {shorten(first)}: tasks are rows, agents are columns.",
        )
    if rows_are_tasks:
        return True, (
            f"Most names in the first column, {shorten(first)}, are known tasks: tasks are rows, agents "
            f"are columns.",
        )
    if named_agents:
        return False, ()
    return False, (
        f"The first column, {shorten(first)}, is read as the agents' names and the others as tasks; if "
        f"tasks are rows, say so (`--tasks-are rows`).",
    )


def wide_keys(frame: pl.DataFrame) -> list[str]:
    """Return the key columns of a wide table; numbers that are not whole are results, as of a game `run`.

    >>> wide_keys(pl.DataFrame({"agent": ["a", "b"], "seed": [1, 2], "run": [0.5, 0.25]}))
    ['seed']
    """
    present = [name for name in KEY_COLUMNS if name in frame.columns[1:]]
    numbers = frame.select(pl.col(present).cast(pl.Float64, strict=False))
    return [name for name in present if not (numbers[name] % 1 != 0).any()]


def holds_numbers(column: pl.Series) -> bool:
    """Tell whether a column holds nothing but numbers, as text or not.

    >>> holds_numbers(pl.Series(["1", "2.5"])), holds_numbers(pl.Series(["dqn", "1"]))
    (True, False)
    """
    if column.dtype.is_numeric():
        return True
    texts = without_missing_words(column.cast(pl.String)).drop_nulls()
    return bool(len(texts)) and numbers_in(texts)[1] is None


def _refuse_numbers(frame: pl.DataFrame) -> None:
    column, template = frame[:, 0], "{agent}/{task}"
    if not holds_numbers(column):
        return
    name = "has no name" if column.name == INDEX_COLUMN else f"is {shorten(column.name)}"
    values = column.drop_nulls().cast(pl.String).to_list()
    measure = suggested_measure(frame.columns)
    among = "" if measure else f", COLUMN being one of {listed(frame.columns, limit=12)}"
    raise MissingNamesError(
        f"The first column {name} and holds numbers ({', '.join(values[:3])}{', …' * (len(values) > 3)}), "
        f"not names of agents or tasks. If each row is one result, name the measure and take names from "
        f"the path: `--measure {shlex.quote(measure or 'COLUMN')} --path '{template}'`{among}. If it "
        f"does name agents: `--tasks-are columns`; tasks: `--tasks-are rows`.",
        ("agent", "task"),
        template,
    )


def _refuse_measures(key: str, others: Sequence[str]) -> None:
    """Refuse rows of single runs whose other columns may be measures as well as agents or tasks."""
    raise InputError(
        f"Each row is one {key}, and the columns {listed(others, limit=3)} may be agents, tasks or "
        f"measures. Agents: `--tasks-are rows`; tasks: `--tasks-are columns`; measures: `--measure "
        f"{shlex.quote(others[0] if others else 'COLUMN')}`."
    )


def _refuse_columns(names: Sequence[str], frame: pl.DataFrame) -> None:
    """Refuse a wide table with a column that can be neither an agent nor a task."""
    kinds = {
        "a time": _TIMES,
        "a statistic of other columns": _STATISTICS,
        "a part of an item's name": frozenset(ITEM_COLUMNS),
        "a rank": RANKS,
    }
    for kind, known in kinds.items():
        name = next((name for name in names if name.strip().lower() in known), None)
        if name is not None:
            what = (
                f"The column {shorten(name)} is {kind}, and neither an agent nor a task. Remove it."
            )
            raise one_result_per_row(what, frame.columns, named=not holds_numbers(frame[:, 0]))


def _refuse_quantities(names: Sequence[str], frame: pl.DataFrame) -> None:
    """Refuse costs, spreads, and names most of which end with quantities: `step_time`, `batch_size`."""
    unknown = [name for name in names if not is_known_task(name)]
    words = {name: re.findall(r"[a-z]{2,}", name.lower()) for name in unknown}
    ends = {name: last for name in unknown for last in words[name][-1:] if last in _QUANTITIES}
    cost = next(filter(_is_cost, unknown), None)
    if extra := cost or _spread_of_another(names):
        kind = "a cost" if cost else "a statistic of other columns"
        what = f"The column {shorten(extra)} is {kind}, and neither an agent nor a task. Remove it."
    elif len(set(ends.values())) > 1 and 2 * len(ends) > len(names):
        kinds = list({end: name for name, end in ends.items()}.values())
        what = (
            f"The columns {listed(kinds, limit=3)} are different quantities: measures, not tasks."
        )
    else:
        return
    raise one_result_per_row(
        f"{what} If all columns are tasks: `--tasks-are columns`; if they are agents: `--tasks-are rows`.",
        frame.columns,
        named=not holds_numbers(frame[:, 0]),
    )


def _spread_of_another(names: Sequence[str]) -> str | None:
    """Return a column that is named as the spread of another: `mmlu_stderr` beside `mmlu`.

    >>> _spread_of_another(["mmlu", "mmlu_stderr"]), _spread_of_another(["std", "c_std"])
    ('mmlu_stderr', None)
    """
    spaced = {name: re.sub(r"[\W_]+", " ", name.lower()).strip() for name in names}
    without = {name: _SPREAD.sub(" ", words) for name, words in spaced.items()}
    quantities = {name: frozenset(words.split()) - _AVERAGES for name, words in without.items()}
    measured = {quantities[name] for name in names if without[name] == spaced[name]}
    spreads = (name for name in names if without[name] != spaced[name])
    return next(
        (name for name in spreads if quantities[name] and quantities[name] in measured), None
    )


def _is_cost(name: str) -> bool:
    """Whether a name consists of words for costs, numbers and single letters: `Time_A`, `total cost`."""
    words = {word for word in re.split(r"[\W_\d]+", name.lower()) if len(word) > 1}
    return bool(words & _COSTS) and words <= _COSTS | _OF_COSTS
