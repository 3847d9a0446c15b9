"""GVGAI executor results: lines of `game level seed win score ticks`, parted by blanks."""

from __future__ import annotations

import re

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.gvgai_plays import results_from_plays
from examiner.importers.tables import TableOptions
from examiner.importers.text import has_merge_marker, refuse_merge_markers, text_of
from examiner.results import Provenance, Results
from examiner.wording import InputError, shorten

_LINE = re.compile(
    r"\s*(\S+)\s+(\d+)\s+(-?\d+)\s+(1|0|-1|-100)(?:\.0*)?\s+"
    r"(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s+(\d+)\s*"
)
_LINES_LOOKED_AT = 50


def recognises(file: SourceFile) -> bool:
    """Every line of the beginning has a game and five numbers, the third of them a win code.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"aliens 0 1234 1 80.0 476", whole=True))
    True
    """
    lines = file.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not file.whole:
        lines.pop()  # cut off where the look at the file ends
    filled = [line for line in lines if line.strip() and not has_merge_marker(line)]
    looked_at = [line.decode(errors="replace") for line in filled[:_LINES_LOOKED_AT]]
    return bool(looked_at) and all(_LINE.fullmatch(line) for line in looked_at)


def read(file: SourceFile, options: TableOptions) -> Results:
    """Read plays of one agent, called after the file unless a template names it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "mcts.txt"
    >>> _ = path.write_text("aliens 0 1234 1 80.0 476")
    >>> read(open_source(path), TableOptions()).agents
    ('mcts',)
    """
    text = text_of(file)
    refuse_merge_markers(text.data, file.path)
    rows, lines = [], []
    for number, line in enumerate(text.data.decode().split("\n"), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InputError(
                f"{shorten(file.path, 200)}, line {number}, is {shorten(line.strip())}, where game, "
                f"level, seed, win, score and ticks belong. Correct or remove the line."
            )
        task, level, seed, win, score, ticks = found.groups()
        rows.append((task, level, seed, int(win), float(score), float(ticks)))
        lines.append(number)
    columns = ["task", "level", "seed", "win", "score", "ticks"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    origin = Provenance(str(file.path), "gvgai-executor").with_notes(*text.notes)
    return results_from_plays(frame, lines, file, origin)
