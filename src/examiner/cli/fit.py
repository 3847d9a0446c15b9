"""`examiner fit`: difficulty and discrimination of tasks, ability and generality of agents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from examiner import irt
from examiner.answers import Answer
from examiner.cli.fitting import (
    EngineOptions,
    ModelOptions,
    chosen_engine,
    response_unit,
    shards_from,
)
from examiner.cli.options import (
    OUTPUT,
    UPDATED,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import ProgressCallback, print_notes, progress_bar, show
from examiner.cli.source import recipe_of, results_from
from examiner.cli.values import numbers, parsed
from examiner.irt import IRTFit
from examiner.messages import InputError, counted, shorten
from examiner.reporting import (
    Finding,
    finding_of,
    print_line,
    render_fit,
    render_growth,
    shown_table,
)
from examiner.results import ResponseMatrix, Results, agent_column
from examiner.storage import open_fit, save


def _bins(text: str) -> int | list[float]:
    """Read the number of bins, or their edges."""
    complaint = "The bins are {}. Give their number, or their ends: -11,-1,0,1,10."
    if "," in text:
        return numbers(complaint)(text)
    return parsed(int, text, complaint.format(shorten(text)))


@dataclass(frozen=True)
class FitOptions:
    """What is estimated beside the model, what is shown instead of it, and where the fit is stored."""

    check: bool = option(
        False, "Check how well the model fits tasks and agents, instead of the fit."
    )
    bins: int | list[float] | None = option(
        None,
        "Number of bins of difficulty for generality, or their edges.",
        metavar="NUMBER|EDGES",
        parse=_bins,
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
        False, "Add the results to the fit named by --fit: place new agents, calibrate new tasks."
    )
    fit: Path | None = option(
        None, "The stored fit to --add to; replaced unless -o.", metavar="FILE", reads=UPDATED
    )
    output: Path | None = option(
        None, "Store the fit as JSON, for `place`.", *OUTPUT, metavar="FILE", writes="answer"
    )


@dataclass(frozen=True)
class CheckOptions:
    """How the critical values of the tests are computed."""

    section: ClassVar[str] = "With --check"
    draws: int = option(100, "Number of simulated data sets for the critical values; at least 20.")
    quick: bool = option(
        False, "Do not refit the simulated data sets: faster, critical values less exact."
    )
    overdispersion: bool = option(
        False, "Also test for overdispersion of trials within cells; may take minutes."
    )


class _Inputs(NamedTuple):
    """All that a fit is computed from, as options."""

    options: SourceOptions
    model: ModelOptions
    how: FitOptions
    comparison: ComparisonOptions
    seed: int

    def fitted(self, results: Results, progress: ProgressCallback) -> IRTFit:
        """Fit the model to results, made comparable and counted as the options say."""
        return irt.fit(
            results,
            recipe=recipe_of(self.comparison),
            group=self.how.group,
            editions=self.how.editions,
            rng=self.seed,
            progress=progress,
            **vars(self.model),
        )


def fit(
    options: SourceOptions,
    model: ModelOptions,
    how: FitOptions,
    comparison: ComparisonOptions,
    checking: CheckOptions,
    where: EngineOptions,
    printing: Seeded,
) -> None:
    """Fit an IRT model: difficulty and discrimination of tasks, ability and generality of agents."""
    inputs = _Inputs(options, model, how, comparison, printing.seed)
    if how.check:
        _show_check(inputs, checking, printing)
    elif how.add:
        _show_growth(inputs, printing)
    elif how.generality or (how.explain, how.difficulty, how.compound) != (None, None, None):
        _show_instead(inputs, printing)
    else:
        _show_fit(inputs, where, printing)


def _show_fit(inputs: _Inputs, where: EngineOptions, printing: Seeded) -> None:
    options, how = inputs.options, inputs.how
    engine = chosen_engine(options, where)
    if where.cache is not None and engine not in ("shards", "ray"):
        print_notes(
            (f"--cache has no effect: it is for shards and Ray, and the engine is {engine}.",)
        )
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
    scored = None
    with progress_bar("reading") as progress:
        if engine == "memory":
            results = results_from(options, progress)
            fitted = inputs.fitted(results, progress)
            scored = None if inputs.comparison.success is None else results.measures[0]
            scores = None if scored is None else irt.standard_scores(results)
            estimates = irt.indicators(fitted, scores, bins=how.bins)
            notes = results.notes
        else:
            fitted, notes = _computed_elsewhere(inputs, engine, where, progress)
            estimates = irt.indicators_without_responses(fitted)
        finding = render_fit(
            fitted, estimates, repeats_mean=scored is None and _repeats_mean(fitted)
        )
        notes = (*notes, *fitted.notes, *estimates.notes)
        if how.over is not None:
            years = agent_column(results, how.over, "years")
            over_time = irt.over_time(
                estimates, {agent: irt.year_of(years[agent]) for agent in estimates.agents}
            )
            shown = finding_of(over_time)
            blocks = (*finding.blocks, shown.lead, *shown.blocks)
            finding = replace(finding, blocks=blocks, beside=finding.beside | {"over": shown.data})
            notes = (*notes, *over_time.notes)
    if how.output is not None:
        save(fitted, how.output)
    show(
        finding,
        printing,
        "fit",
        notes=notes,
        score_unit=response_unit(fitted),
        regularity_of="responses" if scored is None else f"Φ(z) of {scored}",
        engine=engine,
        source=options.source,
    )
    if how.output is not None and printing.for_people:
        print_line(f"\nFit: {how.output}")


def _computed_elsewhere(
    inputs: _Inputs, engine: str, where: EngineOptions, progress: ProgressCallback
) -> tuple[IRTFit, tuple[str, ...]]:
    """A fit of results on a GPU, or of shards on disk; and notes on what was read."""
    arguments = vars(inputs.model) | {"rng": inputs.seed, "progress": progress}
    if engine == "gpu":
        from examiner.engines import gpu

        results = results_from(inputs.options, progress)
        recipe = recipe_of(inputs.comparison).learn(results)
        source = gpu(recipe.responses(results), response=inputs.model.response)
        return irt.fit(source, **arguments).with_recipe(recipe), results.notes
    shards = shards_from(engine, inputs.options, inputs.comparison, inputs.model, where, progress)
    fitted = irt.fit(shards, **arguments)
    return fitted, (f"The responses on disk were read {counted(shards.passes, 'time')}.",)


def _show_check(inputs: _Inputs, checking: CheckOptions, printing: Seeded) -> None:
    """Fit a model, and test for misfit of tasks and agents, dependent tasks and a second ability."""
    with progress_bar("reading") as progress:
        results = results_from(inputs.options, progress)
        fitted = inputs.fitted(results, progress)
        diagnosis = irt.diagnose(
            fitted,
            replicates=checking.draws,
            refit=not checking.quick,
            overdispersion=checking.overdispersion,
            rng=printing.seed,
            progress=progress,
        )
    sentences = list(diagnosis.findings())
    tables = map(shown_table, diagnosis.tables.values())
    show(
        Finding(blocks=(*sentences, *tables), beside={"findings": sentences}, answer=diagnosis),
        printing,
        "check",
        read=results,
        notes=fitted.notes,
        model=fitted.model,
        score_unit=response_unit(fitted),
    )


def _show_instead(inputs: _Inputs, printing: Seeded) -> None:
    """Show generality, a compound, explained difficulty, or abilities on a given difficulty."""
    how, recipe, seed = inputs.how, recipe_of(inputs.comparison), printing.seed
    answer: Answer
    with progress_bar("reading") as progress:
        results = results_from(inputs.options, progress)
        if how.explain is not None:
            columns = [column.strip() for column in how.explain.split(",")]
            answer = irt.explain(results, columns, recipe=recipe, group=how.group, rng=seed)
        elif how.difficulty is not None:
            answer = irt.on_difficulty(results, how.difficulty, recipe=recipe, rng=seed)
        elif how.compound is not None:
            estimates = irt.indicators(inputs.fitted(results, progress), bins=how.bins)
            answer = irt.compound(estimates, how.compound)
        else:
            answer = irt.generality(results, recipe=recipe, rng=seed)
    show(finding_of(answer), printing, answer.kind, read=results, seed=seed)


def _show_growth(inputs: _Inputs, printing: Seeded) -> None:
    """Add later results to a stored fit."""
    assert inputs.how.fit is not None, "refused before"
    before = open_fit(inputs.how.fit)
    with progress_bar("reading") as progress:
        results = results_from(inputs.options, progress, reduce_training_logs=False)
        new: Results | ResponseMatrix = results
        if before.recipe is None:  # of shards, which are fitted as they are written
            new = recipe_of(inputs.comparison).learn(results).responses(results)
        grown = irt.grow(before, new, rng=printing.seed)
    output = inputs.how.output or inputs.how.fit
    save(grown.fit, output)
    beside = {"score_unit": response_unit(grown.fit), "fit": str(output)}
    show(render_growth(grown), printing, "growth", read=results, **beside)
    if printing.for_people:
        print_line(f"\nFit: {output}")


def _repeats_mean(fitted: IRTFit) -> bool:
    """Whether regularity only repeats the mean, as it does of zeros and ones, or is not known."""
    matrix = fitted.matrix
    return matrix is None or (matrix.is_counts and matrix.most_trials == 1)
