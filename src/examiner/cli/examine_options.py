"""The options of `examiner examine`: who answers, how tasks are chosen, when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from examiner.cli.options import SourceOptions


@dataclass(frozen=True, slots=True)
class OracleOptions(SourceOptions):
    """The results that answer, with the options of any results."""

    source: Annotated[
        str,
        typer.Option(
            "--oracle",
            metavar="SOURCE",
            help="Results that answer for the agent: a file, folder, pattern or bundled data set.",
            show_default=False,
        ),
    ] = ""


@dataclass(frozen=True, slots=True)
class ChoosingOptions:
    """How the next task is chosen."""

    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            help="information, posterior-information, posterior-variance, kullback-leibler, "
            "mutual-information or random.",
        ),
    ] = "information"
    among: Annotated[
        int, typer.Option("--among", metavar="N", help="Choose at random among the N best tasks.")
    ] = 1
    exposure: Annotated[
        float | None,
        typer.Option(
            "--exposure", metavar="SHARE", help="Give no task to more than this share of agents."
        ),
    ] = None
    costs: Annotated[
        str | None,
        typer.Option(
            "--costs",
            metavar="COLUMN|FILE",
            help="What tasks cost: a table with task and cost, or a column of the oracle's results.",
        ),
    ] = None
    balance: Annotated[
        str | None,
        typer.Option(
            "--balance",
            metavar="COLUMN|SOURCE",
            help="Balance kinds of task: a column of --tasks, or a classification.",
        ),
    ] = None
    trials: Annotated[
        int, typer.Option("--trials", min=1, help="Trials that one asking of a task takes.")
    ] = 1
    uncertainty: Annotated[
        str,
        typer.Option(
            "--uncertainty", help="Errors of the fit that are counted: all, tasks or none."
        ),
    ] = "all"


@dataclass(frozen=True, slots=True)
class StopOptions:
    """When the examination ends."""

    standard_error: Annotated[
        float | None,
        typer.Option("--standard-error", help="End at this standard error of the ability."),
    ] = None
    budget: Annotated[
        float | None, typer.Option("--budget", help="The most that all tasks may cost.")
    ] = None
    most: Annotated[
        int | None, typer.Option("--most", metavar="N", help="The most tasks to give.")
    ] = None
    least: Annotated[
        int, typer.Option("--least", metavar="N", help="The fewest tasks to give.")
    ] = 1
    better_than: Annotated[
        str | None,
        typer.Option(
            "--better-than",
            metavar="AGENT|ABILITY",
            help="End when it is clear whether the agent is better.",
        ),
    ] = None
    certainty: Annotated[
        float, typer.Option("--certainty", help="The probability that makes a decision clear.")
    ] = 0.95
