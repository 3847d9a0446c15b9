"""JSON that is nested too deeply, refused before a parser runs out of memory or stack."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from examiner.messages import InputError, shorten

DEEPEST_NESTING = 100
"""Levels of lists and objects: results have a few, transcripts a few dozen, and polars ends at hundreds."""
_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))


def refuse_deep_nesting(data: bytes, path: Path, line: int | None = None) -> None:
    """Refuse JSON whose lists and objects stand in each other too deeply, before anything parses it.

    >>> refuse_deep_nesting(b"[" * 200, Path("x.json"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.json' has lists and objects nested in each other more than 100 levels
    deep, and results have a few. Give plain records.
    """
    if _is_deep(data):
        where = shorten(path, 200) + (f", line {line}," if line is not None else "")
        raise InputError(
            f"{where} has lists and objects nested in each other more than {DEEPEST_NESTING} levels deep, "
            f"and results have a few. Give plain records."
        )


def refuse_deep_lines(data: bytes, path: Path) -> None:
    """Refuse JSON lines one of which is nested too deeply, naming it."""
    if _is_deep(data):  # a line that is cut off leaves its brackets open for those that follow
        for number, line in enumerate(data.split(b"\n"), start=1):
            refuse_deep_nesting(line, path, number)


def _is_deep(data: bytes) -> bool:
    """Whether brackets outside texts are ever open too deeply; a few passes over the bytes."""
    if data.count(b"{") + data.count(b"[") <= DEEPEST_NESTING:
        return False
    if b"\\" in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Quotes and brackets are left. Two quotes next to each other can go: what is inside stays inside.
    structure = data.translate(None, _STRUCTURE).replace(b'""', b"")
    marks = np.frombuffer(structure.replace(b"{}", b"").replace(b"[]", b""), dtype=np.uint8)
    outside = np.cumsum(marks == ord('"')) % 2 == 0
    opens = ((marks == ord("{")) | (marks == ord("["))) & outside
    closes = ((marks == ord("}")) | (marks == ord("]"))) & outside
    depth = np.cumsum(opens.astype(np.int64) - closes)
    return bool(depth.max(initial=0) > DEEPEST_NESTING)
