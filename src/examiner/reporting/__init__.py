"""Findings, and the page, JSON, terminal and figures that show them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from examiner.reporting.findings import FINDINGS

if TYPE_CHECKING:
    from examiner.reporting import plots
    from examiner.reporting.document import Report, report

__all__ = ["FINDINGS", "Report", "plots", "report"]


def __dir__() -> list[str]:
    return [name for name in __all__ if name != "plots"]  # a module, shown as `ex.plots`


def __getattr__(name: str) -> object:
    """Load the report when it is asked for: commands that tell one finding need no other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "plots":
        return importlib.import_module("examiner.reporting.plots")
    return getattr(importlib.import_module("examiner.reporting.document"), name)
