"""A separated text table before it is understood: its encoding, separator, header, and where it breaks."""

from __future__ import annotations

import csv
import io
import itertools
import mmap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from examiner.importers.files import SourceFile, check_size
from examiner.importers.table_columns import TableColumns
from examiner.importers.text import as_utf8, check_text, refuse_merge_markers, text_of
from examiner.importers.vocabulary import INDEX_COLUMN, KNOWN_COLUMNS
from examiner.messages import InputError, first_line, shorten
from examiner.results import ITEM_COLUMNS, PROBLEMS, recoded

_SEPARATORS = (",", "\t", ";", "|")
_INFER_ROWS = 10_000  # a column that changes its kind later is read again, as text
# Half of the longest line that is taken; the usual 131,072 are too few.
_FEW_CSV_FIELD_BYTES = 2**27


@dataclass(frozen=True, slots=True)
class TextTable:
    """Where a text table is, its header, and how it is written."""

    path: Path
    source: Path | bytes
    header: list[str]
    separator: str
    decimal_comma: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: SourceFile) -> TextTable:
        r"""Find the encoding, the separator and the header.

        >>> TextTable.of(SourceFile(Path("x"), None, b"agent;task;score\na;b;1,5", whole=True)).notes
        ('Numbers are read with a decimal comma.',)
        """
        head, ended, _ = file.head.rpartition(b"\n")
        plain = as_utf8(head, file.path)
        source: Path | bytes = file.path
        notes = plain.notes
        in_memory = file.whole or file.compression is not None
        if not in_memory:
            check_mapped(file.path)
        head = plain.data
        if notes or in_memory or not ended:  # without a line's end, the header goes on
            source, notes = text_of(file)
            head = source[: max(len(file.head), source.find(b"\n") + 1)]
        lines = head.decode(errors="replace")
        separator = _separator(lines, file.suffix)
        try:
            header = next(csv.reader(io.StringIO(lines, newline=""), delimiter=separator), [])
        except csv.Error:
            header = lines.partition("\n")[0].rstrip("\r").split(separator)
        comma = separator == ";" and "," in lines and "." not in lines
        if comma:
            notes += ("Numbers are read with a decimal comma.",)
        # Blanks around `agent` or `score` are slips; in a task's own name they may be meant.
        header = [
            name.strip() if name.strip().lower() in KNOWN_COLUMNS else name for name in header
        ]
        if len(header) > 2 and not header[0].strip():  # as pandas writes its index
            header[0] = INDEX_COLUMN
        return cls(file.path, source, header, separator, comma, notes)

    @property
    def kind(self) -> str:
        """What such a file is called: csv, but tsv with tabs."""
        return "tsv" if self.separator == "\t" else "csv"

    def frame(self, columns: TableColumns) -> tuple[pl.DataFrame, TextTable]:
        r"""Parse the table, fast where its columns hold what they must, else as text.

        The table comes back too: with a note where late bytes were not UTF-8.

        >>> table = TextTable(Path("x.csv"), b"agent,t\na,1\n", ["agent", "t"], ",", False)
        >>> from examiner.importers.options import ReadOptions
        >>> table.frame(TableColumns.of(table.header, ReadOptions()))[0].rows()
        [('a', 1.0)]
        """
        names = columns.as_text
        known = pl.Schema({name: pl.Float64() for name in columns.as_numbers})
        known.update({name: pl.Categorical() for name in names})
        try:
            frame = self._parsed(known, infer=True)
            return frame.with_columns(_whole_where_plain(frame[name]) for name in names), self
        except PROBLEMS:
            pass  # a word among the numbers, a late decimal point, a ragged line: look closer
        text = as_utf8(self._data(), self.path)
        table = replace(self, source=text.data, notes=self.notes + text.notes)
        table.check_widths()
        try:
            return table._parsed(pl.Schema({}), infer=False), table
        except PROBLEMS as problem:
            raise InputError(
                f"Cannot read {shorten(self.path, 200)}: {first_line(problem)}. "
                f"Check that it is a table with a header line, and its quotes."
            ) from None

    def exported(self, *, infer: bool) -> pl.DataFrame:
        r"""Parse what a tracker wrote, whose columns are its own: with their types, or as text.

        >>> table = TextTable(Path("x.csv"), b"step,value\n1,2.5\n", ["step", "value"], ",", False)
        >>> table.exported(infer=True).rows()
        [(1, 2.5)]
        """
        try:
            return self._parsed(pl.Schema({}), infer=infer)
        except PROBLEMS as problem:
            raise InputError(
                f"Cannot read {shorten(self.path, 200)}: {first_line(problem)}. Export it again."
            ) from None

    def _parsed(self, known: pl.Schema, *, infer: bool) -> pl.DataFrame:
        return pl.read_csv(
            self.source,
            separator=self.separator,
            decimal_comma=self.decimal_comma,
            schema_overrides=known,
            infer_schema=infer,
            infer_schema_length=_INFER_ROWS,
            with_column_names=lambda _: self.header,
            glob=False,
        )

    def _data(self) -> bytes:
        return self.source if isinstance(self.source, bytes) else self.source.read_bytes()

    def records(self) -> Iterator[tuple[int, list[str]]]:
        r"""Each record with the number of its last line; slow, for finding what is wrong.

        >>> list(TextTable(Path("x.csv"), b"a,b\n1,2\n", ["a", "b"], ",", False).records())
        [(1, ['a', 'b']), (2, ['1', '2'])]
        """
        lines = io.StringIO(self._data().decode("utf-8-sig", errors="replace"), newline="")
        reader = csv.reader(lines, delimiter=self.separator)
        before = csv.field_size_limit(_FEW_CSV_FIELD_BYTES)
        try:
            for record in reader:
                yield reader.line_num, record
        except csv.Error as problem:
            raise InputError(
                f"Cannot read {shorten(self.path, 200)}, line {reader.line_num}: {problem}. "
                f"Check the quotes there."
            ) from None
        finally:
            csv.field_size_limit(before)

    def check_widths(self) -> None:
        r"""Refuse a line with more or fewer fields than the header, and the marks of a git merge.

        >>> TextTable(Path("x.csv"), b"a,b\n1,2,3\n", ["a", "b"], ",", False).check_widths()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: Cannot read 'x.csv': line 2 has 3 fields, the header has 2. ...
        """
        for line, record in self.records():
            if record and len(record) != len(self.header):
                refuse_merge_markers(self._data(), self.path)
                raise InputError(
                    f"Cannot read {shorten(self.path, 200)}: line {line} has {len(record)} fields, the "
                    f"header has {len(self.header)}. Correct the line, or quote text that holds "
                    f"{shorten(self.separator)}."
                )

    def line_of(self, row: int) -> int | None:
        r"""The line of the file on which a row of the table ends.

        >>> TextTable(Path("x.csv"), b"a,b\n1,2\n", ["a", "b"], ",", False).line_of(0)
        2
        """
        return next((line for line, _ in itertools.islice(self.records(), row + 1, None)), None)


def check_mapped(path: Path) -> None:
    """Refuse bytes that no text has, in a file that is not read into memory for it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.csv"
    >>> _ = path.write_text("agent,task,score")
    >>> check_mapped(path)
    """
    try:
        with path.open("rb") as stream:
            check_size(path.stat().st_size, path)
            with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
                check_text(mapped, path)
    except (OSError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(
            f"Cannot read {shorten(path, 200)}: {problem}. Check the file and the disk."
        ) from None


def _whole_where_plain(column: pl.Series) -> pl.Series:
    """Item columns as whole numbers where every label is one as Python writes it: 1, but not 01."""
    if column.name.strip().lower() not in ITEM_COLUMNS or column.null_count() or not len(column):
        return column
    labels = column.unique().cast(pl.String)
    whole = labels.cast(pl.Int64, strict=False)
    plain = whole.null_count() == 0 and (whole.cast(pl.String) == labels).all()
    return recoded(column, lambda names: names.cast(pl.Int64)) if plain else column


def _separator(lines: str, suffix: str) -> str:
    if suffix in (".tsv", ".tab"):
        return "\t"
    first = lines.splitlines()[0] if lines.splitlines() else ""
    outside_quotes = "".join(first.split('"')[::2])
    return max(_SEPARATORS, key=outside_quotes.count)
