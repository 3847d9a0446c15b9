"""Dopamine baselines: a JSON list of {"Iteration", "Value", "Agent"}, one file a game."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.tables import TableOptions
from examiner.importers.text import beginning, parse_json, text_of
from examiner.results import Provenance
from examiner.wording import InputError, shorten

FRAMES_PER_ITERATION = 1_000_000  # 250,000 training steps of four frames (Castro et al. 2018)
_KEYS = ("Iteration", "Value", "Agent")
_START = re.compile(rb"\s*\[\s*\{")
_NOTE = (
    "A value is the mean return of one training iteration, taken as 1,000,000 frames; repeated "
    "iterations of an agent are its runs, in the order in which they stand."
)


def recognises(file: SourceFile) -> bool:
    """A JSON list whose first object has an iteration, a value and an agent.

    >>> recognises(SourceFile(Path("x"), None, b'[{"Iteration": 0, "Value": 1.5, "Agent": "DQN"}]'))
    True
    """
    head = beginning(file)
    first = head.partition(b"}")[0]
    return _START.match(head) is not None and all(f'"{key}"'.encode() in first for key in _KEYS)


def read(file: SourceFile, options: TableOptions) -> Reading:
    """Read a learning curve a run; the game is the file's name, unless a template says it.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "asterix.json"
    >>> _ = path.write_text('[{"Iteration": 0, "Value": 238.5, "Agent": "DQN"}]')
    >>> read(open_source(path), TableOptions()).results.tasks
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
    frame = frame.with_columns(
        run=pl.int_range(pl.len()).over("agent", "iteration"),
        frames=(pl.col("iteration") + 1) * FRAMES_PER_ITERATION,
    ).sort("agent", "run", "iteration", maintain_order=True)
    frame = frame.with_columns(trial=pl.int_range(pl.len()).over("agent", "run")).drop("iteration")
    if "run" in file.names:
        frame = frame.drop("run")
    if "task" not in file.names:
        frame = frame.with_columns(task=pl.lit(file.path.name.partition(".")[0]))
    origin = Provenance(str(file.path), "dopamine", training=True).with_notes(*text.notes, _NOTE)
    return Reading.of(frame, file, origin, ["score"])


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
