"""Tasks described by features: the table a typology is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from examiner.checking import check_names
from examiner.wording import InputError, listed, shorten, unknown_name


@dataclass(frozen=True, slots=True)
class Classification:
    """What kind of task each task is: one value per task and feature.

    `values[t][f]` is the value of feature f for task t. `attributes` holds further columns that
    describe tasks but are no features, such as the group a paper put them in.

    >>> kinds = Classification(("alien", "pong"), ("perspective",), (("vagrant",), ("omnipresent",)))
    >>> kinds.feature("perspective")
    ('vagrant', 'omnipresent')
    """

    tasks: tuple[str, ...]
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", check_names(self.tasks, "task"))
        object.__setattr__(self, "features", check_names(self.features, "feature"))
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        if len(self.values) != len(self.tasks):
            raise InputError(
                f"{len(self.values)} rows of values for {len(self.tasks)} tasks. Give one each."
            )
        for task, row in zip(self.tasks, self.values, strict=True):
            if len(row) != len(self.features):
                raise InputError(
                    f"Task {shorten(task)} has {len(row)} values for {len(self.features)} "
                    f"features ({listed(self.features)}). Give one each."
                )

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only mapping cannot be pickled; worker processes need the classification whole.
        attributes = dict(self.attributes)
        return type(self), (self.tasks, self.features, self.values, attributes, self.source)

    def __hash__(self) -> int:
        return hash((self.tasks, self.features, self.values))

    def feature(self, name: str) -> tuple[str, ...]:
        """Return the value of one feature for every task.

        >>> Classification(("pong",), ("perspective",), (("omnipresent",),)).feature("perspective")
        ('omnipresent',)
        """
        if name not in self.features:
            raise unknown_name("feature", name, self.features)
        column = self.features.index(name)
        return tuple(row[column] for row in self.values)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the table as columns, `task` first.

        >>> Classification(("pong",), ("perspective",), (("omnipresent",),)).to_dict()
        {'task': ['pong'], 'perspective': ['omnipresent']}
        """
        columns = {"task": list(self.tasks)}
        columns |= {name: list(values) for name, values in self.attributes.items()}
        return columns | {name: list(self.feature(name)) for name in self.features}

    @classmethod
    def from_dict(
        cls,
        columns: Mapping[str, Sequence[str]],
        *,
        attributes: Sequence[str] = (),
        source: str = "",
    ) -> Classification:
        """Build a classification from columns: `task`, then features, but for those named attributes.

        >>> Classification.from_dict({"task": ["pong"], "perspective": ["omnipresent"]}).features
        ('perspective',)
        """
        if "task" not in columns:
            raise InputError(f"A classification needs a column 'task'; found {listed(columns)}.")
        features = tuple(name for name in columns if name != "task" and name not in attributes)
        rows = zip(*(columns[name] for name in features), strict=True)
        return cls(
            tasks=tuple(columns["task"]),
            features=features,
            values=tuple(tuple(row) for row in rows),
            attributes={name: tuple(columns[name]) for name in attributes},
            source=source,
        )

    def __repr__(self) -> str:
        return f"Classification of {len(self.tasks)} tasks by {len(self.features)} features"
