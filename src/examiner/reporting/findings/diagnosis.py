"""The diagnosis of a fit: tasks and agents that it does not describe, and dependent tasks."""

from __future__ import annotations

from examiner.answers import Table
from examiner.irt import Diagnosis
from examiner.reporting.finding import Finding, Text
from examiner.reporting.renderers import shown_table
from examiner.reporting.table import Piece
from examiner.reporting.table import Table as ShownTable

MOST_SHOWN = 20
"""Rows of a table in a terminal; the JSON has all."""


def tell(found: Diagnosis) -> Finding:
    """Show what the fit leaves unexplained, the worst first.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, diagnose, fit, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
    >>> fitted = fit(simulate(items, 60, rng=0), errors=False)
    >>> told = tell(diagnose(fitted, replicates=20, refit=False, rng=0))
    >>> len(told.data["tasks"]), len(told.data["agents"])
    (8, 60)
    """
    tables = found.tables
    blocks: list[Piece] = [Text(sentence) for sentence in found.findings()]
    blocks += [_first_rows(tables["tasks"], "Tasks"), _first_rows(tables["agents"], "Agents")]
    if len(tables["pairs"]):
        blocks.append(_first_rows(tables["pairs"], "Tasks that correlate beyond ability"))
    data = found.to_dict() | {"findings": list(found.findings())}
    return Finding(lead=found.headline, blocks=tuple(blocks), data=data, answer=found)


def _first_rows(table: Table, title: str) -> ShownTable:
    if len(table) > MOST_SHOWN:
        title = f"{title}, the first {MOST_SHOWN} of {len(table):,}"
    return shown_table(table.take(range(min(MOST_SHOWN, len(table)))), caption=title)
