"""The trials of papers/002 and the parameters its authors published, from a clone of their repository."""

from __future__ import annotations

import os
import re
import tempfile
from functools import cache
from pathlib import Path

import pytest

import examiner as ex
from examiner.irt import ItemParameters
from examiner.results import ResponseMatrix, Results

VARIABLE = "AI_BENCHMARK_ANALYSIS"
CLONE = Path(
    os.environ.get(VARIABLE) or Path(__file__).parents[3] / "shared" / "AI_benchmark_analysis"
)
TRIALS, TABLES = CLONE / "data" / "GVGAI_data.csv", CLONE / "README.md"
EDGES = [-600, -1, 1, 2, 600]
"""The bins of Fig. 5, from the authors' script."""

needs_trials_of_2015 = pytest.mark.skipif(
    not (TRIALS.exists() and TABLES.exists()),
    reason="the repository of papers/002 is not cloned beside the checkout",
)


@cache
def trials() -> Results:
    """One side of the merge that was never resolved in the file."""
    side = TRIALS.read_text(encoding="utf-8").partition("\n=======")[0].partition("\n")[2]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trials.csv"
        path.write_text(side, encoding="utf-8")
        return ex.read(path).with_measures("win")


@cache
def successes() -> ResponseMatrix:
    """Levels on which agents differ, each a success where half of the trials were won."""
    matrix = ex.responses(trials(), success=1, share=0.5)
    share = matrix.to_numpy().mean(axis=0)
    return matrix.take(tasks=[task for task, mean in enumerate(share) if 0 < mean < 1])


@cache
def authors_items() -> ItemParameters:
    table = TABLES.read_text(encoding="utf-8").partition("IRT parameters: GVGAI")[2]
    rows = re.findall(r"^\|(\w+\.\d)\s*\|[^|]*\|([^|]*)\|([^|]*)\|", table, re.MULTILINE)
    tasks, difficulty, slope = zip(*rows, strict=True)
    slopes = [float(text) for text in slope]
    intercepts = [-a * float(text) for a, text in zip(slopes, difficulty, strict=True)]
    return ItemParameters.of(tasks, slopes, intercepts)
