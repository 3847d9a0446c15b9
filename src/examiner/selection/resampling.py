"""Which agents are drawn: resamples of whole families, and one sample of a very large table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from examiner.scores import Estimate
from examiner.validation import Floats

REPS = 400
MOST_CELLS = 5_000_000
"""Agents × tasks of a fold, at most: choosing in it takes seconds (`benchmarks/selection_speed.py`)."""
FEWEST_AGENTS = 200


def resampled_agents(
    families: NDArray[np.integer], rng: np.random.Generator, reps: int = REPS
) -> Floats:
    """How often each agent counts: once, then in each resample of families; shape [1 + reps, agents].

    >>> weight = resampled_agents(np.array([0, 1, 0]), np.random.default_rng(0), 50)
    >>> weight.shape, bool((weight[:, 0] == weight[:, 2]).all())
    ((51, 3), True)
    """
    count = int(families.max()) + 1
    drawn = rng.multinomial(count, np.full(count, 1.0 / count), size=reps)
    return np.vstack([np.ones(len(families)), drawn[:, families].astype(np.float64)])


def estimate_of(values: Floats, level: float = 0.95) -> Estimate:
    """The estimate itself, which comes first, and the ends over resamples, which contain it.

    Resampled agents may all be worse, or better, than those they were drawn from: a figure that is not
    a mean has a bias.

    >>> estimate_of(np.array([0.5, 0.1, 0.2, np.nan]))
    Estimate(value=0.5, low=0.1, high=0.5)
    """
    value, finite = float(values[0]), values[1:][~np.isnan(values[1:])]
    if not len(finite):
        return Estimate(value)
    tail = round(50 * (1 - level), 9)  # a percentile must not move by rounding
    low, high = np.percentile(finite, (tail, 100 - tail), method="inverted_cdf")
    return Estimate(value, min(value, float(low)), max(value, float(high)))


def is_very_large(agents: int, tasks: int) -> bool:
    """Whether choosing on all agents again and again would take long.

    >>> is_very_large(1000, 500), is_very_large(5000, 20_000)
    (False, True)
    """
    return agents > max(MOST_CELLS // tasks, FEWEST_AGENTS)


def sampled_agents(families: NDArray[np.integer], tasks: int) -> NDArray[np.bool_]:
    """Flag the agents of the sample, [agents]: everybody, where the table is not very large.

    Whole families are taken, evenly by their numbers: nothing is random.

    >>> sampled_agents(np.array([0, 1, 0]), 10).all()
    np.True_
    >>> int(sampled_agents(np.arange(5000), 20_000).sum())
    250
    """
    agents, most = len(families), max(MOST_CELLS // tasks, FEWEST_AGENTS)
    if not is_very_large(agents, tasks):
        return np.ones(agents, dtype=np.bool_)
    number = int(families.max()) + 1
    count = -(-most * number // agents)
    return np.isin(families, np.linspace(0, number - 1, count).astype(np.intp))


def note_of_sample(sample: NDArray[np.bool_]) -> tuple[str, ...]:
    """Say so where some agents are used in place of all.

    >>> note_of_sample(np.array([True, False]))[0][:44]
    'The table is large: 1 of its 2 agents, taken'
    """
    if sample.all():
        return ()
    return (
        f"The table is large: {sample.sum():,} of its {len(sample):,} agents, taken evenly, are "
        f"used wherever the choice is repeated in folds.",
    )
