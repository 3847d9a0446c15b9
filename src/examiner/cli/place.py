"""`examiner place`: a new agent on a stored fit or stored tasks, without fitting again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from examiner.cli.fitting import response_unit
from examiner.cli.options import SourceOptions, Tabled, option
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import place as place_on_fit
from examiner.messages import InputError
from examiner.reporting import render_placements, render_set_placement
from examiner.results import Results
from examiner.scores import Recipe, value_unit
from examiner.selection import place as place_by_few
from examiner.storage import open_fit, open_selection


@dataclass(frozen=True)
class PlaceOptions:
    """A stored fit or stored tasks."""

    fit: Path | None = option(None, "A fit stored by `examiner fit -o`.", metavar="FILE")
    population: Literal["fit", "newcomers"] = option(
        "fit", "Whose population abilities come from: newcomers is for stronger agents than fitted."
    )
    chosen: Path | None = option(
        None, "Tasks stored by `examiner select -o` or `distil -o`.", "--with", metavar="FILE"
    )


def place(options: SourceOptions, stored: PlaceOptions, printing: Tabled) -> None:
    """Place new agents on a stored fit or on a few selected tasks: rank, and expected scores elsewhere."""
    if stored.chosen is not None:
        _by_few_tasks(options, stored.chosen, printing)
    elif stored.fit is not None:
        _on_fit(options, stored.fit, stored.population, printing)
    else:
        raise InputError(
            "Name what the new results are to be placed on: a fit stored by `examiner fit … -o "
            "fit.json` with `--fit fit.json`, or tasks stored by `examiner select … -o chosen.json` with "
            "`--with chosen.json`."
        )


def _on_fit(
    options: SourceOptions, path: Path, population: Literal["fit", "newcomers"], printing: Tabled
) -> None:
    fit = open_fit(path)
    with progress_bar("reading") as progress:
        results = _results_for(fit.recipe, options, progress)
        placed = place_on_fit(results, fit, population=population)
    finding, unit = render_placements(fit, placed), response_unit(fit)
    show(finding, printing, "place", read=results, score_unit=unit, fit=str(path))


def _by_few_tasks(options: SourceOptions, path: Path, printing: Tabled) -> None:
    chosen = open_selection(path)
    with progress_bar("reading") as progress:
        results = _results_for(chosen.recipe, options, progress)
        answer = place_by_few(results, chosen)
    finding, unit = render_set_placement(answer), value_unit(chosen.recipe)
    show(finding, printing, read=results, score_unit=unit, chosen=str(path))


def _results_for(
    recipe: Recipe | None, options: SourceOptions, progress: ProgressCallback | None
) -> Results:
    """Read results; a table in which no column is a measure by its name may have the recipe's.

    The recipe also says how training logs are reduced.
    """
    try:
        return results_from(options, progress, reduce_training_logs=False)
    except InputError:
        if recipe is not None and recipe.measure is not None and not options.measure:
            named = replace(options, measure=(recipe.measure,))
            with suppress(InputError):  # the first refusal says what is wrong without a guess
                return results_from(named, progress, reduce_training_logs=False)
        raise
