"""What a set of tasks covers of a schema: how often each value, which values and pairs never."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, shorten, unknown_name
from examiner.results import Classification
from examiner.results.display import html_table
from examiner.typology.schema import Schema
from examiner.typology.schemas import conform, named_schema, observed_schema
from examiner.validation import read_only

MOST_VALUES = 200
"""Values of one dimension: a column with more is a description, not a kind."""


class ValueUse(NamedTuple):
    """How the tasks spread over the values of one dimension.

    `evenness` is Shannon's entropy of the shares over its largest possible value, from 0 (all tasks
    have one value) to 1 (all values equally often); NaN where the dimension has one value only.
    """

    dimension: str
    values: tuple[str, ...]
    counts: tuple[int, ...]
    evenness: float
    commonest: str
    largest_share: float


class Combination(NamedTuple):
    """One value, or one pair of values of two dimensions: pairs of dimension and value."""

    features: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage:
    """What some tasks have of a schema.

    `joint` counts the tasks with both of two values, shape [values, values] over `labels`, pairs of
    dimension and value; its diagonal counts single values. `unclassified` are dimensions of the
    schema that the classification says nothing about.
    """

    schema: str
    tasks: tuple[str, ...]
    uses: tuple[ValueUse, ...]
    unclassified: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    joint: NDArray[np.int64]

    def __repr__(self) -> str:
        absent, pairs = len(self.missing_values), len(self.missing_pairs)
        return (
            f"Coverage of {self.schema!r} by {counted(len(self.tasks), 'task')}: {absent:,} of "
            f"{len(self.labels):,} values and {pairs:,} of {self.pairs:,} pairs are missing"
        )

    def _repr_html_(self) -> str:
        header = ["dimension", "commonest", "largest_share", "evenness"]
        rows = [[getattr(use, name) for name in header] for use in self.uses]
        return html_table(repr(self), [name.replace("_", " ") for name in header], rows)

    @property
    def missing_values(self) -> tuple[Combination, ...]:
        """Values that no task has."""
        absent = np.flatnonzero(np.diagonal(self.joint) == 0)
        return tuple(Combination((self.labels[index],)) for index in absent)

    @property
    def missing_pairs(self) -> tuple[Combination, ...]:
        """Pairs of values that some task has each, and none has both."""
        first, second = np.nonzero(np.triu(self._possible & (self.joint == 0), k=1))
        return tuple(
            Combination((self.labels[one], self.labels[other]))
            for one, other in zip(first, second, strict=True)
        )

    @property
    def pairs(self) -> int:
        """Number of pairs of values, of two dimensions, that some task has each."""
        return int(np.triu(self._possible, k=1).sum())

    @property
    def _possible(self) -> NDArray[np.bool_]:
        dimension = np.array([name for name, _ in self.labels])
        had = np.diagonal(self.joint) > 0
        apart: NDArray[np.bool_] = dimension[:, None] != dimension
        return apart & had[:, None] & had


def coverage(
    classification: Classification,
    schema: str | Schema | None = None,
    tasks: Sequence[str] | None = None,
) -> Coverage:
    r"""Count what all tasks, or those named, have of a schema; by default of the table's own values.

    .. math:: \mathrm{evenness} = -\sum_v p_v \log p_v / \log K

    where p are the shares of the K values that the schema gives a dimension.

    References: papers/000, sections IV and VII; Pielou (1966) for the evenness.

    >>> kinds = Classification(("pong", "alien"), ("haste",), (("absent",), ("absent",)))
    >>> held = coverage(kinds, "elverdam-aarseth")
    >>> held.uses[0].counts, held.missing_values[0].features, len(held.unclassified)
    ((0, 2), (('internal_time.haste', 'present'),), 16)
    """
    whole = observed_schema(classification) if schema is None else named_schema(schema)
    kinds = conform(classification, whole) if schema is not None else classification
    rows = _rows(kinds, tasks)
    dimensions = [whole.dimension(name) for name in kinds.features]
    columns = []
    for dimension in dimensions:
        if len(dimension.values) > MOST_VALUES:
            raise InputError(
                f"The feature {shorten(dimension.name)} has {len(dimension.values):,} values, which "
                f"tell tasks apart but are no kinds. Leave it out, or use at most {MOST_VALUES}."
            )
        held = np.array(kinds.feature(dimension.name), dtype=object)[rows]
        columns.append(held[:, None] == np.array(dimension.values, dtype=object))
    has = np.concatenate(columns, axis=1).astype(np.int64)
    joint: NDArray[np.int64] = has.T @ has
    read_only(joint)
    return Coverage(
        schema=whole.name,
        tasks=tuple(kinds.tasks[row] for row in rows),
        uses=tuple(
            _use(dimension.name, dimension.values, column.sum(axis=0))
            for dimension, column in zip(dimensions, columns, strict=True)
        ),
        unclassified=tuple(name for name in whole.names if name not in kinds.features),
        labels=tuple((one.name, value) for one in dimensions for value in one.values),
        joint=joint,
    )


def _rows(classification: Classification, tasks: Sequence[str] | None) -> list[int]:
    if tasks is None:
        rows = list(range(len(classification.tasks)))
    else:
        row_of = {task: row for row, task in enumerate(classification.tasks)}
        for task in tasks:
            if task not in row_of:
                raise unknown_name("task", task, classification.tasks)
        rows = [row_of[task] for task in tasks]
    if not rows or not classification.features:
        raise InputError(
            f"There are {len(rows)} tasks and {len(classification.features)} features to cover. "
            f"Give at least one of each."
        )
    return rows


def _use(dimension: str, values: tuple[str, ...], counts: NDArray[np.int64]) -> ValueUse:
    shares = counts / counts.sum()
    seen = shares[shares > 0]
    evenness = float("nan")
    if len(values) > 1:
        evenness = max(0.0, float(-(seen * np.log(seen)).sum() / np.log(len(values))))
    most = int(np.argmax(counts))
    return ValueUse(
        dimension,
        values,
        tuple(int(count) for count in counts),
        evenness,
        values[most],
        float(shares[most]),
    )
