"""Kinds: the five steps of papers/000 from a classification to a smaller set of tasks, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import Classification
from examiner.results.display import html_table
from examiner.typology.coverage import Coverage
from examiner.typology.coverage import coverage as task_coverage
from examiner.typology.schema import Schema, letters
from examiner.typology.schemas import conform, fitting_schema, named_schema, observed_schema
from examiner.validation import Randomness, check_known, generator


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """Tasks with the same value of every chosen feature; `features` are pairs of name and value.

    >>> TaskGroup((("haste", "absent"),), ("pong", "tennis")).to_dict()
    {'features': {'haste': 'absent'}, 'tasks': ['pong', 'tennis']}
    """

    features: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """Return the group as JSON values.

        >>> TaskGroup((), ("pong",)).to_dict()
        {'features': {}, 'tasks': ['pong']}
        """
        return {"features": dict(self.features), "tasks": list(self.tasks)}


def groups(
    classification: Classification, features: Sequence[str] | None = None
) -> tuple[TaskGroup, ...]:
    """Put tasks together that have the same value of every feature, or of those named.

    Groups, and the tasks in them, stand in the order of the classification.

    References: papers/000, section IV, step 4.

    >>> kinds = Classification(("pong", "go", "tennis"), ("haste",), (("yes",), ("no",), ("yes",)))
    >>> [group.tasks for group in groups(kinds)]
    [('pong', 'tennis'), ('go',)]
    """
    chosen = classification.features if features is None else tuple(dict.fromkeys(features))
    if not chosen or not classification.tasks:
        raise InputError(
            f"There are {len(classification.tasks)} tasks and {len(chosen)} features to group by. "
            f"Give at least one of each."
        )
    for feature in chosen:
        check_known("feature", feature, classification.features)
    columns = [classification.feature(feature) for feature in chosen]
    members: dict[tuple[str, ...], list[str]] = {}
    for task, values in zip(classification.tasks, zip(*columns, strict=True), strict=True):
        empty = [name for name, value in zip(chosen, values, strict=True) if not value.strip()]
        if empty:
            raise InputError(
                f"The task {shorten(task)} has no value of {shorten(empty[0])}, so that its kind is "
                f"not known. Classify it, or leave the task or the feature out."
            )
        members.setdefault(values, []).append(task)
    return tuple(
        TaskGroup(tuple(zip(chosen, values, strict=True)), tuple(tasks))
        for values, tasks in members.items()
    )


def one_of_each(groups: Sequence[TaskGroup], *, rng: Randomness) -> tuple[str, ...]:
    """Choose one task of each group at random: the reduced set, in the order of the groups.

    References: papers/000, section IV, step 5.

    >>> groups = (TaskGroup((), ("pong", "tennis")), TaskGroup((), ("go",)))
    >>> one_of_each(groups, rng=0)
    ('tennis', 'go')
    """
    rng = generator(rng)
    return tuple(group.tasks[int(rng.integers(len(group.tasks)))] for group in groups)


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
        >>> made = kinds(known, rng=0).to_dict()
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
            "missing": [{"features": dict(lacking.features)} for lacking in missing],
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

    def _repr_html_(self) -> str:
        rows = [
            [kept, ", ".join(group.tasks), ", ".join(value for _, value in group.features)]
            for kept, group in zip(self.reduced, self.groups, strict=True)
        ]
        return html_table(repr(self), ["kept", "tasks", "features"], rows, self.notes)


def kinds(
    classification: Classification,
    schema: str | Schema | Literal["auto"] | None = "auto",
    features: Sequence[str] | None = None,
    *,
    rng: Randomness,
) -> Kinds:
    """Group tasks by what they are, keep one of each group, and say what is covered and what lacks.

    The schema is a name in `SCHEMAS`, a `Schema`, or None for the features and values of the table
    itself; "auto" takes the schema that knows most of the features, else None. `features` chooses
    some of them.

    References: papers/000, section IV.

    >>> import examiner as ex
    >>> kinds(ex.load("atari-typology"), rng=0)
    Kinds by 'elverdam-aarseth': 55 tasks in 31 groups; one of each leaves out 44%
    """
    chosen = classification if features is None else _with_features(classification, features)
    found = fitting_schema(chosen) if schema == "auto" else schema
    kinds = chosen if found is None else conform(chosen, found)
    made = groups(kinds)
    whole = observed_schema(kinds) if found is None else named_schema(found)
    reduced = one_of_each(made, rng=rng)
    against = None if found is None else whole
    return Kinds(
        classification=kinds,
        schema=whole,
        groups=made,
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
