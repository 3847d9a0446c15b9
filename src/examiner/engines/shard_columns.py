"""The columns of shards that together are one table of results: found, and alike in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from examiner.engines.shard_places import Shard, answers
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import BESIDE_RESULTS, ITEM_COLUMNS, MEASURES, PROBLEMS

COUNTS = ("successes", "trials")
"""The columns of results that are counted already."""
_KEYS = ("agent", "task")


class Columns(NamedTuple):
    """Where results stand in a shard: in two columns of counts, in one measure, or in one a task.

    `agent` is the column of agents; `tasks` are the columns of a wide table, else none.
    """

    agent: str
    counts: bool
    measure: str | None
    tasks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    """Other measures that stand beside the one that is taken."""
    keys: tuple[str, ...] = ()
    """Columns by which rows of one agent and task differ."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed of them."""
        if not self.others:
            return ()
        return (
            f"Of the measures {listed((str(self.measure), *self.others))} the first is fitted. Name "
            f"another where that is meant (`--measure NAME`, `measure=`).",
        )

    def repeated(self, most: int) -> str:
        """Say that cells stood in several rows, with up to so many trials.

        >>> Columns("agent", False, "win").repeated(2)
        "There is no 'trial' column: repeated rows of one agent and task are taken as trials, up to 2."
        """
        sentence = f"repeated rows of one agent and task are taken as trials, up to {most:,}."
        if not self.keys:
            return f"There is no 'trial' column: {sentence}"
        verb = "is" if len(self.keys) == 1 else "are"
        return f"{listed(self.keys)} {verb} not told apart in shards: {sentence}"


def columns_of(shard: Shard, measure: str | None = None) -> Columns:
    """Return where results stand in a shard."""
    try:
        schema = shard.scanned().collect_schema()
    except (*PROBLEMS, OSError) as problem:
        raise shard.unreadable(problem) from None
    numbers = [name for name, kind in schema.items() if kind.is_numeric() or kind == pl.Boolean]
    if all(name in schema for name in _KEYS):
        keys = tuple(name for name in (*ITEM_COLUMNS, "run", "seed", "trial") if name in schema)
        if measure is None and all(name in numbers for name in COUNTS):
            return Columns("agent", True, None, keys=keys)
        measures = [name for name in numbers if name not in (*_KEYS, *BESIDE_RESULTS)]
        usual = [name for name in MEASURES if name in measures]
        if measure is not None and measure not in numbers:
            raise InputError(
                f"The shard {shorten(shard, 200)} has no column {measure!r} of numbers. It has: "
                f"{listed(schema)}."
            )
        if measure is None and not measures:
            raise InputError(
                f"The shard {shorten(shard, 200)} has no column of results beside agent and task. It has: "
                f"{listed(schema)}."
            )
        if measure is None and not usual and len(measures) > 1:
            raise InputError(
                f"The shard {shorten(shard, 200)} has several columns of numbers: {listed(measures)}. Name "
                f"the one to fit (`--measure NAME`, `measure=`)."
            )
        if measure is not None:
            return Columns("agent", False, measure, keys=keys)
        taken, *others = usual or measures
        return Columns("agent", False, taken, others=tuple(others), keys=keys)
    first, *others = schema
    if not others or numbers != others:
        raise InputError(
            f"The shard {shorten(shard, 200)} has the columns {listed(schema)}. Give agent, task and a "
            f"measure; or the agents' names first and then a column of numbers for each task."
        )
    return Columns(first, False, None, tuple(others))


def check_alike(shards: Sequence[Shard], measure: str | None) -> Columns:
    """Return where results stand in all shards, or name the first that is otherwise."""
    first, *others = answers(lambda shard: columns_of(shard, measure), shards)
    for shard, other in zip(shards[1:], others, strict=True):
        if other[:3] != first[:3] or set(other.tasks) != set(first.tasks):
            raise InputError(
                f"The shard {shorten(shard, 200)} has another schema than {shorten(shards[0], 200)}: "
                f"{_said(other)} instead of {_said(first)}. Write all shards with the same columns."
            )
    return first


def _said(columns: Columns) -> str:
    if columns.tasks:
        return f"{counted(len(columns.tasks), 'column')} of tasks"
    return (
        "the counts successes and trials" if columns.counts else f"the measure {columns.measure!r}"
    )
