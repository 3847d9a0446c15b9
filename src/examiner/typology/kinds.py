"""Kinds: the five steps of papers/000 from a classification to a smaller set of tasks, in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, name, words
from examiner.messages import InputError, counted, listed, shorten, unknown_name
from examiner.results import Classification
from examiner.typology.coverage import Coverage
from examiner.typology.coverage import coverage as task_coverage
from examiner.typology.schema import Schema, letters
from examiner.typology.schemas import conform, fitting_schema, named_schema, observed_schema
from examiner.validation import Randomness, check_known, generator


class TaskGroup(NamedTuple):
    """Tasks with the same value of every chosen feature; `features` are pairs of name and value."""

    features: tuple[tuple[str, str], ...]
    tasks: tuple[str, ...]


def group_tasks(
    classification: Classification, features: Sequence[str] | None = None
) -> tuple[TaskGroup, ...]:
    """Return groups of tasks that have the same value of every feature, or of those named.

    Groups, and the tasks in them, are in the order of the classification.

    References: papers/000, section IV, step 4.

    >>> kinds = Classification(("pong", "go", "tennis"), ("haste",), (("yes",), ("no",), ("yes",)))
    >>> [group.tasks for group in group_tasks(kinds)]
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
                f"The task {shorten(task)} has no value of {shorten(empty[0])}, so its kind is not "
                f"known. Classify it, or leave the task or the feature out."
            )
        members.setdefault(values, []).append(task)
    return tuple(
        TaskGroup(tuple(zip(chosen, values, strict=True)), tuple(tasks))
        for values, tasks in members.items()
    )


def one_of_each(groups: Sequence[TaskGroup], *, rng: Randomness) -> tuple[str, ...]:
    """Choose one task of each group at random: the tasks kept, in the order of the groups.

    References: papers/000, section IV, step 5.

    >>> groups = (TaskGroup((), ("pong", "tennis")), TaskGroup((), ("go",)))
    >>> one_of_each(groups, rng=0)
    ('tennis', 'go')
    """
    rng = generator(rng)
    return tuple(group.tasks[int(rng.integers(len(group.tasks)))] for group in groups)


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

    classification: Classification
    typology: Schema
    members: tuple[TaskGroup, ...]
    kept: tuple[str, ...]
    coverage: Coverage
    kept_coverage: Coverage
    seed: int | None
    notes: tuple[str, ...]

    @property
    def saved(self) -> float:
        """The share of tasks that are not kept."""
        return 1 - len(self.kept) / len(self.classification.tasks)

    @cached_property
    def groups(self) -> KindGroups:
        """The groups, the largest first."""
        table = KindGroups(
            kept=self.kept,
            size=[len(group.tasks) for group in self.members],
            tasks=[group.tasks for group in self.members],
            features=[[value for _, value in group.features] for group in self.members],
        )
        return table.sorted_by("size", descending=True)

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
        dimensions = self.coverage.with_evenness_of(self.kept_coverage)
        return {"groups": self.groups, "dimensions": dimensions, **self.coverage.value_tables}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Numbers of tasks and kinds, and how many values are missing."""
        return {
            "tasks": Scalar(len(self.classification.tasks), "Tasks"),
            "kinds": Scalar(len(self.members), "Kinds of task"),
            "saved": Scalar(self.saved, "Share of tasks that are not kept"),
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

    References: papers/000, section IV.

    >>> import examiner as ex
    >>> kinds(ex.load("atari-typology")).headline
    '55 tasks are of 31 kinds: keeping one of each excludes 44 % of the tasks.'
    """
    chosen = classification if features is None else _with_features(classification, features)
    fitting = fitting_schema(chosen) if schema == "auto" else schema
    conforming = chosen if fitting is None else conform(chosen, fitting)
    members = group_tasks(conforming)
    whole = observed_schema(conforming) if fitting is None else named_schema(fitting)
    kept = one_of_each(members, rng=rng)
    return Kinds(
        classification=conforming,
        typology=whole,
        members=members,
        kept=kept,
        coverage=task_coverage(conforming, None if fitting is None else whole),
        kept_coverage=task_coverage(conforming, whole, kept),
        seed=rng if isinstance(rng, int) else None,
        notes=_notes(conforming, fitting is None),
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
    columns = [classification.feature(name) for name in chosen]
    return Classification(
        classification.tasks,
        tuple(chosen),
        tuple(zip(*columns, strict=True)),
        classification.attributes,
        classification.source,
    )


def _notes(classification: Classification, without_schema: bool) -> tuple[str, ...]:
    notes = []
    if without_schema:
        notes.append(
            f"The features {listed(classification.features, 4)} belong to no known typology: missing pairs "
            f"of values can be listed, missing values cannot."
        )
    if len(classification.tasks) == 1:
        notes.append("There is one task only, which is the whole set.")
    return tuple(notes)
