"""Evidence: whether there is anything to see, agents who differ and tasks that discriminate differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from examiner.checking import Axes
from examiner.results.display import html_columns

LEVEL = 0.05
"""Differences are told of where chance alone gives such data less often."""


class ChanceTest(NamedTuple):
    """A statistic, its mean by chance, how often chance gives as much, and how that was had."""

    statistic: float
    by_chance: float
    p_value: float
    method: str

    @property
    def p(self) -> str:
        """The p-value in words: "p = 0.32"."""
        return "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"


@dataclass(frozen=True, slots=True, repr=False)
class Evidence:
    """Whether a fit has anything to tell: tests against one ability for all, and against one slope.

    `abilities` asks whether some agents do better across tasks than chance gives, `discrimination`
    whether tasks tell them apart more and less well than one slope for all gives; None where that
    cannot be asked. The second is believed only where the first is seen: who does not differ cannot be
    told apart, by any task. So where agents are identical, anything is seen in 5 % of tables at most.
    """

    abilities: ChanceTest
    discrimination: ChanceTest | None = None
    with_the_rest: Annotated[tuple[float, ...], Axes("tasks")] | None = None
    """How each task goes together with what agents did on the others, in deviations by chance."""
    level: float = LEVEL

    @property
    def abilities_differ(self) -> bool:
        """Whether agents differ in ability by more than chance."""
        return self.abilities.p_value < self.level

    @property
    def slopes_differ(self) -> bool:
        """Whether tasks differ in discrimination by more than chance, among agents who differ."""
        test = self.discrimination
        return self.abilities_differ and test is not None and test.p_value < self.level

    def sentences(self) -> tuple[str, ...]:
        """Return what was seen, in words.

        >>> Evidence(ChanceTest(9.0, 11.0, 0.62, "")).sentences()
        ('Agents are not shown to differ in ability (p = 0.62): chance gives as much.',)
        """
        if not self.abilities_differ:
            start = "Agents are not shown to differ in ability"
            return (f"{start} ({self.abilities.p}): chance gives as much.",)
        said = f"Agents differ in ability ({self.abilities.p})."
        test = self.discrimination
        if test is None:
            return (said,)
        differ = "differ" if self.slopes_differ else "are not shown to differ"
        return (said, f"Tasks {differ} in discrimination ({test.p}).")

    def __repr__(self) -> str:
        return f"Evidence: {' '.join(self.sentences())}"

    def _repr_html_(self) -> str:
        tests = {"abilities": self.abilities, "discrimination": self.discrimination}
        known = {name: test for name, test in tests.items() if test is not None}
        columns: dict[str, list[object]] = {"do they differ?": list(known)}
        for name in ChanceTest._fields:
            columns[name.replace("_", " ")] = [getattr(test, name) for test in known.values()]
        return html_columns(repr(self), columns)
