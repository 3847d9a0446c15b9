"""`examiner typology`: kinds of tasks, one of each, missing kinds, and a test with results."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from examiner.cli.options import (
    NORMALISE,
    TYPOLOGY,
    Seeded,
    SourceOptions,
    argument,
    normaliser_names,
    option,
    other_source,
)
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import classification_from, results_from
from examiner.cli.values import words_of
from examiner.reporting import render_kinds
from examiner.results import Results
from examiner.scores import normalise as normalised
from examiner.scores import score_unit
from examiner.typology import SCHEMAS, kinds, validate


@dataclass(frozen=True)
class ResultsOptions(SourceOptions):
    """The results that kinds are tested with, and how they are read."""

    source: str = other_source("--results", "Results to validate the groups with")


@dataclass(frozen=True)
class TypologyOptions:
    """The features that tasks are grouped by."""

    classification: str = argument("CLASSIFICATION", TYPOLOGY)
    schema: str = option(
        "auto", f"{', '.join(SCHEMAS)}, none, or auto: detected from the features.", metavar="NAME"
    )
    features: list[str] | None = option(
        None, "Features to group by, comma-separated.", parse=words_of
    )
    normalise: str | None = option(
        None,
        lambda: f"{normaliser_names()} [default: random-only if all tasks have a random score]",
        *NORMALISE,
        metavar="NAME",
    )


def typology(grouping: TypologyOptions, options: ResultsOptions, printing: Seeded) -> None:
    """Group tasks by kind, keep one of each, list missing kinds, and test the groups with results."""
    reducing, validating = np.random.default_rng(printing.seed).spawn(2)
    results = validation = None
    with progress_bar("reading") as progress:
        grouped = kinds(
            classification_from(grouping.classification),
            None if grouping.schema == "none" else grouping.schema,
            grouping.features,
            rng=reducing,
        )
        if options.source:
            results = _results(options, grouping.normalise, progress)
            validation = validate(grouped, results, progress=progress, rng=validating)
            validation = replace(validation, seed=printing.seed)
    grouped = replace(grouped, seed=printing.seed)
    show(
        render_kinds(grouped, validation),
        printing,
        read=results,
        score_unit=None if results is None else score_unit(results),
        source=grouping.classification,
    )


def _results(options: ResultsOptions, normalise: str | None, progress: ProgressCallback) -> Results:
    """The results, comparable across tasks: against the random player where every task has one."""
    results = results_from(options, progress)
    random = results.scales.aligned(results.task_names, results.measures[0], needs=["random"])
    usual = "auto" if np.isnan(random.random).any() else "random-only"  # equation 1 of papers/000
    return normalised(results, normalise or usual)
