"""Evidence: whether there is anything to see, agents who differ and tasks that discriminate differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from examiner.scores import LEVEL as LEVEL
from examiner.validation import Axes

_STREAM = 2**31
"""A key that no spawned stream of starts reaches."""


def evidence_stream(rng: np.random.Generator) -> np.random.Generator:
    """Return a stream of its own, the same whatever was drawn before: one seed gives one evidence.

    >>> one = np.random.default_rng(3)
    >>> evidence_stream(one).random() == evidence_stream(one).random()
    True
    """
    seeds = rng.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence)
    key = (*seeds.spawn_key, _STREAM)
    return np.random.default_rng(np.random.SeedSequence(seeds.entropy, spawn_key=key))


def _short(p: float, times: float = 1.0) -> str:
    """Two digits of a p-value, a third where two would not tell it from the level."""
    short = f"{times * p:.2g}" if times * p < 99.5 else f"{times * p:.0f}"
    at_level = float(short) == times * LEVEL
    return f"{times * p:.3g}" if at_level else short


class ChanceTest(NamedTuple):
    """A statistic, its mean by chance, how often chance gives as much, and how that was had."""

    statistic: float
    by_chance: float
    p_value: float
    method: str

    @property
    def p(self) -> str:
        """The p-value in words: "p = 0.32", with as many digits as tell it from the level."""
        if self.p_value < 0.001:
            return "p < 0.001"
        return f"p = {_short(self.p_value)}"

    @property
    def shown(self) -> bool:
        """Whether chance gives as much in no more tables than the level allows."""
        return self.p_value <= LEVEL

    @property
    def often(self) -> str:
        """How often chance gives as much: "chance gives as much in 32 % of tables"."""
        return f"chance gives as much in {_short(self.p_value, 100)} % of tables"


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
        return self.abilities.p_value <= self.level

    @property
    def slopes_differ(self) -> bool:
        """Whether tasks differ in discrimination by more than chance, among agents who differ."""
        test = self.discrimination
        return self.abilities_differ and test is not None and test.p_value <= self.level

    def sentences(self) -> tuple[str, ...]:
        """Return what was seen, in words.

        >>> Evidence(ChanceTest(9.0, 11.0, 0.62, "")).sentences()
        ('Agents are not shown to differ in ability: chance gives as much in 62 % of tables.',)
        """
        if not self.abilities_differ:
            start = "Agents are not shown to differ in ability"
            return (f"{start}: {self.abilities.often}.",)
        said = f"Agents differ in ability ({self.abilities.p})."
        test = self.discrimination
        if test is None:
            return (said,)
        differ = "differ" if self.slopes_differ else "are not shown to differ"
        return (said, f"Tasks {differ} in discrimination ({test.p}).")

    def __repr__(self) -> str:
        return f"Evidence: {' '.join(self.sentences())}"
