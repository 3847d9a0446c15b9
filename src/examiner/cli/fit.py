"""`examiner fit`: difficulty and discrimination of tasks, ability and generality of agents."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.checking import to_record
from examiner.cli.options import ComparisonOptions, JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from, success_of
from examiner.results import Results
from examiner.wording import InputError, shorten

if TYPE_CHECKING:
    from examiner.irt import Indicators, IRTFit
    from examiner.scores import Recipe


class EstimatorKind(StrEnum):
    """Weak priors, or none."""

    map = "map"
    ml = "ml"


class ResponseKind(StrEnum):
    """How k successes of n trials scatter."""

    binomial = "binomial"
    beta_binomial = "beta-binomial"


def fit(
    options: SourceOptions,
    comparison: ComparisonOptions,
    model: Annotated[
        str,
        typer.Option("--model", help="1pl, rasch, 2pl, 3pl or 4pl for successes; beta for scores."),
    ] = "2pl",
    estimator: Annotated[
        EstimatorKind,
        typer.Option("--estimator", help="map: weak priors; ml: maximum likelihood."),
    ] = EstimatorKind.map,
    prior: Annotated[
        list[str] | None,
        typer.Option(
            "--prior",
            metavar="PARAMETER=MEAN,SD",
            help="Another prior under map, for example slope=1,0.5; may be repeated.",
        ),
    ] = None,
    response: Annotated[
        ResponseKind | None,
        typer.Option(
            "--response", help="For several trials a cell [default: beta-binomial where there are]."
        ),
    ] = None,
    starts: Annotated[
        int | None, typer.Option("--starts", help="Starts to try [default: by size].")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option("--nodes", help="Gauss–Hermite nodes [default: a grid, by test length]."),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option(
            "--bins",
            metavar="NUMBER|EDGES",
            help="Bins of difficulty for generality, or their ends.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Store the fit as JSON, for `place`."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Fit an IRT model: difficulty and discrimination of tasks, ability and generality of agents."""
    from examiner.irt import fit as fit_irt
    from examiner.irt import indicators, standard_scores

    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        recipe = _recipe(results, comparison, model)
        made = fit_irt(
            recipe.responses(results),
            model,
            estimator=estimator.value,
            priors=_priors(prior),
            response=None if response is None else response.value,
            starts=starts,
            nodes=nodes,
            rng=np.random.default_rng(seed),
            progress=progress,
        ).with_recipe(recipe)
        scores = None if comparison.success is None else standard_scores(results)
        told = indicators(made, scores, bins=_bins(bins))
    notes = (*results.notes, *made.warnings, *told.notes)
    if output is not None:
        from examiner.stored import save

        save(made, output)
    content = fit_content(made, told) | {
        "regularity_of": "responses" if scores is None else f"Φ(z) of {results.measures[0]}",
        "seed": seed,
        "warnings": list(dict.fromkeys(notes)),
    }
    if json:
        print_json("examiner.fit/1", content)
        return
    from examiner.cli.fit_tables import print_fit

    print_fit(made, content, repeats_mean=scores is None and _one_trial(made))
    if output is not None:
        print_line(f"\nFit: {output}")
    print_notes(content["warnings"])


def fit_content(made: IRTFit, told: Indicators) -> dict[str, Any]:  # Any: JSON values
    """Return everything `fit` says, as JSON values.

    >>> from examiner.irt import ItemParameters, indicators, known
    >>> from examiner.results import ResponseMatrix
    >>> items = ItemParameters.of(["t"], [2.0], difficulty=[0.5])
    >>> fit = known(items, ResponseMatrix.from_array([[1], [0]], tasks=["t"]))
    >>> fit_content(fit, indicators(fit))["tasks"][0]["difficulty"]
    0.5
    """
    from examiner.irt import rewarding_the_weak

    rows = [_task(made, place) for place in range(len(made.items))]
    agents = [_agent(told, place) for place in range(len(told.agents))]
    return {
        "model": made.model,
        "estimator": made.estimator,
        "outcome": made.outcome.value,
        "converged": made.converged,
        "log_likelihood": made.log_likelihood,
        "objective": made.objective,
        "aic": made.aic,
        "bic": made.bic,
        "nodes": len(made.quadrature),
        "tasks": rows,
        "agents": agents,
        "dropped": [{"task": one.name, "reason": one.reason} for one in made.dropped],
        "left_out": [{"agent": one.name, "reason": one.reason} for one in made.left_out],
        "response": made.items.response,
        "population_sd": made.population_sd,
        "parameters": made.parameters,
        "iterations": made.iterations,
        "starts": {"objectives": list(made.starts.objectives), "agreeing": made.starts.agreeing},
        "quadrature": made.quadrature.kind,
        "priors": to_record(made.priors),
        "bins": None
        if told.bins is None
        else {"edges": told.bins.edges.tolist(), "tasks": told.bins.counts.tolist()},
        "correlations": [one._asdict() for one in told.correlations],
        "rewards_the_weak": list(rewarding_the_weak(made)),
    }


def _task(made: IRTFit, place: int) -> dict[str, Any]:  # Any: JSON values
    items, errors = made.items, made.errors

    def error(name: str) -> float | None:
        return None if errors is None else float(getattr(errors, name)[place])

    row: dict[str, Any] = {
        "task": items.tasks[place],
        "difficulty": float(items.difficulty[place]),
        "discrimination": float(items.slope[place]),
        "guessing": float(items.guessing[place]),
        "ceiling": float(items.ceiling[place]),
        "difficulty_se": error("difficulty"),
        "discrimination_se": error("slope"),
        "flags": list(made.flags[place]),
        "intercept": float(items.intercept[place]),
        "intercept_se": error("intercept"),
        "difficulty_low": error("difficulty_low"),
        "difficulty_high": error("difficulty_high"),
        "discrimination_low": error("slope_low"),
        "discrimination_high": error("slope_high"),
    }
    if items.precision is not None:
        row["precision"] = float(items.precision[place])
        row["precision_se"] = error("precision")
    return row


def _agent(told: Indicators, place: int) -> dict[str, Any]:  # Any: JSON values
    return {
        "agent": told.agents[place],
        "mean": float(told.mean[place]),
        "ability": float(told.ability[place]),
        "ability_se": float(told.ability_error[place]),
        "regularity": float(told.regularity[place]),
        "generality": float(told.generality[place]),
        "slope": float(told.slope[place]),
        "flags": list(told.flags[place]),
    }


def _one_trial(made: IRTFit) -> bool:
    """Whether results are zeros and ones, of which regularity only repeats the mean."""
    matrix = made.matrix
    return matrix is not None and matrix.is_counts and int(matrix.trials.max()) == 1


def _recipe(results: Results, comparison: ComparisonOptions, model: str) -> Recipe:
    """How responses are made; scores that no model takes end with the choices there are."""
    from examiner.scores import Recipe

    success = success_of(comparison.success)
    if success is None and comparison.success_share is not None and not results.is_binary():
        raise InputError(_choices(results))
    recipe = Recipe(
        normaliser=comparison.normalise, success=success, share=comparison.success_share
    ).learn(results)
    if model != "beta" and recipe.learnt is not None and not recipe.learnt.counts:
        raise InputError(_choices(results))
    return recipe


def _choices(results: Results) -> str:
    return (
        f"The measure {shorten(results.measures[0])} is not made of zeros and ones. Say what a success is "
        f"(`--success 1.0`, after `--normalise human` where tasks have scales; `--success reference`), "
        f"name a measure of wins (`--measure win`), or fit scores between 0 and 1 as they are "
        f"(`--model beta`, with `--normalise min-max` or `z-score` where they are not)."
    )


def _priors(given: list[str] | None) -> dict[str, tuple[float, float]] | None:
    if not given:
        return None
    priors = {}
    for text in given:
        name, _, numbers = text.partition("=")
        try:
            mean, sd = (float(part) for part in numbers.split(","))
        except ValueError:
            raise InputError(
                f"The prior {shorten(text)} is not understood. Write PARAMETER=MEAN,SD: slope=1,0.5."
            ) from None
        priors[name.strip()] = (mean, sd)
    return priors


def _bins(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise InputError(
            f"The bins are {shorten(text)}. Give their number, or their ends: -11,-1,0,1,10."
        ) from None
