"""`examiner compare`: one agent and others, compared task by task."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from examiner.cli.levels import LevelOptions, levelled_and_compared
from examiner.cli.options import (
    LEVEL,
    REPS,
    USUAL_REPS,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    argument,
    option,
)
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import results_from
from examiner.datasets import DATASETS
from examiner.importers import Reading, joined
from examiner.messages import InputError, counted, listed, nearest, shorten
from examiner.reporting import render_comparison
from examiner.results import Provenance, Results
from examiner.scores import averaging_notes, score_unit
from examiner.scores import compare as compare_agents

ComparedUnit = Literal["runs", "tasks"]


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Which agents are compared, and with which intervals."""

    names: list[str] = argument(
        "A B...",
        "Agents: A is compared with B and each further one. Or, alone, OLD: a second SOURCE, where each "
        "of the two has one agent.",
    )
    unit: ComparedUnit | None = option(
        None, "What is resampled [default: runs if every cell has several, else tasks]."
    )
    group: str | None = option(
        None,
        "Column of groups of tasks (repository, passage, game) that are drawn as a whole; none takes tasks "
        "as independent [default: groups that are found are announced].",
        metavar="COLUMN",
    )
    level: float = option(0.95, LEVEL)
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")


def compare(
    options: SourceOptions,
    who: CompareOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Compare agents in pairs: difference, probability of improvement, a test, and every common task.

    With several agents, A is compared with each of the others, and p-values are corrected (Holm).
    """
    with progress_bar("reading") as progress:
        read, names = _read(options, who.names, progress)
        prepared = levelled_and_compared(read, levels, comparison)
        results = prepared.results
        if comparison.normalise is None:
            results = results.with_notes(*averaging_notes(results))
        answer = compare_agents(
            results,
            names[0],
            names[1:],
            rng=printing.seed,
            level=who.level,
            reps=who.reps,
            total=prepared.total,
            unit=who.unit,
            group=who.group,
        )
    finding = render_comparison(answer, seed=printing.seed)
    show(finding, printing, read=results, score_unit=score_unit(results))


def _read(
    options: SourceOptions, names: list[str], progress: ProgressCallback
) -> tuple[Results, list[str]]:
    """Results and the names of the agents to compare: in one source, or one agent in each of two."""
    if len(names) == 1 and (names[0] in DATASETS or Path(names[0]).exists()):
        return _of_two(options, replace(options, source=names[0]), progress)
    results = results_from(options, progress)
    for name in names:
        if name not in results.agents:
            raise InputError(
                f"There is no agent {name!r}. {nearest(name, results.agents)}List the agents with "
                f"`examiner describe {options.source}`."
            )
    if len(names) == 1:
        raise InputError(
            f"Only the agent {shorten(names[0])} is named. Name two, `examiner compare SOURCE A B`, or "
            f"give two files with one agent each, `examiner compare NEW OLD`."
        )
    return results, names


def _of_two(
    new: SourceOptions, old: SourceOptions, progress: ProgressCallback
) -> tuple[Results, list[str]]:
    _refuse_same(new.source, old.source)
    parts = []
    for options in (new, old):
        results = results_from(options, progress)
        if len(results.agents) != 1:
            raise InputError(
                f"{shorten(options.source, 200)} has {counted(len(results.agents), 'agent')}, and two "
                f"files are compared by one agent each. Keep one with `--keep agent:NAME`, or compare "
                f"agents of one source: `examiner compare SOURCE A B`."
            )
        parts.append((options.source, results))
    _refuse_incomparable(*parts)
    if parts[0][1].agents == parts[1][1].agents:
        parts = [(source, _renamed(results, source)) for source, results in parts]
    origin = Provenance(source=f"{new.source} and {old.source}")
    together = joined([Reading(results) for _, results in parts], origin).results
    return together, [results.agents[0] for _, results in parts]


def _refuse_same(new: str, old: str) -> None:
    paths = [Path(source) for source in (new, old)]
    if new == old or (all(path.exists() for path in paths) and paths[0].samefile(paths[1])):
        kind = "folder" if paths[0].is_dir() else "file" if paths[0].exists() else "data set"
        raise InputError(
            f"Both sources are the same {kind}: {shorten(new, 200)}. Give two, or compare agents of one "
            f"source: `examiner compare SOURCE A B`."
        )


def _refuse_incomparable(new: tuple[str, Results], old: tuple[str, Results]) -> None:
    """Refuse two sources with different measures, items or tasks."""
    names = [shorten(source, 200) for source, _ in (new, old)]
    one, other = new[1], old[1]
    if one.measures[0] != other.measures[0]:
        common = [name for name in one.measures if name in other.measures]
        advice = (
            f"Compare one that both have: `--measure {shlex.quote(common[0])}`."
            if common
            else ("If they measure the same, give the columns one name.")
        )
        raise InputError(
            f"The two sources have different measures: {listed(one.measures)} in {names[0]}, "
            f"{listed(other.measures)} in {names[1]}. {advice}"
        )
    if one.item != other.item:
        columns = [listed(results.item) or "no further column" for results in (one, other)]
        raise InputError(
            f"Items are identified by the task and {columns[0]} in {names[0]}, by the task and "
            f"{columns[1]} in {names[1]}. Compare whole tasks: `--item task`."
        )
    common_tasks = set(one.tasks) & set(other.tasks)
    if not common_tasks:
        raise InputError(
            f"The two sources have no task in common: {listed(one.tasks, limit=3)} in {names[0]}, "
            f"{listed(other.tasks, limit=3)} in {names[1]}. Check how each names its tasks with "
            f"`examiner describe SOURCE`."
        )
    for name, results in zip(names, (one, other), strict=True):
        extra = sorted(set(results.tasks) - common_tasks)
        if extra:
            raise InputError(
                f"The two sources do not have the same tasks: {counted(len(extra), 'task')} only in "
                f"{name}: {listed(extra)}. Keep the common tasks with `--keep task:GLOB`."
            )


def _renamed(results: Results, source: str) -> Results:
    """The agent with its source, since both sources have one of the same name."""
    columns = results.to_dict() | {"agent": [f"{results.agents[0]} ({source})"] * len(results)}
    return Results.from_dict(
        columns,
        measures=results.measures,
        item=results.item,
        scales=results.scales,
        provenance=results.provenance,
    )
