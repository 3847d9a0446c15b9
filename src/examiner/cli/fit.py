"""`examiner fit`: difficulty and discrimination of tasks, ability and generality of agents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from examiner.answers import Answer
from examiner.cli.check import CheckOptions, check
from examiner.cli.engine import EngineOptions, chosen_engine, shards_from
from examiner.cli.fitting import FitArguments, ModelOptions, recipe_of, response_unit
from examiner.cli.options import (
    OUTPUT,
    UPDATED,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    option,
    parsed,
)
from examiner.cli.output import print_notes, progress_bar, show
from examiner.cli.source import results_from
from examiner.engines import ParquetSource
from examiner.irt import (
    Indicators,
    IRTFit,
    OverTime,
    compound,
    explain,
    generality,
    grow,
    indicators,
    indicators_without_responses,
    on_difficulty,
    over_time,
    standard_scores,
    year_of,
)
from examiner.irt import fit as fit_irt
from examiner.messages import InputError, shorten
from examiner.reporting import (
    Text,
    finding_of,
    print_line,
    render_fit,
    render_growth,
    render_years,
)
from examiner.results import ResponseMatrix, Results, agent_column
from examiner.storage import open_fit, save


@dataclass(frozen=True, slots=True)
class FitOptions(ModelOptions):
    """Which model is fitted and how, the bins of generality, and where the fit is stored."""

    check: bool = option(
        False, "Check how well the model fits tasks and agents, instead of the fit.", "--check"
    )
    bins: str | None = option(
        None, "Number of bins of difficulty for generality, or their edges.", metavar="NUMBER|EDGES"
    )
    over: str | None = option(
        None,
        "Also show progress over time: a column of agents with years or dates.",
        metavar="COLUMN",
    )
    group: str | None = option(
        None,
        "Column of tasks that share more than ability (repository, game): errors of abilities count it.",
        metavar="COLUMN",
    )
    editions: str | None = option(
        None,
        "Column of agents with their edition: each has its own mean and deviation of ability.",
        metavar="COLUMN",
    )
    generality: bool = option(
        False, "Estimate each agent's own slope with an interval, instead of the fit."
    )
    compound: float | None = option(
        None,
        "Combine ability, with this weight from 0 to 1, and generality in one number, instead of the fit.",
        metavar="WEIGHT",
    )
    explain: str | None = option(
        None,
        "Estimate the effects of attributes of tasks on difficulty, instead of the fit: "
        "'log2(minutes),language'.",
        metavar="COLUMNS",
    )
    difficulty: str | None = option(
        None,
        "Take a column of tasks as their difficulty: ability in its unit, instead of the fit.",
        metavar="COLUMN",
    )
    add: bool = option(
        False,
        "Add the results to the fit named by --fit: place new agents, calibrate new tasks.",
        "--add",
    )
    fit: Path | None = option(
        None, "The stored fit to --add to; replaced unless -o.", metavar="FILE", reads=UPDATED
    )
    output: Path | None = option(
        None, "Store the fit as JSON, for `place`.", *OUTPUT, metavar="FILE", writes="answer"
    )


class _Fitted(NamedTuple):
    """A fit, the indicators of its agents, and the notes."""

    fit: IRTFit
    found: Indicators
    notes: tuple[str, ...]
    scores_of: str | None = None
    """The measure of the scores that regularity is of; None where it is of responses."""
    years: OverTime | None = None


def fit(
    options: SourceOptions,
    how: FitOptions,
    comparison: ComparisonOptions,
    checking: CheckOptions,
    where: EngineOptions,
    printing: Seeded,
) -> None:
    """Fit an IRT model: difficulty and discrimination of tasks, ability and generality of agents."""
    if how.check:
        check(options, comparison, how, checking, printing)
        return
    instead = (how.explain, how.difficulty, how.compound)
    if how.generality or any(asked is not None for asked in instead):
        _show_instead(options, comparison, how, printing)
        return
    if how.add or how.fit is not None:
        _added(options, comparison, how, printing)
        return
    engine = chosen_engine(options, where)
    if where.cache is not None and engine not in ("shards", "ray"):
        print_notes(
            (f"--cache is for shards and clusters; the engine is {engine}, which keeps nothing.",)
        )
    with progress_bar("reading") as progress:
        arguments = how.asked(printing.seed, progress)
        if how.editions is not None and engine != "memory":
            raise InputError(
                f"--editions needs responses in memory, and the engine is {engine}. Fit with "
                f"--engine memory."
            )
        if how.over is not None and engine != "memory":
            raise InputError(
                f"Progress over years needs generality, which the engine {engine} does not compute. Leave "
                f"--over out, or fit with --engine memory."
            )
        if engine in ("shards", "ray"):
            outcome = _of_shards(
                shards_from(engine, options, comparison, where, progress), how, arguments
            )
        else:
            results = results_from(options, progress)
            outcome = _of_results(results, engine, comparison, how, arguments)
    fitted = outcome.fit
    if how.output is not None:
        save(fitted, how.output)
    scores = outcome.scores_of
    finding = render_fit(
        fitted, outcome.found, repeats_mean=scores is None and _repeats_mean(fitted)
    )
    notes = (*outcome.notes, *fitted.notes, *outcome.found.notes)
    if outcome.years is not None:
        progress_shown = render_years(outcome.years)
        blocks = (*finding.blocks, *progress_shown.blocks, Text(progress_shown.lead))
        finding = replace(
            finding, blocks=blocks, beside=finding.beside | {"over": progress_shown.data}
        )
        notes = (*notes, *outcome.years.notes)
    show(
        finding,
        printing,
        "fit",
        notes=notes,
        score_unit=response_unit(fitted),
        regularity_of="responses" if scores is None else f"Φ(z) of {scores}",
        engine=engine,
        source=options.source,
    )
    if how.output is not None and printing.for_people:
        print_line(f"\nFit: {how.output}")


def _show_instead(
    options: SourceOptions, comparison: ComparisonOptions, how: FitOptions, printing: Seeded
) -> None:
    """Show generality, a compound, explained difficulty, or abilities on a given difficulty."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        recipe = recipe_of(comparison)
        answer: Answer
        if how.explain is not None:
            columns = [column.strip() for column in how.explain.split(",")]
            answer = explain(results, columns, recipe=recipe, group=how.group, rng=printing.seed)
        elif how.difficulty is not None:
            answer = on_difficulty(results, how.difficulty, recipe=recipe, rng=printing.seed)
        elif how.compound is not None:
            fitted = how.fitted(
                results,
                comparison,
                printing.seed,
                progress,
                group=how.group,
                editions=how.editions,
            )
            answer = compound(indicators(fitted, bins=_bins(how.bins)), how.compound)
        else:
            answer = generality(results, recipe=recipe, rng=printing.seed)
    show(finding_of(answer), printing, answer.kind, read=results, seed=printing.seed)


def _added(
    options: SourceOptions, comparison: ComparisonOptions, how: FitOptions, printing: Seeded
) -> None:
    """Add later results to a stored fit."""
    if not how.add or how.fit is None:
        raise InputError(
            "Later results are added to a stored fit with both: `examiner fit --add today.parquet --fit "
            "fit.json`."
        )
    before = open_fit(how.fit)
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
        new: Results | ResponseMatrix = results
        if before.recipe is None:  # of shards, which are fitted as they are written
            new = recipe_of(comparison).learn(results).responses(results)
        grown = grow(before, new, rng=printing.seed)
    output = how.output or how.fit
    save(grown.fit, output)
    beside = {"score_unit": response_unit(grown.fit), "fit": str(output)}
    show(render_growth(grown), printing, "growth", read=results, **beside)
    if printing.for_people:
        print_line(f"\nFit: {output}")


def _of_results(
    results: Results,
    engine: str,
    comparison: ComparisonOptions,
    how: FitOptions,
    asked: FitArguments,
) -> _Fitted:
    """A fit of results that are here, in memory or sent to a GPU."""
    if engine == "gpu":
        from examiner.engines import gpu

        recipe = recipe_of(comparison).learn(results)
        source = gpu(recipe.responses(results), response=how.response)
        fitted = fit_irt(source, how.model, **asked).with_recipe(recipe)
        return _Fitted(fitted, indicators_without_responses(fitted), results.notes)
    fitted = how.fitted(
        results,
        comparison,
        asked["rng"],
        asked["progress"],
        group=how.group,
        editions=how.editions,
    )
    scores = None if comparison.success is None else standard_scores(results)
    agent_indicators = indicators(fitted, scores, bins=_bins(how.bins))
    measure = None if scores is None else results.measures[0]
    return _Fitted(
        fitted,
        agent_indicators,
        results.notes,
        measure,
        _progress(results, agent_indicators, how.over),
    )


def _progress(results: Results, found: Indicators, column: str | None) -> OverTime | None:
    """Ability and generality over the years in a column of agents."""
    if column is None:
        return None
    years = agent_column(results, column, "years")
    return over_time(found, {agent: year_of(years[agent]) for agent in found.agents})


def _of_shards(source: ParquetSource, how: FitOptions, asked: FitArguments) -> _Fitted:
    """A fit of shards on disk, with how often they were passed over."""
    fitted = fit_irt(source, how.model, **asked)
    passes = f"{source.passes} passes over the responses on disk."
    return _Fitted(fitted, indicators_without_responses(fitted), (passes,))


def _repeats_mean(made: IRTFit) -> bool:
    """Whether regularity only repeats the mean, or is not known."""
    return made.matrix is None or _one_trial(made)


def _one_trial(made: IRTFit) -> bool:
    """Whether results are zeros and ones, of which regularity only repeats the mean."""
    matrix = made.matrix
    return matrix is not None and matrix.is_counts and int(matrix.trials.max()) == 1


def _bins(text: str | None) -> int | list[float] | None:
    if text is None:
        return None
    complaint = f"The bins are {shorten(text)}. Give their number, or their ends: -11,-1,0,1,10."
    if "," in text:
        return [parsed(float, part, complaint) for part in text.split(",")]
    return parsed(int, text, complaint)
