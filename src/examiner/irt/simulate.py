"""Responses of made-up agents to given tasks, for studies of what an exam can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from examiner.irt.estimation.kernels import AS_BINOMIAL
from examiner.irt.items import Floats, ItemParameters, sigmoid_pair
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix
from examiner.validation import Randomness, generator


def simulate(
    items: ItemParameters,
    abilities: int | ArrayLike,
    *,
    trials: int | ArrayLike = 1,
    interaction: float = 0.0,
    population_sd: float = 1.0,
    agents: tuple[str, ...] | None = None,
    rng: Randomness = 0,
) -> ResponseMatrix:
    r"""Draw responses of agents to tasks, by the response the parameters stand for.

    `abilities` are given, or are a number of agents with abilities drawn from N(0, population_sd²).
    `trials` is one number, one a task, or a table [agents, tasks] in which 0 leaves a cell out.
    Binomial: k of n with chance P(θ). Beta-binomial: the chance of a cell is itself drawn from
    Beta(Pν, (1 − P)ν). Beta: a score from Beta(Pφ, (1 − P)φ), or 0 or 1 by the cuts. Normal: the centre
    plus σ (aθ + d + noise).

    `interaction` adds to every cell's logit a draw from N(0, interaction²) that all trials of the
    cell share: an agent that happens to suit a task. It is what the beta-binomial stands in for.

    >>> items = ItemParameters.of(["easy", "hard"], slope=[1.0, 1.0], difficulty=[-2.0, 2.0])
    >>> matrix = simulate(items, 200, trials=5, rng=0)
    >>> matrix
    ResponseMatrix: 200 agents × 2 tasks, successes of 5 trials
    >>> easy, hard = matrix.to_numpy().mean(axis=0)
    >>> bool(hard < 0.2 < 0.8 < easy)
    True
    """
    drawing = generator(rng)
    theta = _abilities(abilities, population_sd, drawing)
    counts = _trials(trials, theta.size, len(items))
    if not (np.isfinite(interaction) and interaction >= 0):
        raise InputError(f"The interaction is {interaction}. Give a standard deviation, 0 or more.")
    logit = theta[:, None] * items.slope + items.intercept
    if interaction > 0:
        logit += interaction * drawing.standard_normal(logit.shape)
    if items.response == "normal":
        assert items.precision is not None and items.centre is not None
        scores = items.centre + (logit + drawing.standard_normal(logit.shape)) / np.sqrt(
            items.precision
        )
        return ResponseMatrix.from_array(np.where(counts > 0, scores, np.nan), agents, items.tasks)
    rising, _ = sigmoid_pair(logit)
    chance = np.clip(items.guessing + (items.ceiling - items.guessing) * rising, 0.0, 1.0)
    if items.precision is not None:
        chance = _beta(chance, items.precision, drawing)
    if items.response == "beta":
        chance = with_ends(items, logit, chance, drawing)
        return ResponseMatrix.from_array(np.where(counts > 0, chance, np.nan), agents, items.tasks)
    won = drawing.binomial(counts, chance)
    return ResponseMatrix.from_counts(won, counts, agents, items.tasks)


def with_ends(
    items: ItemParameters, eta: Floats, scores: Floats, rng: np.random.Generator
) -> Floats:
    """Return scores of which some are exactly 0 or 1, by η [agents, tasks] and the cuts."""
    assert items.cuts is not None
    chance = rng.random(eta.shape)
    zero, one = sigmoid_pair(items.cuts[:, 0] - eta)[0], sigmoid_pair(eta - items.cuts[:, 1])[0]
    return np.asarray(np.where(chance < zero, 0.0, np.where(chance > 1 - one, 1.0, scores)))


def _abilities(
    abilities: int | ArrayLike, population_sd: float, rng: np.random.Generator
) -> Floats:
    if isinstance(abilities, int):
        if abilities < 1:
            raise InputError(f"{abilities} agents are asked for. Give at least 1.")
        return population_sd * rng.standard_normal(abilities)
    given = np.asarray(abilities, dtype=np.float64)
    if given.ndim != 1 or not given.size or not np.isfinite(given).all():
        raise InputError(
            f"The abilities have shape {given.shape}. Give one finite number for each agent, or how "
            f"many agents to draw."
        )
    return given


def _trials(trials: int | ArrayLike, agents: int, tasks: int) -> NDArray[np.int64]:
    given = np.asarray(trials)
    if given.dtype.kind not in "iub" or (given.size and int(given.min()) < 0):
        raise InputError("The trials are not whole numbers from 0 on. Give counts of trials.")
    try:
        return np.broadcast_to(given.astype(np.int64), (agents, tasks))
    except ValueError:
        raise InputError(
            f"The trials have shape {given.shape}, which does not fit {counted(agents, 'agent')} × "
            f"{counted(tasks, 'task')}. Give one number, one a task, or a table."
        ) from None


def _beta(chance: Floats, precision: Floats, rng: np.random.Generator) -> Floats:
    """Draw Beta(Pφ, (1 − P)φ); the chance itself where the precision is (as good as) infinite."""
    overdispersed = np.isfinite(precision) & (precision < AS_BINOMIAL)
    phi = np.where(overdispersed, precision, 1.0)
    tiny = np.finfo(np.float64).tiny
    drawn = rng.beta(np.maximum(chance * phi, tiny), np.maximum((1.0 - chance) * phi, tiny))
    # Both shapes tiny can underflow to 0/0 inside the generator: then it is a coin.
    drawn = np.where(np.isnan(drawn), (rng.random(chance.shape) < chance).astype(float), drawn)
    return np.asarray(np.where(overdispersed, drawn, chance))
