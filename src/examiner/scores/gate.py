"""A gate: whether a new agent is worse than an old one, not worse by a margin, or undecided; and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, bound, count, name, number, setting, text
from examiner.messages import InputError, counted, shorten
from examiner.results import Results, reads_results
from examiner.scores.comparable import OwnFunction
from examiner.scores.differences import POWER, Difference, difference_of
from examiner.scores.normalise import comparable_runs, score_unit, stated_choice
from examiner.scores.runs import Pair, Strata, Unit, run_scores, same_sign, usual_unit
from examiner.scores.total import Total
from examiner.validation import Floats, Randomness, generator, seed_of

Verdict = Literal["pass", "fail", "undecided"]


class GatedAgents(Table):
    """The new agent compared with the old one, and the verdict."""

    new: tuple[str, ...] = name("New agent")
    old: tuple[str, ...] = name("Old agent")
    difference: Floats = number("Mean of the new agent less that of the old one", unit="score")
    difference_low: Floats = bound("difference", "low")
    difference_high: Floats = bound("difference", "high")
    verdict: tuple[str, ...] = text("pass, fail or undecided")
    tasks: NDArray[np.int64] = count("Tasks that both have")
    effective_tasks: Floats = number("Independent tasks that would have the same error")
    more_tasks: Floats = count("Further tasks that would decide with probability 80 %")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Gate(Answer):
    """Whether a new agent may pass, from its difference, less the old one, and its interval: `gate`."""

    kind = "gate"

    new: str
    old: str
    difference: float
    low: float
    high: float
    margin: float = field(metadata=setting())
    error_rate: float = field(metadata=setting())
    test: str = field(metadata=setting())
    most_tasks: int | None = field(default=None, metadata=setting())
    next_tasks: tuple[str, ...] = field(default=(), metadata=setting())
    tasks: int
    effective_tasks: float = float("nan")
    more_tasks: float = float("nan")
    score_unit: str
    notes: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def verdict(self) -> Verdict:
        """Pass where the difference is above −margin, fail where it is below 0."""
        return "pass" if self.low > -self.margin else "fail" if self.high < 0 else "undecided"

    @property
    def agents(self) -> GatedAgents:
        """The two agents, in one row."""
        return GatedAgents(
            new=[self.new],
            old=[self.old],
            difference=[self.difference],
            difference_low=[self.low],
            difference_high=[self.high],
            verdict=[self.verdict],
            tasks=[self.tasks],
            effective_tasks=[self.effective_tasks],
            more_tasks=[self.more_tasks if self.verdict == "undecided" else 0],
            level=1 - 2 * self.error_rate,
            score_unit=self.score_unit,
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The agents."""
        return {"agents": self.agents}

    @property
    def headline(self) -> str:
        """The verdict, and what it rests on."""
        size = f"difference {self.difference:+.3g}, {100 - 200 * self.error_rate:g} % interval"
        return f"{self._title} ({size} {self.low:+.3g} to {self.high:+.3g}).{self._advice}"

    @property
    def _title(self) -> str:
        by = f" by {self.margin:g}" if self.margin else ""
        return {
            "pass": f"PASS: {self.new} is not worse than {self.old}{by}",
            "fail": f"FAIL: {self.new} is significantly worse than {self.old}",
            "undecided": f"UNDECIDED: {self.new} may be worse than {self.old}{by} or not",
        }[self.verdict]

    @property
    def _advice(self) -> str:
        """How many more tasks would decide, where they would."""
        if self.verdict != "undecided":
            return ""
        if not np.isnan(self.more_tasks):
            return f" About {counted(int(self.more_tasks), 'more task')} would decide."
        if self.difference or self.margin:
            return " These tasks do not show how many more would decide."
        return " No number of tasks would decide if the difference stays: give a margin."

    @property
    def summary(self) -> str:
        """The verdict and its numbers in Markdown, for a pull request."""
        sentences = "".join(f"\n{line}\n" for line in (self._advice.strip(), *self.notes) if line)
        return (
            f"### {self._title}\n\n{self.to_markdown('agents')}\n{sentences}\n"
            f"Test: {self.test}; low and high: {100 - 200 * self.error_rate:g} % interval; error rate "
            f"{100 * self.error_rate:g} %, margin {self.margin:g}. Scores: {self.score_unit}.\n"
        )


def check_gate(new: str, old: str, margin: float, error_rate: float) -> None:
    """Refuse odd error rates and margins, and an agent compared with itself.

    >>> check_gate("new", "old", 0.02, 0.05)
    """
    if not 0 < error_rate < 0.5:
        raise InputError(
            f"The error rate is {error_rate:g}. Give a number between 0 and 0.5, as 0.05."
        )
    if not 0 <= margin < np.inf:
        raise InputError(f"The margin is {margin:g}. Give a difference of 0 or more, as 0.02.")
    if new == old:
        raise InputError(f"The agent {shorten(new)} is compared with itself. Name two agents.")


@reads_results
def gate(
    results: Results,
    new: str,
    old: str,
    *,
    margin: float = 0.0,
    error_rate: float = 0.05,
    sequential: bool = False,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    unit: Unit | None = None,
    group: str | None = None,
    rng: Randomness = 0,
) -> Gate:
    r"""Decide whether a new agent is worse than an old one: fail, pass, or undecided.

    Fail: the difference of means is below 0, pass: it is above −margin; each is wrong in at most
    `error_rate` of cases, one-sided. Both hold where the new agent is worse, but by less than the margin:
    that passes. The test is that of `compare` over common tasks, or groups of them.

    With `sequential`, results of the new agent come task by task, in random order, until all tasks of the
    old one are given. The bounds are O'Brien and Fleming's for continuous monitoring,

    .. math:: |z| > \frac{\Phi^{-1}(1 - \alpha / 2)}{\sqrt{t}}

    with t the share of tasks given: by the reflection principle a Brownian motion crosses them at any time
    with probability α, so that one may look after every task. `next_tasks` are those to give next.

    References: O'Brien & Fleming (1979); Lan & DeMets (1983); Wellek (2010), for margins.

    >>> won = [[0.0] * 8 + [1.0] * 3, [1.0] * 8 + [0.0] * 3]
    >>> gate(Results.from_numpy(won, agents=["new", "old"]), "new", "old").verdict
    'undecided'
    """
    from scipy.special import ndtr, stdtrit  # slow to import

    check_gate(new, old, margin, error_rate)
    results = comparable_runs(results, normalise, measure)
    same_sign(results, measure)
    scores = run_scores(results, measure, total, group)
    first, second = scores.of(new), scores.of(old)
    unit = unit or ("tasks" if sequential else usual_unit(scores))
    if sequential and unit != "tasks":
        raise InputError("A sequential gate is over tasks. Leave the unit out, or use 'tasks'.")
    gap = difference_of(first, second, 1 - 2 * error_rate, unit)
    low, high, test, quantile = (
        gap.difference_low,
        gap.difference_high,
        gap.test,
        _normal(1 - error_rate),
    )
    seed, most, waiting = seed_of(rng), None, ()
    if sequential:
        most = len(second.tasks)
        quantile = _normal(1 - error_rate / 2) / np.sqrt(gap.tasks / most)
        reach = float("inf")  # where nothing is known of other tasks yet
        if gap.degrees >= 1 and gap.difference_error > 0:
            # the tails of Student's t with the degrees of freedom of the error
            share = min(float(ndtr(quantile)), 1 - 1e-15)
            reach = float(stdtrit(gap.degrees, share)) * gap.difference_error
        low, high = gap.difference - reach, gap.difference + reach
        test = f"O'Brien and Fleming's bounds, {gap.tasks:,} of {most:,} tasks given"
        # Tasks of the old agent that the new one lacks, in random order, whatever the order of tasks.
        place = scores.draw_order.tasks
        lacking = place[np.setdiff1d(second.tasks, first.tasks)]
        order = generator(seed).permutation(np.sort(lacking))
        waiting = tuple(scores.tasks[task] for task in np.argsort(place)[order])
    return Gate(
        new=new,
        old=old,
        difference=gap.difference,
        low=low,
        high=high,
        margin=margin,
        error_rate=error_rate,
        test=test,
        most_tasks=most,
        next_tasks=waiting,
        tasks=gap.tasks,
        effective_tasks=gap.effective_tasks,
        more_tasks=_more_tasks(gap, margin, quantile),
        score_unit=score_unit(results, measure),
        notes=(
            *stated_choice(results),
            *(() if unit == "runs" else scores.group_notes),
            *(() if sequential else _missing_notes(first, second)),
        ),
        seed=seed,
    )


def _missing_notes(first: Strata, second: Strata) -> tuple[str, ...]:
    """Warn of tasks that only one of two agents has: what crashed may not count."""
    tasks = len(np.union1d(first.tasks, second.tasks))
    return tuple(
        f"Warning: {shorten(one.agent)} has no result on {len(missing):,} of {counted(tasks, 'task')}, "
        f"which are excluded. Record tasks that crashed with their score."
        for one, other in ((first, second), (second, first))
        if len(missing := np.setdiff1d(other.tasks, one.tasks))
    )


def _normal(share: float) -> float:
    from scipy.special import ndtri  # slow to import

    return float(ndtri(share))


def _more_tasks(gap: Difference, margin: float, quantile: float) -> float:
    """Further tasks that decide with the usual power if the difference stays; NaN where none would.

    NaN too where all differences are equal, which says nothing of how much others vary.
    """
    if not gap.difference_error > 0:
        return float("nan")
    reach = (quantile + _normal(POWER)) * gap.difference_error
    distances = [-gap.difference, gap.difference + margin]
    needed = [gap.tasks * (reach / away) ** 2 for away in distances if away > 0]
    if not needed or not np.isfinite(min(needed)):
        return float("nan")
    return float(max(np.ceil(min(needed)) - gap.tasks, 1))


class PlannedDesigns(Table):
    """How many tasks detect a difference, by the number of attempts at each."""

    attempts: NDArray[np.int64] = count("Attempts per task of either agent")
    tasks: Floats = count("Tasks that detect the difference")
    evaluations: Floats = count("Attempts of both agents, in all")


@dataclass(frozen=True, eq=False, repr=False)
class SamplePlan(Answer):
    """Which designs detect a difference: `plan`."""

    kind = "plan"

    designs: PlannedDesigns
    difference: float = field(metadata=setting())
    power: float = field(metadata=setting())
    level: float = field(metadata=setting())
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The design with one attempt per task."""
        first = self.designs[0]
        tasks = counted(int(first.tasks), "task")
        return (
            f"{tasks} with {counted(int(first.attempts), 'attempt')} of either agent detect a difference "
            f"of {self.difference:g} with probability {100 * self.power:g} %."
        )


@reads_results
@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def plan(
    results: Results,
    new: str,
    old: str,
    difference: float,
    *,
    attempts: Sequence[int] = (1, 2, 3, 5, 10),
    power: float = POWER,
    level: float = 0.95,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    total: Total | None = None,
    group: str | None = None,
) -> SamplePlan:
    r"""Return how many tasks, with how many attempts at each, detect a difference of two such agents.

    .. math:: T = (z_{1 - \alpha / 2} + z_{\text{power}})^2 \, \frac{V + N / n}{\delta^2}

    with V the variance between tasks of the difference and N that between attempts of both agents, both
    from these results; V is multiplied by what groups of tasks add. Without several attempts only their sum
    is known, and only designs with one attempt are planned.

    References: Miller (2024), section 5; Cohen (1988).

    >>> rng = np.random.default_rng(0)
    >>> won = (rng.random((2, 200, 4)) < 0.5).astype(float)
    >>> plan(Results.from_numpy(won), "agent 1", "agent 2", 0.05).designs.attempts
    array([ 1,  2,  3,  5, 10])
    """
    if not 0 < difference < np.inf:
        raise InputError(f"The difference is {difference:g}. Give one above 0, as 0.02.")
    results = comparable_runs(results, normalise, measure)
    same_sign(results, measure)
    scores = run_scores(results, measure, total, group)
    first, second = scores.of(new), scores.of(old)
    gap = difference_of(first, second, level, "tasks")
    if not gap.error_grouped > 0:
        raise InputError(
            f"The differences of {shorten(new)} and {shorten(old)} do not vary over "
            f"{counted(gap.tasks, 'common task')}, which says nothing of other tasks. Give results on more."
        )
    noise, observed, single = 0.0, 0.0, False
    for strata, tasks in Pair.of(first, second).agents:
        runs = strata.runs[tasks]
        single |= bool((runs < 2).any())
        spread = (strata.deviations[tasks] ** 2).sum(axis=1) / np.maximum(runs - 1, 1)
        noise += float(spread.mean())
        observed += float((spread / runs).mean())
    variance = gap.tasks * float(np.square(gap.error_grouped))
    between = variance if single else max(variance - observed, 0.0)
    numbers = np.array([1] if single else sorted(set(attempts)))
    reach = (_normal(0.5 + level / 2) + _normal(power)) ** 2
    variance_of_task = between + (0.0 if single else noise) / numbers
    tasks_needed = np.maximum(np.ceil(reach * variance_of_task / np.square(difference)), 2)
    if not (tasks_needed < 1e12).all():
        raise InputError(
            f"No benchmark has enough tasks to detect a difference of {difference:g} between these agents. "
            f"Give a larger one, in the unit of the scores."
        )
    notes = [*stated_choice(results), *scores.group_notes]
    if single:
        notes.append(
            f"Some tasks have a single attempt of {shorten(new)} or {shorten(old)}: what further attempts "
            f"would add is not known."
        )
    designs = PlannedDesigns(
        attempts=numbers, tasks=tasks_needed, evaluations=2 * numbers * tasks_needed
    )
    return SamplePlan(designs, difference, power, level, tuple(notes))
