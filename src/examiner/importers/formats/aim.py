"""Metrics exported from Aim as CSV: one row a step, the run's parameters in columns `run.…`."""

from __future__ import annotations

import polars as pl

from examiner.importers.column_names import AGENT_COLUMNS, TASK_COLUMNS
from examiner.importers.files import SourceFile
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.importers.text import beginning
from examiner.importers.text_tables import TextTable
from examiner.importers.training import CHECKPOINT_TAGS, EPISODE_TAGS
from examiner.messages import InputError, listed, shorten

_METRIC, _RUN = ("metric.name", "metric"), ("run.hash", "run")
_AGENTS = (*AGENT_COLUMNS, "exp_name", "experiment")


def recognises(file: SourceFile) -> bool:
    """The header has a metric, a step and a value.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b",idx,step,value,epoch,time,run,run.hparams.env_id,metric"))
    True
    """
    names = beginning(file).partition(b"\n")[0].decode(errors="replace").strip().split(",")
    return {"step", "value", "idx"} <= set(names) and any(name in names for name in _METRIC)


def read(file: SourceFile, options: TableOptions) -> Reading:
    r"""Read the metric that is a return, or the one that `--measure` names.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "aim.csv"
    >>> header = "idx,step,value,epoch,time,run,run.hparams.env_id,run.hparams.algo,metric\n"
    >>> rows = [f"{row},{row}00,{row}.5,,,3f,Go-v0,ppo,eval/return\n" for row in (1, 2, 3)]
    >>> _ = path.write_text(header + "".join(rows))
    >>> results = read(open_source(path), TableOptions()).results
    >>> results.agents, results.tasks, results.column("steps")
    (('ppo',), ('Go-v0',), [100, 200, 300])
    """
    table = TextTable.of(file)
    frame = table.exported(infer=True)
    metric = next((name for name in _METRIC if name in frame.columns), None)
    if metric is None or not {"step", "value"} <= set(frame.columns):
        raise InputError(
            f"{shorten(file.path, 200)} has the columns {listed(frame.columns)}, and 'step', 'value' and "
            f"'metric' are needed. Export it again, with the names of metrics."
        )
    options.refuse_columns("an export from Aim")
    chosen = _chosen(frame[metric], options, file)
    frame = frame.filter(pl.col(metric).cast(pl.String) == chosen)
    run = next((name for name in _RUN if name in frame.columns), None)
    columns = {"score": "value", "step": "step"} | ({"run": run} if run else {})
    for key, known in (("agent", _AGENTS), ("task", TASK_COLUMNS)):
        own = next(
            (name for last in known for name in frame.columns if name.split(".")[-1] == last), None
        )
        if own is not None and key not in file.names:
            columns[key] = own
    tidy = frame.select(**{name: pl.col(old) for name, old in columns.items()})
    if chosen in CHECKPOINT_TAGS:
        of_run = [name for name in ("agent", "task", "run") if name in tidy.columns]
        tidy = tidy.with_columns(checkpoint=pl.int_range(pl.len()).over(of_run or pl.lit(0)))
    note = f"Of an export from Aim the metric {chosen!r} is read."
    plain = TableOptions(item=options.item, time=options.time, where=options.where)
    return table_reading(tidy, file, plain, "aim", [*table.notes, note])


def _chosen(metrics: pl.Series, options: TableOptions, file: SourceFile) -> str:
    names = [str(name) for name in metrics.unique(maintain_order=True).drop_nulls()]
    known = (*options.measures, *EPISODE_TAGS, *CHECKPOINT_TAGS)
    found = next((name for name in known if name in names), names[0] if len(names) == 1 else None)
    if found is None:
        raise InputError(
            f"{shorten(file.path, 200)} holds the metrics {listed(names)}, of which none is known to be a "
            f"return. Name one (`--measure NAME`)."
        )
    return found
