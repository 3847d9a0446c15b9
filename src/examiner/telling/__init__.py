"""Results told: one self-contained page, or the same as JSON, made of sections."""

from examiner.telling.document import Report, report
from examiner.telling.findings import FINDINGS

__all__ = ["FINDINGS", "Report", "report"]
