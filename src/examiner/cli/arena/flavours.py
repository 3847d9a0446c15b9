"""`examiner arena flavours`: train in one mode and difficulty of a game, evaluate in others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from examiner.arena import flavours as play_flavours
from examiner.arena import plan_of_frames
from examiner.cli import ExitStatus
from examiner.cli.options import OUTPUT, WORKERS, Tabled, argument, option
from examiner.cli.output import live_table, show
from examiner.cli.stopping import stopped_in_order
from examiner.reporting import print_line, render_flavours
from examiner.workers import available_cores

JUDGED = "judged.parquet"
"""Every judged episode, in the folder of the ledger."""


@dataclass(frozen=True, slots=True)
class FlavourOptions:
    """Which plan is played, where it is stored, and the length of the evaluation."""

    plan: str = argument("PLAN", "The plan: a TOML file, or the name of a bundled one.")
    output: str | None = option(
        None,
        "Folder of the ledger [default: the plan's name].",
        *OUTPUT,
        metavar="FOLDER",
        writes="answer",
    )
    episodes: int = option(10, "Episodes per run in each flavour, without learning.", min=1)
    workers: int | None = option(None, WORKERS, metavar="N", min=1)


def flavours(options: FlavourOptions, printing: Tabled) -> None:
    """Play a plan, then evaluate its agents in modes and difficulties that they were not trained in."""
    plan = plan_of_frames(options.plan)
    folder = Path(options.output or plan.name)
    with stopped_in_order(folder), live_table() as watcher:
        answer = play_flavours(
            plan,
            folder,
            episodes=options.episodes,
            workers=options.workers or available_cores(),
            watcher=watcher,
        )
    if answer.judged is not None:
        answer.judged.save(folder / JUDGED)
    show(render_flavours(answer), printing, folder=str(folder))
    if printing.for_people and answer.judged is not None:
        print_line(f"\nJudged: {folder / JUDGED}")
    if len(answer.failed):
        raise click.exceptions.Exit(ExitStatus.SOME_JOBS_FAILED)
