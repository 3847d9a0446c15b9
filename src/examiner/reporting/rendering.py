"""A report that is rendered whole, or with what cannot be rendered shown as failed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from examiner.messages import ExaminerWarning
from examiner.reporting.failure import Failure, attempt, failed_blocks, failed_finding
from examiner.reporting.finding import Block, Finding
from examiner.reporting.verdict import Verdict

if TYPE_CHECKING:
    from examiner.reporting.document import Report

Rendered = TypeVar("Rendered")


def rendered(report: Report, render: Callable[[Report], Rendered]) -> Rendered:
    """Render a report; figures and tables that end in an unexpected error are shown as failed.

    Each of these is named in a warning, as a section that failed is.

    >>> from examiner.reporting.document import Report
    >>> rendered(Report("T", (), {}, ""), lambda report: report.title)
    'T'
    """
    page = attempt(lambda: render(report))
    if not isinstance(page, Failure):
        return page
    repaired = _repaired(report, render)
    for key, failure in repaired.failures.items():
        if key not in report.failures:
            warnings.warn(failure_sentence(key, failure), ExaminerWarning, stacklevel=3)
    return render(repaired)


def failure_sentence(key: str, failure: Failure) -> str:
    """Name a section that failed, with its error.

    >>> failure_sentence("tasks", Failure("ValueError", "no", "irt/items.py:1 f", "0.1.0", "3.11.0"))
    "The section tasks failed (ValueError: 'no'). The report shows the details: please report them."
    """
    failed = f"The section {key} failed ({failure.sentence})."
    return f"{failed} The report shows the details: please report them."


def _repaired(report: Report, render: Callable[[Report], Rendered]) -> Report:
    """The report with each part that cannot be rendered by itself replaced by how it failed."""
    alone = replace(report, sections=(), verdict=Verdict())
    sections = [_section(section, alone, render) for section in report.sections]
    verdict = report.verdict
    failure = attempt(lambda: render(replace(alone, verdict=verdict)))
    if isinstance(failure, Failure):
        sections.append(failed_finding("verdict", "In short", "", failure))
        verdict = Verdict()
    return replace(report, sections=tuple(sections), verdict=verdict)


def _section(section: Finding, alone: Report, render: Callable[[Report], Rendered]) -> Finding:
    def failure_of(part: Finding) -> Failure | None:
        result = attempt(lambda: render(replace(alone, sections=(part,))))
        return result if isinstance(result, Failure) else None

    if failure_of(section) is None:
        return section
    bare = failure_of(replace(section, blocks=()))
    if bare is not None:
        return failed_finding(section.key, section.title, section.chapter, bare)
    blocks: list[Block] = []
    first = section.failure
    for block in section.blocks:
        failure = failure_of(replace(section, blocks=(block,)))
        blocks += [block] if failure is None else failed_blocks(failure)
        first = first or failure
    return replace(section, blocks=tuple(blocks), failure=first)
