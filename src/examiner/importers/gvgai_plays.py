"""Plays of the General Video Game AI framework: win codes understood, disqualified plays dropped.

A win is 1, a loss 0; -1 is no outcome, so the win was not observed. A disqualified play (-100, score
-1000) is not a loss and its score is not a score: it is left out, and counted in a note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.names import column_of, with_given
from examiner.results import Provenance, Results, Scales
from examiner.results.table import assemble
from examiner.wording import InputError, counted, shorten

DISQUALIFIED, NO_OUTCOME = -100, -1
WIN_CODES = (1, 0, NO_OUTCOME, DISQUALIFIED)


def results_from_plays(
    frame: pl.DataFrame, lines: Sequence[int], file: SourceFile, origin: Provenance
) -> Results:
    """Build results from plays with task, level, win (a code), score and ticks, and their lines.

    >>> from pathlib import Path
    >>> plays = pl.DataFrame({"agent": ["mcts"] * 2, "task": ["aliens"] * 2, "level": ["0"] * 2,
    ...                       "win": [1, -100], "score": [80.0, -1000.0], "ticks": [476, 0]})
    >>> results = results_from_plays(plays, [1, 2], SourceFile(Path("x"), None, b""), Provenance())
    >>> results.measure("win"), results.notes
    (array([1.]), ('1 disqualified play (win -100) is left out.',))
    """
    where = shorten(file.path, 200)
    wrong = ~frame["win"].is_in(WIN_CODES) | frame["win"].is_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(
            f"{where}, line {lines[row]}, has the win {shorten(frame['win'][row])}. "
            f"It is 1 (win), 0 (loss), -1 (none) or -100 (disqualified): correct it."
        )
    kept = frame["win"] != DISQUALIFIED
    dropped = len(frame) - int(kept.sum())
    if dropped:
        verb = "is" if dropped == 1 else "are"
        origin = origin.with_notes(
            f"{counted(dropped, 'disqualified play')} (win {DISQUALIFIED}) {verb} left out."
        )
    if not kept.any():
        raise InputError(f"{where} holds no play that was not disqualified. Give at least one.")
    lines = [line for line, keep in zip(lines, kept, strict=True) if keep]
    frame = frame.filter(kept).with_columns(
        win=pl.when(pl.col("win") == NO_OUTCOME).then(None).otherwise(pl.col("win")),
        level=column_of("level", frame["level"].filter(kept).to_list()),
    )
    try:
        frame = with_given(_with_agent(frame, file), file.names)
        frame = frame.with_columns(trial=pl.int_range(pl.len()).over("agent", "task", "level"))
        if "run" not in frame.columns:  # nothing is trained: a play stands for itself
            frame = frame.with_columns(run=pl.col("trial"))
        if "agent" not in file.names and "agent_is_file" in frame.columns:
            origin = origin.with_notes(
                "The log does not say which agent played: the file's name is taken. To take it from "
                "elsewhere, give a template (`--path '{agent}/'`)."
            )
        frame = frame.drop("agent_is_file", strict=False)
        return assemble(frame, _measures(frame), ["level"], Scales(), origin)
    except InputError as problem:
        line = f", line {lines[problem.row]}" if problem.row is not None else ""
        raise InputError(f"Cannot use {where}{line}: {problem}") from None


def game_and_level(game: str, level: str) -> tuple[str, str]:
    """Return short names from the paths the framework prints.

    >>> game_and_level("examples/gridphysics/aliens.txt", "examples/gridphysics/aliens_lvl0.txt")
    ('aliens', '0')
    """
    game, level = (PurePath(path.strip().replace("\\", "/")).stem for path in (game, level))
    number = re.fullmatch(re.escape(game) + r"_lvl(\w+)", level)
    return game, number[1] if number else level


def _with_agent(frame: pl.DataFrame, file: SourceFile) -> pl.DataFrame:
    if "agent" in frame.columns or "agent" in file.names:
        return frame
    name = file.path.name.partition(".")[0] or file.path.name
    return frame.with_columns(agent=pl.lit(name), agent_is_file=True)


def _measures(frame: pl.DataFrame) -> list[str]:
    """Wins first, where any was observed."""
    return ["win", "score"] if frame["win"].null_count() < len(frame) else ["score"]
