"""`examiner arena design`: search variants of tasks for the one that adds most information."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from examiner.arena import design as search_variants
from examiner.arena import plan as named_plan
from examiner.cli import ExitStatus
from examiner.cli.options import OUTPUT, WORKERS, Seeded, argument, option
from examiner.cli.output import live_table, show
from examiner.cli.stopping import stopped_in_order
from examiner.reporting import finding_of
from examiner.workers import available_cores


@dataclass(frozen=True, slots=True)
class DesignOptions:
    """Which plan is searched, and where its plays are stored."""

    plan: str = argument("PLAN", "The plan, with a table [design]: a file, or a bundled one.")
    output: str | None = option(
        None,
        "Folder of the ledgers [default: the plan's name].",
        *OUTPUT,
        metavar="FOLDER",
        writes="answer",
    )
    workers: int | None = option(None, WORKERS, metavar="N", min=1)
    checkout: str | None = option(
        None, "Your checkout of GVGAI, for its games [default: the plan's].", metavar="FOLDER"
    )


def design(options: DesignOptions, printing: Seeded) -> None:
    """Search variants of tasks for the one that adds most information beyond the plan's games.

    The gain is measured again with fresh seeds and by held-out agents, next to random variants.
    """
    plan = named_plan(options.plan, checkout=options.checkout)
    folder = Path(options.output or plan.name)
    with stopped_in_order(folder), live_table() as watcher:
        answer = search_variants(
            plan,
            folder,
            rng=printing.seed,
            workers=options.workers or available_cores(),
            watcher=watcher,
        )
    show(finding_of(answer), printing, folder=str(folder))
    if len(answer.failed):
        raise click.exceptions.Exit(ExitStatus.SOME_JOBS_FAILED)
