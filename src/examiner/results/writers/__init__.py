"""One file per layout results are written in; `WRITERS` lists them."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from examiner.results.checks import unknown_name
from examiner.results.table import Results
from examiner.results.writers.tidy import tidy
from examiner.results.writers.wide import wide

WRITERS = MappingProxyType({"tidy": tidy, "wide": wide})
"""Layout → writer. A new one is one file in this folder and one line here."""


def write(results: Results, path: str | Path, layout: str = "tidy") -> Path:
    """Write results to a file whose ending says the kind (.csv, .tsv, .ndjson, .parquet, .csv.gz, …).

    The file appears whole or not at all. Only tidy Parquet keeps scales and provenance.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> write(Results.from_numpy([[1.5]], ["a"], ["t"]), path).read_text()
    '{"agent":"a","task":"t","run":0,"trial":0,"score":1.5}\\n'
    """
    if layout not in WRITERS:
        raise unknown_name("layout", layout, WRITERS)
    return WRITERS[layout](results, path)
