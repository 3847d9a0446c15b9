"""A new agent on a stored fit, without fitting again: task parameters stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from examiner.irt.agent_posterior import AbilityEstimates, agent_posteriors
from examiner.irt.editions import Population
from examiner.irt.estimates import Z, interval
from examiner.irt.evidence import Evidence
from examiner.irt.fit_responses import by_recipe, check_kind, known_tasks, on_excluded_tasks
from examiner.irt.fitted import IRTFit
from examiner.irt.indicators.bins import bins as difficulty_bins
from examiner.irt.indicators.curves import empirical_agent_curves
from examiner.irt.indicators.generality import generality, regularities
from examiner.irt.items import SCORES, Floats, ItemParameters, positions
from examiner.irt.newcomers import with_newcomers
from examiner.irt.outcomes import Cells, landmark_reached
from examiner.irt.parameter_covariance import ParameterCovariance
from examiner.irt.placements import PlacedAgents, Placements, PredictedTasks, UnexpectedResults
from examiner.irt.populations import FEWEST, estimate_population, log_likelihoods
from examiner.irt.posterior import Quadrature, quadrature_for
from examiner.irt.prediction import (
    UNEXPECTED,
    PredictedTask,
    Unexpected,
    predicted_mean,
    predicted_results,
    rank_among,
    unexpected_results,
)
from examiner.messages import InputError, counted
from examiner.results import ResponseMatrix, check_undivided
from examiner.validation import check_known

FEW_TASKS = 5
WhosePopulation = Literal["fit", "newcomers"]


def place(
    results: Any,  # Any: results, all that `ex.read` takes, or a ResponseMatrix
    fit: IRTFit,
    *,
    bins: Sequence[float] | int | None = None,
    population: WhosePopulation = "fit",
    nodes: Quadrature | None = None,
) -> Placements:
    r"""Place agents on a fit by what they did on any of its tasks.

    `Results`, and all else that `ex.read` takes, become responses by the recipe of the fit (measure, items,
    reduction, normaliser, scales, success); a `ResponseMatrix` is used without change. Tasks that are not
    in the fit are ignored and named. Atari games are matched by any of their names.

    Abilities have the population of the fit as their prior, or that of its newest edition. Stronger
    newcomers are then pulled towards the fitted agents: `population="newcomers"` estimates the mean and the
    deviation of those that are placed together, from five agents on, and a note says so where they differ
    significantly.

    Ability, error and interval are those of `agent_posterior`: a fitted agent that is placed by the
    responses it was fitted to gets those of the fit.

    >>> from examiner.irt.ability import known as known_fit
    >>> items = ItemParameters.of(list("abcd"), np.full(4, 2.0), difficulty=[-2.0, -1.0, 1.0, 2.0])
    >>> new = ResponseMatrix.from_array([[1, 1, 0]], ["mine"], ["a", "b", "c"])
    >>> placements = place(new, known_fit(items))
    >>> round(placements["mine"].ability, 2), placements.predictions.task
    (0.04, ('d',))
    """
    if not isinstance(fit, IRTFit):
        raise InputError(
            f"A {type(fit).__name__} is given as the fit. "
            f"Give the new results first: `place(results, fit)`."
        )
    check_undivided(fit.groups, "no agent has a place among all of them")
    matrix, notes = by_recipe(fit, results)
    excluded = on_excluded_tasks(fit, matrix)
    matrix, items, more = known_tasks(fit, matrix)
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        more = (*more, no_rank(fit.evidence))
    check_kind(items, matrix)
    rows: list[dict[str, Any]] = []  # Any: numbers and words of columns
    predictions: list[dict[str, Any]] = []
    unexpected: list[dict[str, Any]] = []
    check_known("population", population, get_args(WhosePopulation))
    rule = quadrature_for(nodes, items, matrix, fit.population_sd)
    newcomers = _population(fit, matrix, items, rule)
    newest = fit.abilities.newest_population
    new = newcomers if population == "newcomers" else newest
    more = (*more, *_population_notes(newcomers, newest, population))
    for row, newcomer in enumerate(_newcomers(fit, matrix, items, rule, new)):
        agent, odd = {"agent": newcomer.agent}, newcomer.unexpected()
        unexpected += [agent | result._asdict() for result in odd]
        placed, predicted = _placed(fit, newcomer, bins, excluded[row], len(odd))
        rows.append(agent | placed)
        predictions += [agent | result._asdict() for result in predicted]
    return Placements(
        PlacedAgents.from_rows(rows),
        PredictedTasks.from_rows(predictions),
        UnexpectedResults.from_rows(unexpected),
        fit.model,
        len(fit.items),
        len(fit.abilities.agents),
        (*notes, *more),
    )


def no_rank(evidence: Evidence) -> str:
    """Say that ranks among agents that do not differ significantly are not reliable.

    >>> from examiner.irt.evidence import ChanceTest
    >>> no_rank(Evidence(ChanceTest(9.0, 11.0, 0.62, "")))
    'The fitted agents do not differ significantly (p = 0.62): a rank among them is chance.'
    """
    chance = evidence.abilities.p
    return f"The fitted agents do not differ significantly ({chance}): a rank among them is chance."


class _Newcomer(NamedTuple):
    """One agent's observed cells, the estimate of its ability, and the posterior that cells leave over it.

    `items` are the tasks it met, `nodes` abilities, and `weights` the posterior at them.
    """

    agent: str
    items: ItemParameters
    cells: Cells
    estimate: AbilityEstimates
    nodes: Floats
    log_prior: Floats
    weights: Floats

    def unexpected(self) -> tuple[Unexpected, ...]:
        """The results that the others make improbable."""
        return unexpected_results(self.items, self.cells, self.log_prior, self.nodes)


def _population(
    fit: IRTFit, matrix: ResponseMatrix, items: ItemParameters, rule: Quadrature
) -> Population:
    """The population of agents that are not in the fit; that of the fit where they are few."""
    fitted = set(fit.abilities.agents)
    rows = [row for row, agent in enumerate(matrix.agents) if agent not in fitted]
    newest = fit.abilities.newest_population
    if len(rows) < FEWEST or len(rows) < len(matrix.agents):
        return newest
    heights = log_likelihoods(matrix, items, rule, fit.population_sd)
    return estimate_population(heights, rule, newest)


def _population_notes(
    own: Population, newest: Population, chosen: WhosePopulation
) -> tuple[str, ...]:
    if own == newest:
        return ()
    before = f"{newest.mean:.2f} and {newest.sd:.2f}" if newest.edition else "0 and 1"
    size = f"mean {own.mean:.2f} ± {own.mean_error:.2f}, deviation {own.sd:.2f}, where the fit has {before}"
    if chosen == "newcomers":
        return (f"The population of the new agents was estimated: {size}.",)
    if abs(own.mean - newest.mean) <= Z * own.mean_error:
        return ()
    word = "more" if own.mean > newest.mean else "less"
    return (
        f"The new agents are significantly {word} able than those of the fit ({size}), towards whom their "
        f'abilities are pulled. `population="newcomers"` estimates their own population.',
    )


def _newcomers(
    fit: IRTFit,
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    population: Population,
) -> Iterator[_Newcomer]:
    """Every agent of a matrix; `items` are the tasks of its columns."""
    empty = np.flatnonzero(~matrix.observed.any(axis=1))
    if empty.size:
        raise InputError(
            f"The agent {matrix.agents[empty[0]]!r} has no result on a task of the fit. Give at least one."
        )
    covariance = None
    if fit.errors is not None:
        columns = positions(fit.items.tasks, items.tasks)
        covariance = fit.errors.covariance_of(fit.items)
        if population != fit.abilities.newest_population:
            inner = items.rescaled(0.0, fit.population_sd)
            covariance = with_newcomers(covariance, columns, matrix, inner, rule, population)
        covariance = covariance.take(columns)
    posteriors = {
        row: placed
        for prior, rows in _by_population(fit, matrix.agents, population).items()
        for row, placed in zip(
            rows, _posteriors(fit, matrix.take(rows), items, rule, covariance, prior), strict=True
        )
    }
    for row, agent in enumerate(matrix.agents):
        met = np.flatnonzero(matrix.observed[row])
        responses = matrix.take(agents=[row], tasks=met.tolist())
        cells = Cells(responses.to_numpy()[0], np.ones(len(met)))
        if items.response not in SCORES:
            won, tried = responses.successes[0], responses.trials[0]
            cells = Cells(won.astype(np.float64), tried.astype(np.float64))
        yield _Newcomer(
            agent,
            items.take(met),
            cells,
            *posteriors[row],
        )


def _by_population(
    fit: IRTFit, agents: tuple[str, ...], new: Population
) -> dict[Population, list[int]]:
    """Rows of agents by the population they come from: of the fit's agents that of the fit."""
    stored = fit.abilities.population_of_agent
    rows: dict[Population, list[int]] = {}
    for row, agent in enumerate(agents):
        rows.setdefault(stored.get(agent, new), []).append(row)
    return rows


def _posteriors(
    fit: IRTFit,
    matrix: ResponseMatrix,
    items: ItemParameters,
    rule: Quadrature,
    covariance: ParameterCovariance | None,
    population: Population,
) -> Iterator[tuple[AbilityEstimates, Floats, Floats, Floats]]:
    """Of agents of one population: estimates, nodes, log prior and posterior weights."""
    estimates, weights, nodes = agent_posteriors(
        matrix, items, rule, covariance, population_sd=fit.population_sd, population=population
    )
    for row in range(len(matrix.agents)):
        single = AbilityEstimates(*(part[row] for part in estimates))
        yield single, nodes, population.log_weights(rule), weights[row]


def _placed(
    fit: IRTFit,
    newcomer: _Newcomer,
    bins: Sequence[float] | int | None,
    excluded: Floats,
    unexpected: int,
) -> tuple[dict[str, Any], tuple[PredictedTask, ...]]:  # Any: numbers and words of columns
    """A row of an agent, and what is predicted of it."""
    agent, items, cells, estimate, nodes, _, weights = newcomer
    ability, deviation, standard_error = (float(part) for part in estimate)
    low, high = interval(ability, standard_error)
    shares = cells.value / cells.trials
    results = np.full(len(fit.items), np.nan)
    results[positions(fit.items.tasks, items.tasks)] = landmark_reached(items, shares)
    value, slope, doubts = _indicators(fit, results, bins)
    unmet = fit.items.take(np.flatnonzero(np.isnan(results)))
    met = np.concatenate([shares, excluded[np.isfinite(excluded)]])
    shared = np.array([task.value for task in fit.dropped])[np.isnan(excluded)]
    rank = rank_among(fit.abilities, nodes, weights, aside=agent)
    mean = predicted_mean(met, unmet, nodes, weights, shared[np.isfinite(shared)])
    observed = not len(unmet)  # then nothing is predicted, and the mean has no interval
    row = {
        "tasks": len(shares),
        "ability": ability,
        "ability_error": standard_error,
        "ability_low": low,
        "ability_high": high,
        "rank": rank.rank,
        "rank_low": rank.low,
        "rank_high": rank.high,
        "ranked_among": rank.among,
        "mean": float(met.mean()),
        "predicted_mean": mean.value,
        "predicted_mean_low": np.nan if observed else mean.low,
        "predicted_mean_high": np.nan if observed else mean.high,
        "regularity": float(regularities(results[None, :])[0]),
        "generality": value,
        "slope": slope,
        "posterior_sd": deviation,
        "flags": (*doubts, *_flags(fit, newcomer, unexpected)),
    }
    return row, predicted_results(unmet, nodes, weights)


def _indicators(
    fit: IRTFit, results: Floats, bins: Sequence[float] | int | None
) -> tuple[float, float, list[str]]:
    try:
        edges = difficulty_bins(fit.items, bins)
    except InputError:
        return float("nan"), float("nan"), ["generality is not defined: no bins of difficulty"]
    curves = empirical_agent_curves(("",), results[None, :], edges)
    general = generality(curves)
    doubts = [general.flags[0]] if general.flags[0] is not None else []
    return float(general.value[0]), float(curves.slope[0]), doubts


def _flags(fit: IRTFit, newcomer: _Newcomer, unexpected: int) -> list[str]:
    cells = newcomer.cells
    sentences, observed = [], len(cells.value)
    if newcomer.agent in fit.abilities.agents:
        sentences.append(
            "it is one of the fitted agents: it is ranked among the others, and its results were used "
            "to estimate the tasks"
        )
    if observed == len(fit.items):
        sentences.append(
            "it met every task of the fit: its mean over them is observed, not predicted"
        )
    if observed < FEW_TASKS:
        sentences.append(f"placed by {counted(observed, 'task')} only")
    if newcomer.items.response == "normal":
        pass  # no score is the best possible one
    elif (cells.value == cells.trials).all():
        sentences.append("it succeeded at everything it met: its ability is known from below only")
    elif (cells.value == 0).all():
        sentences.append("it failed at everything it met: its ability is known from above only")
    by_chance = UNEXPECTED * observed
    if unexpected > by_chance + 2 * np.sqrt(by_chance) + 1:
        sentences.append(
            f"{unexpected} of {counted(observed, 'result')} are unexpected, and at most "
            f"{by_chance:.1f} would be by chance: the agent may not fit the model"
        )
    return sentences
