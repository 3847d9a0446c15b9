"""Ledgers of `examiner arena run`: the SQLite file of a run, finished or not."""

from __future__ import annotations

from typing import Literal

from examiner.importers.files import SourceFile
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading, Whereabouts
from examiner.messages import InputError, shorten

_SQLITE = b"SQLite"
_MARK = slice(68, 72)


def recognises(file: SourceFile) -> bool:
    """A SQLite file whose header bears the mark of a ledger, or a ledger by its name, damaged or not.

    >>> from pathlib import Path
    >>> recognises(SourceFile(Path("x"), None, b"SQLite format 3" + bytes(53) + b"EXAM"))
    True
    """
    named = file.path.name == "ledger.sqlite"
    return (named or file.head.startswith(_SQLITE)) and file.head[_MARK] == b"EXAM"


def read(file: SourceFile, options: ReadOptions, phase: Literal["both"] | None = None) -> Reading:
    """Read the episodes that the protocol reports: evaluation where there is any, else training.

    Both phases, if asked for.

    >>> from pathlib import Path
    >>> read(SourceFile(Path("x.gz"), "gzip", b""), ReadOptions())
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'x.gz' is packed. Unpack a ledger before it is read.
    """
    from examiner.ledger import ledger_results  # the room of runs, which few tables come from

    if file.compression is not None:
        raise InputError(f"{shorten(file.path, 200)} is packed. Unpack a ledger before it is read.")
    try:
        return Reading(ledger_results(file.path, phase), Whereabouts.of(file))
    except UnicodeDecodeError:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the ledger is damaged, some of its text is none. Take "
            f"a copy of it from before."
        ) from None
