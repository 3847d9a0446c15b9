"""Coverage of a typology by tasks: how often each value occurs, which values and pairs never do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, number, scalar, setting, text
from examiner.messages import InputError, counted, shorten, unknown_name
from examiner.results import Classification
from examiner.typology.schemas import Schema, conform, named_schema, observed_schema
from examiner.validation import Floats, read_only

Feature = tuple[str, str]
"""A dimension and one of its values."""


class DimensionUse(Table):
    """How evenly tasks are spread over the values of each dimension."""

    dimension: tuple[str, ...] = name("Dimension")
    evenness: Floats = number("1: every value equally often; 0: one value only")
    kept_evenness: Floats | None = number(
        "Evenness of the tasks kept, one of each kind", title="evenness kept", default=None
    )
    commonest: tuple[str, ...] = text("Most frequent value", title="commonest value")
    largest_share: Floats = number("Share of tasks with this value", title="its share")
    value_count: NDArray[np.int64] = count("Values that the typology has", title="values")
    used: NDArray[np.int64] = count("Values that at least one task has")


class ValueCounts(Table):
    """How many tasks have each value."""

    dimension: tuple[str, ...] = name("Dimension")
    value: tuple[str, ...] = name("Value")
    tasks: NDArray[np.int64] = count("Tasks with this value")


class ValuePairs(Table):
    """Pairs of values."""

    dimension: tuple[str, ...] = name("Dimension")
    value: tuple[str, ...] = name("Value")
    other_dimension: tuple[str, ...] = name("Other dimension")
    other_value: tuple[str, ...] = name("Value of the other dimension")


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Answer):
    """How tasks cover a typology.

    `joint` counts the tasks with both of two values, shape [values, values] over `labels`, pairs of
    dimension and value; its diagonal counts single values. `unclassified` are dimensions of the typology
    that the classification does not have.
    """

    kind = "coverage"

    typology: str = field(metadata=setting())
    tasks: tuple[str, ...]
    unclassified: tuple[str, ...] = field(metadata=setting())
    labels: tuple[Feature, ...]
    joint: NDArray[np.int64]
    missing_values: tuple[Feature, ...]
    """Values that no task has."""
    missing_pairs: tuple[tuple[Feature, Feature], ...]
    """Pairs of values each of which some task has, but no task has both."""
    pairs: int = field(
        metadata=scalar("Pairs of values each of which some task has", name="possible_pairs")
    )

    def counts(self, dimension: str) -> dict[str, int]:
        """Return how many tasks have each value of a dimension.

        >>> kinds = Classification(("pong", "alien"), ("haste",), (("absent",), ("absent",)))
        >>> coverage(kinds, "elverdam-aarseth").counts("internal_time.haste")
        {'present': 0, 'absent': 2}
        """
        tasks = np.diagonal(self.joint).tolist()
        return {
            value: count
            for (name, value), count in zip(self.labels, tasks, strict=True)
            if name == dimension
        }

    @property
    def headline(self) -> str:
        """How many values and pairs of values no task has."""
        return (
            f"{counted(len(self.tasks), 'task')} lack {len(self.missing_values):,} of "
            f"{counted(len(self.labels), 'value')} and {len(self.missing_pairs):,} of "
            f"{counted(self.pairs, 'pair')} of values of '{self.typology}'."
        )

    @cached_property
    def dimensions(self) -> DimensionUse:
        """How evenly tasks are spread over the values of each dimension."""
        return self.compared_with(None)

    def compared_with(self, kept: Coverage | None) -> DimensionUse:
        """Return the table of dimensions, with the evenness of the tasks kept.

        >>> from examiner.results import Classification
        >>> kinds = Classification(("pong", "alien"), ("haste",), (("absent",), ("present",)))
        >>> coverage(kinds, "elverdam-aarseth").compared_with(None)["internal_time.haste"].evenness
        1.0
        """
        names = tuple(dict.fromkeys(dimension for dimension, _ in self.labels))
        counts = [self.counts(dimension) for dimension in names]
        commonest = [max(of_value, key=lambda value: of_value[value]) for of_value in counts]
        return DimensionUse(
            dimension=names,
            evenness=[_evenness(of_value) for of_value in counts],
            kept_evenness=None if kept is None else kept.dimensions.evenness,
            commonest=commonest,
            largest_share=[
                of_value[most] / sum(of_value.values())
                for of_value, most in zip(counts, commonest, strict=True)
            ],
            value_count=[len(of_value) for of_value in counts],
            used=[sum(tasks > 0 for tasks in of_value.values()) for of_value in counts],
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Dimensions, values, and pairs of values that no task has."""
        pairs = self.missing_pairs
        return {
            "dimensions": self.dimensions,
            "values": ValueCounts(
                dimension=[dimension for dimension, _ in self.labels],
                value=[value for _, value in self.labels],
                tasks=np.diagonal(self.joint),
            ),
            "missing_pairs": ValuePairs(
                dimension=[first[0] for first, _ in pairs],
                value=[first[1] for first, _ in pairs],
                other_dimension=[second[0] for _, second in pairs],
                other_value=[second[1] for _, second in pairs],
            ),
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """How many values and pairs are missing."""
        pairs = len(self.missing_pairs)
        return {
            "missing_values": Scalar(len(self.missing_values), "Values that no task has"),
            "missing_pair_count": Scalar(pairs, "Pairs of values that no task has together"),
            **super().scalars,
        }


def coverage(
    classification: Classification,
    schema: str | Schema | None = None,
    tasks: Sequence[str] | None = None,
) -> Coverage:
    r"""Return how all tasks, or those named, cover a typology; by default the table's own values.

    .. math:: \mathrm{evenness} = -\sum_v p_v \log p_v / \log K

    where p are the shares of the K values that the schema gives a dimension.

    References: papers/000, sections IV and VII; Pielou (1966) for the evenness.

    >>> kinds = Classification(("pong", "alien"), ("haste",), (("absent",), ("absent",)))
    >>> covered = coverage(kinds, "elverdam-aarseth")
    >>> covered.missing_values, len(covered.unclassified)
    ((('internal_time.haste', 'present'),), 16)
    """
    whole = observed_schema(classification) if schema is None else named_schema(schema)
    kinds = conform(classification, whole) if schema is not None else classification
    rows = _rows(kinds, tasks)
    dimensions = [whole.dimension(feature) for feature in kinds.features]
    columns = []
    for dimension in dimensions:
        if len(dimension.values) > 200:  # a description, not a kind
            raise InputError(
                f"The feature {shorten(dimension.name)} has {len(dimension.values):,} values: it describes "
                f"single tasks, not kinds. Leave it out, or use at most 200 values."
            )
        observed = np.array(kinds.feature(dimension.name), dtype=object)[rows]
        columns.append(observed[:, None] == np.array(dimension.values, dtype=object))
    has = np.concatenate(columns, axis=1).astype(np.int64)
    joint: NDArray[np.int64] = has.T @ has
    read_only(joint)
    labels = tuple((one.name, value) for one in dimensions for value in one.values)
    dimension_of = np.array([name for name, _ in labels])
    present = np.diagonal(joint) > 0
    possible = np.triu((dimension_of[:, None] != dimension_of) & present[:, None] & present)
    return Coverage(
        typology=whole.name,
        tasks=tuple(kinds.tasks[row] for row in rows),
        unclassified=tuple(feature for feature in whole.names if feature not in kinds.features),
        labels=labels,
        joint=joint,
        missing_values=tuple(labels[at] for at in np.flatnonzero(~present)),
        missing_pairs=tuple(
            (labels[a], labels[b]) for a, b in np.argwhere(possible & (joint == 0))
        ),
        pairs=int(possible.sum()),
    )


def _rows(classification: Classification, tasks: Sequence[str] | None) -> list[int]:
    row_of = {task: row for row, task in enumerate(classification.tasks)}
    for task in tasks or ():
        if task not in row_of:
            raise unknown_name("task", task, classification.tasks)
    rows = [row_of[task] for task in (classification.tasks if tasks is None else tasks)]
    if not rows or not classification.features:
        raise InputError(
            f"There are {len(rows)} tasks and {len(classification.features)} features to cover. "
            f"Give at least one of each."
        )
    return rows


def _evenness(tasks_of: Mapping[str, int]) -> float:
    """Return the entropy of the shares over its largest possible value; NaN for a single value."""
    counts = np.array(list(tasks_of.values()))
    if len(counts) < 2:
        return float("nan")
    shares = counts[counts > 0] / counts.sum()
    return max(0.0, float(-(shares * np.log(shares)).sum() / np.log(len(counts))))
