"""The diagnosis of a fit: tasks and agents that it does not describe, and dependent tasks."""

from __future__ import annotations

from examiner.irt import Diagnosis
from examiner.reporting.finding import Finding, Piece, Text, shown_table


def render_diagnosis(found: Diagnosis) -> Finding:
    """Show what the fit leaves unexplained, the worst first.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, diagnose, fit, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
    >>> fitted = fit(simulate(items, 60, rng=0), errors=False)
    >>> told = render_diagnosis(diagnose(fitted, replicates=20, refit=False, rng=0))
    >>> len(told.data["tasks"]), len(told.data["agents"])
    (8, 60)
    """
    tables = found.tables
    blocks: list[Piece] = [Text(sentence) for sentence in found.findings()]
    blocks += [
        shown_table(tables["tasks"], caption="Tasks, the worst fit first"),
        shown_table(tables["agents"], caption="Agents, the most unusual responses first"),
    ]
    if len(tables["pairs"]):
        blocks.append(shown_table(tables["pairs"], caption="Tasks that correlate beyond ability"))
    beside = {"findings": list(found.findings())}
    return Finding(lead=found.headline, blocks=tuple(blocks), beside=beside, answer=found)
