"""The items of a benchmark as somebody lists them, for logs that name only what was solved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from examiner.importers.files import open_source
from examiner.importers.text import parse_json, text_of
from examiner.messages import InputError, shorten

_COLUMNS = ("instance_id", "item", "task", "id")


def item_names(source: str | Path | Sequence[str]) -> tuple[str, ...]:
    r"""Return the items, each once: a list as it is, or what a file lists.

    The file has one a line, with or without a header (`instance_id`, `item`, `task` or `id`, the first
    column of a table), or a JSON list of names or of objects that have one of these.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "items.csv"
    >>> _ = path.write_text("instance_id,repo\nflask-1,flask\nflask-2,flask\n")
    >>> item_names(path), item_names(["a", "b", "a"])
    (('flask-1', 'flask-2'), ('a', 'b'))
    """
    if not isinstance(source, str | Path):
        return tuple(dict.fromkeys(source))
    file = open_source(source)
    data = text_of(file).data
    if data.lstrip().startswith(b"["):
        names = [_named(entry) for entry in parse_json(data, file.path)]
    else:
        lines = [line.strip() for line in data.decode().splitlines() if line.strip()]
        names = [line.partition(",")[0].partition("\t")[0].strip().strip('"') for line in lines]
        if names and names[0].lower() in _COLUMNS:
            names = names[1:]
    found = tuple(dict.fromkeys(name for name in names if name))
    if not found:
        raise InputError(
            f"{shorten(source, 200)} lists no items. Give one a line, or a JSON list of them."
        )
    return found


def _named(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((entry[name] for name in _COLUMNS if name in entry), None)
    return str(entry) if isinstance(entry, str | int) else ""
