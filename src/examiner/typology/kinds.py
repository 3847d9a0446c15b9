"""Kinds: the five steps of papers/000 from a classification to a smaller set of tasks, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from examiner.results import Classification
from examiner.typology.conformity import conform, fitting_schema, named_schema, observed_schema
from examiner.typology.coverage import Coverage
from examiner.typology.coverage import coverage as task_coverage
from examiner.typology.grouping import TaskGroup, one_of_each
from examiner.typology.grouping import groups as group_tasks
from examiner.typology.schema import Schema, letters
from examiner.wording import counted, listed, unknown_name


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """Tasks in groups of one kind, one task of each, and what both sets cover of a schema."""

    classification: Classification
    schema: Schema
    groups: tuple[TaskGroup, ...]
    reduced: tuple[str, ...]
    coverage: Coverage
    reduced_coverage: Coverage
    notes: tuple[str, ...]

    @property
    def saved(self) -> float:
        """The share of tasks that the reduced set leaves out."""
        return 1 - len(self.reduced) / len(self.classification.tasks)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the groups, the reduced set and what is missing as JSON values.

        >>> known = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
        >>> made = kinds(known, rng=np.random.default_rng(0)).to_dict()
        >>> made["reduced"], made["missing"]
        (['go'], [{'features': {'internal_time.haste': 'present'}}])
        """
        held = self.coverage
        missing = (*held.missing_values, *held.missing_pairs)
        return {
            "typology": self.schema.name,
            "tasks": list(self.classification.tasks),
            "groups": [group.to_dict() for group in self.groups],
            "reduced": list(self.reduced),
            "saved": self.saved,
            "missing": [{"features": dict(one.features)} for one in missing],
            "coverage": [
                {
                    **use._asdict(),
                    "reduced_counts": fewer.counts,
                    "reduced_evenness": fewer.evenness,
                }
                for use, fewer in zip(held.uses, self.reduced_coverage.uses, strict=True)
            ],
            "unclassified": list(held.unclassified),
            "warnings": list(self.notes),
        }

    def __repr__(self) -> str:
        tasks, groups = len(self.classification.tasks), len(self.groups)
        return (
            f"Kinds by {self.schema.name!r}: {counted(tasks, 'task')} in {counted(groups, 'group')}; "
            f"one of each leaves out {self.saved:.0%}"
        )


def kinds(
    classification: Classification,
    schema: str | Schema | Literal["auto"] | None = "auto",
    features: Sequence[str] | None = None,
    *,
    rng: np.random.Generator,
) -> Kinds:
    """Group tasks by what they are, keep one of each group, and say what is covered and what lacks.

    The schema is a name in `SCHEMAS`, a `Schema`, or None for the features and values of the table
    itself; "auto" takes the schema that knows most of the features, else None. `features` chooses
    some of them.

    References: papers/000, section IV.

    >>> import examiner as ex
    >>> kinds(ex.load("atari-typology"), rng=np.random.default_rng(0))
    Kinds by 'elverdam-aarseth': 55 tasks in 31 groups; one of each leaves out 44%
    """
    chosen = classification if features is None else _with_features(classification, features)
    found = fitting_schema(chosen) if schema == "auto" else schema
    kinds = chosen if found is None else conform(chosen, found)
    groups = group_tasks(kinds)
    whole = observed_schema(kinds) if found is None else named_schema(found)
    reduced = one_of_each(groups, rng=rng)
    against = None if found is None else whole
    return Kinds(
        classification=kinds,
        schema=whole,
        groups=groups,
        reduced=reduced,
        coverage=task_coverage(kinds, against),
        reduced_coverage=task_coverage(kinds, against or whole, reduced),
        notes=_notes(kinds, found is None),
    )


def _with_features(classification: Classification, features: Sequence[str]) -> Classification:
    """The classification with some features only, named in any spelling."""
    spelled = {letters(name): name for name in classification.features}
    chosen = []
    for feature in features:
        name = feature if feature in classification.features else spelled.get(letters(feature))
        if name is None:
            raise unknown_name("feature", feature, classification.features)
        chosen.append(name)
    columns = [classification.feature(name) for name in chosen]
    return Classification(
        classification.tasks,
        tuple(chosen),
        tuple(zip(*columns, strict=True)),
        classification.attributes,
        classification.source,
    )


def _notes(classification: Classification, own: bool) -> tuple[str, ...]:
    notes = []
    if own:
        notes.append(
            f"The features {listed(classification.features, 4)} were taken as they are: without a "
            f"schema only pairs of values can be told missing, not values."
        )
    if len(classification.tasks) == 1:
        notes.append("There is one task only: it is the whole set.")
    return tuple(notes)
