"""What the GVGAI framework prints: `** Playing game …, level … **`, then `Result (1->win; 0->lose): …`."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.gvgai_plays import game_and_level, results_from_plays
from examiner.importers.tables import TableOptions
from examiner.importers.text import refuse_merge_markers, text_of
from examiner.results import Provenance, Results
from examiner.wording import InputError, shorten

_PLAYING = re.compile(
    r"\*\* Playing game (.+?), (?:level|using generate level file) (.+?)(?: \(\d+/\d+\))? \*\*"
)
_MARK = "Result (1->win; 0->lose)"
_NUMBER = r"(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_RESULT = re.compile(
    re.escape(_MARK)
    + rf":\s*(?:Player0:)?(-?\d+),\s*(?:Player0-)?Score:{_NUMBER},\s*timesteps:(\d+)\s*"
)


def recognises(file: SourceFile) -> bool:
    """The framework's line about a result, or about a game it plays, is among the first.

    >>> recognises(SourceFile(Path("x"), None, b" ** Playing game aliens.txt, level 0 (1/5) **"))
    True
    """
    if b"\0" in file.head:
        return False
    return _MARK.encode() in file.head or b" ** Playing game " in file.head


def read(file: SourceFile, options: TableOptions) -> Results:
    r"""Read plays of one agent, called after the file unless a template names it.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "mcts.log"
    >>> _ = path.write_text(" ** Playing game g/aliens.txt, level g/aliens_lvl0.txt (1/5) **\n"
    ...     "Result (1->win; 0->lose): Player0:1, Player0-Score:80.0, timesteps:476\n")
    >>> read(open_source(path), TableOptions()).tasks
    ('aliens.0',)
    """
    text = text_of(file)
    refuse_merge_markers(text.data, file.path)
    game = (file.names["task"], file.names.get("level", "0")) if "task" in file.names else None
    rows, lines = [], []
    for number, line in enumerate(text.data.decode().split("\n"), start=1):
        playing = _PLAYING.search(line)
        if playing is not None:
            game = game_and_level(playing[1], playing[2])
        elif _MARK in line:
            if game is None:
                raise InputError(
                    f"{shorten(file.path, 200)}, line {number}, is a result, and no line before it says "
                    f"`** Playing game …`. Name the game by a template (`--path '{{agent}}/{{task}}/'`)."
                )
            rows.append((*game, *_play(line, number, file.path)))
            lines.append(number)
    if not rows:
        raise InputError(
            f"{shorten(file.path, 200)} holds no result of a play ({_MARK} …). Give a log of plays "
            f"that ended."
        )
    frame = pl.DataFrame(rows, schema=["task", "level", "win", "score", "ticks"], orient="row")
    origin = Provenance(str(file.path), "gvgai-stdout").with_notes(*text.notes)
    return results_from_plays(frame, lines, file, origin)


def _play(line: str, number: int, path: Path) -> tuple[int, float, float]:
    found = _RESULT.search(line)
    if found is None:
        what = "of several players" if "Player1" in line else "cut off or changed"
        raise InputError(
            f"{shorten(path, 200)}, line {number}, is a result {what}: {shorten(line.strip(), 120)}. "
            f"One player's win, score and timesteps are needed: correct or remove the line."
        )
    win = found[1] if len(found[1]) < 9 else "99"
    return int(win), float(found[2]), float(found[3])
