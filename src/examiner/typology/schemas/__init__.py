"""Schemas: the dimensions a task is described by, their values, and classifications compared with them.

There is one TOML file per schema, and `SCHEMAS` lists them.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from examiner.messages import InputError, counted, shorten, unknown_name
from examiner.results import Classification
from examiner.validation import check_known, check_names, from_record, known_name

_NOT_IN_A_NAME = re.compile(r"[\W_]+")


def letters(name: str) -> str:
    """Return a name without case, blanks and punctuation, so that spellings can be compared.

    >>> letters("Virtual Space: Perspective") == letters("virtual_space.perspective")
    True
    """
    return _NOT_IN_A_NAME.sub("", name.casefold())


@dataclass(frozen=True, slots=True)
class Dimension:
    """One way in which tasks differ, with the values it may have.

    `category` is the meta-category it belongs to. With `limits`, values are bands of a number: the
    first holds numbers up to and including the first limit, and so on; values beyond the last band
    are no numbers. `synonyms` are other names, `value_synonyms` the values that other names stand for.

    >>> size = Dimension("size", "Board", "squares", ("small", "large"), True, (64,))
    >>> size.value("19"), size.value("361"), size.value("Large")
    ('small', 'large', 'large')
    """

    name: str
    category: str = ""
    meaning: str = ""
    values: tuple[str, ...] = ()
    ordered: bool = False
    limits: tuple[float, ...] = ()
    unit: str = ""
    synonyms: tuple[str, ...] = ()
    value_synonyms: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", check_names(self.values, f"value of {self.name}"))
        object.__setattr__(self, "value_synonyms", dict(self.value_synonyms))
        if not self.values:
            raise InputError(
                f"The dimension {shorten(self.name)} has no values. Give those that it may have."
            )
        if self.limits and len(self.values) <= len(self.limits):
            raise InputError(
                f"The dimension {shorten(self.name)} has {len(self.limits)} limits and "
                f"{len(self.values)} values. Give one value more than limits."
            )
        for value in self.value_synonyms.values():
            check_known(f"value of {self.name}", value, self.values)

    def value(self, text: str) -> str:
        """Return the value that a text stands for: its own name, a synonym, or a number's band.

        >>> Dimension("time.haste", "Time", "", ("present", "absent")).value("none")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: Unknown value of time.haste 'none'. Known: 'absent', 'present'.
        """
        if not text.strip():
            raise InputError(
                f"It has no value of {shorten(self.name)}. Give one of {', '.join(self.values)}, or "
                f"leave the task or the dimension out."
            )
        if text in self.values:
            return text
        band = self._band(text) if self.limits else None
        if band is not None:
            return band
        wanted = letters(text)
        names = dict(zip(self.values, self.values, strict=True))
        for name, value in (*names.items(), *self.value_synonyms.items()):
            if letters(name) == wanted:
                return value
        raise unknown_name(f"value of {self.name}", text, self.values)

    def _band(self, text: str) -> str | None:
        try:
            number = float(text)
        except ValueError:
            return None
        if not math.isfinite(number) or number < 0:
            raise InputError(
                f"Its {self.name} is {number:g}. Give a number of {self.unit or 'at least 0'}, not "
                f"below 0, or one of {', '.join(self.values)}."
            )
        return self.values[bisect_left(self.limits, number)]


@dataclass(frozen=True, slots=True)
class Schema:
    """A typology: dimensions in meta-categories, and where they come from.

    >>> from examiner.typology import SCHEMAS
    >>> SCHEMAS["elverdam-aarseth"]
    Schema 'elverdam-aarseth': 17 dimensions in 8 meta-categories, 45 values
    """

    name: str
    title: str = ""
    source: str = ""
    dimensions: tuple[Dimension, ...] = ()

    def __post_init__(self) -> None:
        check_names([self.name], "schema")
        check_names([dimension.name for dimension in self.dimensions], "dimension")

    @property
    def categories(self) -> tuple[str, ...]:
        """The meta-categories, in order."""
        return tuple(dict.fromkeys(dimension.category for dimension in self.dimensions))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions, in order."""
        return tuple(dimension.name for dimension in self.dimensions)

    def dimension(self, name: str) -> Dimension:
        """Return the dimension of a name: in any spelling, a synonym, or its last part alone.

        >>> from examiner.typology import SCHEMAS
        >>> schema = SCHEMAS["elverdam-aarseth"]
        >>> schema.dimension("Virtual Space: Perspective").name, schema.dimension("haste").name
        ('virtual_space.perspective', 'internal_time.haste')
        >>> schema.dimension("perspective")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: 'perspective' may be 'virtual_space.perspective' or \
'physical_space.perspective'. Give the whole name.
        """
        matching = self._matching(name)
        if len(matching) > 1:
            either = " or ".join(repr(dimension.name) for dimension in matching)
            raise InputError(f"{shorten(name)} may be {either}. Give the whole name.")
        if not matching:
            raise unknown_name(f"dimension of {self.name}", name, self.names)
        return matching[0]

    def knows(self, name: str) -> bool:
        """Whether a name is one of this schema's, even if not of one dimension alone.

        >>> from examiner.typology import SCHEMAS
        >>> SCHEMAS["agent-centric"].knows("reward density"), SCHEMAS["agent-centric"].knows("genre")
        (True, False)
        """
        return bool(self._matching(name))

    def _matching(self, name: str) -> list[Dimension]:
        """Return dimensions by whole name, else by spelling or synonym, else by the last part of either."""
        exact = [one for one in self.dimensions if one.name == name]
        if exact:
            return exact
        wanted = letters(name)
        spelled = [(one, (one.name, *one.synonyms)) for one in self.dimensions]
        whole = [one for one, names in spelled if wanted in map(letters, names)]
        if whole or not wanted:
            return whole
        return [
            one
            for one, names in spelled
            if wanted in (letters(other.rpartition(".")[2]) for other in names)
        ]

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Schema:  # Any: TOML values
        """Build a schema from the fields of its file; what is wrong with them is named by its path.

        >>> Schema.from_dict({"name": "s", "dimensions": [{"name": "haste", "values": ["yes", "no"]}]})
        Schema 's': 1 dimension in 1 meta-category, 2 values
        >>> Schema.from_dict({"name": "s", "dimensions": [{"name": "haste"}]})
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The dimension 'haste' has no values. Give those that it may have.
        """
        schema = from_record(cls, fields)
        return replace(schema, title=schema.title or schema.name)

    def __repr__(self) -> str:
        n, m = len(self.dimensions), len(self.categories)
        values = sum(len(dimension.values) for dimension in self.dimensions)
        categories = f"{m} meta-categor{'ies' if m != 1 else 'y'}"
        return f"Schema {self.name!r}: {counted(n, 'dimension')} in {categories}, {values} values"


def _schema(file: str) -> Schema:
    text = files("examiner.typology.schemas").joinpath(file).read_text(encoding="utf-8")
    return Schema.from_dict(tomllib.loads(text))


SCHEMAS: Mapping[str, Schema] = MappingProxyType(
    {
        "elverdam-aarseth": _schema("elverdam-aarseth.toml"),
        "agent-centric": _schema("agent-centric.toml"),
    }
)
"""Name → schema. A new one is one file in this folder and one line here."""


def conform(classification: Classification, schema: str | Schema) -> Classification:
    """Return the classification in the schema's own names and values.

    The schema is a name in `SCHEMAS` or a `Schema`. Spelling does not matter, synonyms are
    resolved, and numbers are assigned to their band. A dimension or a value that the schema does not
    have is refused with a list of those it has.

    >>> games = Classification(("go",), ("Action space: size", "determinism"), (("361", "Deterministic"),))
    >>> conform(games, "agent-centric").to_dict()
    {'task': ['go'], 'action_space.size': ['more than 18'], 'dynamics.determinism': ['deterministic']}
    """
    chosen = named_schema(schema)
    dimensions = [chosen.dimension(feature) for feature in classification.features]
    feature_of: dict[str, str] = {}
    for feature, dimension in zip(classification.features, dimensions, strict=True):
        if dimension.name in feature_of:
            raise InputError(
                f"The features {shorten(feature_of[dimension.name])} and {shorten(feature)} are both the "
                f"dimension {dimension.name!r}. Keep one of them."
            )
        feature_of[dimension.name] = feature
    rows = []
    for task, row in zip(classification.tasks, classification.values, strict=True):
        try:
            pairs = zip(dimensions, row, strict=True)
            rows.append(tuple(dimension.value(text) for dimension, text in pairs))
        except InputError as problem:
            raise InputError(f"Cannot classify the task {shorten(task)}: {problem}") from None
    return replace(classification, features=tuple(feature_of), values=tuple(rows))


def named_schema(schema: str | Schema) -> Schema:
    """Return a schema by its name; a schema is returned as it is.

    >>> named_schema("agent_centric").title
    'What a task is to the agent that learns it'
    """
    if isinstance(schema, Schema):
        return schema
    return SCHEMAS[known_name("schema", schema, SCHEMAS)]


def fitting_schema(classification: Classification) -> Schema | None:
    """Return the schema that has more than half of the features, or None.

    A single unknown column is then refused by `conform`, since it is probably a mistake.

    >>> kinds = Classification(("pong",), ("haste", "mutability"), (("absent", "none"),))
    >>> fitting_schema(kinds).name
    'elverdam-aarseth'
    >>> fitting_schema(Classification(("pong",), ("genre",), (("paddle",),))) is None
    True
    """
    features_of = {
        name: sum(schema.knows(feature) for feature in classification.features)
        for name, schema in SCHEMAS.items()
    }
    best = max(features_of, key=lambda name: features_of[name])
    return SCHEMAS[best] if 2 * features_of[best] > len(classification.features) else None


def observed_schema(classification: Classification) -> Schema:
    """Return a schema of just the features and values a classification has, in order of appearance.

    >>> observed_schema(Classification(("pong", "go"), ("genre",), (("paddle",), ("board",))))
    Schema 'own': 1 dimension in 1 meta-category, 2 values
    """
    dimensions = tuple(
        Dimension(name, "", "", tuple(dict.fromkeys(classification.feature(name))))
        for name in classification.features
    )
    return Schema("own", "The features of the table itself", classification.source, dimensions)
