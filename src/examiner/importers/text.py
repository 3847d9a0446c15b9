"""Text as it comes: its encoding found, merge markers and endless lines refused, its lines counted."""

from __future__ import annotations

import re
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from examiner.importers.files import SourceFile
from examiner.importers.limits import check_line_lengths
from examiner.wording import InputError, shorten

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_BLOCK_BYTES = 2**24
_MERGE_MARKER = re.compile(rb"^(?:<{7} |={7}\r?$|>{7} )", flags=re.MULTILINE)


class Text(NamedTuple):
    """UTF-8 text, and what had to be done to get it."""

    data: bytes
    notes: tuple[str, ...] = ()


def text_of(file: SourceFile) -> Text:
    r"""Return everything in a text file as UTF-8 without a byte-order mark.

    >>> text_of(SourceFile(Path("x.csv"), None, b"\xef\xbb\xbfagent,task", whole=True))
    Text(data=b'agent,task', notes=())
    """
    text = as_utf8(file.contents(), file.path)
    check_text(text.data, file.path)
    return text


def as_utf8(data: bytes, path: Path) -> Text:
    r"""Return bytes as UTF-8; what is neither UTF-8 nor UTF-16 is read as Windows-1252, and said.

    >>> as_utf8("agent,Pac‑Man".encode("utf-16"), Path("x.csv")).notes
    ("'x.csv' is written in UTF-16.",)
    >>> as_utf8(b"caf\xe9", Path("x.csv"))
    Text(data=b'caf\xc3\xa9', notes=("'x.csv' is not UTF-8 text (byte 0xe9 on line 1): it is read as
    cp1252 (Windows). If names look wrong, save it as UTF-8.",))
    """
    if data.startswith(_UTF16_MARKS):
        decoded = data.decode("utf-16", errors="replace")
        return Text(decoded.encode(), (f"{shorten(path, 200)} is written in UTF-16.",))
    data = data.removeprefix(_UTF8_MARK)
    if data.isascii():
        return Text(data)
    try:
        data.decode()
        return Text(data)
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
    return Text(data.decode("latin-1").translate(dict(enumerate(letters))).encode(), (note,))


def check_text(data: bytes | mmap, path: Path) -> None:
    r"""Refuse bytes that no text has, and lines without end.

    >>> check_text(b"agent,task\ndqn,po\x00ng", Path("x.csv"))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'x.csv' has a NUL byte on line 2, which no text has. It may be
    damaged or of another kind: write it again.
    """
    check_line_lengths(data, path)
    place = data.find(b"\0")
    if place >= 0:
        raise InputError(
            f"{shorten(path, 200)} has a NUL byte on line {line_number(data, place)}, which no text "
            f"has. It may be damaged or of another kind: write it again."
        )


def refuse_merge_markers(data: bytes, path: Path) -> None:
    r"""Refuse text with the marks of an unresolved git merge, naming the line.

    >>> refuse_merge_markers(b"a,b\n<<<<<<< HEAD\n1,2\n=======\n", Path("x.csv"))
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: 'x.csv', line 2, is a mark of an unresolved git merge
    ('<<<<<<< HEAD'): what stands on both sides would count twice. Resolve the merge first.
    """
    found = _MERGE_MARKER.search(data)
    if found is None:
        return
    line = data[found.start() : found.start() + 80].partition(b"\n")[0].rstrip()
    raise InputError(
        f"{shorten(path, 200)}, line {line_number(data, found.start())}, is a mark of an unresolved "
        f"git merge ({shorten(line.decode(errors='replace'))}): what stands on both sides would count "
        f"twice. Resolve the merge first."
    )


def has_merge_marker(line: bytes) -> bool:
    """Tell whether a line is one of those git leaves around a conflict.

    >>> has_merge_marker(b"======="), has_merge_marker(b"========")
    (True, False)
    """
    return _MERGE_MARKER.match(line) is not None


def line_number(data: bytes | mmap, place: int) -> int:
    r"""Return the line, from 1, on which a byte stands.

    >>> line_number(b"a\nb", 2)
    2
    """
    starts = range(0, place, _BLOCK_BYTES)  # a mapped file is not copied whole to be counted
    return 1 + sum(data[start : min(start + _BLOCK_BYTES, place)].count(b"\n") for start in starts)
