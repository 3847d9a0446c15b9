"""What a new task adds to a set: bits and error removed beyond it, what it repeats, and by what chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import channels_of
from examiner.information.clusters import PAPER_THRESHOLD
from examiner.information.confusion import PairLikelihood
from examiner.information.gain import table_bits
from examiner.information.noise import ChannelModel
from examiner.information.observations import Moments
from examiner.information.plausible import plausible
from examiner.information.uncertainty import ends_of, permuted
from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.scores.estimate import Estimate, check_level
from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.evidence import fold_of, likeness
from examiner.selection.resampling import estimate_of, resampled_agents
from examiner.selection.ridge import Design, ridge_fits, with_one_more
from examiner.validation import Floats, Randomness, check_known, generator, seed_of

NEAREST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What one task adds to a set of others; NaN is what cannot be told.

    `bits` are those about which agent is playing that it adds to the set's, `bits_alone` its own, and
    `bits_chance` how often results dealt to agents anew add as many. `told` is the R² with which the set
    predicts the task for left-out agents: 1 repeats the set. `error_removed` is the share by which the
    task lowers the error of predicting the tasks outside, and `error_chance` how often shuffled results
    lower it as much. `nearest` are the tasks of the set it is most like, with their correlation, and
    `cluster` all tasks so near that papers/004 would gather them.
    """

    task: str
    to: tuple[str, ...]
    agents: int
    bits: Estimate
    bits_alone: float
    bits_set: float
    bits_chance: float
    told: Estimate
    error_removed: Estimate
    error_chance: float
    nearest: tuple[tuple[str, float], ...]
    cluster: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int = 0

    @property
    def sentence(self) -> str:
        """What follows, in words.

        >>> scores = np.random.default_rng(0).normal(size=(9, 4))
        >>> adds(Results.from_numpy(scores), "task 4", rng=0, reps=5).sentence[:14]
        "'task 4' adds "
        """
        size = counted(len(self.to), "task")
        told = f"{self.task!r} adds {self.bits.value:.3g} bits to {size}"
        if self.bits_chance == self.bits_chance:
            told += f" (as many by chance: p = {self.bits_chance:.2g})"
        if self.error_removed.value == self.error_removed.value:
            told += (
                f", and takes {self.error_removed.value:.1%} off the error on the tasks outside "
                f"(p = {self.error_chance:.2g})"
            )
        if self.told.value != self.told.value:  # nothing varies in it
            return f"{told}."
        return f"{told}. The set tells {max(self.told.value, 0.0):.0%} of what varies in it."

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return it as JSON values.

        >>> scores = np.random.default_rng(0).normal(size=(9, 4))
        >>> list(adds(Results.from_numpy(scores), "task 4", rng=0, reps=5).to_dict())[:3]
        ['task', 'to', 'agents']
        """
        return {
            "task": self.task,
            "to": list(self.to),
            "agents": self.agents,
            "bits": self.bits._asdict(),
            "bits_alone": self.bits_alone,
            "bits_set": self.bits_set,
            "bits_chance": self.bits_chance,
            "told": self.told._asdict(),
            "error_removed": self.error_removed._asdict(),
            "error_chance": self.error_chance,
            "nearest": [{"task": task, "correlation": r} for task, r in self.nearest],
            "cluster": list(self.cluster),
            "answer": self.sentence,
        }


def adds(
    source: Results | Benchmark,
    task: str,
    to: Sequence[str] | None = None,
    *,
    rng: Randomness = 0,
    reps: int = 100,
    level: float = 0.9,
) -> Added:
    """Say what a task adds to a set of others, by default to all others (papers/004, section I).

    Bits with their interval and chance are those of `examiner.information`: runs dealt out among agents
    anew say what agents that are alike would seem to add; with one run a cell that is as much, since
    nothing tells noise from information. Errors are of left-out agents, under ridge regressions from the
    set with and without the task; intervals are over agents. The same call in a loop tells whether a
    change of the task was one for the better.

    >>> rng = np.random.default_rng(0)
    >>> scores = rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=(30, 8))
    >>> scores[:, 7] = scores[:, 0] + 0.01 * rng.normal(size=30)
    >>> found = adds(Results.from_numpy(scores), "task 8", ["task 1", "task 2"], rng=0)
    >>> found.nearest[0][0], found.told.value > 0.9, found.error_chance > 0.05
    ('task 1', True, True)
    """
    check_level(level)
    if reps < 1:
        raise InputError(f"{reps} resamples were asked for. Give at least 1; 100 is usual.")
    whole = source if isinstance(source, Benchmark) else benchmark(source)
    check_known("task", task, whole.tasks)
    for name in to or ():
        check_known("task", name, whole.tasks)
    names = [one for one in (whole.tasks if to is None else to) if one != task]
    if not names:
        raise InputError(
            f"There is no other task that {task!r} could add to. Name a set (`to=[...]`)."
        )
    new = whole.tasks.index(task)
    columns = np.array([whole.tasks.index(one) for one in dict.fromkeys(names)], dtype=np.intp)
    seed = seed_of(rng)
    for_bits, for_errors = generator(seed).spawn(2)
    values = fold_of(whole, whole.everyone, ()).evidence.values
    bits, alone, held, by_chance = _bits(whole, new, columns, for_bits, reps, level)
    weight = resampled_agents(whole.families, for_errors)
    removed, shuffled = _error_removed(values, new, columns, for_errors, reps, weight, level)
    near = 1.0 - likeness(values)[new]
    order = columns[np.argsort(-near[columns], kind="stable")]
    return Added(
        task=task,
        to=tuple(whole.tasks[column] for column in columns),
        agents=len(whole.agents),
        bits=bits,
        bits_alone=alone,
        bits_set=held,
        bits_chance=by_chance,
        told=_told(values, new, columns, weight, level),
        error_removed=removed,
        error_chance=shuffled,
        nearest=tuple((whole.tasks[one], float(near[one])) for one in order[:NEAREST].tolist()),
        cluster=tuple(
            whole.tasks[one]
            for one in np.flatnonzero(near > 1 - PAPER_THRESHOLD).tolist()
            if one != new
        ),
        notes=whole.notes,
        seed=seed,
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
    seen, model = whole.observed, ChannelModel(whole.noise)

    def bits(found: Moments) -> Floats:
        pairs = PairLikelihood(channels_of(seen, found, model))
        base, own = pairs.table(columns.tolist()), pairs.table([new])
        return np.array([table_bits(base), table_bits(own), table_bits(base + own)])

    try:
        held, alone, both = bits(whole.moments)
    except InputError:
        return Estimate(float("nan")), float("nan"), float("nan"), float("nan")
    likely, chance = plausible(seen, whole.moments, rng), permuted(seen, rng, new)
    drawn = np.array([bits(next(likely)) for _ in range(reps)])
    by_chance = np.array([bits(next(chance)) for _ in range(reps)])
    added = float(both - held)
    _, low, high = ends_of(np.array([added]), (drawn[:, 2] - drawn[:, 0])[:, None], level)
    luck = (1 + int((by_chance[:, 2] - by_chance[:, 0] >= added - 1e-12).sum())) / (reps + 1)
    return Estimate(added, float(low[0]), float(high[0])), float(alone), float(held), luck


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
    known = list(range(len(columns)))
    found = with_one_more(
        np.column_stack([design[:, columns], design[:, new], shuffled]), target, known
    )
    errors = found.errors[len(columns) :]
    if not found.alone > 0:
        return Estimate(float("nan")), float("nan")
    with_task = ridge_fits(design, target, np.array([[*columns.tolist(), new]])).left_out[0]
    without = ridge_fits(design, target, columns[None]).left_out[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 1 - (weight @ np.abs(with_task)) / (weight @ np.abs(without))
    luck = (1 + int((errors[1:] <= errors[0] + 1e-12).sum())) / (reps + 1)
    return estimate_of(ratio, level), luck


def _told(
    values: Floats, new: int, columns: NDArray[np.intp], weight: Floats, level: float
) -> Estimate:
    """R² of the new task, predicted from the set for left-out agents."""
    own = values[:, new]
    agents = len(own)
    alone = (own - own.mean()) * agents / (agents - 1)  # the mean of the others predicts no better
    if not (alone**2).sum() > 0:
        return Estimate(float("nan"))
    left = ridge_fits(Design.of(values).values, own, columns[None]).left_out[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - (weight @ left**2) / (weight @ alone**2)
    return estimate_of(r2, level)
