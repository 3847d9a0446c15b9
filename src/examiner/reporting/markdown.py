"""A report as Markdown: verdict, chapters, findings and tables, for a repository or an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from examiner.reporting.finding import Block, Facts, Figure, Finding, Notes, ShownTable
from examiner.reporting.findings import CHAPTERS
from examiner.reporting.prose import plain_text
from examiner.reporting.verdict import Verdict
from examiner.reporting.written import escaped, table_text

if TYPE_CHECKING:
    from examiner.reporting.document import Report


def markdown(report: Report) -> str:
    """Return a report as Markdown; of figures their captions, since Markdown draws none.

    >>> from examiner.reporting.document import Report
    >>> print(markdown(Report("T", (Finding("s", "S", "Nobody leads."),), {}, "examiner report x")))
    # T
    <BLANKLINE>
    ## More
    <BLANKLINE>
    ### S
    <BLANKLINE>
    Nobody leads.
    <BLANKLINE>
    Made by `examiner report x`.
    <BLANKLINE>
    """
    parts = [f"# {_line(report.title)}", *_verdict(report.verdict)]
    chapter = None
    for section in report.sections:
        if section.chapter != chapter:
            chapter = section.chapter
            parts.append(f"## {CHAPTERS.get(chapter, 'More')}")
        parts += _section(section)
    command = report.command.replace("`", "'")
    return "\n\n".join([*parts, f"Made by `{command}`."]) + "\n"


def _verdict(verdict: Verdict) -> Iterator[str]:
    if not verdict:
        return
    yield "## In short"
    yield "\n".join(
        f"{number}. **{_line(judgement.claim)}** {_line(judgement.doubt)}"
        for number, judgement in enumerate(verdict.judgements, start=1)
    )
    if verdict.distrust:
        yield "Before you rely on this:"
        yield _bullets(verdict.distrust)


def _section(section: Finding) -> Iterator[str]:
    yield f"### {_line(section.title)}"
    yield _line(section.lead)
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    match block:
        case str():
            yield _line(block)
        case Facts():
            yield _bullets([f"{what}: {fact}" for what, fact in block.pairs])
        case Notes():
            yield f"{_line(block.title)}:"
            yield _bullets(block.items)
        case ShownTable():
            yield table_text(block, "markdown")
        case Figure():
            yield f"*{_line(block.caption)}*"


def _bullets(items: Sequence[str]) -> str:
    return "\n".join(f"- {_line(item)}" for item in items)


def _line(sentence: str) -> str:
    return escaped(plain_text(sentence))
