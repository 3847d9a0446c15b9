"""From the options of a command to results: read, filtered, scaled, reduced, made comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, overload

from examiner.cli.options import ComparisonOptions, LevelOptions, SourceOptions
from examiner.cli.output import ProgressCallback, print_notes
from examiner.datasets import DATASETS, load
from examiner.importers import attach, read, read_classification, read_numbers, read_scales
from examiner.messages import InputError, counted, shorten
from examiner.results import Classification, Results, Scales
from examiner.scores import (
    Recipe,
    Total,
    averaging_notes,
    chance_scales,
    check_reachable,
    direction_notes,
    judges_as_read,
    mark_success,
    normalise,
    normaliser_name,
    total,
    with_isolated_notes,
    without_near_identical,
)
from examiner.scores import reduce as reduce_runs

_KINDS = MappingProxyType(
    {
        "Results": "a table of results",
        "Scales": "a table of scales",
        "Classification": "a classification",
        "PublishedTable": "a published table",
    }
)
"""What kinds of bundled data set are called."""


def results_from(
    options: SourceOptions,
    progress: ProgressCallback | None = None,
    *,
    reduce_training_logs: bool = True,
    append_to: Path | None = None,
    tuned_on: Sequence[str] = (),
) -> Results:
    """Read what the options name, filter it, attach attributes and scales, and reduce runs, in this order.

    Without `reduce_training_logs`, runs are reduced only where `--reduce` says how. Logs are added to
    those of `append_to`. Tasks that settings were `tuned_on` are excluded.

    >>> results_from(SourceOptions("atari-dqn-family", drop=("task:*a*",))).tasks[:2]
    ('berzerk', 'bowling')
    """
    if options.source in DATASETS:
        results = _bundled(options)
    else:
        known = signature(read).parameters  # options of reading have the names of its arguments
        given = {part.name: getattr(options, part.name) for part in fields(options)}
        arguments = {name: value for name, value in given.items() if name in known}
        results = read(**arguments, append_to=append_to, progress=progress)
    results = results.keeping(*options.keep).dropping(*options.drop)
    if tuned_on:
        results = _untuned(results, tuned_on)
    scales = {name: _scales(name, results.measures[0]) for name in options.scales}
    results = attach(results, scales=scales, tasks=options.tasks, agents=options.agents)
    if options.reduce is not None or (reduce_training_logs and results.provenance.training):
        results = reduce_runs(results, options.reduce)
    if options.distinct is not None:
        results = without_near_identical(results, options.distinct)
    return results if results.provenance.training else with_isolated_notes(results)


def _bundled(options: SourceOptions) -> Results:
    name = options.source
    data = load(name)
    if not isinstance(data, Results):
        raise InputError(
            f"The data set {name!r} is {_KINDS[type(data).__name__]}, not a table of results. "
            f"See what it contains with `examiner datasets {name}`."
        )
    if options.measure:
        data = data.with_measures(*options.measure)
    if options.item is not None:
        data = data.with_items(*options.item)
    return data.with_notes(*note_on_data_set(name))


def _untuned(results: Results, patterns: Sequence[str]) -> Results:
    """Report the tasks that settings were not tuned on, or note that there are no others."""
    if any(pattern.startswith("agent:") for pattern in patterns):
        raise InputError(
            f"Settings are tuned on tasks, not on {shorten(patterns[0])}. Give `--tuned-on split:train` or "
            f"`--tuned-on task:NAME`."
        )
    tuned = set(results.keeping(*patterns).tasks)
    reported = len(results.tasks) - len(tuned)
    if reported:
        note = (
            f"Settings were tuned on {counted(len(tuned), 'task')}, which are excluded: only the other "
            f"{counted(reported, 'task')} are reported."
        )
        return results.dropping(*patterns).with_notes(note)
    return results.with_notes(
        f"Warning: settings were tuned on all {counted(len(tuned), 'task')} reported here. Tuning and "
        f"testing on the same tasks overstates performance: evaluate on other tasks."
    )


def comparable(results: Results, options: ComparisonOptions) -> Results:
    """Apply `--normalise`, `--success` and `--success-share`, where given.

    >>> results = results_from(SourceOptions("atari-dqn-family"))
    >>> comparable(results, ComparisonOptions("human", 1.0)).measures
    ('success', 'score')
    """
    success, share = options.success, options.share
    if (success, share) == (None, None):
        return normalise(results, options.normalise)
    if judges_as_read(options.normalise, success, share):
        return mark_success(results, success, share=share)
    check_reachable(normaliser_name(results, options.normalise), success)
    return mark_success(normalise(results, options.normalise), success, share=share)


def recipe_of(options: ComparisonOptions) -> Recipe:
    """Return how results are made comparable, and counted as successes.

    >>> recipe_of(ComparisonOptions("human", 1.0)).success
    1.0
    """
    return Recipe(normaliser=options.normalise, success=options.success, share=options.share)


class Levelled(NamedTuple):
    """Results with their chance levels, the normaliser these need, and how tasks are averaged."""

    results: Results
    normalise: str | None
    total: Total | None


def levelled(results: Results, options: LevelOptions, normalise: str | None) -> Levelled:
    """Apply `--by`, `--average`, `--weights` and `--chance`, where given.

    >>> levelled(Results.from_numpy([[1.0]]), LevelOptions(), None).total is None
    True
    """
    by = options.by
    if options.chance is not None:
        if normalise not in (None, "auto", "chance"):
            raise InputError(
                f"Scores are to be rescaled to chance and normalised by {normalise!r}. Leave one of the "
                f"two out: `--chance` or `--normalise`."
            )
        chance = _column_or_file(options.chance, "chance", by or (), results)
        results = results.with_scales(chance_scales(results, chance, by), step="chance levels")
        normalise = "chance"
    if by is None and options.average is None and options.weights is None:
        return Levelled(results, normalise, None)
    weights = options.weights and _column_or_file(options.weights, "weight", by or (), results)
    return Levelled(results, normalise, total(results, by, options.average, weights))


def levelled_and_compared(
    results: Results, options: LevelOptions, comparison: ComparisonOptions
) -> tuple[Results, Total | None]:
    """Return results with their levels, made comparable, and how their tasks are averaged.

    >>> levelled_and_compared(Results.from_numpy([[1.0]]), LevelOptions(), ComparisonOptions())[1]
    """
    prepared = levelled(results, options, comparison.normalise)
    results = prepared.results.with_notes(*direction_notes(prepared.results))
    results = comparable(results, replace(comparison, normalise=prepared.normalise))
    return results.with_notes(*averaging_notes(results)), prepared.total


def _column_or_file(
    source: str, what: str, by: Sequence[str], results: Results
) -> str | dict[str, float]:
    """Numbers of tasks or groups: the column of the table of tasks that has them, or what a file says."""
    if source in results.task_attributes.columns and not Path(source).exists():
        return source
    return read_numbers(source, what, by)


@overload
def classification_from(source: str) -> Classification: ...
@overload
def classification_from(source: str | None) -> Classification | None: ...
def classification_from(source: str | None) -> Classification | None:
    """Return a bundled classification by its name, or read one from a file.

    >>> classification_from("atari-typology")
    Classification of 55 tasks by 9 features
    """
    if source is None or source not in DATASETS:
        return None if source is None else read_classification(source)
    print_notes(note_on_data_set(source))
    data = load(source)
    if not isinstance(data, Classification):
        raise InputError(
            f"The data set {source!r} is {_KINDS[type(data).__name__]}, not a classification. "
            f"Bundled classifications: 'atari-profile', 'atari-typology'."
        )
    return data


def _scales(name: str, measure: str) -> Scales:
    if name not in DATASETS:
        return read_scales(name, measure)
    print_notes(note_on_data_set(name))
    data = load(name)
    scales = data.scales if isinstance(data, Results) else data
    if not isinstance(scales, Scales) or (isinstance(data, Results) and not scales):
        raise InputError(
            f"The data set {name!r} is {_KINDS[type(data).__name__]}, which has no scales. "
            f"Bundled scales: 'atari-human-random'."
        )
    return scales


def note_on_data_set(name: str) -> tuple[str, ...]:
    """Return a note that a name means the bundled data set, if a file or folder here has the same name.

    A bare name that is a data set always means the data set, so that a command gives the same numbers in
    every folder.

    >>> note_on_data_set("atari-arena")
    ()
    """
    path = Path(name)
    if not path.exists():
        return ()
    kind = "folder" if path.is_dir() else "file"
    return (
        f"{name!r} is read as the bundled data set. To read the {kind} of the same name, write "
        f"'./{name}'.",
    )
