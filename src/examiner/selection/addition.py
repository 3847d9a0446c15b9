"""What a new task adds to a set: information, error removed, and which tasks it is similar to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, flag, name, number, text
from examiner.information import (
    PAPER_THRESHOLD,
    ChannelModel,
    Moments,
    PairLikelihood,
    channels_of,
    ends_of,
    moments,
    permuted,
    plausible_draws,
    table_bits,
)
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.scores import Estimate, check_level
from examiner.selection.benchmark import Benchmark, benchmark_of
from examiner.selection.evidence import correlations_of, fold_of
from examiner.selection.resampling import estimate_of, resampled_agents
from examiner.selection.ridge import Design, ridge_fits, with_one_more
from examiner.validation import Floats, Randomness, check_known, generator, seed_of

MEANINGS = {
    "bits added": "information about which agent is playing, in addition to that of the set",
    "R² from the set": "R² of the task, predicted from the set for held-out agents; 1 repeats the set",
    "error removed": "share of the error for held-out agents on the tasks outside the set",
}


class AddedQuantities(Table):
    """What the task adds, with intervals over agents and permutation tests."""

    quantity: tuple[str, ...] = name("Quantity")
    value: Floats = number("Estimate")
    value_low: Floats = bound("value", "low")
    value_high: Floats = bound("value", "high")
    p_value: Floats = number("p-value of a permutation test", title="p")
    meaning: tuple[str, ...] = text("Meaning of the quantity")


class RepeatedTasks(Table):
    """The tasks whose scores correlate most with those of the new task, the highest first."""

    task: tuple[str, ...] = name("Task")
    correlation: Floats = number("Correlation with the new task")
    in_set: NDArray[np.bool_] = flag("The task belongs to the set")
    same_cluster: NDArray[np.bool_] = flag(
        "So similar that papers/004 puts both into one cluster", title="same cluster"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Added(Answer):
    """What one task adds to a set of others; NaN is what cannot be estimated.

    `bits` is the information about which agent is playing that it adds to the set's, `bits_alone` its own,
    and `bits_p_value` how often results permuted between agents add as much. `r2` is that of the task,
    predicted from the set for held-out agents: 1 repeats the set. `error_removed` is the share by which the
    task lowers the error of predicting the other tasks, and `error_p_value` how often shuffled results
    lower it as much. `similar` are the tasks most like it.
    """

    kind = "addition"

    task: str
    to: tuple[str, ...]
    agents: int
    bits: Estimate
    bits_alone: float
    bits_set: float
    bits_p_value: float
    r2: Estimate
    error_removed: Estimate
    error_p_value: float
    similar: RepeatedTasks
    notes: tuple[str, ...]
    level: float = 0.9
    seed: int = 0

    @property
    def headline(self) -> str:
        """How much information the task adds, and how much of the error it removes.

        >>> scores = np.random.default_rng(0).normal(size=(9, 4))
        >>> adds(Results.from_numpy(scores), "task 4", rng=0, reps=5).headline[:14]
        "'task 4' adds "
        """
        others = counted(len(self.to), "task")
        claim = f"{self.task!r} adds {self.bits.value:.3g} bits to {others}"
        if self.bits.value != self.bits.value:
            claim = f"It cannot be estimated how many bits {self.task!r} adds to {others}"
        if self.bits_p_value == self.bits_p_value:
            claim += f" (permutation test: p = {self.bits_p_value:.2g})"
        if self.error_removed.value == self.error_removed.value:
            verb = "reduces" if self.error_removed.value >= 0 else "increases"
            claim += (
                f" and {verb} the error on the other tasks by {abs(self.error_removed.value):.1%} "
                f"(p = {self.error_p_value:.2g})"
            )
        if self.r2.value != self.r2.value:  # all agents have the same score on it
            return f"{claim}."
        return f"{claim}; the set predicts it with R² {self.r2.value:.3g}."

    @property
    def quantities(self) -> AddedQuantities:
        """What the task adds, as a table."""
        estimates = (self.bits, self.r2, self.error_removed)
        columns: dict[str, Any] = {  # Any: as the column declares
            "quantity": list(MEANINGS),
            "value": [part.value for part in estimates],
            "value_low": [part.low for part in estimates],
            "value_high": [part.high for part in estimates],
            "p_value": [self.bits_p_value, np.nan, self.error_p_value],
            "meaning": list(MEANINGS.values()),
            "level": self.level,
        }
        return AddedQuantities(**columns)

    @property
    def tables(self) -> Mapping[str, Table]:
        """What the task adds, and which tasks it is similar to."""
        return {"quantities": self.quantities, "similar": self.similar}

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The task, the size of the set, and the information of both."""
        return {
            "task": Scalar(self.task, "The new task"),
            "set_size": Scalar(len(self.to), "Number of tasks in the set"),
            "agents": Scalar(self.agents, "Number of agents"),
            "bits_alone": Scalar(self.bits_alone, "Information of the task alone", "bits"),
            "bits_set": Scalar(self.bits_set, "Information of the set", "bits"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The tasks of the set, the seed, the level of intervals and the unit of resampling."""
        return {
            "set": list(self.to),
            "seed": self.seed,
            "level": self.level,
            "resampled": "agents",
        }


def adds(
    source: Results | Benchmark | Any,  # Any: all that `ex.read` takes
    task: str,
    to: Sequence[str] | None = None,
    *,
    rng: Randomness = 0,
    reps: int = 100,
    level: float = 0.9,
) -> Added:
    """Estimate what a task adds to a set of others, by default to all others (papers/004, section I).

    Bits with their interval and permutation test are those of `examiner.information`: runs permuted between
    agents show what equal agents would seem to add; with one run per cell that is as much, since nothing
    separates noise from information. Errors are of held-out agents, under ridge regressions from the set
    with and without the task; intervals are over agents. Repeat the call after changing a task to see
    whether it has become better.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=(30, 8))
    >>> scores[:, 7] = scores[:, 0] + 0.01 * rng.normal(size=30)
    >>> added = adds(Results.from_numpy(scores), "task 8", ["task 1", "task 2"], rng=0)
    >>> added.similar.task[0], added.r2.value > 0.9, added.error_p_value > 0.05
    ('task 1', True, True)
    """
    check_level(level)
    if reps < 1:
        raise InputError(f"{reps} resamples were asked for. Give at least 1; 100 is usual.")
    whole = benchmark_of(source)
    check_known("task", task, whole.tasks)
    for given in to or ():
        check_known("task", given, whole.tasks)
    names = [one for one in (whole.tasks if to is None else to) if one != task]
    if not names:
        raise InputError(
            f"There is no other task that {task!r} could add to. Name a set (`to=[...]`)."
        )
    new = whole.tasks.index(task)
    columns = np.array([whole.tasks.index(one) for one in dict.fromkeys(names)], dtype=np.intp)
    seed = seed_of(rng)
    for_bits, for_errors = generator(seed).spawn(2)
    rows = whole.order.agents  # draws depend neither on names nor on the order of rows
    values = fold_of(whole, rows, ()).evidence.values
    bits, alone, bits_of_set, by_chance = _bits(whole, new, columns, for_bits, reps, level)
    weight = resampled_agents(whole.family_codes[rows], for_errors)
    removed, shuffled = _error_removed(values, new, columns, for_errors, reps, weight, level)
    correlations = correlations_of(values, [new])[0]
    return Added(
        task=task,
        to=tuple(whole.tasks[column] for column in columns),
        agents=len(whole.agents),
        bits=bits,
        bits_alone=alone,
        bits_set=bits_of_set,
        bits_p_value=by_chance,
        r2=_r2(values, new, columns, weight, level),
        error_removed=removed,
        error_p_value=shuffled,
        similar=_similar(whole, correlations, new, columns),
        notes=whole.notes,
        level=level,
        seed=seed,
    )


def _similar(
    whole: Benchmark, correlation: Floats, new: int, columns: NDArray[np.intp]
) -> RepeatedTasks:
    """The nearest tasks of the set, and all tasks of the same cluster."""
    # Tasks of the set that are named as similar
    nearest = columns[np.argsort(-correlation[columns], kind="stable")][:3]
    cluster = np.setdiff1d(np.flatnonzero(correlation > 1 - PAPER_THRESHOLD), [new])
    tasks = np.union1d(nearest, cluster)
    tasks = tasks[np.argsort(-correlation[tasks], kind="stable")]
    return RepeatedTasks(
        task=tuple(whole.tasks[task] for task in tasks.tolist()),
        correlation=correlation[tasks],
        in_set=np.isin(tasks, columns),
        same_cluster=np.isin(tasks, cluster),
    )


def _bits(
    whole: Benchmark,
    new: int,
    columns: NDArray[np.intp],
    rng: np.random.Generator,
    reps: int,
    level: float,
) -> tuple[Estimate, float, float, float]:
    """Bits that the task adds, its own, the set's, and how often chance adds as many."""
    observations, model = whole.observed.ordered(whole.order), ChannelModel(whole.noise)
    whole_moments, rank = moments(observations), np.argsort(whole.order.tasks)
    new, columns = int(rank[new]), rank[columns]

    def bits(cell_moments: Moments) -> Floats:
        pairs = PairLikelihood(channels_of(observations, cell_moments, model))
        base, of_task = pairs.table(columns.tolist()), pairs.table([new])
        return np.array([table_bits(base), table_bits(of_task), table_bits(base + of_task)])

    try:
        bits_of_set, alone, both = bits(whole_moments)
    except InputError:
        return Estimate(float("nan")), float("nan"), float("nan"), float("nan")
    likely, chance = (
        plausible_draws(observations, whole_moments, rng),
        permuted(observations, rng, new),
    )
    drawn = np.array([bits(next(likely)) for _ in range(reps)])
    by_chance = np.array([bits(next(chance)) for _ in range(reps)])
    added = float(both - bits_of_set)
    _, low, high = ends_of(np.array([added]), (drawn[:, 2] - drawn[:, 0])[:, None], level)
    luck = (1 + int((by_chance[:, 2] - by_chance[:, 0] >= added - 1e-12).sum())) / (reps + 1)
    return Estimate(added, float(low[0]), float(high[0])), float(alone), float(bits_of_set), luck


def _error_removed(
    values: Floats,
    new: int,
    columns: NDArray[np.intp],
    rng: np.random.Generator,
    reps: int,
    weight: Floats,
    level: float,
) -> tuple[Estimate, float]:
    """Share of the left-out error on the tasks outside that the new one removes, and its chance."""
    outside = np.setdiff1d(np.arange(values.shape[1]), [*columns.tolist(), new])
    if not len(outside):
        return Estimate(float("nan")), float("nan")
    target = values[:, outside].mean(axis=1)
    design = Design.of(values).values
    shuffled = np.array([rng.permutation(design[:, new]) for _ in range(reps)]).T
    set_columns = list(range(len(columns)))
    extended = with_one_more(
        np.column_stack([design[:, columns], design[:, new], shuffled]), target, set_columns
    )
    errors = extended.errors[len(columns) :]
    if not extended.alone > 0:
        return Estimate(float("nan")), float("nan")
    with_task = ridge_fits(design, target, np.array([[*columns.tolist(), new]])).left_out[0]
    without = ridge_fits(design, target, columns[None]).left_out[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1 - (weight @ np.abs(with_task)) / (weight @ np.abs(without))
    luck = (1 + int((errors[1:] <= errors[0] + 1e-12).sum())) / (reps + 1)
    return estimate_of(ratio, level), luck


def _r2(
    values: Floats, new: int, columns: NDArray[np.intp], weight: Floats, level: float
) -> Estimate:
    """R² of the new task, predicted from the set for left-out agents."""
    scores = values[:, new]
    agents = len(scores)
    alone = (
        (scores - scores.mean()) * agents / (agents - 1)
    )  # the mean of the others predicts no better
    if not (alone**2).sum() > 0:
        return Estimate(float("nan"))
    left = ridge_fits(Design.of(values).values, scores, columns[None]).left_out[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - (weight @ left**2) / (weight @ alone**2)
    return estimate_of(r2, level)
