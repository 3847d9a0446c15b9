"""What was played, handed on: the ledger as results, and as a Parquet file."""

from __future__ import annotations

from pathlib import Path

from examiner.ledger.reading import Phase, ledger_results
from examiner.results import Results


def results_of(ledger: str | Path, phase: Phase | None = None) -> Results:
    """Return the episodes in a ledger as results; `phase` is as in `ledger_results`.

    >>> results_of("missing.sqlite")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    return ledger_results(ledger, phase)


def export(ledger: str | Path, path: str | Path, phase: Phase | None = None) -> Path:
    """Write the episodes in a ledger as Parquet, which every command reads.

    >>> export("missing.sqlite", "episodes.parquet")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.sqlite': no such file. Check the path.
    """
    return results_of(ledger, phase).save(path)
