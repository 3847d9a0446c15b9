r"""Agents of several editions: each edition has the mean and the deviation of its own population.

The first edition is the reference, N(0, 1). Of every other edition g the mean :math:`\mu_g` and the
deviation :math:`\sigma_g` are estimated along with the tasks, by one more step of each EM iteration:

.. math:: \mu_g = \frac{\sum_j \mathrm{E}[\theta_j]}{n_g + \sigma_g^2 / 25}, \qquad
          \log\sigma_g \;\text{where}\; \frac{\sum_j \mathrm{E}[(\theta_j - \mu_g)^2]}{\sigma_g^2} - n_g
          = \frac{\log\sigma_g}{0.3^2}

Priors are :math:`\mu_g \sim N(0, 5^2)` and :math:`\log\sigma_g \sim N(0, 0.3^2)`; maximum likelihood has
none. Their errors are those of the joint information of tasks and populations, so that they are counted in
the errors of tasks and abilities.

References: Bock & Zimowski (1997), multiple-group IRT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.items import Floats

if TYPE_CHECKING:
    from examiner.irt.posterior import Quadrature


def population_weights(rule: Quadrature, mean: float, sd: float) -> Floats:
    """Return the logarithm of the mass of N(mean, sd²) that each node of a rule for N(0, 1) stands for."""
    away = (rule.nodes - mean) / sd
    return np.asarray(rule.log_weights + 0.5 * (rule.nodes**2 - away**2) - np.log(sd))


def population_scores(mean: float, sd: float, nodes: Floats) -> Floats:
    r"""Return the derivatives of a population's log density by its mean and log deviation, [2, nodes].

    .. math:: (\theta - \mu) / \sigma^2, \qquad (\theta - \mu)^2 / \sigma^2 - 1
    """
    away = (nodes - mean) / sd
    return np.stack([away / sd, away**2 - 1])


def complete_information(
    mean: float, sd: float, ability: Floats, variance: Floats, *, weak_priors: bool = True
) -> Floats:
    """Return E[−H] of mean and log deviation, log-priors included, from posterior moments, [2, 2]."""
    away = (ability - mean) / sd
    both, square = 2 * away.sum() / sd, 2 * (variance / sd**2 + away**2).sum()
    information = np.array([[len(ability) / sd**2, both], [both, square]])
    return information + np.diag(_tightness(weak_priors))


def population_step(
    log_sd: float, ability: Floats, variance: Floats, *, weak_priors: bool = True
) -> tuple[float, float]:
    """Return the mean and log deviation after an M-step, from posterior means and variances [agents]."""
    mean_tightness, tightness = _tightness(weak_priors)
    agents, squared = len(ability), float(np.exp(2 * log_sd))
    mean = float(ability.sum() / (agents + squared * mean_tightness))
    square = float((variance + (ability - mean) ** 2).sum()) / squared
    # the highest point over log σ: S / σ² − n − tightness · log σ = 0, by one step of Newton's
    step = (square - agents - tightness * log_sd) / (2 * square + tightness)
    return mean, log_sd + float(np.clip(step, -0.5, 0.5))


def _tightness(weak_priors: bool) -> tuple[float, float]:
    """The precisions of the priors of means and of log deviations."""
    return (5.0**-2, 0.3**-2) if weak_priors else (0.0, 0.0)


class Population(NamedTuple):
    """Mean and standard deviation of abilities where the fit has N(0, 1), and the error of the mean."""

    mean: float = 0.0
    sd: float = 1.0
    mean_error: float = 0.0
    edition: int = 0
    """0 that of the reference; later editions have higher numbers."""

    @classmethod
    def of(cls, numbers: Floats) -> Population:
        """Return the population that was stored as numbers."""
        mean, sd, mean_error, edition = numbers.tolist()
        return cls(mean, sd, mean_error, int(edition))

    def rule(self, rule: Quadrature) -> Quadrature:
        """Return the same nodes with the weights of this population."""
        return replace(rule, log_weights=self.log_weights(rule))

    def log_weights(self, rule: Quadrature) -> Floats:
        """Return the logarithm of the mass that each node of a rule for N(0, 1) stands for."""
        return population_weights(rule, self.mean, self.sd)

    def moves(self, centred: Floats, nodes: Floats, count: int) -> Floats:
        """Return how abilities move with the numbers that were estimated of populations, [agents, count].

        `centred` are posterior weights [agents, nodes] times abilities less their mean.
        """
        by = np.zeros((count, len(nodes)))
        if 0 < self.edition <= count // 2:
            by[2 * self.edition - 2 : 2 * self.edition] = self.scores(nodes)
        return np.asarray(centred @ by.T)

    def scores(self, nodes: Floats) -> Floats:
        """Return the derivatives of the log density by mean and log deviation, [2, nodes]."""
        return population_scores(self.mean, self.sd, nodes)


SAME = Population()
"""The population of a fit."""


class Pull(NamedTuple):
    """First and second derivative of the log-priors as all populations are shifted, or stretched."""

    shift: float
    shift_bend: float
    stretch: float
    stretch_bend: float


@dataclass(frozen=True, slots=True, eq=False)
class Editions:
    """The edition of each agent, `codes` [agents], 0 that of the reference.

    `takers` [tasks, editions] are shares of the agents that took a task. The prior of its difficulty is
    centred at their mean ability c (from a first rough fit): the prior of its intercept d is that of
    d + a c.

    Populations are one vector [2 (editions − 1)]: mean and log deviation of each edition but the first.

    >>> editions = Editions(("2024", "2025"), np.array([0, 0, 1, 1]), np.full((3, 2), 0.5))
    >>> editions.start, editions.moments(np.array([1.0, 0.0]))
    (array([0., 0.]), array([[0., 1.],
           [1., 1.]]))
    """

    names: tuple[str, ...]
    codes: NDArray[np.intp]
    takers: Floats
    weak_priors: bool = True

    def centres(self, populations: Floats) -> Floats:
        """Return the mean ability expected of the agents that took each task, [tasks]."""
        return np.asarray(self.takers @ self.moments(populations)[:, 0])

    @property
    def count(self) -> int:
        """How many numbers are estimated of populations."""
        return 2 * (len(self.names) - 1)

    @property
    def start(self) -> Floats:
        """All populations as that of the reference."""
        return np.zeros(self.count)

    def numbers(self, populations: Floats, errors: Floats) -> Floats:
        """Return the `Population` of every edition as numbers, with errors of the same shape."""
        mean_errors = np.append(0.0, errors[::2])
        every = [
            self.moments(populations),
            mean_errors[:, None],
            np.arange(len(self.names))[:, None],
        ]
        return np.concatenate(every, axis=1)

    @property
    def reference(self) -> NDArray[np.bool_]:
        """Which agents are of the first edition."""
        return np.asarray(self.codes == 0)

    def bounds(self) -> Floats:
        """Return the lowest and highest value of each number, [numbers, 2]."""
        return np.tile([[-20.0, 20.0], [-3.0, 3.0]], (len(self.names) - 1, 1))

    def moments(self, populations: Floats) -> Floats:
        """Return mean and deviation of every edition, [editions, 2]."""
        moments = np.concatenate([np.zeros(2), populations]).reshape(-1, 2)
        moments[:, 1] = np.exp(moments[:, 1])
        return moments

    def rule(self, rule: Quadrature, populations: Floats) -> Quadrature:
        """Return the same nodes with a row of weights for each edition."""
        rows = [population_weights(rule, mean, sd) for mean, sd in self.moments(populations)]
        return replace(rule, log_weights=np.stack(rows))

    def reach(self, populations: Floats, sds: float) -> tuple[float, float]:
        """Return the abilities between which all populations are, to some deviations on each side."""
        mean, sd = self.moments(populations).T
        return float((mean - sds * sd).min()), float((mean + sds * sd).max())

    def raised(self, populations: Floats, ability: Floats, variance: Floats) -> Floats:
        """Return populations after an M-step from the posterior moments of all agents."""
        raised = populations.reshape(-1, 2).copy()
        for row in range(len(raised)):
            members = self.codes == row + 1
            raised[row] = population_step(
                raised[row, 1], ability[members], variance[members], weak_priors=self.weak_priors
            )
        return raised.ravel()

    def rescaled(self, populations: Floats, mean: float, sd: float) -> Floats:
        """Return the same populations for abilities shifted and stretched to N(0, 1) of the reference."""
        moved = populations.reshape(-1, 2) - [mean, np.log(abs(sd))]
        moved[:, 0] /= sd
        return np.asarray(moved.ravel())

    def log_prior(self, populations: Floats) -> float:
        """Return the log-priors without their constants."""
        return -0.5 * float(self.tightness @ populations**2)

    @property
    def tightness(self) -> Floats:
        """The curvature of the log-prior of each number."""
        return np.tile(_tightness(self.weak_priors), len(self.names) - 1)

    def pull(self, populations: Floats) -> Pull:
        """Return derivatives of the log-priors by the zero and the logarithm of the unit of the scale."""
        mean, log_sd = populations.reshape(-1, 2).T
        by_mean, by_log_sd = _tightness(self.weak_priors)
        squares = by_mean * float(mean @ mean)
        return Pull(
            by_mean * float(mean.sum()),
            by_mean * len(mean),
            squares + by_log_sd * float(log_sd.sum()),
            2 * squares + by_log_sd * len(mean),
        )

    def information(self, populations: Floats, ability: Floats, variance: Floats) -> Floats:
        """Return E[−H] of all numbers, log-priors included, from posterior moments of agents."""
        information = np.zeros((self.count, self.count))
        for row, (mean, sd) in enumerate(self.moments(populations)[1:]):
            members, place = self.codes == row + 1, slice(2 * row, 2 * row + 2)
            information[place, place] = complete_information(
                mean, sd, ability[members], variance[members], weak_priors=self.weak_priors
            )
        return information

    def scores(self, populations: Floats, nodes: Floats) -> Floats:
        """Return ∂ log N(θ; μ, σ²) by μ and log σ of each edition at nodes, [numbers, nodes]."""
        every = [population_scores(mean, sd, nodes) for mean, sd in self.moments(populations)[1:]]
        return np.concatenate(every)
