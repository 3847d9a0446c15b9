"""Kinds: the five steps of papers/000 from a classification to a smaller set of tasks, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, scalar, words
from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import Classification
from examiner.typology.coverage import Coverage
from examiner.typology.coverage import coverage as task_coverage
from examiner.typology.schemas import (
    Schema,
    conform,
    fitting_schema,
    letters,
    named_schema,
    observed_schema,
)
from examiner.validation import Randomness, generator


class TaskGroup(NamedTuple):
    """Tasks with the same value of every chosen feature; `features` are pairs of name and value."""

    features: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]


def group_tasks(classification: Classification) -> tuple[TaskGroup, ...]:
    """Return groups of tasks that have the same value of every feature.

    Groups, and the tasks in them, are in the order of the classification.

    References: papers/000, section IV, step 4.

    >>> kinds = Classification(("pong", "go", "tennis"), ("haste",), (("yes",), ("no",), ("yes",)))
    >>> [group.tasks for group in group_tasks(kinds)]
    [('pong', 'tennis'), ('go',)]
    """
    features = classification.features
    if not features or not classification.tasks:
        raise InputError(
            f"There are {len(classification.tasks)} tasks and {len(features)} features to group by. "
            f"Give at least one of each."
        )
    members: dict[tuple[str, ...], list[str]] = {}
    for task, values in zip(classification.tasks, classification.values, strict=True):
        empty = [name for name, value in zip(features, values, strict=True) if not value.strip()]
        if empty:
            raise InputError(
                f"The task {shorten(task)} has no value of {shorten(empty[0])}, so its kind is not "
                f"known. Classify it, or leave the task or the feature out."
            )
        members.setdefault(values, []).append(task)
    return tuple(
        TaskGroup(tuple(zip(features, values, strict=True)), tuple(tasks))
        for values, tasks in members.items()
    )


class KindGroups(Table):
    """Groups of tasks of one kind, the largest first."""

    kept: tuple[str, ...] = name("Task that is kept")
    size: NDArray[np.int64] = count("Tasks of this kind")
    tasks: tuple[tuple[str, ...], ...] = words("Tasks of this kind")
    features: tuple[tuple[str, ...], ...] = words("Their value of each dimension")


@dataclass(frozen=True, eq=False, repr=False)
class Kinds(Answer):
    """Tasks in groups of one kind, one task of each, and how both sets cover a typology.

    `members` are the groups in the order of the classification, `kept` one task of each.
    """

    kind = "typology"

    groups: KindGroups
    classification: Classification
    typology: Schema
    members: tuple[TaskGroup, ...]
    kept: tuple[str, ...]
    coverage: Coverage
    kept_coverage: Coverage
    saved: float = field(metadata=scalar("Share of tasks that are not kept"))
    seed: int | None
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """How many kinds there are."""
        tasks, kinds = len(self.classification.tasks), len(self.members)
        if kinds == tasks:
            return f"No two of the {counted(tasks, 'task')} are of the same kind."
        return (
            f"{counted(tasks, 'task')} are of {counted(kinds, 'kind')}: keeping one of each excludes "
            f"{100 * self.saved:.0f} % of the tasks."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """Groups, dimensions, values, and pairs of values that no task has."""
        dimensions = self.coverage.compared_with(self.kept_coverage)
        return {"groups": self.groups, **self.coverage.tables, "dimensions": dimensions}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Numbers of tasks and kinds, and how many values are missing."""
        return {
            "tasks": Scalar(len(self.classification.tasks), "Tasks"),
            "kinds": Scalar(len(self.members), "Kinds of task"),
            **super().scalars,
            **self.coverage.scalars,
        }

    @property
    def settings(self) -> Mapping[str, object]:
        """The seed, the typology, and its dimensions that are not classified."""
        return {"seed": self.seed, **self.coverage.settings}


def kinds(
    classification: Classification,
    schema: str | Schema | Literal["auto"] | None = "auto",
    features: Sequence[str] | None = None,
    *,
    rng: Randomness = 0,
) -> Kinds:
    """Group tasks by kind, keep one of each, and list which kinds are missing.

    The schema is a name in `SCHEMAS`, a `Schema`, or None for the features and values of the table
    itself; "auto" takes the schema that has most of the features, else None. `features` chooses some of
    them.

    References: papers/000, section IV, steps 4 and 5.

    >>> import examiner as ex
    >>> kinds(ex.load("atari-typology")).headline
    '55 tasks are of 31 kinds: keeping one of each excludes 44 % of the tasks.'
    """
    chosen = classification if features is None else _with_features(classification, features)
    fitting = fitting_schema(chosen) if schema == "auto" else schema
    conforming = chosen if fitting is None else conform(chosen, fitting)
    members = group_tasks(conforming)
    whole = observed_schema(conforming) if fitting is None else named_schema(fitting)
    drawing = generator(rng)
    kept = tuple(group.tasks[int(drawing.integers(len(group.tasks)))] for group in members)
    groups = KindGroups(
        kept=kept,
        size=[len(group.tasks) for group in members],
        tasks=[group.tasks for group in members],
        features=[[value for _, value in group.features] for group in members],
    )
    notes = []
    if fitting is None:
        notes.append(
            f"The features {listed(conforming.features, 4)} belong to no known typology: missing pairs "
            f"of values can be listed, missing values cannot."
        )
    if len(conforming.tasks) == 1:
        notes.append("There is one task only, which is the whole set.")
    return Kinds(
        groups=groups.sorted_by("size", descending=True),
        classification=conforming,
        typology=whole,
        members=members,
        kept=kept,
        coverage=task_coverage(conforming, None if fitting is None else whole),
        kept_coverage=task_coverage(conforming, whole, kept),
        saved=1 - len(kept) / len(conforming.tasks),
        seed=rng if isinstance(rng, int) else None,
        notes=tuple(notes),
    )


def _with_features(classification: Classification, features: Sequence[str]) -> Classification:
    """Return the classification with some features only, named in any spelling."""
    spelled = {letters(name): name for name in classification.features}
    chosen = []
    for feature in features:
        name = feature if feature in classification.features else spelled.get(letters(feature))
        if name is None:
            raise unknown_name("feature", feature, classification.features)
        chosen.append(name)
    places = [classification.features.index(name) for name in chosen]
    values = tuple(tuple(row[place] for place in places) for row in classification.values)
    return replace(classification, features=tuple(chosen), values=values)
