"""Dopamine baselines: a JSON list of {"Iteration", "Value", "Agent"}, one file a game.

Beside `alien.json` lie `alien_CNN.json` and `alien_Impala.json`: other networks of the same agents, on the
same game.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from examiner.importers.documents import parse_json
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.text import beginning, text_of
from examiner.messages import InputError, shorten
from examiner.results import Provenance, atari_game

FRAMES_PER_ITERATION = 1_000_000  # 250,000 training steps of four frames (Castro et al. 2018)
STEPS_PER_ITERATION = 1_000  # of continuous control, as its default configuration says
_KEYS = ("Iteration", "Value", "Agent")
_START = re.compile(rb"\s*\[\s*\{")
_NOTE = (
    "A value is the mean return of one training iteration, a checkpoint and no episode: 1,000,000 frames "
    "of an Atari game, else 1,000 steps. Repeated iterations of an agent are its runs, as they stand."
)


def recognises(file: SourceFile) -> bool:
    """A JSON list whose first object has an iteration, a value and an agent.

    >>> recognises(SourceFile(Path("x"), None, b'[{"Iteration": 0, "Value": 1.5, "Agent": "DQN"}]'))
    True
    """
    head = beginning(file)
    first = head.partition(b"}")[0]
    return _START.match(head) is not None and all(f'"{key}"'.encode() in first for key in _KEYS)


def read(file: SourceFile, options: ReadOptions) -> Reading:
    """Read a learning curve a run; the game is the file's name, unless a template says it.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "asterix.json"
    >>> _ = path.write_text('[{"Iteration": 0, "Value": 238.5, "Agent": "DQN"}]')
    >>> read(open_source(path), ReadOptions()).results.tasks
    ('asterix',)
    """
    text = text_of(file)
    records = parse_json(text.data, file.path)
    if not isinstance(records, list) or not records:
        raise InputError(
            f"{shorten(file.path, 200)} is not a list of iterations. Check that it is a Dopamine file."
        )
    rows = [_row(record, position, file.path) for position, record in enumerate(records)]
    frame = pl.DataFrame(rows, schema=["agent", "iteration", "score"], orient="row")
    task, network = _game(file)
    atari = atari_game(task) is not None
    unit, each = ("frames", FRAMES_PER_ITERATION) if atari else ("steps", STEPS_PER_ITERATION)
    frame = frame.with_columns(
        pl.col("agent") + (f" ({network})" if network else ""),
        run=pl.int_range(pl.len()).over("agent", "iteration"),
        checkpoint=pl.col("iteration"),
        **{unit: (pl.col("iteration") + 1) * each},
    ).sort("agent", "run", "iteration", maintain_order=True)
    frame = frame.with_columns(trial=pl.int_range(pl.len()).over("agent", "run")).drop("iteration")
    if "run" in file.names:
        frame = frame.drop("run")
    if "task" not in file.names:
        frame = frame.with_columns(task=pl.lit(task))
    origin = Provenance(str(file.path), "dopamine", training=True).with_notes(*text.notes, _NOTE)
    return Reading.of(frame, file, origin, ["score"])


def _game(file: SourceFile) -> tuple[str, str]:
    """The task that a file tells of, and the network where its name says one after the game."""
    if "task" in file.names:
        return file.names["task"], ""
    name = file.path.name.partition(".")[0]
    game, _, network = name.rpartition("_")
    if atari_game(name) is None and atari_game(game) is not None:
        return game, network
    return name, ""


def _row(record: object, position: int, path: Path) -> tuple[str, int, float | None]:
    iteration, value, agent = (
        (record.get(key) for key in _KEYS) if isinstance(record, dict) else (None, None, None)
    )
    if isinstance(agent, str) and isinstance(iteration, int | float):
        whole = 0 <= iteration < 2**40 and int(iteration) == iteration
        if whole and value is None:
            return agent, int(iteration), None
        if whole and isinstance(value, int | float) and not abs(value) > 1e300:
            return agent, int(iteration), float(value)
    raise InputError(
        f"Entry {position + 1} of {shorten(path, 200)} is {shorten(record)}. Every entry needs an "
        f"iteration (a whole number), a value (a number) and an agent (text): correct or remove it."
    )
