"""Two tables of one agent each as one table, so that the agents can be compared."""

from __future__ import annotations

import shlex
from pathlib import Path

from examiner.importers.readings import Reading, joined
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import Provenance, Results

VERSIONS = ("version", "task_version", "benchmark_version")
"""Columns that say of which version of a benchmark a result is."""


def paired(
    new: Results,
    old: Results,
    sources: tuple[str, str],
    *,
    lacking: tuple[bool, bool] = (False, False),
) -> Results:
    """Join two tables of one agent each; refuse other measures, items, versions or tasks.

    `sources` are named in errors, and tell agents of one name apart. `lacking` says whether the first, and
    the second, may lack tasks of the other.

    >>> new, old = (Results.from_numpy([[score]], ["dqn"], ["pong"]) for score in (1.0, 2.0))
    >>> paired(new, old, ("monday", "friday")).agents
    ('dqn (monday)', 'dqn (friday)')
    """
    _refuse_same(*sources)
    tables = [new, old]
    for source, results in zip(sources, tables, strict=True):
        if len(results.agents) != 1:
            raise InputError(
                f"{shorten(source, 200)} has {counted(len(results.agents), 'agent')}, and two "
                f"files are compared by one agent each. Keep one with `--keep agent:NAME`, name the agent "
                f"of the second, `examiner compare NEW OLD AGENT`, or compare agents of one source: "
                f"`examiner compare SOURCE A B`."
            )
    _refuse_incomparable(new, old, [shorten(source, 200) for source in sources], lacking)
    if new.agents == old.agents:
        tables = [
            _renamed(results, f"{results.agents[0]} ({source})")
            for source, results in zip(sources, tables, strict=True)
        ]
    origin = Provenance(source=f"{sources[0]} and {sources[1]}")
    return joined([Reading(results) for results in tables], origin).results


def _refuse_same(new: str, old: str) -> None:
    paths = [Path(source) for source in (new, old)]
    if new == old or (all(path.exists() for path in paths) and paths[0].samefile(paths[1])):
        kind = "folder" if paths[0].is_dir() else "file" if paths[0].exists() else "data set"
        raise InputError(
            f"Both sources are the same {kind}: {shorten(new, 200)}. Give two, or compare agents of one "
            f"source: `examiner compare SOURCE A B`."
        )


def _refuse_incomparable(
    new: Results, old: Results, names: list[str], lacking: tuple[bool, bool]
) -> None:
    if new.measures[0] != old.measures[0]:
        common = [name for name in new.measures if name in old.measures]
        advice = (
            f"Compare one that both have: `--measure {shlex.quote(common[0])}`."
            if common
            else "If they measure the same, give the columns one name."
        )
        raise InputError(
            f"The two sources have different measures: {listed(new.measures)} in {names[0]}, "
            f"{listed(old.measures)} in {names[1]}. {advice}"
        )
    if new.item != old.item:
        columns = [listed(results.item) or "no further column" for results in (new, old)]
        raise InputError(
            f"Items are identified by the task and {columns[0]} in {names[0]}, by the task and "
            f"{columns[1]} in {names[1]}. Compare whole tasks: `--item task`."
        )
    for column in VERSIONS:
        if column in new.attributes and column in old.attributes:
            versions = [
                sorted({str(value) for value in part.column(column)}) for part in (new, old)
            ]
            if versions[0] != versions[1]:
                raise InputError(
                    f"The two sources are of different versions of the benchmark: {column} is "
                    f"{listed(versions[0])} in {names[0]}, {listed(versions[1])} in {names[1]}. Evaluate "
                    f"both on one version."
                )
    common_tasks = set(new.tasks) & set(old.tasks)
    if not common_tasks:
        raise InputError(
            f"The two sources have no task in common: {listed(new.tasks, limit=3)} in {names[0]}, "
            f"{listed(old.tasks, limit=3)} in {names[1]}. Check how each names its tasks with "
            f"`examiner describe SOURCE`."
        )
    for name, results, other_may_lack in zip(names, (new, old), reversed(lacking), strict=True):
        extra = sorted(set(results.tasks) - common_tasks)
        if extra and not other_may_lack:
            raise InputError(
                f"The two sources do not have the same tasks: {counted(len(extra), 'task')} only in "
                f"{name}: {listed(extra)}. Keep the common tasks with `--keep task:GLOB`."
            )


def _renamed(results: Results, name: str) -> Results:
    columns = results.to_dict() | {"agent": [name] * len(results)}
    return Results.from_dict(
        columns,
        measures=results.measures,
        item=results.item,
        scales=results.scales,
        provenance=results.provenance,
    )
