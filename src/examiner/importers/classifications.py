"""Tables of kinds: a row a task, a column a feature."""

from __future__ import annotations

from pathlib import Path

from examiner.importers.files import open_source
from examiner.importers.names import TASK_COLUMNS
from examiner.importers.text_tables import TextTable
from examiner.results import Classification
from examiner.wording import InputError, listed, shorten

ATTRIBUTE_COLUMNS = ("group", "paper_group", "source", "note", "notes", "comment")
"""Columns that describe tasks but are no features."""


def read_classification(path: str | Path) -> Classification:
    r"""Read a table with `task` (or `game`, …) and one column a feature.

    Columns named group, paper_group, source, note, notes or comment are kept beside, as attributes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "kinds.csv"
    >>> _ = path.write_text("game,genre,note\npong,paddle,the first\n")
    >>> kinds = read_classification(path)
    >>> kinds.tasks, kinds.features, kinds.attributes["note"]
    (('pong',), ('genre',), ('the first',))
    """
    text = TextTable.of(open_source(path))
    text.check_widths()
    name = shorten(path, 200)
    header = [column.strip().lower() for column in text.header]
    key = next((known for known in TASK_COLUMNS if known in header), None)
    if key is None:
        raise InputError(
            f"{name} has no column 'task'; found {listed(header, limit=20)}. Name the task of each "
            f"row in a column 'task'."
        )
    # Only one column names the task: `env` beside `game` is a feature.
    names = ["task" if column == key else column for column in header]
    rows = [record for _, record in list(text.records())[1:] if record]
    if not rows:
        raise InputError(f"{name} holds no tasks. Give a row for each task.")
    columns = dict(
        zip(
            names,
            ([cell.strip() for cell in column] for column in zip(*rows, strict=True)),
            strict=True,
        )
    )
    if len(columns) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise InputError(f"{name} has two columns {shorten(twice)}. Give each its own name.")
    attributes = [column for column in columns if column in ATTRIBUTE_COLUMNS]
    if len(columns) == 1 + len(attributes):
        raise InputError(
            f"{name} says nothing of its tasks. Give a column for each feature, beside {listed(columns)}."
        )
    try:
        return Classification.from_dict(columns, attributes=attributes, source=str(path))
    except InputError as problem:
        raise InputError(f"Cannot use the classification in {name}: {problem}") from None
