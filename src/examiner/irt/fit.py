"""Fit a model by marginal maximum likelihood, with weak priors or without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar, Unpack

import numpy as np

from examiner.irt.design_effect import task_codes, with_groups
from examiner.irt.diagnostics.evidence_tests import (
    ability_test,
    compared_part,
    discrimination_test,
)
from examiner.irt.diagnostics.flags import ENOUGH_AGENTS, fit_warnings, outcome_of, task_flags
from examiner.irt.diagnostics.standardised import rest_correlation_deviates
from examiner.irt.edition_columns import editions_of
from examiner.irt.errors.intervals import allowing_equal_abilities
from examiner.irt.errors.joint import JointErrors, TooLittleMemoryError
from examiner.irt.estimates import MOST_STORED
from examiner.irt.estimation.em import AbilityMoments, Optimum, climb, with_spread
from examiner.irt.estimation.sources import MemorySource, ResponseSource
from examiner.irt.estimation.starts import number_of_starts, starting_points
from examiner.irt.estimation.usable_responses import check_response, usable_responses
from examiner.irt.evidence import Evidence, evidence_stream
from examiner.irt.fitted import Abilities, IRTFit, Starts
from examiner.irt.fitting import QUICKLY, Fitting, FittingOptions, check_near
from examiner.irt.items import SCORES, Floats, ItemParameters, Response
from examiner.irt.model import Model, Parameter, Unknowns
from examiner.irt.models import MODELS
from examiner.irt.priors import Priors, RelativeSlopes
from examiner.messages import InputError, listed, shorten
from examiner.results import ResponseMatrix, Results, check_results, connections
from examiner.scores import NORMALISERS, OwnFunction, Progress, Recipe, Success, isolated_values
from examiner.validation import Randomness, check_known, generator, seed_of

T = TypeVar("T")


def fit(
    results: Any,  # Any: results, all that `ex.read` takes, a ResponseMatrix or a ResponseSource
    model: str | Model = "2pl",
    *,
    recipe: Recipe | None = None,
    measure: str | None = None,
    normalise: str | OwnFunction | None = None,
    success: Success | None = None,
    share: float | None = None,
    beating: str | None = None,
    group: str | Mapping[str, object] | None = None,
    editions: str | Mapping[str, object] | None = None,
    rng: Randomness = 0,
    progress: Progress | None = None,
    **how: Unpack[FittingOptions],
) -> IRTFit:
    """Put tasks and agents on one scale: the maximum of the marginal likelihood, with weak priors.

    P(success) = c + (u − c) σ(aθ + d) with abilities θ ~ N(0, 1); the marginal likelihood
    Πⱼ ∫ Πᵢ f(xⱼᵢ | θ) φ(θ) dθ is maximised over the task parameters (Bock and Aitkin 1981), times
    the priors under `estimator="map"`. Cells that were not observed are excluded. Slopes may
    be negative; the sign of the scale is the one with Σ a > 0. Tasks with constant results carry no
    information on their slope and are excluded.

    `Results`, and anything else that `ex.read` takes, become responses by a recipe, which learns from them
    and stays with the fit, so that `place` and examinations treat new agents alike. Give its parts,
    `normalise="human", success=1.0`, or a whole `recipe`; `measure`, `share` and `beating` are those of
    `Recipe`. Without `success`, the measure must consist of zeros and ones. The models beta and normal use
    scores. A `ResponseMatrix` is used without change.
    Responses that are not in this process come as a `ResponseSource`; errors take a few more passes.

    `group` names a column of tasks whose values are groups that share more than ability (a repository, a
    game, a passage), or gives the group of each task: errors of abilities then count that (see
    `design_effect`). Without it, dependence that is significant in the residuals is a note.

    `editions` names a column of agents, or gives the edition of each agent: every edition then has a
    population with its own mean and deviation, and the first one N(0, 1). Where later agents are more able,
    one population for all pulls them towards the first ones.

    `evidence` of the fit says whether agents differ in ability at all, and tasks in discrimination.

    `model` is a name of `MODELS`. Estimator, priors, starts and nodes are options, which `Fitting`
    explains; random starts are drawn from `rng`.

    References: papers/002, eq. 1 and section IV; papers/003, section 3.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> fitted = fit(simulate(items, 100, rng=0), estimator="ml", errors=False)
    >>> fitted.converged, fitted.tasks["task 0"].difficulty > fitted.tasks["task 19"].difficulty
    (True, True)
    >>> scores = Results.from_numpy(10.0 * simulate(items, 50, rng=0).to_numpy())
    >>> fit(scores, "1pl", success=5.0).recipe.success
    5.0
    """
    chosen, fitting = _model(model), Fitting(**how)
    priors, rule = fitting.weak_priors, fitting.rule
    parts = {
        "measure": measure,
        "normaliser": normalise,
        "success": success,
        "share": share,
        "beating": beating,
    }
    recipe = _recipe(recipe, {name: part for name, part in parts.items() if part is not None})
    raw: Results | None = None
    if not isinstance(results, ResponseMatrix) and not isinstance(results, ResponseSource):
        raw = check_results(results)
        recipe = _learnt_recipe(raw, chosen, Recipe() if recipe is None else recipe)
        results, raw = recipe.responses(raw), recipe.ready(raw)
    elif recipe is not None:
        raise InputError(
            f"A recipe turns results into responses, and a {type(results).__name__} holds responses "
            f"already. Give the results, or omit the recipe."
        )
    matrix: ResponseMatrix | None = None
    if isinstance(results, ResponseSource):
        source = results
        check_response(source.response, chosen)
    else:
        source = usable_responses(results, chosen, fitting.response)
        matrix = source.matrix
    chosen = _identifiable(chosen, len(source.agents), priors)
    landmark = _landmark(fitting.landmark, source.response, recipe)
    if fitting.landmark is not None and matrix is not None:
        check_near(fitting.landmark, matrix)
    edition_of = editions_of(raw, editions, results, matrix, weak_priors=priors is not None)
    if isinstance(source, MemorySource) and edition_of is not None:
        source.codes = edition_of.codes
    unknowns = Unknowns.of(chosen, source.response, source.tasks, priors)
    unknowns = replace(unknowns, landmark=landmark, centre=source.centre, editions=edition_of)
    source = source.suited(unknowns)
    count = fitting.starts or number_of_starts(len(source.agents) * float(source.trials.sum()))
    drawing = generator(rng)
    starts = starting_points(source, unknowns, count, drawing)
    unknowns, starts[0], rule_near = with_spread(source, unknowns, starts[0], fixed=rule)
    rules = (rule_near, *(None for _ in starts[1:]))
    optima = [
        climb(source, unknowns, start, fixed=rule, near=near, most=fitting.most_iterations)
        for start, near in shown(list(zip(starts, rules, strict=True)), "fitting", progress)
    ]
    evidence = None
    if fitting.errors and matrix is not None:
        evidence = _evidence(matrix, chosen, priors, source.response, evidence_stream(drawing))
    data = _Data(source, matrix, evidence)
    fitted = _assembled(chosen, unknowns, data, optima, errors=fitting.errors)
    groups = task_codes(raw, group, fitted.items.tasks) if fitting.errors else None
    fitted = with_groups(fitted, groups, asked=group is not None)
    return replace(fitted, recipe=recipe or source.whole.recipe, seed=seed_of(rng))


def fit_again(made: IRTFit, matrix: ResponseMatrix) -> IRTFit:
    """Fit other responses the way a fit was made, from one start and without errors.

    >>> from examiner.irt import simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(6)], np.ones(6), np.zeros(6))
    >>> made = fit(simulate(items, 200, rng=0), "1pl", errors=False)
    >>> fit_again(made, simulate(items, 200, rng=1)).model
    '1pl'
    """
    same: FittingOptions = {
        "estimator": made.estimator,
        "priors": made.priors,
        "response": made.items.response,
        **QUICKLY,
    }
    if made.items.landmark is not None:
        same["landmark"] = float(made.items.landmark[0])
    return fit(matrix, made.model, **same)


def shown(jobs: Sequence[T], what: str, progress: Progress | None) -> Iterator[T]:
    """Yield jobs one after the other, and tell `progress` how many are done.

    >>> list(shown("ab", "spelling", lambda what, done, count: print(what, done, "of", count)))
    spelling 0 of 2
    spelling 1 of 2
    spelling 2 of 2
    ['a', 'b']
    """
    for finished, job in enumerate(jobs):
        if progress is not None:
            progress(what, finished, len(jobs))
        yield job
    if progress is not None:
        progress(what, len(jobs), len(jobs))


def _model(model: str | Model) -> Model:
    if isinstance(model, Model):
        return model
    check_known("model", model, MODELS)
    return MODELS[model]


def _identifiable(model: Model, agents: int, priors: Priors | None) -> Model:
    """The model with guessing and slipping held where few agents cannot tell them from difficulty.

    Maximum likelihood and priors of one's own are taken at their word.
    """
    if priors is None or agents >= ENOUGH_AGENTS:
        return model
    expected = Priors()
    ends: tuple[Parameter, ...] = ("guessing", "slip")
    plain = isinstance(priors.slope, RelativeSlopes)
    constant = tuple(name for name in ends if getattr(priors, name) == getattr(expected, name))
    return model.holding(constant) if plain and set(constant) & set(model.free) else model


def _recipe(
    recipe: Recipe | None, parts: dict[str, Any]
) -> Recipe | None:  # Any: fields of a recipe
    """The recipe given whole or in parts."""
    if recipe is not None and parts:
        raise InputError(
            f"A recipe is given, and {listed(list(parts))} with it. Give the recipe or its parts."
        )
    return Recipe(**parts) if parts else recipe


def _learnt_recipe(results: Results, model: Model, recipe: Recipe) -> Recipe:
    """The recipe as learnt from results; some models take scores, all others successes of trials."""
    if not isinstance(recipe, Recipe):
        raise InputError(
            f"The recipe is {shorten(recipe)}. Give a Recipe, such as Recipe(success=1.0)."
        )
    nothing_said = recipe.success is None and recipe.beating is None
    if nothing_said and recipe.share is not None and not results.is_binary(recipe.measure):
        raise _no_success(results, recipe.measure or results.measures[0])
    learnt = recipe.learn(results)
    takes_scores = bool(set(model.responses) & set(SCORES))
    if not takes_scores and learnt.learnt is not None and not learnt.learnt.counts:
        raise _no_success(results, learnt.measure)
    return learnt


def _no_success(results: Results, measure: str | None) -> InputError:
    slips = isolated_values(results, measure) if measure in results.measures else ""
    return InputError(
        f"The measure {shorten(measure)} is not made of zeros and ones. {slips + ' ' if slips else ''}"
        f"Say what a success is "
        f'(`success=1.0`; `normalise="human", success=1.0` where tasks '
        f'have scales; `success="reference"`), name a measure of wins '
        f'(`measure="win"`), or fit scores as they are: with `model="normal"`, or those '
        f'between 0 and 1 with `model="beta"`.'
    )


def _landmark(given: float | None, response: Response, recipe: Recipe | None) -> float:
    """The score at which difficulty is told: the one given, else the recipe's normaliser's, else 0."""
    if response != "normal":
        if given is not None:
            raise InputError(
                f"A landmark of {given:g} is given, and the response {response} has none: it is the score "
                f"at which the model normal reports difficulty. Leave it out."
            )
        return 0.0
    if given is not None or recipe is None or not isinstance(recipe.normaliser, str):
        return given or 0.0
    landmark = NORMALISERS[recipe.normaliser].landmark
    value = 0.0 if landmark is None else landmark.value
    if recipe.transform == "log":
        return float(np.log10(max(value, recipe.floor or 1.0)))
    return value


def _evidence(
    matrix: ResponseMatrix,
    model: Model,
    priors: Priors | None,
    response: Response,
    rng: np.random.Generator,
) -> Evidence:
    """Whether there is anything to see: against one ability for all, and against one slope for all."""
    abilities = ability_test(matrix, rng)
    part, alike = compared_part(matrix, rng), model.with_one_slope()
    try:
        # Without priors one slope for all may run away in mere chance, where it is asked about.
        options = FittingOptions(priors=priors or Priors(), response=response, **QUICKLY)
        one = fit(part, alike, **options)
        part = part.take(tasks=[part.tasks.index(task) for task in one.items.tasks])
        slopes = discrimination_test(part, one.items, one.quadrature, rng)
    except InputError:  # nothing is left to compare
        slopes = None
    return Evidence(abilities, slopes, tuple(rest_correlation_deviates(matrix).tolist()))


class _Data(NamedTuple):
    """Where responses lie, those of them that a fit used, and whether there is anything to see in these."""

    source: ResponseSource
    matrix: ResponseMatrix | None
    evidence: Evidence | None


def _assembled(
    model: Model, unknowns: Unknowns, data: _Data, optima: list[Optimum], *, errors: bool
) -> IRTFit:
    """The best optimum, turned and scaled for the reader, with words about how it ended."""
    source, matrix, evidence = data
    agents, whole = source.agents, source.whole
    ranked = sorted(optima, key=lambda optimum: -optimum.objective)
    best, priors = ranked[0], unknowns.priors
    items, population_sd, ability, populations = _anchored(best, model)
    editions = unknowns.editions
    members = best.expected.moments
    if editions is not None:
        members = AbilityMoments(*(part[editions.reference] for part in members))
    scale = unknowns.scale_of(items.rescaled(0.0, population_sd))
    spread = np.sqrt(np.maximum(best.expected.variance, 0.0)) * population_sd
    abilities = Abilities(agents, ability * population_sd, spread, "eap")
    task_errors = None
    population_errors = np.zeros(len(populations))
    lacking: tuple[str, ...] = ()
    if errors:
        try:
            joint = JointErrors(
                source,
                items,
                model,
                priors,
                best.rule,
                population_sd,
                scale,
                editions,
                populations,
            )
            task_errors = replace(joint.tasks, joint=joint)
            population_errors = joint.population_errors
            (_, deviation, error), shared = joint.abilities()
            abilities = replace(abilities, error=error, posterior=deviation)
            if matrix is not None:
                abilities = replace(abilities, joint=joint)
            elif len(agents) <= MOST_STORED:
                abilities = replace(abilities, together=shared)
        except TooLittleMemoryError as problem:
            lacking = (str(problem),)
    if editions is not None:
        numbers = editions.numbers(populations, population_errors)
        abilities = replace(abilities, populations=numbers[editions.codes])
    alike = evidence is not None and not evidence.abilities_differ
    if task_errors is not None and alike and not model.unit_slopes:
        task_errors = allowing_equal_abilities(items.slope, task_errors)
    # agents that all met the same tasks are connected
    joined = whole.joined if matrix is None or whole.alike else connections(matrix)
    groups = () if joined is None else joined.separate
    flags: tuple[tuple[str, ...], ...] = tuple(() for _ in items.tasks)
    # flags of few cells take no time compared with the fit
    if errors or len(agents) * len(items) <= 100_000:
        flags = task_flags(matrix, items, model, abilities, task_errors, evidence=evidence)
    starts = Starts(
        tuple(optimum.objective for optimum in ranked),
        sum(best.objective - optimum.objective < 0.01 for optimum in ranked),
    )
    return IRTFit(
        model=model.name,
        estimator="ml" if priors is None else "map",
        items=items,
        abilities=abilities,
        population_sd=population_sd,
        log_likelihood=best.expected.log_likelihood,
        objective=best.objective,
        outcome=outcome_of(starts, flags, settled=best.settled, divided=bool(groups)),
        converged=best.settled,
        iterations=best.iterations,
        starts=starts,
        quadrature=best.rule,
        priors=priors,
        flags=flags,
        dropped=whole.dropped,
        left_out=whole.left_out,
        notes=(
            *whole.notes,
            *(() if joined is None else joined.warnings),
            *lacking,
            *fit_warnings(starts, members.spread[1], (len(agents), len(items)), model, items),
        ),
        errors=task_errors,
        matrix=matrix,
        parameters=unknowns.count,
        slope_scale=scale,
        means=whole.means,
        groups=groups,
        evidence=evidence,
        editions=() if editions is None else editions.names,
    )


def _anchored(best: Optimum, model: Model) -> tuple[ItemParameters, float, Floats, Floats]:
    """Of the two mirror images, which fit alike, the one with Σ a > 0; slopes of 1 for Rasch."""
    sign = -1.0 if best.items.slope.sum() < 0 else 1.0
    items, ability = best.items.rescaled(0.0, sign), sign * best.expected.ability
    populations = best.populations.copy()
    populations[::2] *= sign
    if not model.unit_slopes:
        return items, 1.0, ability, populations
    sd = float(items.slope[0])
    return items.rescaled(0.0, 1.0 / sd), sd, ability, populations
