"""From a command's options to results: read, chosen, scaled, reduced, made comparable."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import overload

from examiner.cli.options import ComparisonOptions, SourceOptions, success_of
from examiner.cli.output import ProgressCallback, print_notes
from examiner.datasets import DATASETS, load
from examiner.importers import attach, read, read_classification, read_scales
from examiner.messages import InputError, counted, shorten
from examiner.results import Classification, Results, Scales


def results_from(
    options: SourceOptions,
    progress: ProgressCallback | None = None,
    *,
    reduce_training_logs: bool = True,
    append_to: Path | None = None,
    tuned_on: Sequence[str] | None = None,
) -> Results:
    """Read what the options name, choose from it, attach what is known, and reduce runs, in this order.

    Without `reduce_training_logs`, runs are reduced only where `--reduce` says how. Logs are added to
    those of `append_to`. Tasks that settings were `tuned_on` are excluded.

    >>> results_from(SourceOptions("atari-dqn-family", drop=["task:*a*"])).tasks[:2]
    ('berzerk', 'bowling')
    """
    from examiner.scores import with_isolated_notes, without_near_identical

    results = _read(options, progress, append_to)
    results = results.keeping(*options.keep or ()).dropping(*options.drop or ())
    results = _untuned(results, tuned_on)
    scales = {name: _scales(name, results.measures[0]) for name in options.scales or ()}
    results = attach(results, scales=scales, tasks=options.tasks, agents=options.agents)
    reduced = _reduced(results, options, reduce_training_logs)
    if options.distinct is not None:
        reduced = without_near_identical(reduced, options.distinct)
    return reduced if reduced.provenance.training else with_isolated_notes(reduced)


def _untuned(results: Results, patterns: Sequence[str] | None) -> Results:
    """Report the tasks that settings were not tuned on, or note that there are no others."""
    if not patterns:
        return results
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
        f"testing on the same tasks overstates performance: play others for the report."
    )


def comparable(results: Results, options: ComparisonOptions) -> Results:
    """Apply `--normalise`, `--success` and `--success-share`, where given.

    >>> results = results_from(SourceOptions("atari-dqn-family"))
    >>> comparable(results, ComparisonOptions("human", "1.0")).measures
    ('success', 'score')
    """
    from examiner.scores import (
        check_reachable,
        judges_as_read,
        mark_success,
        normalise,
        normaliser_name,
    )

    success, share = success_of(options.success), options.success_share
    if (success, share) == (None, None):
        return normalise(results, options.normalise)
    if judges_as_read(options.normalise, success, share):
        measure = results.measures[0]
        return normalise(mark_success(results, success, share=share), options.normalise, measure)
    check_reachable(normaliser_name(results, options.normalise), success)
    return mark_success(normalise(results, options.normalise), success, share=share)


@overload
def classification_from(source: str) -> Classification: ...
@overload
def classification_from(source: str | None) -> Classification | None: ...
def classification_from(source: str | None) -> Classification | None:
    """Return a bundled classification by its name, or read one from a file.

    >>> classification_from("atari-typology")
    Classification of 55 tasks by 9 features
    """
    if source is None:
        return None
    if source not in DATASETS:
        return read_classification(source)
    print_notes(note_on_data_set(source))
    data = load(source)
    if not isinstance(data, Classification):
        raise InputError(
            f"The data set {source!r} is no classification but a {type(data).__name__}. "
            f"Bundled classifications: 'atari-profile', 'atari-typology'."
        )
    return data


def note_on_data_set(name: str) -> tuple[str, ...]:
    """Say that a name is the bundled data set where a file or folder here has the same name.

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


def _reduced(results: Results, options: SourceOptions, by_default: bool) -> Results:
    if options.reduce is None and not (by_default and results.provenance.training):
        return results
    from examiner.scores import reduce as reduce_runs

    return reduce_runs(results, options.reduce)


def _read(
    options: SourceOptions, progress: ProgressCallback | None, append_to: Path | None
) -> Results:
    if options.source in DATASETS:
        return _bundled(options).with_notes(*note_on_data_set(options.source))
    results = read(
        options.source,
        format=options.format,
        layout=options.layout,
        tasks_are=options.tasks_are,
        measure=options.measure,
        item=_item(options.item),
        path=options.path,
        time=options.time,
        items=options.items,
        item_text=options.item_text,
        agent=options.agent_column,
        task=options.task_column,
        run=options.run_column,
        trial=options.trial_column,
        where=options.where or (),
        axes=options.axes,
        append_to=append_to,
        memory=options.memory,
        strict=options.strict,
        progress=progress,
    )
    _check_table_options(options, results.provenance.format)
    return results


def _check_table_options(options: SourceOptions, found: str) -> None:
    """Refuse options of plain tables where what was read is none, or has another layout."""
    plain = found.startswith(("tidy", "wide"))
    given = {"--layout": options.layout, "--tasks-are": options.tasks_are}
    for name, value in given.items():
        if value is not None and not plain:
            raise InputError(
                f"`{name}` is for plain tables, and {shorten(options.source, 200)} is {found!r}. Leave it "
                f"out."
            )
    if options.time not in (None, "none") and found.startswith("wide"):
        raise InputError(
            f"`--time` names a column, and {shorten(options.source, 200)} is a wide table, which has "
            f"tasks as columns. Leave it out."
        )


def _bundled(options: SourceOptions) -> Results:
    data = load(options.source)
    if not isinstance(data, Results):
        raise InputError(
            f"The data set {options.source!r} is no results but a {type(data).__name__}. "
            f"See what it holds with `examiner datasets {options.source}`."
        )
    if options.measure:
        data = data.with_measures(*options.measure)
    item = _item(options.item)
    return data if item is None else data.with_items(*item)


def _item(item: str | None) -> tuple[str, ...] | None:
    if item is None:
        return None
    names = tuple(name.strip() for name in item.split(",") if name.strip())
    if names[:1] != ("task",):
        raise InputError(
            f"An item begins with the task: `--item task` or `--item task,level`, not {shorten(item)}."
        )
    return names[1:]


def _scales(name: str, measure: str) -> Scales:
    if name in DATASETS:
        print_notes(note_on_data_set(name))
        data = load(name)
        if isinstance(data, Scales):
            return data
        if isinstance(data, Results) and data.scales:
            return data.scales
        raise InputError(
            f"The data set {name!r} has no scales but is a {type(data).__name__}. "
            f"Bundled scales: 'atari-human-random'."
        )
    return read_scales(name, measure)
