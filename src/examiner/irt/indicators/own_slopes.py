r"""Generality with an interval: each agent's own slope, and how uneven it is around its own curve.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j a_i (\theta_j - b_i)), \quad
          \theta_j \sim N(0, 1), \quad \log \gamma_j \sim N(0, \tau^2)

A general agent (γ above 1) succeeds up to its ability and fails beyond; one with a flat curve (γ below 1)
fails easy tasks and solves hard ones. Unevenness is something else: the misfit of an agent around its own
curve, which is large for a specialist that is strong on some tasks and weak on others of equal difficulty.

Tasks are estimated by EM: given an agent's normal posterior of (θ, log γ), each task is a logistic
regression of its results on γθ and γ. τ is integrated out, so that intervals do not collapse where all
agents are equally general; the errors of tasks are added from draws of their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, bound, error, flag, name, number, words
from examiner.irt.evidence import LEVEL
from examiner.irt.items import Floats, sigmoid_pair
from examiner.messages import InputError, counted, listed
from examiner.results import ResponseMatrix, check_results
from examiner.scores import Recipe, holm
from examiner.validation import Randomness, generator

_DEVIATIONS = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.2])
"""Values of τ, which has a half-normal prior with deviation 0.6."""
_ROUNDS, _STEPS, _DRAWS = 80, 4, 20
_CLOSE = 1e-3
_FEWEST_AGENTS, _FEWEST_TASKS = 4, 8


class AgentGenerality(Table):
    """Generality and unevenness of agents, the most general first."""

    agent: tuple[str, ...] = name("Agent")
    log_generality: Floats = number(
        "Logarithm of the slope of the agent's curve, compared with the average agent"
    )
    log_generality_error: Floats = error("log_generality")
    log_generality_low: Floats = bound("log_generality", "low")
    log_generality_high: Floats = bound("log_generality", "high")
    unevenness: Floats = number("Misfit around the agent's own curve; 1 for the middle agent")
    unevenness_p: Floats = number("p-value of the unevenness, adjusted for all agents (Holm)")
    uneven: NDArray[np.bool_] = flag("Whether the agent is significantly uneven: a specialist")
    significance: tuple[tuple[str, ...], ...] = words(
        "Whether the generality is significantly above or below the average (5 %, Holm)"
    )
    ability: Floats = number("Ability where each agent has its own slope", unit="logits")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GeneralityEstimates(Answer):
    """Generality of agents with intervals, who is significantly more or less general, and who is uneven.

    `mean` and `covariance` are of (ability, log generality), [agents, 2] and [agents, 2, 2], in the order
    of `names`; `difficulty` [tasks] is on the scale of these abilities. `deviation` is τ, by how much log
    generality varies between agents.
    """

    kind: ClassVar[str] = "generality"

    agents: AgentGenerality
    names: tuple[str, ...]
    mean: Floats
    covariance: Floats
    difficulty: Floats
    deviation: float
    overdispersion: float
    notes: tuple[str, ...] = ()
    seed: int | None = None

    @property
    def headline(self) -> str:
        """Whether agents differ in generality, and who is uneven."""
        general = [row.agent for row in self.agents if "above average" in row.significance]
        narrow = [row.agent for row in self.agents if "below average" in row.significance]
        uneven = [row.agent for row in self.agents if row.uneven]
        parts = [
            f"{listed(names)} {'is' if len(names) == 1 else 'are'} significantly {word}"
            for names, word in (
                (general, "more general than the average agent"),
                (narrow, "less general than the average agent"),
                (uneven, "uneven"),
            )
            if names
        ]
        if not parts:
            return (
                f"No agent of {len(self.names):,} is significantly more or less general than the "
                f"average, and none is uneven."
            )
        return f"{'; '.join(parts)}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """How much agents differ in generality, and how much cells vary beyond chance."""
        meaning = "Standard deviation of log generality between agents"
        return {
            "deviation": Scalar(self.deviation, meaning),
            "overdispersion": Scalar(self.overdispersion, "Variance of cells relative to chance"),
        }

    @property
    def settings(self) -> Mapping[str, Any]:  # Any: JSON values
        """The seed of the draws of task parameters."""
        return {"seed": self.seed}

    def probability_more_general(self, first: str, second: str) -> float:
        """Return the probability that one agent is more general than another.

        One minus this is the one-sided p-value of "more general than".

        >>> from examiner.irt import ItemParameters, generality, simulate
        >>> items = ItemParameters.of([f"t{n}" for n in range(30)], np.ones(30), np.linspace(-2, 2, 30))
        >>> estimates = generality(simulate(items, np.linspace(-2, 2, 8), trials=9, rng=0))
        >>> first, last = estimates.names[0], estimates.names[-1]
        >>> 0 < estimates.probability_more_general(first, last) < 1
        True
        """
        from scipy.special import ndtr

        one, other = self._place(first), self._place(second)
        variance = self.covariance[one, 1, 1] + self.covariance[other, 1, 1]
        return float(ndtr((self.mean[one, 1] - self.mean[other, 1]) / np.sqrt(variance)))

    def probability_dominates(
        self, first: str, second: str, *, draws: int = 4000, rng: Randomness = 0
    ) -> float:
        """Return the probability that one agent has the higher chance of success on every task.

        Logits are linear in difficulty: it is higher on all tasks where it is on the easiest and hardest.

        >>> from examiner.irt import ItemParameters, generality, simulate
        >>> items = ItemParameters.of([f"t{n}" for n in range(30)], np.ones(30), np.linspace(-2, 2, 30))
        >>> estimates = generality(simulate(items, np.linspace(-2, 2, 8), trials=9, rng=0))
        >>> estimates.probability_dominates(estimates.names[-1], estimates.names[0]) > 0.9
        True
        """
        drawing = generator(rng)
        ends = np.array([self.difficulty.min(), self.difficulty.max()])
        heights = []
        for agent in (self._place(first), self._place(second)):
            drawn = drawing.multivariate_normal(self.mean[agent], self.covariance[agent], draws)
            heights.append(np.exp(drawn[:, 1:]) * (drawn[:, :1] - ends))
        return float((heights[0] > heights[1]).all(axis=1).mean())

    def _place(self, agent: str) -> int:
        if agent not in self.names:
            raise InputError(f"There is no agent {agent!r}. Agents are {listed(self.names)}.")
        return self.names.index(agent)


def generality(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    *,
    recipe: Recipe | None = None,
    rng: Randomness = 0,
) -> GeneralityEstimates:
    r"""Estimate each agent's own slope γ with an interval, and its unevenness around its own curve.

    Results are successes of trials, or scores between 0 and 1, which count as one trial with the variance
    they have. Log γ is relative to the average agent, and does not depend on ability by construction, where
    papers/002's equation 3 grows with the distance of ability from the tasks. Unevenness is

    .. math:: \frac1{n_j} \sum_i \frac{(k_{ji} - n_{ji} P_{ji})^2}{n_{ji} P_{ji} (1 - P_{ji})}

    relative to the middle agent's; its p-value is by a χ² with the variance that this sum has by chance.
    Chances of guessing are not modelled: they flatten the curves of weak agents.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"t{n}" for n in range(40)], np.full(40, 1.5), np.linspace(-2, 2, 40))
    >>> estimates = generality(simulate(items, 12, trials=5, rng=1))
    >>> bool(estimates.agents.uneven.any()), estimates.agents.log_generality.shape
    (False, (12,))
    """
    matrix = _responses(results, recipe)
    share = np.nan_to_num(matrix.to_numpy())
    trials = (matrix.trials if matrix.is_counts else matrix.observed).astype(np.float64)
    won = share * trials
    total = won.sum(axis=0)
    varies = (total > 0) & (total < trials.sum(axis=0))
    present = (trials[:, varies] > 0).any(axis=1)
    if present.sum() < _FEWEST_AGENTS or varies.sum() < _FEWEST_TASKS:
        raise InputError(
            f"{counted(int(present.sum()), 'agent')} on {counted(int(varies.sum()), 'task')} with "
            f"different results are too few for generality. Have at least {_FEWEST_AGENTS} agents and "
            f"{_FEWEST_TASKS} tasks."
        )
    cells = _SlopeCells(won[np.ix_(present, varies)], trials[np.ix_(present, varies)])
    # successes vary at least as much as coins do, and single ones exactly so; scores vary less
    least = (1.0 if float(cells.trials.max()) > 1 else None) if matrix.is_counts else 1e-3
    tasks, agents, excess = _fitted(cells, least)
    cells = cells.scaled(excess)
    agents = _with_task_errors(cells, tasks, agents, generator(rng))
    names = tuple(np.array(matrix.agents, dtype=object)[present].tolist())
    unevenness, p_value = _unevenness(cells, tasks, agents.mean)
    return GeneralityEstimates(
        _table(names, agents, unevenness, holm(p_value)),
        names,
        agents.mean,
        agents.covariance,
        -tasks.intercept / tasks.slope,
        agents.deviation,
        excess,
        (),
        rng if isinstance(rng, int) else None,
    )


def _responses(results: Any, recipe: Recipe | None) -> ResponseMatrix:
    if isinstance(results, ResponseMatrix):
        matrix = results
    else:
        results = check_results(results)
        matrix = (Recipe() if recipe is None else recipe).learn(results).responses(results)
    if not matrix.is_counts:
        values = matrix.to_numpy()[matrix.observed]
        if values.min() < 0 or values.max() > 1:
            raise InputError(
                f"Scores are between {values.min():g} and {values.max():g}. Generality needs successes, or "
                f"scores between 0 and 1: normalise them, or say what a success is."
            )
    return matrix


class _SlopeCells(NamedTuple):
    """Successes and trials, [agents, tasks]."""

    won: Floats
    trials: Floats

    def scaled(self, excess: float) -> _SlopeCells:
        """Return as many trials as those with a variance of `excess` times the binomial count for."""
        return _SlopeCells(self.won / excess, self.trials / excess)


class _Tasks(NamedTuple):
    """Slope a and intercept d = −ab, [tasks], and the information about both, [tasks, 2, 2]."""

    slope: Floats
    intercept: Floats
    information: Floats


class _Agents(NamedTuple):
    """Normal posteriors of (θ, log γ), and the mean of τ."""

    mean: Floats
    covariance: Floats
    deviation: float


def _logits(tasks: _Tasks, mean: Floats) -> Floats:
    return np.exp(mean[:, 1:]) * (mean[:, :1] * tasks.slope + tasks.intercept)


def _fitted(cells: _SlopeCells, least: float | None) -> tuple[_Tasks, _Agents, float]:
    """Tasks, agents, and the variance of cells relative to the binomial, at least `least`, or 1 if None."""
    share = (cells.won.sum(axis=0) + 0.5) / (cells.trials.sum(axis=0) + 1.0)
    intercept = np.log(share / (1.0 - share))
    tasks = _Tasks(np.ones_like(share), intercept, np.zeros((len(share), 2, 2)))
    agents = _Agents(
        np.zeros((len(cells.won), 2)), np.tile(np.diag([1.0, 0.1]), (len(cells.won), 1, 1)), 0.3
    )
    excess = 1.0
    for _ in range(_ROUNDS):
        agents = _placed(cells.scaled(excess), tasks, agents)
        tasks, agents = _centred(tasks, agents)
        before, tasks = tasks, _calibrated(cells.scaled(excess), tasks, agents)
        if least is not None:
            excess = max(least, float(np.median(_misfit(cells, tasks, agents.mean)[0])))
        moved = max(
            np.abs(tasks.slope - before.slope).max(),
            np.abs(tasks.intercept - before.intercept).max(),
        )
        if moved < _CLOSE:
            break
    return tasks, agents, excess


def _placed(cells: _SlopeCells, tasks: _Tasks, start: _Agents) -> _Agents:
    """Posteriors of agents given the tasks: Fisher scoring with log γ ~ N(0, 1), then τ integrated out."""
    mean = start.mean.copy()
    for _ in range(_STEPS):
        eta = _logits(tasks, mean)
        success, failure = sigmoid_pair(eta)
        weight, off = cells.trials * success * failure, cells.won - cells.trials * success
        by_ability = np.exp(mean[:, 1:]) * tasks.slope
        gradient = (
            np.stack([(off * by_ability).sum(axis=1), (off * eta).sum(axis=1)], axis=1) - mean
        )
        mixed = (weight * by_ability * eta).sum(axis=1)
        information = np.empty((len(mean), 2, 2))
        information[:, 0, 0] = (weight * by_ability**2).sum(axis=1) + 1.0
        information[:, 0, 1] = information[:, 1, 0] = mixed
        information[:, 1, 1] = (weight * eta**2).sum(axis=1) + 1.0
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        mean += np.clip(step, -0.7, 0.7)
    return _shrunk(mean, information)


def _shrunk(mean: Floats, information: Floats) -> _Agents:
    """Replace the prior N(0, 1) of log γ by N(0, τ²), with τ from all agents and integrated out."""
    from scipy.special import logsumexp

    # what the responses alone say of log γ, with ability integrated out: N(at, 1 / told)
    profile = information[:, 1, 1] - information[:, 0, 1] ** 2 / information[:, 0, 0]
    told = np.maximum(profile - 1.0, 1e-6)
    at = mean[:, 1] * profile / told
    taus = _DEVIATIONS[:, None]
    spread = 1.0 / told + taus**2
    height = -0.5 * (np.log(spread) + at**2 / spread).sum(axis=1) - 0.5 * (_DEVIATIONS / 0.6) ** 2
    height += np.log(np.gradient(_DEVIATIONS))
    share = np.exp(height - logsumexp(height))
    precision = told + taus**-2
    centres = told * at / precision
    log_slope = share @ centres
    variance = share @ (1.0 / precision + centres**2) - log_slope**2
    lean = information[:, 0, 1] / information[:, 0, 0]  # how ability moves with log γ
    covariance = np.empty_like(information)
    covariance[:, 1, 1] = variance
    covariance[:, 0, 1] = covariance[:, 1, 0] = -lean * variance
    covariance[:, 0, 0] = 1.0 / information[:, 0, 0] + lean**2 * variance
    ability = mean[:, 0] - lean * (log_slope - mean[:, 1])
    return _Agents(np.stack([ability, log_slope], axis=1), covariance, float(share @ _DEVIATIONS))


def _centred(tasks: _Tasks, agents: _Agents) -> tuple[_Tasks, _Agents]:
    """Give abilities mean 0 and deviation 1, and log γ mean 0, with the same curves.

    Plain EM drifts slowly along these three directions.
    """
    place, log_scale = agents.mean.mean(axis=0)
    size = np.sqrt(((agents.mean[:, 0] - place) ** 2 + agents.covariance[:, 0, 0]).mean())
    mean = np.stack([(agents.mean[:, 0] - place) / size, agents.mean[:, 1] - log_scale], axis=1)
    covariance = agents.covariance / np.array([[size**2, size], [size, 1.0]])
    factor = np.exp(log_scale)
    slope, intercept = factor * tasks.slope * size, factor * (tasks.intercept + tasks.slope * place)
    return _Tasks(slope, intercept, tasks.information), _Agents(mean, covariance, agents.deviation)


def _calibrated(cells: _SlopeCells, tasks: _Tasks, agents: _Agents) -> _Tasks:
    """Tasks given the posteriors of agents: Newton steps of regressions on γθ and γ, with weak priors."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    root = np.linalg.cholesky(agents.covariance)
    at = agents.mean[:, None] + np.einsum("jkl,ql->jqk", root, grid)
    by_intercept = np.exp(at[..., 1])
    by_slope = by_intercept * at[..., 0]
    slope, intercept = tasks.slope, tasks.intercept
    middle, level = slope.mean(), intercept.mean()
    pull = np.array([1.0 / (0.5 * middle) ** 2, 1.0 / (2.0 * middle) ** 2])
    for _ in range(2):
        gradient, bent = np.zeros((len(slope), 2)), np.zeros((len(slope), 2, 2))
        for node, share in enumerate(mass):
            u, v = by_slope[:, node, None], by_intercept[:, node, None]
            success, failure = sigmoid_pair(u * slope + v * intercept)
            off = share * (cells.won - cells.trials * success)
            weight = share * cells.trials * success * failure
            gradient += np.stack([(u * off).sum(axis=0), (v * off).sum(axis=0)], axis=1)
            bent[:, 0, 0] += (u * u * weight).sum(axis=0)
            bent[:, 1, 1] += (v * v * weight).sum(axis=0)
            bent[:, 0, 1] += (u * v * weight).sum(axis=0)
        bent[:, 1, 0] = bent[:, 0, 1]
        bent += np.diag(pull)
        gradient -= pull * np.stack([slope - middle, intercept - level], axis=1)
        step = np.clip(np.linalg.solve(bent, gradient[:, :, None])[:, :, 0], -1.0, 1.0)
        slope, intercept = slope + step[:, 0], intercept + step[:, 1]
    return _Tasks(slope, intercept, bent)


def _with_task_errors(
    cells: _SlopeCells, tasks: _Tasks, agents: _Agents, rng: np.random.Generator
) -> _Agents:
    """Add what the errors of tasks do to the posterior means, from draws of task parameters."""
    root = np.linalg.cholesky(np.linalg.inv(tasks.information))
    drawn = []
    for _ in range(_DRAWS):
        moved = np.einsum("tkl,tl->tk", root, rng.standard_normal((len(tasks.slope), 2)))
        other = _Tasks(tasks.slope + moved[:, 0], tasks.intercept + moved[:, 1], tasks.information)
        _, placed = _centred(other, _placed(cells, other, agents))
        drawn.append(placed.mean)
    off = np.array(drawn) - np.mean(drawn, axis=0)
    between = np.einsum("njk,njl->jkl", off, off) / (_DRAWS - 1)
    return agents._replace(covariance=agents.covariance + between)


def _misfit(cells: _SlopeCells, tasks: _Tasks, mean: Floats) -> tuple[Floats, Floats]:
    """The mean squared standardised residual of each agent, and its variance by chance, [agents].

    Cells weigh by their information npq over the variance of a squared residual, 2 + (1 − 6pq) / npq: so
    weighed, the mean is most sensitive to an ability that varies from task to task.
    """
    success, failure = (np.clip(part, 0.005, 0.995) for part in sigmoid_pair(_logits(tasks, mean)))
    spread = success * failure
    information = cells.trials * spread
    safe = np.where(cells.trials > 0, information, 1.0)
    square = (cells.won - cells.trials * success) ** 2 / safe
    by_chance = np.maximum(2.0 + (1.0 - 6.0 * spread) / safe, 1e-3)
    weight = information / by_chance
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
    # of the residuals' freedom, two parameters of the agent and two of each task are used up
    observed = (cells.trials > 0).sum(axis=1)
    used = 2 / np.maximum(observed, 1) + 2 * len(tasks.slope) / max(observed.sum(), 1)
    left = np.clip(1.0 - used, 0.1, 1.0)
    return (weight * square).sum(axis=1) / left, (weight**2 * by_chance).sum(axis=1) / left**2


def _unevenness(cells: _SlopeCells, tasks: _Tasks, mean: Floats) -> tuple[Floats, Floats]:
    """The misfit of each agent relative to the middle agent's, and its p-value."""
    from scipy.special import fdtrc

    misfit, variance = _misfit(cells, tasks, mean)
    relative = misfit / max(float(np.median(misfit)), 1e-9)
    freedom = 2.0 / np.maximum(variance, 1e-9)
    # the median of n agents varies as the mean of n / 1.57 does
    of_median = np.median(freedom) * len(misfit) / 1.57
    return relative, np.asarray(fdtrc(freedom, of_median, relative))


def _table(
    names: tuple[str, ...], agents: _Agents, unevenness: Floats, unevenness_p: Floats
) -> AgentGenerality:
    from scipy.special import ndtr

    log_slope, spread = agents.mean[:, 1], np.sqrt(agents.covariance[:, 1, 1])
    beyond = holm(np.asarray(2 * ndtr(-np.abs(log_slope) / spread))) < LEVEL
    table = AgentGenerality(
        agent=names,
        log_generality=log_slope,
        log_generality_error=spread,
        log_generality_low=log_slope - 1.96 * spread,
        log_generality_high=log_slope + 1.96 * spread,
        unevenness=unevenness,
        unevenness_p=unevenness_p,
        uneven=unevenness_p < LEVEL,
        significance=[
            (("above" if value > 0 else "below") + " average",) if shown else ()
            for value, shown in zip(log_slope, beyond, strict=True)
        ],
        ability=agents.mean[:, 0],
    )
    return table.sorted_by("log_generality", descending=True)
