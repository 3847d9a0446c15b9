"""`examiner arena run`: play a plan, store every episode, resume where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from examiner.arena import LEDGER, AnyPlan, GvgaiPlan, Plan, RunOutcome, packages_of, perform_job
from examiner.arena import plan as named_plan
from examiner.arena import run as run_plan
from examiner.cli import ExitStatus
from examiner.cli.options import OUTPUT, Printing, argument, option
from examiner.cli.output import live_table, show
from examiner.cli.stopping import stopped_in_order
from examiner.ledger import export, repair
from examiner.messages import InputError, shorten
from examiner.reporting import Finding, render_gvgai_plan, render_plan, render_repair, render_run
from examiner.workers import Crew, available_cores


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Which plan is played, where it is stored, and on which processes."""

    plan: str | None = argument(
        "PLAN", "The plan: a TOML file, or the name of a bundled one.", None
    )
    output: str | None = option(
        None,
        "Folder of the ledger [default: the plan's name].",
        *OUTPUT,
        metavar="FOLDER",
        writes="answer",
    )
    workers: str | None = option(
        None, "Number of local processes, or ray [default: one per core].", metavar="N|ray"
    )
    address: str | None = option(None, "Address of a Ray cluster, or auto.", metavar="ADDRESS")
    checkout: str | None = option(
        None, "Your checkout of GVGAI, for its games [default: the plan's].", metavar="FOLDER"
    )
    skip_failed: bool = option(
        False, "Do not retry jobs that failed in an earlier run.", "--skip-failed"
    )
    repair: str | None = option(
        None,
        "Copy what is readable of a damaged ledger to a new folder; play nothing.",
        metavar="FOLDER",
    )
    explain: bool = option(
        False,
        "Show what would be played, the frames, and deviations from the protocol; play nothing.",
        "--explain",
    )


def run(options: RunOptions, printing: Printing) -> None:
    """Play a plan: agents × games × modes × difficulties × seeds under a stated protocol."""
    if options.repair is not None:
        repaired = repair(options.repair, options.output)
        show(render_repair(repaired), printing)
        return
    if options.plan is None:
        raise InputError("No plan is named. Name one: `examiner arena run PLAN`.")
    planned = named_plan(options.plan, checkout=options.checkout)
    if options.explain:
        show(_explained(planned), printing, "plan")
        return
    workers = _workers(options.workers, options.address, planned)
    folder = Path(options.output or planned.name)
    with stopped_in_order(folder), live_table() as watcher:
        outcome = run_plan(
            planned,
            folder / LEDGER,
            workers=workers,
            again=not options.skip_failed,
            watcher=watcher,
        )
    outcome = replace(outcome, episodes_file=_exported(outcome, folder / "episodes.parquet"))
    show(render_run(outcome), printing)
    if outcome.failures:
        raise click.exceptions.Exit(ExitStatus.SOME_JOBS_FAILED)


def _explained(plan: AnyPlan) -> Finding:
    return render_gvgai_plan(plan) if isinstance(plan, GvgaiPlan) else render_plan(plan)


def _workers(workers: str | None, address: str | None, plan: AnyPlan) -> int | Callable[[], Crew]:
    if workers == "ray":
        if isinstance(plan, GvgaiPlan):
            raise InputError(
                "GVGAI games are played on local Java processes: give their number, `--workers N`."
            )
        return lambda: _ray_crew(address, plan)
    if workers is None:
        return available_cores()
    if not workers.isdecimal() or int(workers) < 1:
        raise InputError(
            f"The number of workers is {shorten(workers)}. Give a whole number of at least 1, or 'ray'."
        )
    return int(workers)


def _ray_crew(address: str | None, plan: Plan) -> Crew:
    from examiner.workers import RayCrew  # imports Ray, which few have

    try:
        return RayCrew(
            perform_job,
            address=address,
            memory_mib=plan.limits.memory_mib,
            modules=packages_of(plan.jobs()),
        )
    except ValueError as problem:
        raise InputError(str(problem)) from None


def _exported(outcome: RunOutcome, path: Path) -> Path | None:
    """The episodes as Parquet; None where there are none yet."""
    try:
        return export(outcome.ledger, path)
    except InputError as problem:
        if "holds no" in str(problem):
            return None
        raise
