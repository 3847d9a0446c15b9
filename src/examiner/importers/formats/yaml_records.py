"""YAML: read as the JSON that says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from examiner.importers.files import SourceFile
from examiner.importers.formats import json_records
from examiner.importers.other_files import is_settings
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import refuse_merge_markers, text_of
from examiner.messages import InputError, first_line, shorten


def recognises(file: SourceFile) -> bool:
    """A file called YAML that holds no settings.

    >>> recognises(SourceFile(Path("scores.yml"), None, b"- a: 1"))
    True
    """
    return file.suffix in (".yaml", ".yml") and not is_settings(file.path)


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read records, or objects of scores; needs `pyyaml`.

    >>> text = b"- {agent: dqn, task: pong, score: 18.5}"
    >>> read(SourceFile(Path("x.yml"), None, text, whole=True), TableOptions()).results.measure()
    array([18.5])
    """
    data = text_of(file).data
    refuse_merge_markers(data, file.path)
    content = json.dumps(_parsed(data, file.path), default=str).encode()
    plain = replace(file, compression=None, head=content, whole=True)
    return json_records.read(plain, options, "yaml")


def _parsed(data: bytes, path: Path) -> Any:  # Any: whatever YAML holds
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]  # optional
    except ImportError:
        raise InputError(
            f"{shorten(path, 200)} is YAML, and reading it needs the package `pyyaml`. Run "
            f"`pip install pyyaml`."
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc,name-defined,unused-ignore]
        """Loads plain values; a key twice would lose one, and aliases can unpack to anything."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise InputError(f"{shorten(path, 200)} has aliases (`*name`). Write them out.")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            twice = next((key for key in keys if keys.count(key) > 1), None)
            if twice is not None:
                raise InputError(
                    f"{shorten(path, 200)} has the key {shorten(twice)} twice in one object; one of the "
                    f"two values would be lost. Give it one."
                )
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(data, Loader)  # a safe loader
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"Cannot read {shorten(path, 200)}: the YAML is broken ({first_line(problem)}). Correct it."
        ) from None
