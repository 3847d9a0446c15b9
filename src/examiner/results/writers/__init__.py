"""One file per layout results are written in; `WRITERS` lists them."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from examiner.results.storage import check_ending, file_kind
from examiner.results.table import Results
from examiner.results.writers.every_eval_ever import check_folder, every_eval_ever
from examiner.results.writers.py_irt import py_irt
from examiner.results.writers.rliable import rliable
from examiner.results.writers.tidy import tidy
from examiner.results.writers.wide import wide
from examiner.validation import check_known

WRITERS = MappingProxyType(
    {
        "tidy": tidy,
        "wide": wide,
        "py-irt": py_irt,
        "rliable": rliable,
        "every-eval-ever": every_eval_ever,
    }
)
"""Layout → writer. A new one is one file in this folder and one line here."""

ENDINGS = MappingProxyType({"py-irt": (".jsonl", ".ndjson"), "rliable": (".npz",)})
"""Layout → the endings it is written to, where it has its own."""


def write(
    results: Results, path: str | Path, layout: str = "tidy", *, for_spreadsheets: bool = False
) -> Path:
    """Write results to a file whose ending says the kind (.csv, .tsv, .ndjson, .parquet, .csv.gz, …).

    The file appears whole or not at all. Only tidy Parquet keeps scales and provenance. The layouts
    "py-irt" (.jsonl) and "rliable" (.npz) have endings of their own; "every-eval-ever" is a folder.
    With `for_spreadsheets`, names in CSV and TSV that begin as a formula does (`=cmd|…`, `+1`, `-a`,
    `@x`) get an apostrophe before them.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "scores.ndjson"
    >>> write(Results.from_numpy([[1.5]], ["a"], ["t"]), path).read_text()
    '{"agent":"a","task":"t","run":0,"trial":0,"score":1.5}\\n'
    """
    check_path(path, layout)
    if for_spreadsheets and layout in ("tidy", "wide"):
        return (tidy if layout == "tidy" else wide)(results, path, for_spreadsheets=True)
    return WRITERS[layout](results, path)


def check_path(path: str | Path, layout: str) -> None:
    """Refuse a layout that is not known, or an ending it is not written to, before a long reading.

    >>> check_path("scores.npz", "tidy")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot tell how to write 'scores.npz' from its ending. ...
    """
    check_known("layout", layout, WRITERS)
    if layout == "every-eval-ever":
        check_folder(Path(path))
    elif layout in ENDINGS:
        check_ending(path, ENDINGS[layout], layout)
    else:
        file_kind(path)
