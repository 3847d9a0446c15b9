"""`examiner compare`: one agent and others, compared task by task."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Literal

import click

from examiner.cli import ExitStatus
from examiner.cli.options import (
    GROUP,
    LEVEL,
    REPS,
    USUAL_REPS,
    LevelOptions,
    ScaledOptions,
    Seeded,
    SourceOptions,
    argument,
    option,
)
from examiner.cli.output import ProgressCallback, progress_bar, show
from examiner.cli.source import levelled_and_compared, results_from
from examiner.cli.values import parsed
from examiner.datasets import DATASETS
from examiner.importers import paired
from examiner.messages import InputError, listed, nearest, shorten
from examiner.reporting import Finding, render_comparison, shown_table
from examiner.results import Results
from examiner.scores import Gate, Total, gate, plan, score_unit
from examiner.scores import compare as compare_agents
from examiner.selection import gate as gate_by_few
from examiner.storage import open_selection


def _margin(condition: str) -> float:
    """Understand `--fail-if`: worse, or worse:MARGIN."""
    word, _, number = condition.partition(":")
    complaint = (
        f"The condition is {shorten(condition)}. Give `--fail-if worse` or `--fail-if worse:0.02`."
    )
    if word != "worse":
        raise InputError(complaint)
    return parsed(float, number, complaint) if number else 0.0


@dataclass(frozen=True)
class AgentsOptions:
    """Which agents are compared."""

    names: tuple[str, ...] = argument(
        "A B...",
        "Agents: A is compared with B and each further one. Or OLD: a second SOURCE, where each of the two "
        "has one agent, or OLD AGENT: that agent of OLD.",
    )


@dataclass(frozen=True)
class CompareOptions:
    """How agents are compared, and with which intervals: arguments of `compare`."""

    unit: Literal["runs", "tasks"] | None = option(
        None, "What is resampled [default: runs if every cell has several, else tasks]."
    )
    group: str | None = option(None, GROUP, metavar="COLUMN")
    level: float = option(0.95, LEVEL)
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")


@dataclass(frozen=True)
class GateOptions:
    """Whether the command fails if A (or NEW) is worse than B (or OLD), and what would decide."""

    section: ClassVar[str] = "Gate"
    fail_if: float | None = option(
        None,
        "worse, or worse:MARGIN: exit with status 3 if A is significantly worse than B, and with 0 if it "
        "is not worse by the margin.",
        metavar="CONDITION",
        parse=_margin,
    )
    undecided: Literal["pass", "fail"] = option(
        "pass", "What to do if neither is significant: exit with 0 (pass) or 3 (fail)."
    )
    error_rate: float = option(0.05, "How often either verdict may be wrong.")
    sequential: bool = option(
        False,
        "Test after every task: A has results on some of the tasks of B so far, in random order.",
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
    agents: AgentsOptions,
    how: CompareOptions,
    gating: GateOptions,
    comparison: ScaledOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Compare agents in pairs: difference, probability of improvement, a test, and every common task.

    With several agents, A is compared with each of the others, and p-values are corrected (Holm).
    """
    if gating.summary is not None and str(gating.summary) in agents.names:
        raise InputError(
            f"{shorten(gating.summary, 200)} is read, and the summary would be appended to it. Nothing "
            f"was changed. Choose another file for the summary."
        )
    with progress_bar("reading") as progress:
        read, names = _read(options, agents.names, gating, progress)
        results, total = levelled_and_compared(read, levels, comparison)
        if gating.plan is not None:
            _show_plan(results, names, gating.plan, how, total, printing)
        if gating.fail_if is not None:
            _show_verdict(results, names, gating.fail_if, gating, how, total, printing)
        if gating.plan is not None or gating.fail_if is not None:
            return
        answer = compare_agents(
            results,
            names[0],
            names[1:],
            normalise=None,
            rng=printing.seed,
            total=total,
            **vars(how),
        )
    finding = render_comparison(answer, seed=printing.seed)
    show(finding, printing, read=results, score_unit=score_unit(results))


def _show_plan(
    results: Results,
    names: tuple[str, ...],
    difference: float,
    how: CompareOptions,
    total: Total | None,
    printing: Seeded,
) -> None:
    new, old = _two(names)
    planned = plan(
        results,
        new,
        old,
        difference,
        normalise=None,
        level=how.level,
        total=total,
        group=how.group,
    )
    finding = Finding(blocks=(shown_table(planned.designs),), answer=planned)
    show(finding, printing, read=results, score_unit=score_unit(results))


def _show_verdict(
    results: Results,
    names: tuple[str, ...],
    margin: float,
    gating: GateOptions,
    how: CompareOptions,
    total: Total | None,
    printing: Seeded,
) -> None:
    """Print a verdict, which decides the exit status."""
    new, old = _two(names)
    answer: Gate
    if gating.chosen is not None:
        selection, rate = open_selection(gating.chosen), gating.error_rate
        answer = gate_by_few(results, selection, new, old, margin=margin, error_rate=rate)
        unit = answer.score_unit
    else:
        unit = score_unit(results)
        answer = gate(
            results,
            new,
            old,
            normalise=None,
            margin=margin,
            error_rate=gating.error_rate,
            sequential=gating.sequential,
            total=total,
            unit=how.unit,
            group=how.group,
            rng=printing.seed,
        )
    following = f"Next tasks, in this order: {listed(answer.next_tasks, limit=10)}."
    blocks = (shown_table(answer.agents), following if answer.next_tasks else "")
    finding = Finding(blocks=blocks, about=answer.test, answer=answer)
    show(finding, printing, read=results, score_unit=unit)
    if gating.summary is not None:
        _append(gating.summary, answer.summary)
    if answer.verdict == "fail" or (answer.verdict == "undecided" and gating.undecided == "fail"):
        raise click.exceptions.Exit(ExitStatus.CONDITION_MET)


def _two(names: tuple[str, ...]) -> tuple[str, str]:
    if len(names) != 2:
        raise InputError(f"A gate compares two agents, and {len(names):,} are named. Name two.")
    return names[0], names[1]


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as problem:
        raise InputError(
            f"Cannot write the summary to {shorten(path, 200)}: {problem.strerror}. Name another file."
        ) from None


def _read(
    options: SourceOptions,
    names: tuple[str, ...],
    gating: GateOptions,
    progress: ProgressCallback,
) -> tuple[Results, tuple[str, ...]]:
    """Results and the names of the agents to compare: in one source, or one agent in each of two."""
    results = results_from(options, progress)
    first = names[0]
    is_source = first in DATASETS or Path(first).exists()
    if is_source and (len(names) == 1 or (len(names) == 2 and first not in results.agents)):
        old = results_from(replace(options, source=first), progress)
        if len(names) == 2:
            _check_known(names[1], old, first)
            old = old.where(old.agent_codes == old.agents.index(names[1]))
        by_few = gating.chosen is not None
        lacking = (gating.sequential or by_few, by_few)
        together = paired(results, old, (options.source, first), lacking=lacking)
        return together, together.agents
    for name in names:
        _check_known(name, results, options.source)
    if len(names) == 1:
        raise InputError(
            f"Only the agent {shorten(first)} is named. Name two, `examiner compare SOURCE A B`, or "
            f"give two files with one agent each, `examiner compare NEW OLD`."
        )
    return results, names


def _check_known(agent: str, results: Results, source: str) -> None:
    if agent not in results.agents:
        raise InputError(
            f"There is no agent {agent!r}. {nearest(agent, results.agents)}List the agents with "
            f"`examiner describe {source}`."
        )
