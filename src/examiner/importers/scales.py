"""Tables of scales: the random and the reference score of each task."""

from __future__ import annotations

from pathlib import Path

from examiner.importers.files import open_source
from examiner.importers.formats import separated
from examiner.results import InputError, Scales
from examiner.results.checks import shorten


def read_scales(path: str | Path) -> Scales:
    r"""Read scales from a table with `task`, `random`, `reference` (or `human`), `direction`, `measure`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scales.csv"
    >>> _ = path.write_text("task,random,human\npong,-20.7,14.6\n")
    >>> read_scales(path).lookup("pong").reference
    14.6
    """
    rows = separated.read_rows(open_source(path))
    try:
        scales = Scales.from_dicts({"source": str(path)} | row for row in rows)
    except InputError as problem:
        raise InputError(f"Cannot use the scales in {shorten(path, 200)}: {problem}") from None
    if not len(scales):
        raise InputError(f"{shorten(path, 200)} holds no scales. Give a row for each task.")
    return scales
