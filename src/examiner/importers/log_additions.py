"""Logs added to results that were read before: only new and changed files are read, all are named anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from examiner.importers.log_results import (
    CONTENT,
    LEVELS,
    ORIGIN,
    TEXT,
    UNION_NOTE,
    results_from_rows,
)
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Results

_ADDED = "of new logs added to"


@dataclass(frozen=True, slots=True)
class Before:
    """Results that were stored, and when: files that are older and known are not read again."""

    results: Results
    path: Path
    written_ns: int

    @classmethod
    def of(cls, path: str | Path) -> Before:
        """Load results that logs were read into, by `examiner convert` or `Results.save`.

        >>> import tempfile
        >>> stored = Path(tempfile.mkdtemp()) / "results.parquet"
        >>> _ = Results.from_numpy([[1.0]]).save(stored)
        >>> Before.of(stored)
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: '...results.parquet' does not say which logs its rows are from, so
        that none can be added. Only logs of evaluations of language models can be: convert them anew.
        """
        results = Results.load(path)
        if not set(ORIGIN) <= set(results.attributes):
            raise InputError(
                f"{shorten(path, 200)} does not say which logs its rows are from, so that none can be "
                f"added. Only logs of evaluations of language models can be: convert them anew."
            )
        return cls(results, Path(path), Path(path).stat().st_mtime_ns)

    def known(self, paths: Sequence[Path]) -> set[Path]:
        """Return the files whose rows are here already, and that have not changed since.

        >>> table = {"agent": ["m"], "task": ["q/1"], "score": [1.0], "log": [__file__]}
        >>> Before(Results.from_dict(table), Path("x"), 2**62).known([Path(__file__)]) == {Path(__file__)}
        True
        """
        logs = set(self.results.column("log"))
        return {
            path
            for path in paths
            if path.as_posix() in logs and path.stat().st_mtime_ns <= self.written_ns
        }

    def with_logs(self, added: Results) -> Results:
        """Return all rows as one table, named as if all logs had been read at once."""
        if added.measures != self.results.measures:
            raise InputError(
                f"{shorten(self.path, 200)} holds {listed(self.results.measures)}, and the new logs "
                f"{listed(added.measures)}. Name the same measure (`--measure`), or convert all anew."
            )
        if UNION_NOTE in added.notes:
            raise InputError(
                "The new logs do not list the items they were asked, and logs that are no longer read "
                "cannot be completed by them. List all items with `--items FILE`, or convert all anew."
            )
        again = set(added.column("log")) & set(self.results.column("log"))
        old = _rows(self.results).filter(~pl.col("log").is_in(again))
        rows = pl.concat([old, _rows(added)], how="diagonal_relaxed")
        note = f"{counted(len(added), 'row')} {_ADDED} {len(old):,} that were there."
        earlier = [note for note in self.results.notes if _ADDED not in note]
        origin = replace(added.provenance, notes=()).with_notes(note, *earlier, *added.notes)
        scales = self.results.scales + added.scales
        return replace(results_from_rows(rows, added.measures, origin), scales=scales)


def _rows(results: Results) -> pl.DataFrame:
    """Results as the stacked rows of logs that they were made of."""
    about = results.task_attributes
    columns = [*LEVELS, *([TEXT] if TEXT in about.columns else [])]
    levels = {name: about.aligned(results.tasks, name) for name in columns}
    tasks = pl.DataFrame(
        {"task": results.tasks, **levels}, schema_overrides=dict.fromkeys(columns, pl.String)
    )
    frame = results.to_polars().with_columns(pl.col("item_id").cast(pl.String))
    frame = frame.join(tasks, on="task", how="left", maintain_order="left")
    if CONTENT not in frame.columns:
        frame = frame.with_columns(pl.lit(None).alias(CONTENT))
    # What a task's name begins with, before the slash and the item's own name.
    letters = pl.col("task").str.len_chars() - pl.col("item_id").str.len_chars()
    items = pl.col("task").str.slice(0, letters).str.strip_suffix("/")
    frame = frame.with_columns(pl.col(CONTENT).cast(pl.String), items=items)
    coded = pl.col("items", "benchmark").cast(pl.Categorical)
    return frame.rename({"item_id": "id"}).drop("agent", "task", "run").with_columns(coded)
