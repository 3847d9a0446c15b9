"""Charts exported from Weights & Biases: a column of steps, then one `RUN - METRIC` for each run."""

from __future__ import annotations

import csv
import re
from pathlib import PurePath

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning
from examiner.importers.text_tables import TextTable
from examiner.importers.training import cleanrl_names
from examiner.importers.vocabulary import TIME_COLUMNS
from examiner.messages import InputError, shorten

_ENDS = ("__MIN", "__MAX")
_NOTE = (
    "A chart exported from Weights & Biases holds points of curves, no episodes: they are read as "
    "checkpoints. Runs named as CleanRL does, or grouped by `key: value`, tell their agent, task and seed; "
    "of others the run's name is the agent and the file's the task."
)


def recognises(file: SourceFile) -> bool:
    """Every column but the first is called `RUN - METRIC`.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b'"Step","lucky-sun-7 - charts/episodic_return"'))
    True
    """
    first, _, others = beginning(file).partition(b"\n")
    if b" - " not in first:
        return False
    lines = [line.decode(errors="replace").strip() for line in (first, others.partition(b"\n")[0])]
    try:
        names, *cells = csv.reader([line for line in lines if line])
    except csv.Error:
        return False
    whole = not cells or len(cells[0]) == len(names)  # a line of a log is no header
    return whole and len(names) > 1 and all(" - " in name for name in names[1:])


def read(file: SourceFile, options: ReadOptions) -> Reading:
    r"""Read the curve of every run, without the ends of its range.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "wandb.csv"
    >>> _ = path.write_text('"Step","Pong-v5__ppo__1__165 - eval/return"\n"1","-3"\n"2","5"\n"3","9"\n')
    >>> results = read(open_source(path), ReadOptions()).results
    >>> results.agents, results.tasks, results.measure()
    (('ppo',), ('Pong-v5',), array([-3.,  5.,  9.]))
    """
    table = TextTable.of(file)
    frame = table.exported(infer=False)
    time = frame.columns[0].lower().replace(" ", "_")
    time = time if time in TIME_COLUMNS else "time"
    parts = []
    for name in frame.columns[1:]:
        if name.endswith(_ENDS):
            continue
        run = _names(name.rpartition(" - ")[0], file)
        part = frame.select(
            pl.col(frame.columns[0]).cast(pl.Float64, strict=False).alias(time),
            pl.col(name).cast(pl.Float64, strict=False).alias("score"),
        ).drop_nulls("score")
        keys = [pl.lit(run[key]).alias(key) for key in run if key not in file.names]
        parts.append(part.with_columns(*keys, checkpoint=pl.int_range(pl.len())))
    if not parts:
        raise InputError(
            f"{shorten(file.path, 200)} has no column called `RUN - METRIC`. Check that it is a chart "
            f"exported from Weights & Biases."
        )
    return table_reading(pl.concat(parts), file, options, "wandb", [*table.notes, _NOTE])


def _names(run: str, file: SourceFile) -> dict[str, str]:
    """Agent, task and run of a column, as far as its name tells them."""
    cleanrl = cleanrl_names(run)
    if cleanrl is not None:
        return dict(zip(("task", "agent", "run"), cleanrl, strict=True))
    groups = dict(re.findall(r"([\w.]+): ([^,]+)", run))
    task = next((groups[key] for key in ("env_id", "env", "task", "game") if key in groups), None)
    keys = ("exp_name", "algo", "agent", "method", "model")
    agent = next((groups[key] for key in keys if key in groups), None)
    seed = groups.get("seed", "0")
    return {"task": task or PurePath(file.path.name).stem, "agent": agent or run, "run": seed}
