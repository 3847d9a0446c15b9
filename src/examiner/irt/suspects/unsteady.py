"""Tasks whose results disagree: over trials of one agent, or between scorers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.diagnostics.residuals import rarely_exceeded
from examiner.irt.items import Floats

_BINS = 10
EXCHANGES = 199
_LEAST = 1e-12


class Unsteady(NamedTuple):
    """How much each task's cells disagree, what cells of like difficulty do, and by how much more, [tasks].

    `excess` is in deviations by chance; `shown` where it is beyond what any task has by chance.
    """

    mean: Floats
    like: Floats
    excess: Floats
    cutoff: float
    shown: NDArray[np.bool_]


def disagreement_over_trials(value: Floats, trials: Floats) -> Floats:
    """Return how often two trials of a cell differ, [agents, tasks]; NaN with fewer than two trials.

    2 k (n − k) / (n (n − 1)) of successes.

    >>> disagreement_over_trials(np.array([[0.5, 1.0]]), np.array([[2.0, 2.0]]))
    array([[1., 0.]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        flips = 2.0 * trials * value * (1.0 - value) / (trials - 1.0)
    return np.where(trials > 1, flips, np.nan)


def unsteady(disagreement: Floats, expected: Floats, rng: np.random.Generator) -> Unsteady:
    """Hold each task against cells that are as hard for their agents, wherever they stand.

    `expected` is the chance of success of each cell. Cells are sorted into ten bins by p (1 − p), and
    disagreements exchanged within them: the largest excess of any task by chance is what the cut-off is
    made of, so that one table in twenty has any task by chance.

    >>> rng = np.random.default_rng(0)
    >>> flips = (rng.random((40, 12)) < 0.1).astype(float)
    >>> flips[:, 3] = rng.random(40) < 0.6
    >>> np.flatnonzero(unsteady(flips, np.full((40, 12), 0.5), rng).shown)
    array([3])
    """
    seen = np.isfinite(disagreement)
    tasks = disagreement.shape[1]
    task = np.nonzero(seen)[1]
    values, hard = disagreement[seen], (expected * (1.0 - expected))[seen]
    edges = np.quantile(hard, np.linspace(0, 1, _BINS + 1)[1:-1]) if len(hard) else np.empty(0)
    place = np.searchsorted(edges, hard)
    count = np.maximum(np.bincount(place, minlength=_BINS), 1)
    mean = np.bincount(place, values, _BINS) / count
    spread = np.bincount(place, (values - mean[place]) ** 2, _BINS) / count
    size = np.sqrt(np.maximum(np.bincount(task, spread[place], tasks), _LEAST))
    known = np.bincount(task, minlength=tasks)

    def excess(drawn: Floats) -> Floats:
        beyond = np.bincount(task, drawn - mean[place], tasks) / size
        return np.where((known > 0) & (size > 1e-5), beyond, -np.inf)

    ordered = values[np.argsort(place, kind="stable")]
    largest = np.array([excess(_exchanged(ordered, place, rng)).max() for _ in range(EXCHANGES)])
    found, cutoff = excess(values), rarely_exceeded(largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.bincount(task, values, tasks) / known
        like = np.bincount(task, mean[place], tasks) / known
    return Unsteady(own, like, found, cutoff, found > cutoff)


def _exchanged(ordered: Floats, place: NDArray[np.intp], rng: np.random.Generator) -> Floats:
    """Values, which come bin by bin, dealt out to the cells of their bins."""
    moved = np.empty_like(ordered)
    moved[np.argsort(place + rng.random(len(place)))] = ordered
    return moved
