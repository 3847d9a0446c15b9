"""What stands where on the page: chapters of sections, each a headline, a figure, and the rest folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examiner.messages import counted
from examiner.reporting.finding import Board, Figure, Finding, Notes, Piece, ShownTable
from examiner.reporting.findings import CHAPTERS
from examiner.reporting.prose import Name, Parts, Prose, Sentence, parts_of, said

LONGEST_HEADLINE = 170
SHORTEST_HEADLINE = 20
NARROW = 470
"""Figures that need no more pixels than this stand two beside each other on a wide screen."""
OWN = "own"
"""The chapter of sections that users wrote."""
BREAKS = ((". ",), ("; ", ": "), (" (",))
"""Where a sentence may end for its headline, the best places first."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A section as the page shows it: what is open at once, and what is folded under which words."""

    finding: Finding
    headline: Parts
    rest: Parts
    open: tuple[Piece, ...]
    folded: tuple[Piece, ...]

    @property
    def wide(self) -> bool:
        """Whether it takes the whole width of a wide screen."""
        first = self.open[0] if self.open else None
        if isinstance(first, Figure):
            return first.narrowest > NARROW
        return not isinstance(first, Board)

    @property
    def pictures(self) -> tuple[Figure, ...]:
        """The figures that are open: what is said about them is folded."""
        return tuple(block for block in self.open if isinstance(block, Figure))

    @property
    def folded_words(self) -> str:
        """What the fold holds, in words."""
        kinds = {"table": ShownTable, "figure": Figure}
        counts = {
            name: sum(isinstance(each, kind) for each in self.folded)
            for name, kind in kinds.items()
        }
        counts["note"] = sum(len(each.items) for each in self.folded if isinstance(each, Notes))
        parts = [counted(count, name) for name, count in counts.items() if count]
        return f"Numbers and method: {', '.join(parts)}" if parts else "Method"


@dataclass(frozen=True, slots=True)
class Chapter:
    """Sections under a title."""

    key: str
    title: str
    sections: tuple[Shown, ...]


def chapters(sections: Sequence[Finding]) -> tuple[Chapter, ...]:
    """Sort sections into chapters, in the order of both; those of one's own stand before the last.

    >>> made = chapters([Finding("r", "R", "Read.", chapter="end"), Finding("m", "Mine", "So.")])
    >>> [chapter.title for chapter in made]
    ['More', 'What this is based on']
    """
    *first, last = CHAPTERS.items()
    found = []
    for key, title in [*first, (OWN, "More"), last]:
        inside = [each for each in sections if (each.chapter or OWN) == key]
        if inside:
            found.append(Chapter(key, title, tuple(map(shown, inside))))
    return tuple(found)


def shown(finding: Finding) -> Shown:
    """Open the first figure of a section, or its first table; what was read is open as a whole.

    >>> shown(Finding("s", "S", "One thing. And another.")).folded
    ()
    """
    head, rest = headline(finding.lead)
    if finding.chapter == "end":
        return Shown(finding, head, rest, finding.blocks, ())
    figures = [block for block in finding.blocks if isinstance(block, (Figure, Board))]
    first = next(
        iter([*figures, *(block for block in finding.blocks if isinstance(block, ShownTable))]),
        None,
    )
    if first is None:
        return Shown(finding, head, rest, finding.blocks, ())
    folded = tuple(block for block in finding.blocks if block is not first)
    return Shown(finding, head, rest, (first,), folded)


def headline(lead: Prose) -> tuple[Parts, Parts]:
    """Part a finding into a headline and the rest of it: between sentences, else between clauses.

    >>> headline("Runs make up 2 % of the error: more tasks help more.")[1]
    ()
    >>> head, rest = headline((Name("uct"), " comes first in most of the resamples. " + "So it is. " * 20))
    >>> said(head), said(rest)[:10]
    ('uct comes first in most of the resamples.', 'So it is. ')
    >>> said(headline((Sentence("uct of 12 agents is first. " + "other agents differ. " * 20),))[0])
    'uct of 12 agents is first.'
    >>> said(headline((Sentence("uct of 12 agents is first."), " ", "So it is. " * 20))[1])[:9]
    'So it is.'
    """
    parts = parts_of(lead)
    if len(said(parts)) <= LONGEST_HEADLINE:
        return parts, ()
    for marks in BREAKS:
        found = _parted(parts, marks)
        if found is not None:
            return found
    return parts, ()


def _parted(parts: Parts, marks: Sequence[str]) -> tuple[Parts, Parts] | None:
    """The parts before and after the first of these marks in our own words, where a headline may end."""
    before = 0
    for index, part in enumerate(parts):
        if isinstance(part, Name):
            stop = _sentence_end(part, before) if ". " in marks else -1
            if stop >= 0 and before + stop <= LONGEST_HEADLINE:
                rest = (Sentence(part.text[stop + 1 :]), *parts[index + 1 :])
                return (*parts[:index], Sentence(part.text[: stop + 1])), _without_blank(rest)
            before += len(part.text)
            continue
        found = [(_place(part, mark, before), mark) for mark in marks]
        place, mark = min(found)
        if place < len(part):
            if before + place > LONGEST_HEADLINE:
                return None
            end = part[place + len(mark) :] if mark != " (" else part[place + 1 :]
            return (*parts[:index], f"{part[:place]}."), (*_begun(end), *parts[index + 1 :])
        before += len(part)
    return None


def _sentence_end(part: Name, before: int) -> int:
    """Where the first of the sentences of this part ends, late enough for a headline; else -1."""
    if not isinstance(part, Sentence):
        return -1
    return f"{part.text} ".find(". ", max(0, SHORTEST_HEADLINE - before))


def _without_blank(parts: Parts) -> Parts:
    """The parts without the blank before the first word."""
    for index, part in enumerate(parts):
        text = (part.text if isinstance(part, Name) else part).lstrip(" ")
        if text:
            return (Sentence(text) if isinstance(part, Name) else text, *parts[index + 1 :])
    return ()


def _place(part: str, mark: str, before: int) -> int:
    """Where the mark stands, beyond the end where it does not, or too near the beginning of all."""
    place = part.find(mark, max(0, SHORTEST_HEADLINE - before))
    return len(part) if place < 0 else place


def _begun(text: str) -> tuple[str, ...]:
    """Our own words with a capital letter, where there are any."""
    return (text[0].upper() + text[1:],) if text else ()
