"""CSV, TSV and their kin: text with a header line and one separator."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from examiner.importers.files import HEAD_BYTES, SourceFile
from examiner.importers.tables import (
    KNOWN_COLUMNS,
    TASK_COLUMNS,
    TableColumns,
    TableOptions,
    results_from_table,
)
from examiner.results import InputError, Provenance, Results
from examiner.results.checks import shorten
from examiner.results.codes import recoded
from examiner.results.keys import ITEM_COLUMNS

_KEY_ALIASES = dict.fromkeys(TASK_COLUMNS, "task")
_SEPARATORS = (",", "\t", ";", "|")
_INFER_ROWS = 10_000
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def recognises(file: SourceFile) -> bool:
    """Anything that is text; the more particular formats are asked first.

    >>> recognises(SourceFile(Path("x"), None, b"agent,task,score"))
    True
    """
    return file.head.startswith(_UTF16) or b"\x00" not in file.head


def read(file: SourceFile, options: TableOptions) -> Results:
    r"""Read a separated text file, tidy or wide.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.tsv"
    >>> _ = path.write_text("agent\ttask\tscore\na\tpong\t21\n")
    >>> read(open_source(path), TableOptions()).measure()
    array([21.])
    """
    text = _TextTable.of(file)
    columns = TableColumns.of(text.header, options)
    frame = text.frame(columns, options)
    if frame.width and frame[:, -1].null_count():
        text.check_widths()
    kind = "tsv" if text.separator == "\t" else "csv"
    origin = Provenance(str(file.path), f"{columns.layout} {kind}").with_notes(*text.notes)
    try:
        return results_from_table(frame, options, origin)
    except InputError as problem:
        raise _located(problem, text) from None


def read_rows(file: SourceFile) -> list[dict[str, str]]:
    r"""Read a small separated text file as it is, one dictionary of text a row.

    >>> import tempfile
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scales.csv"
    >>> _ = path.write_text("task,random\npong,-20.7\n")
    >>> read_rows(open_source(path))
    [{'task': 'pong', 'random': '-20.7'}]
    """
    text = _TextTable.of(file)
    text.check_widths()
    header = [_KEY_ALIASES.get(name.lower(), name.lower()) for name in text.header]
    records = list(text.records())[1:]
    return [dict(zip(header, record, strict=True)) for _, record in records if record]


@dataclass(frozen=True, slots=True)
class _TextTable:
    """A text table before it is parsed: where it is, its header, and how it is written."""

    path: Path
    source: Path | bytes
    header: list[str]
    separator: str
    decimal_comma: bool
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, file: SourceFile) -> _TextTable:
        """Find the encoding, the separator and the header."""
        source: Path | bytes = file.path if file.compression is None else file.contents()
        head = file.head
        notes: tuple[str, ...] = ()
        if head.startswith(_UTF16):
            text = file.contents().decode("utf-16", errors="replace")
            source = text.encode()
            head, notes = source[: len(head)], ("The file is written in UTF-16.",)
        lines = head.decode("utf-8-sig", errors="replace")
        separator = _separator(lines, file.suffix)
        header, whole = _header(lines, separator, file.path)
        if not whole and len(file.head) >= HEAD_BYTES:  # thousands of tasks make a long first line
            everything = source if isinstance(source, bytes) else file.contents()
            lines = everything.decode("utf-8-sig", errors="replace")
            header, _ = _header(lines, separator, file.path)
        comma = separator == ";" and "," in lines and "." not in lines
        if comma:
            notes += ("Numbers are read with a decimal comma.",)
        return cls(file.path, source, header, separator, comma, notes)

    def frame(self, columns: TableColumns, options: TableOptions) -> pl.DataFrame:
        """Parse the table, fast where its columns hold what they must, else as text."""
        names, numbers = columns.as_text(self.header), columns.as_numbers(self.header, options)
        known = pl.Schema({name: pl.Float64() for name in numbers})
        known.update({name: pl.Categorical() for name in names})
        try:
            frame = self._parsed(known, infer=True)
            return frame.with_columns(_whole_where_plain(frame[name]) for name in names)
        except pl.exceptions.PolarsError:
            pass  # a word among the numbers, a late decimal point, a ragged line: look closer
        self.check_widths()
        try:
            return self._parsed(pl.Schema({}), infer=False)
        except pl.exceptions.PolarsError as problem:
            if "utf-8" not in str(problem).lower():
                raise InputError(
                    f"Cannot read {shorten(self.path, 200)}: {str(problem).splitlines()[0]}. "
                    f"Check that it is a table with a header line."
                ) from None
            raise InputError(
                f"Cannot read {shorten(self.path, 200)}: it is not UTF-8 text. "
                f"Save it again as UTF-8."
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

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Each record with the number of its last line; slow, for finding what is wrong."""
        data = self.source if isinstance(self.source, bytes) else self.source.read_bytes()
        lines = io.StringIO(data.decode("utf-8-sig", errors="replace"), newline="")
        reader = csv.reader(lines, delimiter=self.separator)
        try:
            for record in reader:
                yield reader.line_num, record
        except csv.Error as problem:
            raise InputError(
                f"Cannot read {shorten(self.path, 200)}, line {reader.line_num}: {problem}. "
                f"Check the quotes there."
            ) from None

    def check_widths(self) -> None:
        """Refuse a line with more or fewer fields than the header."""
        for line, record in self.records():
            if record and len(record) != len(self.header):
                raise InputError(
                    f"Cannot read {shorten(self.path, 200)}: line {line} has {len(record)} fields, the "
                    f"header has {len(self.header)}. Correct the line, or quote text that holds "
                    f"{shorten(self.separator)}."
                )

    def line_of(self, row: int) -> int | None:
        """The line of the file on which a row of the table ends."""
        for position, (line, _) in enumerate(self.records()):
            if position == row + 1:
                return line
        return None


def _header(lines: str, separator: str, path: Path) -> tuple[list[str], bool]:
    """The names of the columns, and whether the header ends before the text does."""
    text = io.StringIO(lines, newline="")
    try:
        header = next(csv.reader(text, delimiter=separator), [])
    except csv.Error as problem:
        raise InputError(
            f"Cannot read the header of {shorten(path, 200)}: {problem}. Shorten its names."
        ) from None
    # Blanks around `agent` or `score` are slips; in a task's own name they may be meant.
    names = [name.strip() if name.strip().lower() in KNOWN_COLUMNS else name for name in header]
    return names, bool(text.read(1))


def _whole_where_plain(column: pl.Series) -> pl.Series:
    """Item columns as whole numbers where every label is one as Python writes it: 1, but not 01."""
    if column.name not in ITEM_COLUMNS or column.null_count():
        return column
    labels = column.unique().cast(pl.String)
    whole = labels.cast(pl.Int64, strict=False)
    plain = whole.null_count() == 0 and (whole.cast(pl.String) == labels).all()
    return recoded(column, lambda names: names.cast(pl.Int64)) if plain else column


def _separator(lines: str, suffix: str) -> str:
    if suffix in (".tsv", ".tab"):
        return "\t"
    first = lines.splitlines()[0] if lines else ""
    outside_quotes = "".join(first.split('"')[::2])
    return max(_SEPARATORS, key=outside_quotes.count)


def _located(problem: InputError, text: _TextTable) -> InputError:
    where = shorten(text.path, 200)
    if problem.row is not None:
        where += f", line {text.line_of(problem.row)}"
    return InputError(f"Cannot use {where}: {problem}", row=problem.row)
