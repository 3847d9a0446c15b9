"""Results told: one self-contained page, or the same as JSON, made of sections."""

from examiner.reporting.document import Report, report
from examiner.reporting.sections import SECTIONS

__all__ = ["SECTIONS", "Report", "report"]
