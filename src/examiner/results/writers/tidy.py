"""The tidy table: one row per trial, every column; in Parquet, scales and provenance too."""

from __future__ import annotations

from pathlib import Path

from examiner.results.storage import file_kind, write_frame
from examiner.results.table import Results


def tidy(results: Results, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write one row per trial; only Parquet keeps scales and provenance.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> tidy(Results.from_numpy([[1.5]], ["a"], ["t"]), path).read_text()
    'agent,task,run,trial,score\\na,t,0,0,1.5\\n'
    """
    if file_kind(path)[0] == ".parquet":
        return results.save(path)
    return write_frame(results.to_polars(), path, for_spreadsheets=for_spreadsheets)
