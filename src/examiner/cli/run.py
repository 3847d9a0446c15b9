"""`examiner run`: play a plan, keep every episode, go on where it was left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from examiner.arena.plans.file import plan as named_plan
from examiner.arena.plans.plan import Plan
from examiner.arena.protocol import REFERENCE, deviations
from examiner.arena.running.performance import perform_job
from examiner.arena.running.runner import LEDGER, RunOutcome
from examiner.arena.running.runner import run as run_plan
from examiner.cli.live import live_table
from examiner.cli.options import JsonFlag
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.ledger import export
from examiner.wording import InputError, counted, listed, shorten
from examiner.workers import available_cores
from examiner.workers.crew import Crew

_FAILURES_SHOWN = 20
SOME_FAILED = 1
"""Exit code when the run ended but some jobs failed."""
STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""


def run(
    plan: Annotated[
        str,
        typer.Argument(metavar="PLAN", help="The plan: a TOML file, or the name of a bundled one."),
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER",
            help="Folder of the ledger [default: the plan's name].",
        ),
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            "--workers", metavar="N|ray", help="Local processes, or ray [default: one a core]."
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="ADDRESS", help="A running Ray cluster, or auto."),
    ] = None,
    skip_failed: Annotated[
        bool, typer.Option("--skip-failed", help="Leave jobs alone that failed in an earlier run.")
    ] = False,
    explain_only: Annotated[
        bool,
        typer.Option(
            "--explain", help="Say what would be played and how it deviates; play nothing."
        ),
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Play a plan: agents × games × modes × difficulties × seeds under a stated protocol."""
    planned = named_plan(plan)
    if explain_only:
        _explain(planned, json)
        return
    folder, hands = Path(output or planned.name), _workers(workers, address, planned)
    try:
        with live_table() as watcher:
            outcome = run_plan(
                planned,
                folder / LEDGER,
                workers=hands,
                again=not skip_failed,
                watcher=watcher,
            )
    except KeyboardInterrupt:
        kept = (
            "all episodes so far are kept. The same command goes on with the rest."
            if (folder / LEDGER).exists()
            else "nothing had been played yet."
        )
        print_notes([f"stopped; {kept}"])
        raise typer.Exit(STOPPED) from None
    exported = _exported(outcome, folder / "episodes.parquet")
    _tell(outcome, exported, json)
    if outcome.failed:
        raise typer.Exit(SOME_FAILED)


def _workers(workers: str | None, address: str | None, plan: Plan) -> int | Callable[[], Crew]:
    if workers == "ray":
        return lambda: _ray_crew(address, plan)
    if address is not None:
        raise InputError(
            f"The address {shorten(address)} is that of a Ray cluster: give `--workers ray` with it."
        )
    if workers is None:
        return available_cores()
    if not workers.isdecimal() or int(workers) < 1:
        raise InputError(
            f"The number of workers is {shorten(workers)}. Give a whole number of at least 1, or 'ray'."
        )
    return int(workers)


def _ray_crew(address: str | None, plan: Plan) -> Crew:
    from examiner.workers.cluster import RayCrew

    try:
        return RayCrew(perform_job, address=address, memory_bytes=plan.limits.memory_bytes)
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


def _tell(outcome: RunOutcome, exported: Path | None, json: bool) -> None:
    if json:
        print_json(
            "examiner.run/1",
            {
                "ledger": str(outcome.ledger),
                "episodes_file": None if exported is None else str(exported),
                "jobs": outcome.jobs,
                "done": outcome.done_before + outcome.done,
                "done_before": outcome.done_before,
                "failed": [
                    {
                        "agent": one.job.agent,
                        "game": one.job.game,
                        "mode": one.job.mode,
                        "difficulty": one.job.difficulty,
                        "seed": one.job.seed,
                        "reason": one.reason,
                    }
                    for one in outcome.failed
                ],
                "episodes": outcome.episodes,
                "frames": outcome.frames,
                "seconds": outcome.seconds,
            },
        )
        return
    before = f" ({outcome.done_before:,} before)" if outcome.done_before else ""
    print_line(
        f"{outcome.done_before + outcome.done:,} of {counted(outcome.jobs, 'job')} done{before}; played "
        f"{counted(outcome.episodes, 'episode')}, {counted(outcome.frames, 'frame')} in "
        f"{outcome.seconds:,.1f} s"
    )
    print_line(f"Ledger: {outcome.ledger}")
    if exported is not None:
        print_line(f"Episodes: {exported}   (examiner report {exported})")
    for one in outcome.failed[:_FAILURES_SHOWN]:
        what = f"failed: {one.job.agent} on {one.job.game}, seed {one.job.seed}: {one.reason}"
        print_line(printable(what, limit=1_000))
    if len(outcome.failed) > _FAILURES_SHOWN:
        print_line(f"… and {len(outcome.failed) - _FAILURES_SHOWN:,} more: all are in --json")


def _explain(plan: Plan, json: bool) -> None:
    jobs = plan.jobs()
    apart = deviations(plan.protocol)
    splits = {job.game: plan.split(job.game) for job in jobs}
    if json:
        print_json(
            "examiner.plan/1",
            {
                "name": plan.name,
                "jobs": len(jobs),
                "agents": [agent.name for agent in plan.agents],
                "games": splits,
                "seeds": list(plan.seeds),
                "protocol": plan.protocol.to_dict(),
                "protocol_name": plan.protocol.name,
                "protocol_hash": plan.protocol.hash,
                "deviations": [asdict(one) for one in apart],
            },
        )
        return
    tuning = [game for game, split in splits.items() if split == "train"]
    print_line(
        f"{counted(len(jobs), 'job')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len({(job.game, job.mode, job.difficulty) for job in jobs}), 'variant')} of "
        f"{counted(len(splits), 'game')} × {counted(len(plan.seeds), 'seed')}"
    )
    print_line(
        f"Games for tuning: {listed(tuning)}; all others are for testing"
        if tuning
        else "No game is for tuning: all are for testing"
    )
    print_line(f"Protocol: {plan.protocol.name or 'your own'} ({plan.protocol.hash})")
    if not apart:
        print_line(f"It is {REFERENCE} in every setting.")
        return
    rows = [
        (
            one.setting,
            _shown(one.value),
            _shown(one.reference),
            "free" if one.free else "deviates",
            one.meaning,
        )
        for one in apart
    ]
    header = ("setting", "here", "there", "", "meaning")
    print_table(f"\nHow it deviates from {REFERENCE}", header, rows)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
