"""Parquet files: those examiner wrote come back whole, any other as a tidy or wide table."""

from __future__ import annotations

import io

import polars as pl

from examiner.importers.files import SourceFile
from examiner.importers.tables import TableColumns, TableOptions, results_from_table
from examiner.results import InputError, Provenance, Results
from examiner.results.checks import shorten
from examiner.results.storage import RESULTS_SCHEMA, results_from_note, stored_note


def recognises(file: SourceFile) -> bool:
    """A Parquet file begins with its name.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"PAR1..."))
    True
    """
    return file.head.startswith(b"PAR1")


def read(file: SourceFile, options: TableOptions) -> Results:
    """Read a Parquet file; options that were given are applied to stored results too.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.parquet"
    >>> Results.from_numpy([[1.0]]).save(path) == path
    True
    >>> read(open_source(path), TableOptions()).provenance.format
    'numpy'
    """
    source = file.path if file.compression is None else io.BytesIO(file.contents())
    note = stored_note(source)
    try:
        frame = pl.read_parquet(source, glob=False)
    except (pl.exceptions.PolarsError, OSError) as problem:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the Parquet file is damaged "
            f"({str(problem).splitlines()[0]}). Write it again."
        ) from None
    try:
        if note is not None and note.get("schema") == RESULTS_SCHEMA:
            results = results_from_note(frame, note)
            results = results.with_measures(*options.measures) if options.measures else results
            return results if options.item is None else results.with_items(*options.item)
        columns = TableColumns.of(frame.columns, options)
        origin = Provenance(str(file.path), f"{columns.layout} parquet")
        return results_from_table(frame, options, origin)
    except InputError as problem:
        raise InputError(
            f"Cannot use {shorten(file.path, 200)}: {problem}", row=problem.row
        ) from None
