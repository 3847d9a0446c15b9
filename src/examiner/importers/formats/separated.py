"""CSV, TSV and their kin: text with a header line and one separator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from examiner.importers.cells import spread, without_missing_words
from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.importers.table_columns import TableColumns
from examiner.importers.tables import results_from_table, table_reading
from examiner.importers.text import is_utf16, text_of
from examiner.importers.text_tables import TextTable
from examiner.messages import InputError, RepeatedKeyError
from examiner.results import (
    ITEM_COLUMNS,
    JUDGES,
    PROBLEMS,
    Provenance,
    compact_names,
    content_columns,
    numbers_in,
    trial_numbers,
)

_BLOCK_BYTES = 128 * 2**20  # of files held at once as one text

_CURVE_NOTE = "Lines of two numbers without a header are read as steps and scores."


def recognises(file: SourceFile) -> bool:
    """Anything that is text but JSON; the more particular formats are asked first.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"agent,task,score"))
    True
    """
    if is_utf16(file):
        return True
    return b"\x00" not in file.head and not file.head.lstrip().startswith((b"[{", b"[\n", b"{"))


def read(file: SourceFile, options: ReadOptions) -> Reading:
    r"""Read a separated text file, tidy or wide.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "scores.tsv"
    >>> _ = path.write_text("agent\ttask\tscore\na\tpong\t21\n")
    >>> read(open_source(path), ReadOptions()).results.measure()
    array([21.])
    """
    curve = _curve_without_header(file)
    if curve is not None:
        return table_reading(curve, file, options, "text", [_CURVE_NOTE])
    text = TextTable.of(file)
    with Whereabouts.of(file).named():
        columns = TableColumns.of(text.header, options, file.names)
    frame, text = text.frame(columns)
    if frame.width and frame[:, -1].null_count():
        text.check_widths()
    return table_reading(frame, file, options, text.kind, text.notes, text.line_of)


def _curve_without_header(file: SourceFile) -> pl.DataFrame | None:
    """The steps and values of a text of two numbers a line, whose first rise; None of any other text."""
    first = file.head.partition(b"\n")[0].decode(errors="replace").replace(",", " ").split()
    if len(first) != 2 or numbers_in(pl.Series(first))[1] is not None:
        return None
    lines = text_of(file).data.decode().replace(",", " ").splitlines()
    words = [line.split() for line in lines if line.strip()]
    if any(len(line) != 2 for line in words):
        return None
    columns = zip(("step", "score"), zip(*words, strict=True), strict=True)
    numbers = {
        name: numbers_in(without_missing_words(pl.Series(column))) for name, column in columns
    }
    steps, wrong = numbers["step"]
    if wrong is not None or numbers["score"][1] is not None or steps.null_count():
        return None
    if (steps.diff().drop_nulls() <= 0).any():
        return None
    whole = bool((steps == steps.round()).all())
    steps = steps.cast(pl.Int64) if whole else steps
    return pl.DataFrame({"step": steps, "score": numbers["score"][0]})


def read_many(files: Sequence[SourceFile], options: ReadOptions) -> list[Reading]:
    """Read many files: those with the same header as one text, which is far faster than one by one.

    >>> read_many([], ReadOptions())
    []
    """
    alike: dict[tuple[object, ...], list[SourceFile]] = {}
    for file in files:
        header = file.head.partition(b"\n")[0].rstrip(b"\r")
        alike.setdefault((header, file.suffix, file.compression, *file.names), []).append(file)
    readings = []
    for group in alike.values():
        for block in _blocks(group):
            together = _read_block(block, options) if len(block) > 1 else None
            readings += [together] if together else [read(file, options) for file in block]
    return readings


def _blocks(files: Sequence[SourceFile]) -> list[list[SourceFile]]:
    """Files that together are small enough to be held as one text."""
    blocks: list[list[SourceFile]] = []
    size = _BLOCK_BYTES
    for file in files:
        bytes_here = len(file.head) if file.whole else file.path.stat().st_size
        if size + bytes_here > _BLOCK_BYTES:
            blocks.append([])
            size = 0
        blocks[-1].append(file)
        size += bytes_here
    return blocks


def _read_block(files: Sequence[SourceFile], options: ReadOptions) -> Reading | None:
    """Read like-headed tidy files at once; None where each needs a look of its own."""
    bodies = [body for file in files if (body := _body(file)) is not None]
    if len(bodies) < len(files):
        return None
    rows = [body.count(b"\n") for body in bodies]
    where = Whereabouts([file.path for file in files], rows)
    given = files[0].names
    try:
        text = TextTable.of(files[0])
        columns = TableColumns.of(text.header, options, given)
        names = set(text.header)
        if columns.layout == "wide" or names & {*given, *JUDGES} or text.notes or options.where:
            return None
        header = files[0].head.partition(b"\n")[0] + b"\n"
        frame, _ = replace(text, source=b"".join([header, *bodies])).frame(columns)
        if len(frame) != sum(rows) or not len(frame) or frame[:, -1].null_count():
            return None
        frame = _with_keys_per_file(frame, files, rows, columns)
        origin = Provenance(str(files[0].path), f"tidy {text.kind}")
        named = TableColumns.of(frame.columns, options)
        numbered = columns.column_of("trial") is None
        return Reading(results_from_table(frame, named, origin, numbered=numbered), where)
    except RepeatedKeyError as problem:
        raise where.located(problem) from None
    except (InputError, *PROBLEMS):
        return None  # read by itself, the file can tell the line


def _body(file: SourceFile) -> bytes | None:
    """All but the header, where a line is a row: no quotes, no blank lines, plain UTF-8."""
    data = file.contents()
    body = data.partition(b"\n")[2]
    if b'"' in data or b"\0" in data or b"\n\n" in body or b"\n\r\n" in body:
        return None
    if body.startswith((b"\n", b"\r\n")) or not data.isascii():
        return None
    return body if not body or body.endswith(b"\n") else body + b"\n"


def _with_keys_per_file(
    frame: pl.DataFrame, files: Sequence[SourceFile], rows: Sequence[int], columns: TableColumns
) -> pl.DataFrame:
    """Add the names each path gives; without a trial column, number repeats within each file."""
    file_of_row = np.repeat(np.arange(len(files)), rows)
    for name in files[0].names:
        frame = frame.with_columns(spread(name, [file.names[name] for file in files], file_of_row))
    names = {columns.mapping.get(name, name): name for name in frame.columns}
    if "trial" in names:
        return frame
    keys = [names[key] for key in ("agent", "task", *ITEM_COLUMNS) if key in names]
    runs = [names[key] for key in ("run", "seed") if key in names][:1]
    # Rows that are no trials of a run have no order: they are numbered as they would be in one file.
    measures = [name for name in columns.as_numbers if name in frame.columns]
    content = () if runs else content_columns(frame, [*keys, *runs], measures)
    keys += runs
    coded = compact_names(frame.select(keys).fill_null(""), keys).hstack(frame.select(content))
    return frame.with_columns(
        trial=trial_numbers(
            coded.with_columns(file=pl.Series(file_of_row)), ["file", *keys], content
        )
    )
