"""One TOML file per schema; `SCHEMAS` lists them, and classifications are compared with one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from types import MappingProxyType

from examiner.messages import InputError, shorten
from examiner.results import Classification
from examiner.typology.schema import Dimension, Schema
from examiner.validation import known_name


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
    _check_once(classification.features, dimensions)
    rows = []
    for task, row in zip(classification.tasks, classification.values, strict=True):
        try:
            pairs = zip(dimensions, row, strict=True)
            rows.append(tuple(dimension.value(text) for dimension, text in pairs))
        except InputError as problem:
            raise InputError(f"Cannot classify the task {shorten(task)}: {problem}") from None
    return Classification(
        classification.tasks,
        tuple(dimension.name for dimension in dimensions),
        tuple(rows),
        classification.attributes,
        classification.source,
    )


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


def _check_once(features: Sequence[str], dimensions: Sequence[Dimension]) -> None:
    feature_of: dict[str, str] = {}
    for feature, dimension in zip(features, dimensions, strict=True):
        if dimension.name in feature_of:
            raise InputError(
                f"The features {shorten(feature_of[dimension.name])} and {shorten(feature)} are both the "
                f"dimension {dimension.name!r}. Keep one of them."
            )
        feature_of[dimension.name] = feature
