"""What stands where on the page: three questions, then evidence in folds, then what it is based on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examiner.messages import counted
from examiner.reporting.finding import Block, Board, Figure, Finding, Notes, ShownTable
from examiner.reporting.findings import CHAPTERS
from examiner.reporting.prose import headline

OWN = "own"
"""The chapter of sections that users wrote."""
EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class ShownSection:
    """A section as the page shows it: what is open at once, and what is folded under which words."""

    finding: Finding
    headline: str
    more: str
    open: tuple[Block, ...]
    folded: tuple[Block, ...]

    @property
    def pictures(self) -> tuple[Figure, ...]:
        """The figures that are open: what is said about them is folded."""
        return tuple(block for block in self.open if isinstance(block, Figure))

    @property
    def folded_words(self) -> str:
        """What the fold holds, in words."""
        kinds = {"table": ShownTable, "figure": Figure}
        counts = {
            name: sum(isinstance(block, kind) for block in self.folded)
            for name, kind in kinds.items()
        }
        counts["note"] = sum(len(block.items) for block in self.folded if isinstance(block, Notes))
        parts = [counted(count, name) for name, count in counts.items() if count]
        return f"Numbers and method: {', '.join(parts)}" if parts else "Method"


@dataclass(frozen=True, slots=True)
class Chapter:
    """Sections under a title; those of evidence are closed until a reader opens them."""

    key: str
    title: str
    sections: tuple[ShownSection, ...]

    @property
    def is_folded(self) -> bool:
        """Whether its sections are closed at first."""
        return self.key == EVIDENCE


def chapters(sections: Sequence[Finding]) -> tuple[Chapter, ...]:
    """Sort sections into chapters, in the order of both; those of one's own stand before the last.

    >>> made = chapters([Finding("r", "R", "Read.", chapter="end"), Finding("m", "Mine", "So.")])
    >>> [chapter.title for chapter in made]
    ['More', 'What this is based on']
    """
    *first, last = CHAPTERS.items()
    shown = []
    for key, title in [*first, (OWN, "More"), last]:
        inside = [section for section in sections if (section.chapter or OWN) == key]
        if inside:
            shown.append(Chapter(key, title, tuple(map(shown_section, inside))))
    return tuple(shown)


def shown_section(finding: Finding) -> ShownSection:
    """Open the first figure, board or table of a section; what was read is open as a whole.

    >>> shown_section(Finding("s", "S", "One thing. And another.")).folded
    ()
    """
    head, more = headline(finding.lead)
    blocks = finding.blocks
    pictures = [block for block in blocks if isinstance(block, (Figure, Board))]
    tables = [block for block in blocks if isinstance(block, ShownTable)]
    if finding.chapter in ("agents", "tasks"):
        pictures = []
    first = next(iter([*pictures, *tables]), None)
    if finding.chapter == "end" or first is None:
        return ShownSection(finding, head, more, tuple(blocks), ())
    folded = tuple(block for block in blocks if block is not first)
    return ShownSection(finding, head, more, (first,), folded)
