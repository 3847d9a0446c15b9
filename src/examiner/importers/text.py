"""Text as it comes: its encoding detected, endless lines and merge markers refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from examiner.importers.files import SourceFile
from examiner.messages import InputError, shorten

LONGEST_LINE_BYTES = 256 * 2**20  # a row of a million tasks is a tenth of it
UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BLOCK_BYTES = 2**24  # copied at once to be counted: little beside a file that is mapped
_MERGE_MARKER = re.compile(rb"^(?:<{7} |={7}\r?$|>{7} )", flags=re.MULTILINE)


class Decoded(NamedTuple):
    """UTF-8 text, and what had to be done to get it."""

    data: bytes
    notes: tuple[str, ...] = ()


def text_of(file: SourceFile) -> Decoded:
    r"""Return everything in a text file as UTF-8 without a byte-order mark.

    >>> text_of(SourceFile(Path("x.csv"), None, b"\xef\xbb\xbfagent,task", whole=True))
    Decoded(data=b'agent,task', notes=())
    """
    text = as_utf8(file.contents(), file.path)
    check_text(text.data, file.path)
    return text


def is_utf16(file: SourceFile) -> bool:
    r"""Tell whether a file begins as text in UTF-16 does.

    >>> is_utf16(SourceFile(Path("x.csv"), None, "agent".encode("utf-16")))
    True
    """
    return file.head.startswith(_UTF16_MARKS)


def beginning(file: SourceFile) -> bytes:
    r"""Return the first bytes of a text file, without a byte-order mark.

    >>> beginning(SourceFile(Path("x.csv"), None, b"\xef\xbb\xbfagent,task"))
    b'agent,task'
    """
    return file.head.removeprefix(UTF8_MARK)


def as_utf8(data: bytes, path: Path) -> Decoded:
    r"""Return bytes as UTF-8; what is neither UTF-8 nor UTF-16 is read as Windows-1252, and said.

    >>> as_utf8("agent,Pac‑Man".encode("utf-16"), Path("x.csv")).notes
    ("'x.csv' is written in UTF-16.",)
    >>> as_utf8(b"caf\xe9", Path("x.csv"))
    Decoded(data=b'caf\xc3\xa9', notes=("'x.csv' is not UTF-8 text (byte 0xe9 on line 1): it is read as
    cp1252 (Windows). If names look wrong, save it as UTF-8.",))
    """
    if data.startswith(_UTF16_MARKS):
        decoded = data.decode("utf-16", errors="replace")
        return Decoded(decoded.encode(), (f"{shorten(path, 200)} is written in UTF-16.",))
    data = data.removeprefix(UTF8_MARK)
    if data.isascii():
        return Decoded(data)
    try:
        data.decode()
        return Decoded(data)
    except UnicodeDecodeError as problem:
        note = (
            f"{shorten(path, 200)} is not UTF-8 text (byte 0x{data[problem.start]:02x} on line "
            f"{line_number(data, problem.start)}): it is read as cp1252 (Windows). If names look "
            f"wrong, save it as UTF-8."
        )
    # Five bytes have no letter in cp1252; latin-1 keeps them apart from each other.
    letters = "".join(
        bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in range(256)
    )
    return Decoded(data.decode("latin-1").translate(dict(enumerate(letters))).encode(), (note,))


def check_text(data: bytes | mmap, path: Path) -> None:
    r"""Refuse bytes that no text has, and lines without end.

    >>> check_text(b"agent,task\ndqn,po\x00ng", Path("x.csv"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.csv' has a NUL byte on line 2, which no text has. It may be
    damaged or of another kind: write it again.
    """
    # A window without a line's end is looked for, which costs nothing where lines are short; only
    # lines of twice its size are sure to be caught.
    window = LONGEST_LINE_BYTES // 2
    for start in range(0, len(data) - window, window):
        if data.find(b"\n", start, start + window) < 0:
            raise InputError(
                f"{shorten(path, 200)} has a line of more than {window // 2**20:,} MiB. "
                f"A result is a short line: check that this is a table, and that its lines end."
            )
    index = data.find(b"\0")
    if index >= 0:
        raise InputError(
            f"{shorten(path, 200)} has a NUL byte on line {line_number(data, index)}, which no text "
            f"has. It may be damaged or of another kind: write it again."
        )


def line_number(data: bytes | mmap, index: int) -> int:
    r"""Return the line, from 1, on which a byte stands.

    >>> line_number(b"a\nb", 2)
    2
    """
    starts = range(0, index, _BLOCK_BYTES)  # a mapped file is not copied whole to be counted
    return 1 + sum(data[start : min(start + _BLOCK_BYTES, index)].count(b"\n") for start in starts)


# -------------------------------------------------------------------- lines


def filled_lines(data: bytes, path: Path) -> Iterator[tuple[int, str]]:
    r"""Give the number and the text of each line that is not blank; refuse an unresolved git merge.

    >>> list(filled_lines(b"aliens 0\n\nchase 1\n", Path("x.txt")))
    [(1, 'aliens 0'), (3, 'chase 1')]
    """
    refuse_merge_markers(data, path)
    for number, line in enumerate(data.decode().split("\n"), start=1):
        if line.strip():
            yield number, line


def begins_with_lines_like(file: SourceFile, pattern: re.Pattern[str]) -> bool:
    r"""Tell whether each of the first fifty lines is like a pattern, blank ones and merge markers apart.

    >>> file = SourceFile(Path("x"), None, b"aliens 0\n\nchase 1", whole=True)
    >>> begins_with_lines_like(file, re.compile(r"\w+ \d"))
    True
    """
    lines = beginning(file).split(b"\n")
    if not file.whole:
        lines.pop()  # cut off where the look at the file ends
    filled = [line for line in lines if line.strip() and not _MERGE_MARKER.match(line)]
    looked_at = [line.decode(errors="replace") for line in filled[:50]]
    return bool(looked_at) and all(pattern.fullmatch(line) for line in looked_at)


def refuse_merge_markers(data: bytes, path: Path, first_line: int = 1) -> None:
    r"""Refuse text with the marks of an unresolved git merge, naming the line.

    >>> refuse_merge_markers(b"a,b\n<<<<<<< HEAD\n1,2\n=======\n", Path("x.csv"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.csv', line 2, is a mark of an unresolved git merge
    ('<<<<<<< HEAD'): what stands on both sides would count twice. Resolve the merge first.
    """
    found = _MERGE_MARKER.search(data)
    if found is None:
        return
    line = data[found.start() : found.start() + 80].partition(b"\n")[0].rstrip()
    raise InputError(
        f"{shorten(path, 200)}, line {line_number(data, found.start()) + first_line - 1}, is a mark of an "
        f"unresolved git merge ({shorten(line.decode(errors='replace'))}): what stands on both sides "
        f"would count twice. Resolve the merge first."
    )
