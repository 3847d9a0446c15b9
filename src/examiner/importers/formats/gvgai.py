"""Plays of the General Video Game AI framework, in the three ways they are kept.

As the framework prints them (`** Playing game …, level … **`, then `Result (1->win; 0->lose): …`); as
trials were published, CSV without a header (`agent,game,level,win,score,ticks`); and as the executor
writes them (`game level seed win score ticks`, parted by blanks).

A win is 1, a loss 0; -1 is no outcome, so the win was not observed. A disqualified play (-100, score
-1000) is not a loss and its score is not a score: it is left out, and counted in a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TypeAlias

import polars as pl

from examiner.importers.cells import column_of, with_given
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.text import begins_with_lines_like, filled_lines, text_of
from examiner.messages import InputError, counted, shorten
from examiner.results import Provenance

_DISQUALIFIED, _NO_OUTCOME, _UNKNOWN = -100, -1, 99
_WIN = r"(1|0|-1|-100)(?:\.0*)?"
_NUMBER = r"(-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_PLAYING = re.compile(
    r"\*\* Playing game (.+?), (?:level|using generate level file) (.+?)(?: \(\d+/\d+\))? \*\*"
)
_MARK = "Result (1->win; 0->lose)"
_RESULT = re.compile(
    re.escape(_MARK)
    + rf":\s*(?:Player0:)?(-?\d+),\s*(?:Player0-)?Score:{_NUMBER},\s*timesteps:(\d+)\s*"
)
_TRIAL = re.compile(rf'\s*[^,"\s][^,"]*,[^,"]+,[^,"]+,\s*{_WIN}\s*,\s*{_NUMBER}\s*,\s*{_NUMBER}\s*')
_EXECUTED = re.compile(rf"\s*(\S+)\s+(\d+)\s+(-?\d+)\s+{_WIN}\s+{_NUMBER}\s+(\d+)\s*")
_AGENT_NOTE = (
    "The log does not say which agent played: the file's name is taken. To take it from elsewhere, "
    "give a template (`--path '{agent}/'`)."
)

Play: TypeAlias = tuple[str | int | float, ...]
"""The columns of one play; its win is a code, a whole number."""


def recognises_stdout(file: SourceFile) -> bool:
    """The framework's line about a result, or about a game it plays, is among the first.

    >>> from pathlib import Path
    >>> recognises_stdout(SourceFile(Path("x"), None, b" ** Playing game aliens.txt, level 0 (1/5) **"))
    True
    """
    if b"\0" in file.head:
        return False
    return _MARK.encode() in file.head or b" ** Playing game " in file.head


def recognises_trials(file: SourceFile) -> bool:
    """Every line of the beginning has three names, a win code and two numbers.

    >>> from pathlib import Path
    >>> recognises_trials(SourceFile(Path("x"), None, b"mcts,aliens,0,1,80.0,476", whole=True))
    True
    >>> recognises_trials(SourceFile(Path("x"), None, b"agent,task,level,win,score,ticks", whole=True))
    False
    """
    return begins_with_lines_like(file, _TRIAL)


def recognises_executor(file: SourceFile) -> bool:
    """Every line of the beginning has a game and five numbers, the third of them a win code.

    >>> from pathlib import Path
    >>> recognises_executor(SourceFile(Path("x"), None, b"aliens 0 1234 1 80.0 476", whole=True))
    True
    """
    return begins_with_lines_like(file, _EXECUTED)


def read_stdout(file: SourceFile, options: ReadOptions) -> Reading:
    r"""Read plays of one agent, called after the file unless a template names it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "mcts.log"
    >>> _ = path.write_text(" ** Playing game g/aliens.txt, level g/aliens_lvl0.txt (1/5) **\n"
    ...     "Result (1->win; 0->lose): Player0:1, Player0-Score:80.0, timesteps:476\n")
    >>> read_stdout(open_source(path), ReadOptions()).results.tasks
    ('aliens.0',)
    """
    game = (file.names["task"], file.names.get("level", "0")) if "task" in file.names else None

    def play(line: str) -> Play | None:
        nonlocal game
        playing = _PLAYING.search(line)
        if playing is not None:
            game = _game_and_level(playing[1], playing[2])
        if playing is not None or _MARK not in line:
            return None
        if game is None:
            raise InputError(
                "is a result, and no line before it says `** Playing game …`. Name the game "
                "by a template (`--path '{agent}/{task}/'`)."
            )
        return *game, *_printed(line)

    columns = ("task", "level", "win", "score", "ticks")
    return _reading(file, "gvgai-stdout", columns, play, sought=f"{_MARK} …")


def read_trials(file: SourceFile, options: ReadOptions) -> Reading:
    """Read plays; each is a trial of its agent on its level.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "trials.csv"
    >>> _ = path.write_text("mcts,aliens,0,1,80.0,476")
    >>> read_trials(open_source(path), ReadOptions()).results.measures
    ('win', 'score')
    """
    columns = ("agent", "task", "level", "win", "score", "ticks")

    def play(line: str) -> Play:
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != len(columns) or not all(fields[:3]):
            raise InputError(
                f"has {len(fields)} fields where {', '.join(columns)} belong, all filled. "
                f"Correct or remove the line."
            )
        try:
            win, score, ticks = (float(field) for field in fields[3:])
            whole = win == int(win) and abs(win) < 1e9
            return *fields[:3], int(win) if whole else _UNKNOWN, score, ticks
        except (ValueError, OverflowError):
            raise InputError(
                f"has text where win, score and ticks belong "
                f"({shorten(','.join(fields[3:]))}). Correct or remove the line."
            ) from None

    return _reading(file, "gvgai-trials", columns, play, sought=",".join(columns))


def read_executor(file: SourceFile, options: ReadOptions) -> Reading:
    """Read plays of one agent, called after the file unless a template names it.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "mcts.txt"
    >>> _ = path.write_text("aliens 0 1234 1 80.0 476")
    >>> read_executor(open_source(path), ReadOptions()).results.agents
    ('mcts',)
    """

    def play(line: str) -> Play:
        found = _EXECUTED.fullmatch(line)
        if found is None:
            raise InputError(
                f"is {shorten(line.strip())}, where game, level, seed, win, score and ticks "
                f"belong. Correct or remove the line."
            )
        return *found.groups()[:3], int(found[4]), float(found[5]), float(found[6])

    columns = ("task", "level", "seed", "win", "score", "ticks")
    return _reading(file, "gvgai-executor", columns, play, sought=" ".join(columns))


def _printed(line: str) -> tuple[int, float, float]:
    found = _RESULT.search(line)
    if found is None:
        what = "of several players" if "Player1" in line else "cut off or changed"
        raise InputError(
            f"is a result {what}: {shorten(line.strip(), 120)}. "
            f"One player's win, score and timesteps are needed: correct or remove the line."
        )
    return int(found[1]) if len(found[1]) < 9 else _UNKNOWN, float(found[2]), float(found[3])


def _game_and_level(game: str, level: str) -> tuple[str, str]:
    """Short names from the paths the framework prints: `g/aliens_lvl0.txt` is level 0 of `aliens`."""
    game, level = (PurePath(path.strip().replace("\\", "/")).stem for path in (game, level))
    number = re.fullmatch(re.escape(game) + r"_lvl(\w+)", level)
    return game, number[1] if number else level


def _reading(
    file: SourceFile,
    format: str,
    columns: Sequence[str],
    play: Callable[[str], Play | None],
    sought: str,
) -> Reading:
    """Build results from what `play` makes of each line, or says of it."""
    text = text_of(file)
    quoted = shorten(file.path, 200)
    plays: list[Play] = []
    for number, line in filled_lines(text.data, file.path):
        try:
            made = play(line)
        except InputError as problem:
            raise InputError(f"{quoted}, line {number}, {problem}") from None
        if made is not None:
            plays.append((*made, number))
    if not plays:
        raise InputError(
            f"{quoted} holds no result of a play ({sought}). Give a log of plays that ended."
        )
    frame = pl.DataFrame(plays, schema=[*columns, "line"], orient="row")
    frame, notes = _without_disqualified(frame, quoted)
    if "agent" not in {*columns, *file.names}:
        frame = frame.with_columns(agent=pl.lit(file.path.name.partition(".")[0] or file.path.name))
        notes += (_AGENT_NOTE,)
    with Whereabouts.of(file).named():
        plain = with_given(frame.drop("line"), file.names)
    plain = plain.with_columns(trial=pl.int_range(pl.len()).over("agent", "task", "level"))
    if "run" not in plain.columns:  # nothing is trained: a play stands for itself
        plain = plain.with_columns(run=pl.col("trial"))
    won = plain["win"].null_count() < len(plain)  # wins first, where any was observed
    measures = ["win", "score"] if won else ["score"]
    origin = Provenance(str(file.path), format).with_notes(*text.notes, *notes)
    return Reading.of(plain, file, origin, measures, ["level"], frame["line"].to_list().__getitem__)


def _without_disqualified(frame: pl.DataFrame, quoted: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The plays that count, wins as 1, 0 or not observed, and a note on those that do not."""
    wrong = frame.filter(~pl.col("win").is_in((1, 0, _NO_OUTCOME, _DISQUALIFIED)))
    if len(wrong):
        raise InputError(
            f"{quoted}, line {wrong['line'][0]}, has the win {shorten(wrong['win'][0])}. "
            f"It is 1 (win), 0 (loss), -1 (none) or -100 (disqualified): correct it."
        )
    kept = frame.filter(pl.col("win") != _DISQUALIFIED)
    if not len(kept):
        raise InputError(f"{quoted} holds no play that was not disqualified. Give at least one.")
    dropped = len(frame) - len(kept)
    verb = "is" if dropped == 1 else "are"
    note = f"{counted(dropped, 'disqualified play')} (win {_DISQUALIFIED}) {verb} left out."
    kept = kept.with_columns(
        win=pl.when(pl.col("win") != _NO_OUTCOME).then(pl.col("win")),
        level=column_of("level", kept["level"].to_list()),
    )
    return kept, (note,) if dropped else ()
