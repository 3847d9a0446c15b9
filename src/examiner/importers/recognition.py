"""Which format a file is in: told from its content, or named."""

from __future__ import annotations

from collections.abc import Mapping

from examiner.importers.files import SourceFile
from examiner.importers.formats import FORMATS, Format
from examiner.wording import InputError, listed, shorten, unknown_name

ALIASES = {"tsv": "csv", "jsonl": "ndjson"}


def known_format(named: str) -> str:
    """Return the name of a format as the table has it.

    >>> known_format("TSV")
    'csv'
    """
    name = ALIASES.get(named.lower(), named.lower())
    if name not in FORMATS:
        raise unknown_name("format", named, [*FORMATS, *ALIASES])
    return name


def format_of(
    file: SourceFile, candidates: Mapping[str, Format] = FORMATS, *, by_ending: bool = False
) -> str | None:
    """Return the first format that recognises a file, with an ending of its own where that counts.

    >>> from pathlib import Path
    >>> format_of(SourceFile(Path("x"), None, b"agent,task,score"))
    'csv'
    >>> format_of(SourceFile(Path("x"), None, b"agent,task,score"), by_ending=True) is None
    True
    """
    for name, kind in candidates.items():
        fitting = not by_ending or not kind.endings or file.suffix in kind.endings
        if fitting and kind.recognises(file):
            return name
    return None


def recognised(file: SourceFile) -> str:
    """Return the first format that recognises a file, or refuse it.

    >>> from pathlib import Path
    >>> recognised(SourceFile(Path("x"), None, b"agent,task,score"))
    'csv'
    """
    name = format_of(file)
    if name is None:
        raise unknown_format(file)
    return name


def unknown_format(file: SourceFile) -> InputError:
    """Build the error for a file that no format recognises.

    >>> from pathlib import Path
    >>> str(unknown_format(SourceFile(Path("x.bin"), None, bytes(2))))[:50]
    "Cannot tell the format of 'x.bin': it begins with "
    """
    return InputError(
        f"Cannot tell the format of {shorten(file.path, 200)}: it begins with "
        f"{shorten(repr(file.head[:16]))}. Known formats: {listed(FORMATS, limit=20)}."
    )
