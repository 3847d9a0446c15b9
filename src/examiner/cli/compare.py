"""`examiner compare`: one agent and others, compared task by task."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import click

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
    parsed,
)
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import results_from
from examiner.datasets import DATASETS
from examiner.importers import Reading, joined
from examiner.messages import InputError, counted, listed, nearest, shorten
from examiner.reporting import Finding, Piece, Text, render_comparison, shown_table
from examiner.results import Provenance, Results
from examiner.scores import Total, averaging_notes, gate, plan, score_unit
from examiner.scores import compare as compare_agents
from examiner.selection import gate as gate_by_few
from examiner.storage import open_selection

ComparedUnit = Literal["runs", "tasks"]
CONDITION_MET = 3
"""The exit status if a condition set by the user is met."""


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """Which agents are compared, and with which intervals."""

    names: list[str] = argument(
        "A B...",
        "Agents: A is compared with B and each further one. Or OLD: a second SOURCE, where each of the two "
        "has one agent, or OLD AGENT: that agent of OLD.",
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


@dataclass(frozen=True, slots=True)
class GateOptions:
    """Whether the command fails if A (or NEW) is worse than B (or OLD), and what would decide."""

    section: ClassVar[str] = "Gate"
    fail_if: str | None = option(
        None,
        "worse, or worse:MARGIN: exit with status 3 if A is significantly worse than B, and with 0 if it "
        "is not worse by the margin.",
        metavar="CONDITION",
    )
    undecided: Literal["pass", "fail"] = option(
        "pass", "What to do if neither is shown: exit with 0 (pass) or 3 (fail)."
    )
    error_rate: float = option(0.05, "How often either verdict may be wrong.")
    sequential: bool = option(
        False,
        "Look after every task: A has results of some tasks of B so far, given in random order.",
        "--sequential",
    )
    chosen: Path | None = option(
        None,
        "Compare scores on the whole benchmark, predicted from the results of A and B on its tiny version: "
        "tasks stored by `distil -o` or `select -o`.",
        "--with",
        metavar="FILE",
    )
    summary: Path | None = option(
        None,
        "Append the verdict to this file, in Markdown, for a pull request.",
        metavar="FILE",
        writes="answer",
    )
    plan: float | None = option(
        None, "List how many tasks and attempts detect this difference.", metavar="DIFFERENCE"
    )


def compare(
    options: SourceOptions,
    who: CompareOptions,
    gating: GateOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Compare agents in pairs: difference, probability of improvement, a test, and every common task.

    With several agents, A is compared with each of the others, and p-values are corrected (Holm).
    """
    with progress_bar("reading") as progress:
        margin = _margin(gating.fail_if)
        if margin is None and (
            gating.sequential or gating.summary or gating.chosen or gating.undecided == "fail"
        ):
            raise InputError(
                "--sequential, --with, --summary and --undecided belong to a gate. Add `--fail-if worse`."
            )
        if gating.summary is not None and str(gating.summary) in who.names:
            raise InputError(
                f"{shorten(gating.summary, 200)} is read, and the summary would be appended to it. Nothing "
                f"was changed. Choose another file for the summary."
            )
        fewer_tasks = (gating.sequential or gating.chosen is not None, gating.chosen is not None)
        read, names = _read(options, who.names, progress, fewer_tasks)
        if gating.chosen is not None:
            _refuse_with(gating, who, levels, comparison)
        prepared = levelled_and_compared(read, levels, comparison)
        results = prepared.results
        if comparison.normalise is None:
            results = results.with_notes(*averaging_notes(results))
        if margin is not None or gating.plan is not None:
            _gate(results, names, margin, who, gating, prepared.total, printing)
            return
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


def _margin(condition: str | None) -> float | None:
    """Understand `--fail-if`: worse, or worse:MARGIN."""
    if condition is None:
        return None
    word, _, number = condition.partition(":")
    complaint = (
        f"The condition is {shorten(condition)}. Give `--fail-if worse` or `--fail-if worse:0.02`."
    )
    if word != "worse":
        raise InputError(complaint)
    return parsed(float, number, complaint) if number else 0.0


def _refuse_with(
    gating: GateOptions, who: CompareOptions, levels: LevelOptions, comparison: ComparisonOptions
) -> None:
    """Refuse options that a tiny version has settled."""
    others = {
        "--sequential": gating.sequential,
        "--plan": gating.plan is not None,
        "--unit": who.unit is not None,
        "--group": who.group is not None,
        "--normalise, --success or --success-share": comparison != ComparisonOptions(),
        "--by, --average, --weights or --chance": levels != LevelOptions(),
    }
    for names, used in others.items():
        if used:
            raise InputError(
                f"The stored tasks predict scores as they were stored, without {names}. Leave out {names}, "
                f"or `--with`."
            )


def _gate(
    results: Results,
    names: list[str],
    margin: float | None,
    who: CompareOptions,
    gating: GateOptions,
    total: Total | None,
    printing: Seeded,
) -> None:
    """Print a plan, or a verdict that decides the exit status."""
    if len(names) != 2:
        raise InputError(f"A gate compares two agents, and {len(names):,} are named. Name two.")
    new, old = names
    unit = score_unit(results)
    if gating.plan is not None:
        planned = plan(
            results, new, old, gating.plan, level=who.level, total=total, group=who.group
        )
        finding = Finding(
            lead=planned.headline, blocks=(shown_table(planned.designs),), answer=planned
        )
        show(finding, printing, read=results, score_unit=unit)
    if margin is None:
        return
    if gating.chosen is not None:
        selection, rate = open_selection(gating.chosen), gating.error_rate
        answer = gate_by_few(results, selection, new, old, margin=margin, error_rate=rate)
        unit = answer.score_unit
    else:
        answer = gate(
            results,
            new,
            old,
            margin=margin,
            error_rate=gating.error_rate,
            sequential=gating.sequential,
            total=total,
            unit=who.unit,
            group=who.group,
            rng=printing.seed,
        )
    blocks: list[Piece] = [shown_table(answer.agents)]
    if answer.next_tasks:
        blocks.append(Text(f"Next tasks, in this order: {listed(answer.next_tasks, limit=10)}."))
    finding = Finding(lead=answer.headline, blocks=tuple(blocks), about=answer.test, answer=answer)
    show(finding, printing, read=results, score_unit=unit)
    if gating.summary is not None:
        append_text(gating.summary, answer.summary)
    if answer.verdict == "fail" or (answer.verdict == "undecided" and gating.undecided == "fail"):
        raise click.exceptions.Exit(CONDITION_MET)


def append_text(path: Path, text: str) -> None:
    """Append a text to a file, or refuse in one sentence."""
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as problem:
        raise InputError(
            f"Cannot write the summary to {shorten(path, 200)}: {problem.strerror}. Name another file."
        ) from None


def _read(
    options: SourceOptions,
    names: list[str],
    progress: ProgressCallback,
    fewer_tasks: tuple[bool, bool],
) -> tuple[Results, list[str]]:
    """Results and the names of the agents to compare: in one source, or one agent in each of two.

    `fewer_tasks`: whether the first, and the second, of two sources may lack tasks of the other.
    """
    results = results_from(options, progress)
    second = names[0] in DATASETS or Path(names[0]).exists()
    if second and (len(names) == 1 or (len(names) == 2 and names[0] not in results.agents)):
        old = results_from(replace(options, source=names[0]), progress)
        sources = ((options.source, results), (names[0], old))
        return _of_two(sources, names[1:], fewer_tasks)
    for name in names:
        _refuse_unknown(name, results, options.source)
    if len(names) == 1:
        raise InputError(
            f"Only the agent {shorten(names[0])} is named. Name two, `examiner compare SOURCE A B`, or "
            f"give two files with one agent each, `examiner compare NEW OLD`."
        )
    return results, names


def _of_two(
    sources: tuple[tuple[str, Results], tuple[str, Results]],
    agent_of_old: list[str],
    fewer_tasks: tuple[bool, bool],
) -> tuple[Results, list[str]]:
    """Join the one agent of NEW and the one of OLD, or the agent of OLD that is named."""
    (new, of_new), (old, of_old) = sources
    _refuse_same(new, old)
    if agent_of_old:
        _refuse_unknown(agent_of_old[0], of_old, old)
        of_old = of_old.where(of_old.agent_codes == of_old.agents.index(agent_of_old[0]))
    for source, results in ((new, of_new), (old, of_old)):
        if len(results.agents) != 1:
            raise InputError(
                f"{shorten(source, 200)} has {counted(len(results.agents), 'agent')}, and two "
                f"files are compared by one agent each. Keep one with `--keep agent:NAME`, name the agent "
                f"of the second, `examiner compare NEW OLD AGENT`, or compare agents of one source: "
                f"`examiner compare SOURCE A B`."
            )
    _refuse_incomparable((new, of_new), (old, of_old), fewer_tasks)
    if of_new.agents == of_old.agents:
        of_new, of_old = _renamed(of_new, new), _renamed(of_old, old)
    origin = Provenance(source=f"{new} and {old}")
    together = joined([Reading(of_new), Reading(of_old)], origin).results
    return together, [*of_new.agents, *of_old.agents]


def _refuse_unknown(agent: str, results: Results, source: str) -> None:
    if agent not in results.agents:
        raise InputError(
            f"There is no agent {agent!r}. {nearest(agent, results.agents)}List the agents with "
            f"`examiner describe {source}`."
        )


def _refuse_same(new: str, old: str) -> None:
    paths = [Path(source) for source in (new, old)]
    if new == old or (all(path.exists() for path in paths) and paths[0].samefile(paths[1])):
        kind = "folder" if paths[0].is_dir() else "file" if paths[0].exists() else "data set"
        raise InputError(
            f"Both sources are the same {kind}: {shorten(new, 200)}. Give two, or compare agents of one "
            f"source: `examiner compare SOURCE A B`."
        )


def _refuse_incomparable(
    new: tuple[str, Results], old: tuple[str, Results], fewer_tasks: tuple[bool, bool]
) -> None:
    """Refuse sources with other measures, items, versions or tasks, but for those that each may lack."""
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
    for column in ("version", "task_version", "benchmark_version"):
        if column in one.attributes and column in other.attributes:
            versions = [
                sorted({str(value) for value in part.column(column)}) for part in (one, other)
            ]
            if versions[0] != versions[1]:
                raise InputError(
                    f"The two sources are of different versions of the benchmark: {column} is "
                    f"{listed(versions[0])} in {names[0]}, {listed(versions[1])} in {names[1]}. Evaluate "
                    f"both on one version."
                )
    common_tasks = set(one.tasks) & set(other.tasks)
    if not common_tasks:
        raise InputError(
            f"The two sources have no task in common: {listed(one.tasks, limit=3)} in {names[0]}, "
            f"{listed(other.tasks, limit=3)} in {names[1]}. Check how each names its tasks with "
            f"`examiner describe SOURCE`."
        )
    for name, results, lacking in zip(names, (one, other), reversed(fewer_tasks), strict=True):
        extra = sorted(set(results.tasks) - common_tasks)
        if extra and not lacking:
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
