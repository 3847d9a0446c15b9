"""JSON documents with a schema: written whole or not at all, and read back or refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examiner.checking import ShapeError, to_record
from examiner.results.storage import write_text
from examiner.wording import InputError, shorten

Content = dict[str, Any]  # Any: JSON values


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of stored thing: its schema, what it is called, the command that makes one, and its type.

    `read` makes a thing of what a document says; `earlier` tells documents of earlier schemas as today's.
    """

    schema: str
    name: str
    command: str
    type: type
    read: Callable[[Content], Any]  # Any: a thing of the type
    earlier: Mapping[str, Callable[[Content], Content]] = field(default_factory=dict)

    def thing(self, content: Content) -> Any:  # Any: a thing of the type
        """Return the thing that a document holds; what is wrong in it is named by its path."""
        try:
            return self.read(content)
        except ShapeError as problem:
            raise InputError(
                f"This stored {self.name} is damaged: its {problem.path} {problem.found}, where "
                f"{problem.wanted} should be. Make it again with `{self.command}`."
            ) from None


def write_document(schema: str, content: Mapping[str, Any], path: str | Path) -> Path:
    """Write a document and return where it is."""
    document = {"schema": schema, **to_record(content)}
    return write_text(path, json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n")


def read_document(path: str | Path, kinds: tuple[Kind, ...]) -> tuple[Kind, Content]:
    """Return which of these kinds a document is of, and what it says."""
    file = shorten(path, 200)
    one = kinds[0].name if len(kinds) == 1 else "thing"
    make = " or ".join(f"`{kind.command}`" for kind in kinds)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {file}: {reason}. Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is no text, so no stored {one}. Make one with {make}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{file} is not JSON, so no stored {one}. Make one with {make}.") from None
    schema = content.get("schema") if isinstance(content, dict) else None
    for kind in kinds:
        if schema == kind.schema:
            return kind, dict(content)
        if isinstance(schema, str) and schema in kind.earlier:
            return kind, kind.earlier[schema](content)
        if isinstance(schema, str) and schema.partition("/")[0] == kind.schema.partition("/")[0]:
            raise InputError(
                f"{file} was written by another version of examiner: its schema is {shorten(schema)}, "
                f"not {kind.schema!r}. Make it again with `{kind.command}`."
            )
    known = " or ".join(repr(kind.schema) for kind in kinds)
    raise InputError(
        f"{file} says its schema is {shorten(schema)}, not {known}. Make one with {make}."
    )
