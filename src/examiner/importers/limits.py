"""How much a file may ask for: bytes in memory, bytes out of an archive, bytes in a line.

A file larger than the machine's memory, or an archive that unpacks to far more than it packs, is
refused before it takes the memory down. `EXAMINER_MAX_BYTES` (a number, or 500M, 64G) replaces both.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol

from examiner.wording import InputError, shorten

VARIABLE = "EXAMINER_MAX_BYTES"
LONGEST_LINE_BYTES = 256 * 2**20
UNPACKED_FREELY_BYTES = 256 * 2**20
MOST_TIMES_PACKED = 100
_WITHOUT_SYSCONF_BYTES = 16 * 2**30
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Searchable(Protocol):
    """Bytes, or a file mapped into memory."""

    def __len__(self) -> int: ...

    def find(self, sought: bytes, start: int, end: int, /) -> int:
        """Return where the bytes first stand between start and end, or -1."""


def most_bytes() -> int:
    """Return the most bytes that may be read from one file: the variable's, else the memory's size.

    >>> most_bytes() > 2**20
    True
    """
    named = _named_limit()
    if named is not None:
        return named
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return _WITHOUT_SYSCONF_BYTES


def most_unpacked_bytes(packed: int) -> int:
    """Return how many bytes an archive of a size may unpack to.

    >>> most_unpacked_bytes(1000) == UNPACKED_FREELY_BYTES
    True
    """
    named = _named_limit()
    if named is not None:
        return named
    return min(most_bytes(), max(UNPACKED_FREELY_BYTES, MOST_TIMES_PACKED * packed))


def check_size(size: int, path: Path) -> None:
    """Refuse a file that is larger than may be read.

    >>> check_size(10**18, Path("huge.csv"))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'huge.csv' holds 931,322,574.6 GiB, more than the ... GiB that \
may be read at once. Split it, or raise the limit with the environment variable EXAMINER_MAX_BYTES.
    """
    limit = most_bytes()
    if size > limit:
        raise InputError(
            f"{shorten(path, 200)} holds {_gib(size)}, more than the {_gib(limit)} that may be read "
            f"at once. Split it, or raise the limit with the environment variable {VARIABLE}."
        )


def check_unpacked(size: int, packed: int, path: Path) -> None:
    """Refuse an archive that unpacks to more than it may.

    >>> check_unpacked(1000, 10, Path("scores.csv.gz"))
    """
    limit = most_unpacked_bytes(packed)
    if size > limit:
        raise InputError(
            f"{shorten(path, 200)} unpacks to more than {_gib(limit)} from {packed:,} bytes, as a zip "
            f"bomb does, and is refused. If it is meant so, unpack it yourself or raise the limit with "
            f"the environment variable {VARIABLE}."
        )


def check_line_lengths(data: Searchable, path: Path) -> None:
    """Refuse text with an endless line; only lines of twice the limit are sure to be caught.

    A window of the limit's size without a line's end is looked for, which costs nothing where lines
    are short.

    >>> check_line_lengths(b"agent,task,score", Path("scores.csv"))
    """
    half = LONGEST_LINE_BYTES // 2
    for start in range(0, len(data) - half, half):
        if data.find(b"\n", start, start + half) < 0:
            raise InputError(
                f"{shorten(path, 200)} has a line of more than {half // 2**20:,} MiB. "
                f"A result is a short line: check that this is a table, and that its lines end."
            )


def _named_limit() -> int | None:
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return None
    match = re.fullmatch(r"(\d{1,15})\s*([KMGT]?)(?:i?B)?", text, flags=re.IGNORECASE)
    if match is None or not int(match[1]):
        raise InputError(
            f"The environment variable {VARIABLE} is {shorten(text)}. Give a number of bytes, such as "
            f"8000000000 or 8G."
        )
    return int(match[1]) * _UNITS[match[2].upper()]


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
