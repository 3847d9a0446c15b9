"""Evidence: whether agents differ, tasks discriminate differently, and which slopes are significant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, flag, name
from examiner.irt.estimates import TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.messages import counted
from examiner.scores import LEVEL as LEVEL
from examiner.scores import benjamini_hochberg
from examiner.validation import Axes, Bounds

if TYPE_CHECKING:
    from examiner.irt.fitted import IRTFit

_MOST_JOINT = 2000
"""Tasks up to which a slope is compared with the mean of all with their joint errors; beyond, alone."""

Probability = Annotated[float, Bounds(0.0, 1.0, "a number between 0 and 1")]


def evidence_stream(rng: np.random.Generator) -> np.random.Generator:
    """Return a stream of its own, the same whatever was drawn before: one seed gives one evidence.

    >>> one = np.random.default_rng(3)
    >>> evidence_stream(one).random() == evidence_stream(one).random()
    True
    """
    seeds = rng.bit_generator.seed_seq
    assert isinstance(seeds, np.random.SeedSequence)
    # a key that no spawned stream of starts reaches
    key = (*seeds.spawn_key, 2**31)
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
    p_value: Probability
    method: str
    profile_p_value: Probability | None = None
    """The p-value of equal profiles, where near-copies or groups of tasks make that another question."""

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
            profile = self.abilities.profile_p_value
            if profile is not None and profile <= self.level:
                copies = "near-copies" in self.abilities.method
                why = "some are near-copies of others" if copies else "over groups of tasks"
                start = f"Agents differ in profile ({why}), but are not shown to differ in ability"
            return (f"{start}: {self.abilities.often}.",)
        sentence = f"Agents differ in ability ({self.abilities.p})."
        test = self.discrimination
        if test is None:
            return (sentence,)
        differ = "differ" if self.slopes_differ else "are not shown to differ"
        return (sentence, f"Tasks {differ} in discrimination ({test.p}).")

    def __repr__(self) -> str:
        return f"Evidence: {' '.join(self.sentences())}"


class TaskSlopes(Table):
    """What is significant about the discrimination of each task."""

    task: tuple[str, ...] = name("Task")
    rising: NDArray[np.bool_] = flag("Whether stronger agents do significantly better")
    falling: NDArray[np.bool_] = flag("Whether stronger agents do significantly worse")
    steeper: NDArray[np.bool_] = flag("Whether it discriminates more than tasks do on average")
    flatter: NDArray[np.bool_] = flag("Whether it discriminates less than tasks do on average")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SlopeVerdicts(Answer):
    """What is significant about each task's slope, [tasks], at 5 % after Benjamini–Hochberg over all tasks.

    `rising`: stronger agents do better; `falling`: they do worse; both by how the task correlates with the
    others, which no prior pulls anywhere. `steeper` and `flatter`: it discriminates more, or less, than
    tasks do on average, by slopes and their joint errors.
    """

    kind: ClassVar[str] = "slope-verdicts"

    tasks: tuple[str, ...]
    rising: NDArray[np.bool_]
    falling: NDArray[np.bool_]
    steeper: NDArray[np.bool_]
    flatter: NDArray[np.bool_]

    @property
    def headline(self) -> str:
        """How many tasks discriminate significantly, and in which direction."""
        return (
            f"{int(self.rising.sum()):,} of {counted(len(self.tasks), 'task')} have significantly positive "
            f"discrimination, {int(self.falling.sum()):,} significantly negative."
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """What is significant, task by task."""
        flags = {part: getattr(self, part) for part in ("rising", "falling", "steeper", "flatter")}
        return {"tasks": TaskSlopes(task=self.tasks, **flags)}


def slope_verdicts(fit: IRTFit) -> SlopeVerdicts:
    """Return what is significant about the slope of every task; nothing without errors, or in noise.

    >>> from examiner.irt.ability import known as known_fit
    >>> slope_verdicts(known_fit(ItemParameters.of(["t"], [1.0], [0.0]))).rising  # no errors
    array([False])
    """
    return verdicts(fit.items, fit.errors, fit.evidence)


def verdicts(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> SlopeVerdicts:
    """Say the same of tasks, their errors and what there is to see; without `evidence`, anything."""
    none = np.zeros(len(items), dtype=np.bool_)
    rising, falling = signs(items, errors, evidence)
    alike = evidence is not None and not evidence.slopes_differ
    if errors is None or alike or np.ptp(items.slope) == 0:
        return SlopeVerdicts(items.tasks, rising, falling, none, none)
    ratio, error = relative_slopes(items.slope, errors)
    apart = _beyond_chance(ratio - 1.0, error)
    return SlopeVerdicts(items.tasks, rising, falling, apart & (ratio > 1), apart & (ratio < 1))


def signs(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Say which slopes are shown to rise and which to fall: quicker than all that is said of slopes.

    >>> signs(ItemParameters.of(["t"], [1.0], [0.0]), None, None)  # no errors
    (array([False]), array([False]))
    """
    none = np.zeros(len(items), dtype=np.bool_)
    if errors is None or (evidence is not None and not evidence.abilities_differ):
        return none, none
    up = items.slope > 0
    if evidence is not None and evidence.with_the_rest is not None:
        with_the_rest = np.array(evidence.with_the_rest)
        real = _beyond_chance(with_the_rest, np.ones(len(items))) & (up == (with_the_rest > 0))
    else:
        real = _beyond_chance(*relative_slopes(items.slope, errors))
    return real & up, real & ~up


def relative_slopes(slope: Floats, errors: TaskErrors) -> tuple[Floats, Floats]:
    r"""Return slopes as shares of their mean, with errors from which their common scale drops out.

    .. math:: \rho_j = a_j / \bar a, \quad
              \operatorname{Var} \rho_j \approx \operatorname{Var}(a_j - \rho_j \bar a) / \bar a^2

    >>> one, none = np.ones(2), np.zeros(2)
    >>> errors = TaskErrors(0.1 * one, one, none, *(8 * [none]), "by hand")
    >>> relative_slopes(np.array([1.0, 3.0]), errors)
    (array([0.5, 1.5]), array([0.0395..., 0.0395...]))
    """
    count, mean = len(slope), float(slope.mean())
    if mean == 0:  # without a scale there are no shares of it
        return np.ones(count), np.full(count, np.nan)
    ratio = slope / mean
    if count > _MOST_JOINT:
        return ratio, errors.slope / abs(mean)
    rows = np.eye(count) - ratio[:, None] / count
    variance = errors.slope_variances(rows)  # of one slope for all it is 0 but for digits
    error = np.sqrt(np.maximum(variance, 0.0)) / abs(mean)
    return ratio, np.where(np.isnan(errors.slope), np.nan, error)


def _beyond_chance(value: Floats, error: Floats) -> NDArray[np.bool_]:
    """Which values differ from 0, at 5 % after Benjamini–Hochberg; never where the error is not known."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.nan_to_num(2 * ndtr(-np.abs(value / error)), nan=1.0)
    return np.asarray((benjamini_hochberg(p) < LEVEL) & (error > 0))
