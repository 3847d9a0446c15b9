"""Which format a file is in: told from its content, or named."""

from __future__ import annotations

from examiner.importers.files import SourceFile
from examiner.importers.formats import FORMATS
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


def recognised(file: SourceFile) -> str:
    """Return the first format that recognises a file.

    >>> from pathlib import Path
    >>> recognised(SourceFile(Path("x"), None, b"agent,task,score"))
    'csv'
    """
    for name, kind in FORMATS.items():
        if kind.recognises(file):
            return name
    raise unknown_format(file)


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
