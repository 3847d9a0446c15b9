"""How many tasks would place the next agent: the answer that a section shows and the verdict judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from examiner.answers import Answer, Scalar
from examiner.messages import counted
from examiner.reporting.prose import three_digits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NextExamination(Answer):
    """How many tasks place an agent nearly as well as all tasks, or the best `compared_with` of them, do.

    `needed` tasks are given one after another, `at_random` in random order; None where more than were
    tried are needed. `near` is the error of ability after them, `least_error` that after all compared.
    """

    kind: ClassVar[str] = "next-examination"

    needed: int | None
    at_random: int | None
    least_error: float
    near: float
    tasks: int
    compared_with: int

    @property
    def headline(self) -> str:
        """How many tasks place a new agent."""
        after = f"the best {self.compared_with:,} tasks"
        if self.compared_with == self.tasks:
            after = "all tasks"
        if self.needed is None:
            return f"No small part of the {self.tasks:,} tasks places a new agent as well as {after} do."
        beside = "more than were tried" if self.at_random is None else f"{self.at_random:,}"
        return (
            f"A new agent like these is placed by {counted(self.needed, 'task')} given one after another "
            f"nearly as well as by {after} (an error of ability of {three_digits(self.near)} instead of "
            f"{three_digits(self.least_error)}); in random order it takes {beside}."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """All its numbers."""
        meanings = {
            "needed": "Tasks given one after another until the error is near the least",
            "at_random": "Tasks asked in random order until the error is near the least",
            "least_error": "Error of ability after all tasks that were compared",
            "near": "Error of ability that counts as near the least",
            "tasks": "Tasks of the fit",
            "compared_with": "Tasks after which the error is the least",
        }
        return {name: Scalar(getattr(self, name), meaning) for name, meaning in meanings.items()}
