"""Every figure of the report can be drawn by itself."""

from __future__ import annotations

import re
from pathlib import Path

import examiner as ex
from examiner.reporting.plots import PLOTS

FINDINGS = Path(ex.__path__[0]) / "reporting" / "findings"


def test_every_figure_that_a_finding_draws_has_a_line_in_plots() -> None:
    """Keys are written where figures are made: `key="ranking-strips"`; curves have one of each task."""
    drawn = {
        key
        for path in FINDINGS.glob("*.py")
        for key in re.findall(r"Figure\(\s*key=f?\"([\w-]+)\"", path.read_text(encoding="utf-8"))
    }
    assert drawn
    missing = drawn - {key for _, key in PLOTS.values()}
    assert not missing, f"Give {sorted(missing)} a line in PLOTS (plots/__init__.py)."
