"""Files written: the old one or the whole new one, of the kind its ending says."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import polars as pl

from examiner.messages import InputError, first_line, listed, shorten


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside the target, moved onto it only when the block ends well.

    The content is flushed to disk before the move, so that a crash leaves the old file or the new
    one, never half of either. A killed process can leave a hidden `.examiner-….part` behind.
    Devices and pipes (`/dev/stdout`) cannot be replaced and are written directly.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with atomic_path(target) as temporary:
    ...     _ = temporary.write_text("agent,task,score")
    ...     target.exists()
    False
    >>> target.read_text()
    'agent,task,score'
    """
    from examiner.results.polars_errors import PROBLEMS

    target = Path(path)
    temporary: Path | None = None
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        target = Path(os.path.realpath(target))  # a link keeps pointing where it points
        if target.is_symlink():  # in a circle, which some versions of Python pass over
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        _check_writable(target)
        # Not the target's own name, which may be as long as the file system allows, or no text.
        temporary = target.with_name(f".examiner-{secrets.token_hex(6)}.part")
        yield temporary
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o7777)
        _flush_to_disk(temporary)
        temporary.replace(target)
        _flush_to_disk(target.parent)
    except (OSError, *PROBLEMS) as problem:
        reason = getattr(problem, "strerror", None) or first_line(problem)
        raise InputError(
            f"Cannot write {shorten(path, 200)}: {reason}. "
            f"Check the name, the free space and the permissions, or choose another path."
        ) from problem
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()


def write_text(path: str | Path, text: str) -> Path:
    """Write text atomically, as UTF-8, and return the path.

    >>> import tempfile
    >>> write_text(Path(tempfile.mkdtemp()) / "note.txt", "π").read_text(encoding="utf-8")
    'π'
    """
    # Surrogates can come from undecodable file names; they have no UTF-8 of their own.
    return write_bytes(text.encode("utf-8", errors="replace"), path)


def _check_writable(target: Path) -> None:
    if target.is_dir():
        raise InputError(f"Cannot write {shorten(target, 200)}: it is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise InputError(
            f"Cannot write {shorten(target, 200)}: the folder {shorten(target.parent, 200)} does "
            f"not exist. Create it first."
        )


def _flush_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


Packing = Literal["uncompressed", "gzip", "zstd"]
_PACKINGS: MappingProxyType[str, Packing] = MappingProxyType({".gz": "gzip", ".zst": "zstd"})


KINDS = (".csv", ".tsv", ".ndjson", ".jsonl", ".parquet")


def file_kind(path: str | Path) -> tuple[str, Packing]:
    """Return the ending that says what a file holds, and how it is packed.

    >>> file_kind("scores.csv.gz")
    ('.csv', 'gzip')
    """
    path = Path(path)
    packing = _PACKINGS.get(path.suffix.lower(), "uncompressed")
    ending = (path if packing == "uncompressed" else path.with_suffix("")).suffix.lower()
    if ending not in KINDS:
        raise InputError(
            f"Cannot tell how to write {shorten(path, 200)} from its ending. Known endings: "
            f"{listed(KINDS)}, and .gz or .zst behind the text ones."
        )
    return ending, packing


# How a formula begins for Excel, LibreOffice or Google Sheets, full-width signs too (OWASP: CSV injection).
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"


def formula_names(names: Iterable[str]) -> list[str]:
    """Return the names that a spreadsheet would take for formulas.

    >>> formula_names(["dqn", "=1+1", "-dqn"])
    ['=1+1', '-dqn']
    """
    return [name for name in names if re.match(_FORMULA, name)]


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before each text, in cells and in the header, that a spreadsheet would compute.

    >>> without_formulas(pl.DataFrame({"agent": ["=1+1", "dqn"], "@t": [-1.0, 2.0]})).to_dicts()
    [{'agent': "'=1+1", "'@t": -1.0}, {'agent': 'dqn', "'@t": 2.0}]
    """
    texts = [
        name for name, kind in frame.schema.items() if not kind.is_numeric() and kind != pl.Boolean
    ]
    text = pl.col(texts).cast(pl.String)
    quoted = pl.when(text.str.contains(_FORMULA)).then("'" + text).otherwise(text)
    renamed = {name: f"'{name}" for name in formula_names(frame.columns)}
    return frame.with_columns(quoted.name.keep() if texts else []).rename(renamed)


def write_frame(frame: pl.DataFrame, path: str | Path, *, for_spreadsheets: bool = False) -> Path:
    """Write a frame atomically, as its ending says.

    With `for_spreadsheets`, CSV and TSV have no cell that a spreadsheet would compute.

    >>> import tempfile
    >>> path = write_frame(pl.DataFrame({"agent": ["a"]}), Path(tempfile.mkdtemp()) / "x.csv")
    >>> path.read_text()
    'agent\\na\\n'
    """
    ending, packing = file_kind(path)
    if for_spreadsheets and ending in (".csv", ".tsv"):
        frame = without_formulas(frame)
    with atomic_path(path) as temporary:
        if ending == ".parquet":
            if packing != "uncompressed":
                raise InputError("Parquet is packed inside already. Leave the second ending out.")
            frame.write_parquet(temporary)
        elif ending in (".csv", ".tsv"):
            separator = "," if ending == ".csv" else "\t"
            frame.write_csv(
                temporary, separator=separator, compression=packing, check_extension=False
            )
        else:
            frame.write_ndjson(temporary, compression=packing, check_extension=False)
    return Path(path)


def check_ending(path: str | Path, endings: Sequence[str], layout: str) -> None:
    """Refuse a path whose ending is not one that a layout is written with.

    >>> check_ending("scores.csv", (".npz",), "rliable")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The layout 'rliable' is written to '.npz', not to 'scores.csv'. \
Change the ending.
    """
    if Path(path).suffix.lower() not in endings:
        raise InputError(
            f"The layout {layout!r} is written to {listed(endings)}, not to {shorten(path, 200)}. "
            f"Change the ending."
        )


def write_bytes(data: bytes, path: str | Path) -> Path:
    """Write bytes atomically.

    >>> import tempfile
    >>> write_bytes(b"x", Path(tempfile.mkdtemp()) / "x.npz").read_bytes()
    b'x'
    """
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)
    return Path(path)
