"""JSON lists of records: one result a record, or a whole curve where fields are lists; and objects."""

from __future__ import annotations

import re

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.json_tables import table_of
from examiner.importers.objects import no_results, object_reading
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning, parse_json, text_of
from examiner.messages import InputError, shorten

_START = re.compile(rb"\s*\[\s*\{")
_NOTHING = re.compile(rb"\s*(?:\[\s*\]|null)\s*")


def recognises(file: SourceFile) -> bool:
    """The file begins with a list of objects, or holds an empty list or null.

    >>> recognises(SourceFile(Path("x"), None, b'[{"task": "pong", "method": "dqn", "xs": [0]}]'))
    True
    """
    head = beginning(file)
    return _START.match(head) is not None or (file.whole and _NOTHING.fullmatch(head) is not None)


def read(file: SourceFile, options: TableOptions) -> Reading:
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
        return object_reading(content, file, options, text.notes)
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
    return table_reading(frame, file, options, "json", text.notes)
