"""JSON lists of records, one result or a curve each, and objects; and YAML, as JSON of the same content."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.json_tables import table_of
from examiner.importers.nested_keys import nested_reading
from examiner.importers.objects import no_results, object_reading
from examiner.importers.other_files import is_settings
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning, parse_json, refuse_merge_markers, text_of
from examiner.messages import InputError, first_line, shorten

_START = re.compile(rb"\s*\[\s*\{")
_NOTHING = re.compile(rb"\s*(?:\[\s*\]|null)\s*")


def recognises(file: SourceFile) -> bool:
    """The file begins with a list of objects, or holds an empty list or null.

    >>> recognises(SourceFile(Path("x"), None, b'[{"task": "pong", "method": "dqn", "xs": [0]}]'))
    True
    """
    head = beginning(file)
    return _START.match(head) is not None or (file.whole and _NOTHING.fullmatch(head) is not None)


def read(file: SourceFile, options: TableOptions, kind: str = "json") -> Reading:
    """Read records; lists in a record are columns of its own: `xs` is time, `ys` the score.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "curves.json"
    >>> _ = path.write_text('[{"task": "t", "method": "a", "seed": 0, "xs": [0, 5, 10], "ys": [1, 2, 4]}]')
    >>> results = read(open_source(path), TableOptions()).results
    >>> results.column("steps"), results.measure(), results.provenance.training
    ([0, 5, 10], array([1., 2., 4.]), True)
    """
    text = text_of(file)
    content = parse_json(text.data, file.path)
    if content is None or content == []:
        raise no_results(content, file)
    if isinstance(content, dict):
        return object_reading(content, file, options, text.notes, kind)
    if options.axes:
        return nested_reading(content, file, options, text.notes, kind)
    if not isinstance(content, list):
        raise InputError(f"{shorten(file.path, 200)} is not a list of records. Check the file.")
    for position, record in enumerate(content, start=1):
        if not isinstance(record, dict):
            raise InputError(
                f"Entry {position} of {shorten(file.path, 200)} is {shorten(record)}, and no record of "
                f"names and values. Correct or remove it."
            )
    try:
        frame = pl.DataFrame(content, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, OverflowError, TypeError):
        frame = table_of(content)  # what is a list in one record is none in another
    return table_reading(frame, file, options, kind, text.notes)


def recognises_yaml(file: SourceFile) -> bool:
    """A file called YAML that holds no settings.

    >>> recognises_yaml(SourceFile(Path("scores.yml"), None, b"- a: 1"))
    True
    """
    return file.suffix in (".yaml", ".yml") and not is_settings(file.path)


def read_yaml(file: SourceFile, options: TableOptions) -> Reading:
    """Read records, or objects of scores; needs `pyyaml`.

    >>> text = b"- {agent: dqn, task: pong, score: 18.5}"
    >>> read_yaml(SourceFile(Path("x.yml"), None, text, whole=True), TableOptions()).results.measure()
    array([18.5])
    """
    data = text_of(file).data
    refuse_merge_markers(data, file.path)
    content = json.dumps(_parsed(data, file.path), default=str).encode()
    plain = replace(file, compression=None, head=content, whole=True)
    return read(plain, options, "yaml")


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
