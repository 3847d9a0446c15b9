"""Groups of identical tasks, and a smaller set with one task of each: steps 4 and 5 of papers/000."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from examiner.results import Classification
from examiner.wording import InputError, shorten, unknown_name


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
        if feature not in classification.features:
            raise unknown_name("feature", feature, classification.features)
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


def one_of_each(groups: Sequence[TaskGroup], *, rng: np.random.Generator) -> tuple[str, ...]:
    """Choose one task of each group at random: the reduced set, in the order of the groups.

    References: papers/000, section IV, step 5.

    >>> groups = (TaskGroup((), ("pong", "tennis")), TaskGroup((), ("go",)))
    >>> one_of_each(groups, rng=np.random.default_rng(0))
    ('tennis', 'go')
    """
    return tuple(group.tasks[int(rng.integers(len(group.tasks)))] for group in groups)
