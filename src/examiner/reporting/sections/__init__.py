"""One file per section of a report; `SECTIONS` lists them in the order they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from examiner.reporting.section import Section
from examiner.reporting.sections.curves import curves
from examiner.reporting.sections.heatmap import heatmap
from examiner.reporting.sections.ranking import ranking
from examiner.reporting.sections.reading import reading
from examiner.reporting.study import Study

SECTIONS: Mapping[str, Callable[[Study], Section]] = MappingProxyType(
    {
        "reading": reading,
        "ranking": ranking,
        "heatmap": heatmap,
        "curves": curves,
    }
)
"""Name → section. A new one is one file in this folder and one line here."""
