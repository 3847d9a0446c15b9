r"""The model of agents with slopes of their own: EM over tasks, posteriors of (θ, log γ), and errors.

.. math:: P_{ji} = \operatorname{logistic}(\gamma_j (a_i \theta_j + d_i)), \quad
          \theta_j \sim N(0, 1), \quad \log \gamma_j \sim N(0, \tau^2)

Tasks are estimated by EM: given an agent's normal posterior of (θ, log γ), each task is a logistic
regression of its results on γθ and γ. Where difficulty is given, a is common to all tasks and d scatters
around a line in the difficulty. τ is integrated out, so that intervals do
not collapse where all agents are equally general; the errors of tasks are added from draws of their
parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.irt.items import Floats, sigmoid_pair
from examiner.irt.share_cells import ShareCells

_DEVIATIONS = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.2])
"""Values of τ, which has a half-normal prior with deviation 0.6."""


class SlopeTasks(NamedTuple):
    """Slope a and intercept d = −ab, [tasks], and the information about both, [tasks, 2, 2].

    Where difficulty is given, all slopes are equal, and intercepts scatter around a line in it with the
    deviation `residual`.
    """

    slope: Floats
    intercept: Floats
    information: Floats
    residual: float = 1.0
    line: Floats | None = None


class SlopeAgents(NamedTuple):
    """Normal posteriors of (θ, log γ), and the mean of τ."""

    mean: Floats
    covariance: Floats
    deviation: float


def logits(tasks: SlopeTasks, mean: Floats) -> Floats:
    """Return logits of success of agents with these (θ, log γ), [agents, tasks]."""
    return np.exp(mean[:, 1:]) * (mean[:, :1] * tasks.slope + tasks.intercept)


def place_on_slopes(cells: ShareCells, tasks: SlopeTasks, start: SlopeAgents) -> SlopeAgents:
    """Return posteriors of agents given the tasks.

    By Fisher scoring with log γ ~ N(0, 1); then τ is integrated out.
    """
    mean = start.mean.copy()
    for _ in range(4):
        eta = logits(tasks, mean)
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


def _shrunk(mean: Floats, information: Floats) -> SlopeAgents:
    """Replace the prior N(0, 1) of log γ by N(0, τ²), with τ from all agents and integrated out."""
    from scipy.special import logsumexp

    # the likelihood of log γ with ability integrated out: N(at, 1 / likelihood)
    profile = information[:, 1, 1] - information[:, 0, 1] ** 2 / information[:, 0, 0]
    likelihood = np.maximum(profile - 1.0, 1e-6)
    at = mean[:, 1] * profile / likelihood
    taus = _DEVIATIONS[:, None]
    spread = 1.0 / likelihood + taus**2
    height = -0.5 * (np.log(spread) + at**2 / spread).sum(axis=1) - 0.5 * (_DEVIATIONS / 0.6) ** 2
    height += np.log(np.gradient(_DEVIATIONS))
    share = np.exp(height - logsumexp(height))
    precision = likelihood + taus**-2
    centres = likelihood * at / precision
    log_slope = share @ centres
    variance = share @ (1.0 / precision + centres**2) - log_slope**2
    ratio = information[:, 0, 1] / information[:, 0, 0]  # change of ability with log γ
    covariance = np.empty_like(information)
    covariance[:, 1, 1] = variance
    covariance[:, 0, 1] = covariance[:, 1, 0] = -ratio * variance
    covariance[:, 0, 0] = 1.0 / information[:, 0, 0] + ratio**2 * variance
    ability = mean[:, 0] - ratio * (log_slope - mean[:, 1])
    return SlopeAgents(
        np.stack([ability, log_slope], axis=1), covariance, float(share @ _DEVIATIONS)
    )


def centre(tasks: SlopeTasks, agents: SlopeAgents) -> tuple[SlopeTasks, SlopeAgents]:
    """Return the same curves with abilities of mean 0 and deviation 1, and log γ of mean 0.

    EM converges slowly along these three directions.
    """
    place, log_scale = agents.mean.mean(axis=0)
    size = np.sqrt(((agents.mean[:, 0] - place) ** 2 + agents.covariance[:, 0, 0]).mean())
    mean = np.stack([(agents.mean[:, 0] - place) / size, agents.mean[:, 1] - log_scale], axis=1)
    covariance = agents.covariance / np.array([[size**2, size], [size, 1.0]])
    factor = np.exp(log_scale)

    def moved(heights: Floats) -> Floats:
        return np.asarray(factor * (heights + tasks.slope * place))

    return tasks._replace(
        slope=factor * tasks.slope * size,
        intercept=moved(tasks.intercept),
        line=None if tasks.line is None else moved(tasks.line),
    ), SlopeAgents(mean, covariance, agents.deviation)


def fit_slopes(
    cells: ShareCells, difficulty: Floats | None = None
) -> tuple[SlopeTasks, SlopeAgents, float]:
    """Return tasks, agents, and the variance of cells relative to the binomial.

    With a given difficulty [tasks], standardised, tasks have one slope and intercepts around a line in it.
    """
    share = (cells.won.sum(axis=0) + 0.5) / (cells.trials.sum(axis=0) + 1.0)
    intercept = np.log(share / (1.0 - share))
    tasks = SlopeTasks(np.ones_like(share), intercept, np.zeros((len(share), 2, 2)))
    if difficulty is not None:
        line = np.polyval(np.polyfit(difficulty, intercept, 1), difficulty)
        tasks = tasks._replace(line=np.asarray(line))
    agents = SlopeAgents(
        np.zeros((len(cells.won), 2)), np.tile(np.diag([1.0, 0.1]), (len(cells.won), 1, 1)), 0.3
    )
    excess = 1.0
    for _ in range(80):
        agents = place_on_slopes(cells.scaled(excess), tasks, agents)
        tasks, agents = centre(tasks, agents)
        before = tasks
        tasks = (
            _calibrated(cells.scaled(excess), tasks, agents)
            if difficulty is None
            else _calibrated_on_line(cells.scaled(excess), tasks, agents, difficulty)
        )
        if cells.least is not None:
            excess = max(cells.least, float(np.median(misfit(cells, tasks, agents.mean)[0])))
        moved = max(
            np.abs(tasks.slope - before.slope).max(),
            np.abs(tasks.intercept - before.intercept).max(),
        )
        if moved < 1e-3:
            break
    return tasks, agents, excess


def _task_sums(cells: ShareCells, tasks: SlopeTasks, agents: SlopeAgents) -> tuple[Floats, Floats]:
    """Gradient [tasks, 2] and information [tasks, 2, 2] of slopes and intercepts, given the agents.

    They are those of regressions of results on γθ and γ, over nodes of the agents' posteriors.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    grid = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.outer(weights, weights).ravel() / weights.sum() ** 2
    root = np.linalg.cholesky(agents.covariance)
    at = agents.mean[:, None] + np.einsum("jkl,ql->jqk", root, grid)
    by_intercept = np.exp(at[..., 1])
    by_slope = by_intercept * at[..., 0]
    gradient = np.zeros((len(tasks.slope), 2))
    information = np.zeros((len(tasks.slope), 2, 2))
    for node, share in enumerate(mass):
        u, v = by_slope[:, node, None], by_intercept[:, node, None]
        success, failure = sigmoid_pair(u * tasks.slope + v * tasks.intercept)
        off = share * (cells.won - cells.trials * success)
        weight = share * cells.trials * success * failure
        gradient += np.stack([(u * off).sum(axis=0), (v * off).sum(axis=0)], axis=1)
        information[:, 0, 0] += (u * u * weight).sum(axis=0)
        information[:, 1, 1] += (v * v * weight).sum(axis=0)
        information[:, 0, 1] += (u * v * weight).sum(axis=0)
    information[:, 1, 0] = information[:, 0, 1]
    return gradient, information


def _calibrated(cells: ShareCells, tasks: SlopeTasks, agents: SlopeAgents) -> SlopeTasks:
    """Tasks given the posteriors of agents: two Newton steps with weak priors."""
    middle, level = tasks.slope.mean(), tasks.intercept.mean()
    pull = np.array([1.0 / (0.5 * middle) ** 2, 1.0 / (2.0 * middle) ** 2])
    for _ in range(2):
        gradient, information = _task_sums(cells, tasks, agents)
        information = information + np.diag(pull)
        off = np.stack([tasks.slope - middle, tasks.intercept - level], axis=1)
        gradient = gradient - pull * off
        step = np.clip(np.linalg.solve(information, gradient[:, :, None])[:, :, 0], -1.0, 1.0)
        tasks = SlopeTasks(tasks.slope + step[:, 0], tasks.intercept + step[:, 1], information)
    return tasks


def _calibrated_on_line(
    cells: ShareCells, tasks: SlopeTasks, agents: SlopeAgents, difficulty: Floats
) -> SlopeTasks:
    """Tasks of one slope, whose intercepts scatter around a line in the given difficulty."""
    pull, line = tasks.residual**-2, tasks.line
    assert line is not None, "difficulty is given"
    for _ in range(2):
        gradient, information = _task_sums(cells, tasks, agents)
        of_intercept = information[:, 1, 1] + pull
        ratio = information[:, 0, 1] / of_intercept
        by_intercept = gradient[:, 1] - pull * (tasks.intercept - line)
        of_slope = float((information[:, 0, 0] - ratio * information[:, 0, 1]).sum())
        steeper = float((gradient[:, 0] - ratio * by_intercept).sum()) / of_slope
        step = by_intercept / of_intercept - ratio * steeper
        slope = tasks.slope + np.clip(steeper, -0.5, 0.5)
        intercept = tasks.intercept + np.clip(step, -1.0, 1.0)
        information[:, 1, 1] = of_intercept
        tasks = tasks._replace(slope=slope, intercept=intercept, information=information)
    # the likelihood of intercepts without the line: N(alone, variance)
    variance = 1.0 / np.maximum(of_intercept - pull, 1e-6)
    alone = tasks.intercept + pull * variance * (tasks.intercept - line)
    residual, line = _likeliest_line(alone, variance, difficulty)
    return tasks._replace(residual=residual, line=line)


def _likeliest_line(alone: Floats, variance: Floats, difficulty: Floats) -> tuple[float, Floats]:
    """The most likely deviation around a line, and the line itself, given noisy intercepts."""
    design = np.stack([difficulty, np.ones_like(difficulty)], axis=1)
    best = (-np.inf, 0.0, alone)
    for residual in np.geomspace(0.05, 4.0, 30).tolist():
        weight = 1.0 / (variance + residual**2)
        information = design.T @ (weight[:, None] * design)
        line = design @ np.linalg.solve(information, design.T @ (weight * alone))
        squares = float((weight * (alone - line) ** 2).sum())
        height = np.log(weight).sum() - squares - np.linalg.slogdet(information)[1]
        best = max(best, (float(height), residual, line), key=lambda entry: entry[0])
    return best[1], best[2]


def with_task_errors(
    cells: ShareCells,
    tasks: SlopeTasks,
    agents: SlopeAgents,
    rng: np.random.Generator,
    draws: int = 20,
) -> SlopeAgents:
    """Return posteriors with the errors of tasks added, from draws of task parameters."""
    root = np.linalg.cholesky(np.linalg.inv(tasks.information))
    drawn = []
    for _ in range(draws):
        moved = np.einsum("tkl,tl->tk", root, rng.standard_normal((len(tasks.slope), 2)))
        other = tasks._replace(
            slope=tasks.slope + moved[:, 0], intercept=tasks.intercept + moved[:, 1]
        )
        drawn.append(centre(other, place_on_slopes(cells, other, agents))[1].mean)
    off = np.array(drawn) - np.mean(drawn, axis=0)
    between = np.einsum("njk,njl->jkl", off, off) / (draws - 1)
    return agents._replace(covariance=agents.covariance + between)


class LineDraws(NamedTuple):
    """Draws of the slope of the line [draws], of the difficulties that agents reach, and of log γ."""

    fall: Floats
    reached: Floats
    """[draws, agents], as is `log_slope`."""
    log_slope: Floats


def line_draws(
    cells: ShareCells,
    tasks: SlopeTasks,
    agents: SlopeAgents,
    difficulty: Floats,
    rng: np.random.Generator,
    draws: int = 200,
) -> LineDraws:
    """Draw tasks, their line and the agents by their errors.

    The error of the line includes the noise of responses and the sampling of tasks.
    """
    assert tasks.line is not None, "difficulty is given"
    design = np.stack([difficulty, np.ones_like(difficulty)], axis=1)
    of_intercept, pull = tasks.information[:, 1, 1], tasks.residual**-2
    alone = 1.0 / np.maximum(of_intercept - pull, 1e-6) + tasks.residual**2
    of_line = np.linalg.cholesky(np.linalg.inv(design.T @ (design / alone[:, None])))
    ratio = tasks.information[:, 0, 1] / of_intercept
    of_slope = (tasks.information[:, 0, 0] - ratio * tasks.information[:, 0, 1]).sum()
    falls, (reached, log_slopes) = np.empty(draws), np.empty((2, draws, len(cells.won)))
    for draw in range(draws):
        steeper = rng.standard_normal() / np.sqrt(of_slope)
        turned = design @ (of_line @ rng.standard_normal(2))
        moved = rng.standard_normal(len(ratio)) / np.sqrt(of_intercept) - ratio * steeper
        moved += pull / of_intercept * turned
        other = tasks._replace(slope=tasks.slope + steeper, intercept=tasks.intercept + moved)
        placed = place_on_slopes(cells, other, agents)
        root = np.linalg.cholesky(placed.covariance)
        drawn = placed.mean + np.einsum("jkl,jl->jk", root, rng.standard_normal((len(root), 2)))
        fall, level = np.polyfit(difficulty, tasks.line + turned, 1).tolist()
        common = drawn[:, 1].mean()  # the slope of the average agent of this draw
        falls[draw] = fall * np.exp(common)
        reached[draw] = -(level + other.slope[0] * drawn[:, 0]) / fall
        log_slopes[draw] = drawn[:, 1] - common
    return LineDraws(falls, reached, log_slopes)


def misfit(cells: ShareCells, tasks: SlopeTasks, mean: Floats) -> tuple[Floats, Floats]:
    """Return the mean squared standardised residual of each agent, and its variance by chance, [agents].

    Cells are weighted by their information npq over the variance of a squared residual,
    2 + (1 − 6pq) / npq, with which the mean is most sensitive to an ability that varies from task to task.
    """
    success, failure = (np.clip(part, 0.005, 0.995) for part in sigmoid_pair(logits(tasks, mean)))
    spread = success * failure
    information = cells.trials * spread
    safe = np.where(cells.trials > 0, information, 1.0)
    square = (cells.won - cells.trials * success) ** 2 / safe
    by_chance = np.maximum(2.0 + (1.0 - 6.0 * spread) / safe, 1e-3)
    weight = information / by_chance
    weight /= np.maximum(weight.sum(axis=1, keepdims=True), 1e-12)
    # of the degrees of freedom, two parameters of the agent and two of each task are used
    observed = (cells.trials > 0).sum(axis=1)
    used = 2 / np.maximum(observed, 1) + 2 * len(tasks.slope) / max(observed.sum(), 1)
    left = np.clip(1.0 - used, 0.1, 1.0)
    return (weight * square).sum(axis=1) / left, (weight**2 * by_chance).sum(axis=1) / left**2


def agent_unevenness(cells: ShareCells, tasks: SlopeTasks, mean: Floats) -> tuple[Floats, Floats]:
    """Return the misfit of each agent relative to the middle agent's, and its p-value."""
    from scipy.special import fdtrc

    size, variance = misfit(cells, tasks, mean)
    relative = size / max(float(np.median(size)), 1e-9)
    freedom = 2.0 / np.maximum(variance, 1e-9)
    # the median of n agents varies as the mean of n / 1.57 does
    of_median = np.median(freedom) * len(size) / 1.57
    return relative, np.asarray(fdtrc(freedom, of_median, relative))
