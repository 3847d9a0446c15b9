"""Performance profiles: the share of runs, or of tasks, that score above each value, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Unpack, get_args

import numpy as np

from examiner.answers import Table, bound, name, number
from examiner.messages import InputError, joined
from examiner.results import Results, reads_results
from examiner.scores.aggregate import AGGREGATES, point_values, task_means
from examiner.scores.bootstrap import Bootstrap, ByResampling, Resampling, ResamplingOptions
from examiner.scores.cells import ratio
from examiner.scores.comparable import OwnFunction
from examiner.scores.normalise import comparable_runs, is_automatic, score_unit
from examiner.scores.runs import RunScores, Sample
from examiner.scores.standing import best_first
from examiner.validation import Floats, Randomness, check_known, generator, read_only, seed_of

Kind = Literal["runs", "averages"]
KINDS: tuple[Kind, ...] = get_args(Kind)
POINTS = 101


class ProfileShares(Table):
    """The share of scores of each agent above each threshold."""

    agent: tuple[str, ...] = name("Agent")
    threshold: Floats = number("Score that is exceeded", unit="score")
    share: Floats = number("Share of scores above the threshold")
    share_low: Floats = bound("share", "low")
    share_high: Floats = bound("share", "high")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Profiles(ByResampling):
    """The share of runs (or task averages) above each threshold; arrays [agents, thresholds].

    Bands are pointwise: they hold at each threshold, not at all of them together. NaN: no band.
    """

    kind = "profiles"

    agent_names: tuple[str, ...]
    thresholds: Floats
    share: Floats
    low: Floats
    high: Floats
    profile: Kind
    score_unit: str = ""

    @property
    def headline(self) -> str:
        """Whether one agent is ahead at every threshold."""
        front = self.share >= self.share.max(axis=0) - 1e-12
        ahead = np.flatnonzero(front.all(axis=1))
        if len(self.agent_names) == 1:
            half = self.thresholds[self.share[0] >= 0.5]
            level = f"{half[-1]:.3g}" if len(half) else "no threshold"
            return f"Half of the scores of {self.agent_names[0]} are above {level}."
        if not len(ahead):
            return "Profiles cross: which agent is ahead depends on the threshold."
        names = joined([self.agent_names[row] for row in ahead])
        verb = "is" if len(ahead) == 1 else "are"
        return f"{names} {verb} at or above every other agent at every threshold."

    @property
    def profiles(self) -> ProfileShares:
        """One row per agent and threshold."""
        thresholds = len(self.thresholds)
        return ProfileShares(
            agent=[agent for agent in self.agent_names for _ in range(thresholds)],
            threshold=np.tile(self.thresholds, len(self.agent_names)),
            share=self.share.ravel(),
            share_low=self.low.ravel(),
            share_high=self.high.ravel(),
            level=self.level,
            score_unit=self.score_unit,
        )

    @property
    def tables(self) -> Mapping[str, Table]:
        """The shares."""
        return {"profiles": self.profiles}

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """How scores were resampled, and whether shares are of runs or of averages of tasks."""
        return {**super(Profiles, self).settings, "profile": self.profile}


@reads_results
def profiles(
    results: Results,
    thresholds: Sequence[float] | Floats | None = None,
    kind: Kind = "runs",
    *,
    rng: Randomness = 0,
    measure: str | None = None,
    normalise: str | OwnFunction | None = "auto",
    **how: Unpack[ResamplingOptions],
) -> Profiles:
    r"""Say how large a share of an agent's scores lies above each threshold.

    .. math:: \hat F(\tau) = \frac{1}{T} \sum_t \frac{1}{n_t} \sum_i [x_{ti} > \tau]
              \qquad \text{or} \qquad \frac{1}{T} \sum_t [\bar x_t > \tau]

    Thresholds default to the quantiles of all agents' scores; those given are in units of the scores as
    they were read, unless a normaliser is named. Bands are made as `Resampling` says. Agents come best
    first by mean.

    References: Agarwal et al. (2021), section 4.2; Dolan & Moré (2002).

    >>> results = Results.from_numpy([[[0.0, 1.0], [1.0, 2.0]]])
    >>> profiles(results, [-1.0, 0.5, 2.0], rng=0).share
    array([[1.  , 0.75, 0.  ]])
    """
    chosen = Resampling(**how).by_percentiles("Profiles have no 'bca' bands.")
    check_known("kind of profile", kind, KINDS)
    if thresholds is None or not is_automatic(normalise):
        results = comparable_runs(results, normalise, measure)
    bootstrap = Bootstrap.of(results, measure, chosen)
    marks = _thresholds(bootstrap.scores, thresholds)
    shares = partial(_shares, thresholds=marks, kind=kind)
    seed, agents = seed_of(rng), bootstrap.scores.agents
    lines = bootstrap.along(shares, generator(seed), len(marks))
    order = best_first(agents, point_values(bootstrap.scores, [AGGREGATES["mean"]])[:, 0])
    share, low, high = lines[:, order]
    read_only(marks, share, low, high)
    return Profiles(
        agent_names=tuple(agents[row] for row in order),
        thresholds=marks,
        share=share,
        low=low,
        high=high,
        profile=kind,
        score_unit=score_unit(results, measure),
        how=bootstrap.how,
        seed=seed,
        notes=bootstrap.notes,
    )


def _thresholds(scores: RunScores, thresholds: Sequence[float] | Floats | None) -> Floats:
    if thresholds is None:
        observed = np.concatenate([one.scores[one.present] for one in scores.strata])
        if not len(observed):
            raise InputError("No agent has any score, so that there is no profile to draw.")
        return np.unique(np.quantile(observed, np.linspace(0, 1, POINTS)))
    marks = np.array(thresholds, dtype=np.float64).ravel()
    if not len(marks) or not np.isfinite(marks).all():
        raise InputError(
            "Thresholds must be finite numbers, at least one. Give some, as [0, 0.5, 1]."
        )
    return np.sort(marks)


def _shares(sample: Sample, thresholds: Floats, kind: Kind) -> Floats:
    """The share above each threshold, shape [thresholds, replicates]."""
    if kind == "runs":
        return _run_shares(sample, thresholds)
    means = task_means(sample)
    return np.array(
        [sample.nest.average((means > mark).astype(float), sample.times) for mark in thresholds]
    )


def _run_shares(sample: Sample, thresholds: Floats) -> Floats:
    tasks, runs, replicates = sample.weights.shape
    weights = sample.weights.reshape(tasks * runs, replicates)
    # Scores join the sum from the highest threshold down: each is added once.
    below = np.searchsorted(thresholds, sample.scores.ravel(), side="left")
    above, sums = np.zeros(replicates), np.zeros((len(thresholds), replicates))
    for mark in range(len(thresholds), 0, -1):
        for row in np.flatnonzero(below == mark).tolist():
            above += weights[row] / sample.draws[row // runs]
        sums[mark - 1] = above
    times = np.ones((tasks, 1)) if sample.times is None else sample.times
    return ratio(sums, times.sum(axis=0))
