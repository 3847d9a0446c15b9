"""One TOML file per schema; `SCHEMAS` lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

from examiner.typology.schema import Schema


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
