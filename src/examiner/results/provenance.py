"""Where results came from, what was done to them, and what a reader should know about both."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from examiner.wording import ExaminerWarning


@dataclass(frozen=True, slots=True)
class Provenance:
    """Source and format, the steps taken since, and the notes a reader should see.

    `training` says that the trials of a run are the episodes of an agent while it learnt: they are
    reduced to one value a run before any analysis. `reduction` says how they were, once they are.

    >>> Provenance("scores.csv", "csv").with_step("normalised by 'human'").steps
    ("normalised by 'human'",)
    """

    source: str = "memory"
    format: str = "frame"
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    training: bool = False
    reduction: str | None = None

    def with_step(self, step: str) -> Provenance:
        """Add what was done; empty words are nothing done.

        >>> Provenance().with_step("kept 3 agents").with_step("").steps
        ('kept 3 agents',)
        """
        return replace(self, steps=(*self.steps, step)) if step else self

    def with_notes(self, *notes: str) -> Provenance:
        """Add what a reader should know, each sentence once.

        >>> Provenance().with_notes("a", "b", "a").notes
        ('a', 'b')
        """
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))


def announce(notes: tuple[str, ...], already: tuple[str, ...] = ()) -> None:
    """Warn about each note that was not there before.

    >>> announce(("known",), already=("known",))
    """
    for note in notes:
        if note not in already:
            warnings.warn(note, ExaminerWarning, stacklevel=3)
