"""JSON documents with a schema: written whole or not at all, and read back or refused in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # JSON values

from examiner.results.writing import write_text
from examiner.wording import InputError, shorten


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document: its schema, what it is called, and how one is made."""

    schema: str
    name: str
    command: str

    def write(self, content: Mapping[str, Any], path: str | Path) -> Path:
        """Write a document and return where it is."""
        document = {"schema": self.schema, **content}
        return write_text(path, json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n")

    def read(self, path: str | Path) -> dict[str, Any]:
        """Return what a document of this kind says."""
        file = shorten(path, 200)
        make = f"Make one with `{self.command}`."
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as problem:
            reason = problem.strerror or problem
            raise InputError(f"Cannot read {file}: {reason}. Check the path.") from None
        except UnicodeDecodeError:
            raise InputError(f"{file} is no text, so no stored {self.name}. {make}") from None
        except (ValueError, RecursionError):
            raise InputError(f"{file} is not JSON, so no stored {self.name}. {make}") from None
        schema = content.get("schema") if isinstance(content, dict) else None
        if schema != self.schema:
            raise InputError(
                f"{file} says its schema is {shorten(schema)}, not {self.schema!r}. {make}"
            )
        return dict(content)
