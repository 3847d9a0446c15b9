"""One file per format; `FORMATS` lists them, the most particular first."""

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

from examiner.importers.files import SourceFile
from examiner.importers.formats import ndjson, parquet, separated
from examiner.importers.tables import TableOptions
from examiner.results import Results


class Format(NamedTuple):
    """How a kind of file is recognised by its first bytes, and how it is read."""

    recognises: Callable[[SourceFile], bool]
    read: Callable[[SourceFile, TableOptions], Results]
    description: str


FORMATS = MappingProxyType(
    {
        "parquet": Format(parquet.recognises, parquet.read, "Parquet, tidy or wide"),
        "ndjson": Format(ndjson.recognises, ndjson.read, "JSON lines, one record a line"),
        "csv": Format(separated.recognises, separated.read, "CSV, TSV and other separated text"),
    }
)
"""Name → format, asked in this order. A new one is one file in this folder and one line here."""
