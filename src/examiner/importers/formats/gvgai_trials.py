"""GVGAI trial data as published: CSV without a header, `agent,game,level,win,score,ticks`."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.gvgai_plays import results_from_plays
from examiner.importers.tables import TableOptions
from examiner.importers.text import has_merge_marker, refuse_merge_markers, text_of
from examiner.results import Provenance, Results
from examiner.wording import InputError, shorten

_NUMBER = rb"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_LINE = re.compile(
    rb'\s*[^,"\s][^,"]*,[^,"]+,[^,"]+,\s*(?:1|0|-1|-100)(?:\.0*)?\s*,\s*'
    + _NUMBER
    + rb"\s*,\s*"
    + _NUMBER
    + rb"\s*"
)
_COLUMNS = ("agent", "task", "level", "win", "score", "ticks")
_LINES_LOOKED_AT = 50


def recognises(file: SourceFile) -> bool:
    """Every line of the beginning has three names, a win code and two numbers.

    >>> recognises(SourceFile(Path("x"), None, b"mcts,aliens,0,1,80.0,476", whole=True))
    True
    >>> recognises(SourceFile(Path("x"), None, b"agent,task,level,win,score,ticks", whole=True))
    False
    """
    head = file.head.removeprefix(b"\xef\xbb\xbf")
    lines = head.split(b"\n")
    if not file.whole:
        lines.pop()  # cut off where the look at the file ends
    filled = [line for line in lines if line.strip() and not has_merge_marker(line)]
    looked_at = filled[:_LINES_LOOKED_AT]
    return bool(looked_at) and all(_LINE.fullmatch(line) for line in looked_at)


def read(file: SourceFile, options: TableOptions) -> Results:
    """Read plays; each is a trial of its agent on its level.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "trials.csv"
    >>> _ = path.write_text("mcts,aliens,0,1,80.0,476")
    >>> read(open_source(path), TableOptions()).measures
    ('win', 'score')
    """
    text = text_of(file)
    refuse_merge_markers(text.data, file.path)
    rows, lines = [], []
    for number, line in enumerate(text.data.decode().split("\n"), start=1):
        if line.strip():
            rows.append(_fields(line, number, file.path))
            lines.append(number)
    frame = pl.DataFrame(rows, schema=list(_COLUMNS), orient="row")
    origin = Provenance(str(file.path), "gvgai-trials").with_notes(*text.notes)
    return results_from_plays(frame, lines, file, origin)


def _fields(line: str, number: int, path: Path) -> tuple[str, str, str, int, float, float]:
    fields = [field.strip() for field in line.split(",")]
    if len(fields) != len(_COLUMNS) or not all(fields[:3]):
        raise InputError(
            f"{shorten(path, 200)}, line {number}, has {len(fields)} fields where "
            f"{', '.join(_COLUMNS)} belong, all filled. Correct or remove the line."
        )
    try:
        agent, task, level = fields[:3]
        win, score, ticks = (float(field) for field in fields[3:])
        return agent, task, level, int(win) if win == int(win) else 99, score, ticks
    except (ValueError, OverflowError):
        raise InputError(
            f"{shorten(path, 200)}, line {number}, has text where win, score and ticks belong "
            f"({shorten(','.join(fields[3:]))}). Correct or remove the line."
        ) from None
