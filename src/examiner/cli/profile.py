"""`examiner profile`: what games are to an agent, measured by simple play, one row a game."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import playable_games
from examiner.arena.profiling.table import profile_table
from examiner.arena.protocol import PROTOCOLS, usual_protocol
from examiner.arena.protocol import protocol as named_protocol
from examiner.cli.options import OUTPUT, Seeded, argument, option
from examiner.cli.output import progress_bar, show
from examiner.cli.stopping import stopped_in_order
from examiner.messages import InputError
from examiner.reporting.findings import profiles as findings
from examiner.results.storage import check_ending


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """Which games are measured, how long, and where the table goes."""

    games: list[str] | None = argument(
        "GAMES", "The games to measure: Atari games [default: all], or Gymnasium ids.", None
    )
    frames: int = option(30_000, "Frames a game, simulated ones included.", min=1_000)
    output: str | None = option(
        None,
        "CSV to write a row to as each game is done; resumes.",
        *OUTPUT,
        metavar="FILE",
        writes="answer",
    )
    environment: str = option("ale", f"Where games are played: {', '.join(ENVIRONMENTS)}.")
    protocol: str | None = option(
        None, f"Protocol: {', '.join(PROTOCOLS)} [default: the environment's].", metavar="NAME"
    )


def profile(options: ProfileOptions, told: Seeded) -> None:
    """Measure what games are to an agent: rewards, episodes, branching, screens, simple play."""
    if options.games is None and options.environment != "ale":
        raise InputError("Say which games to measure: `examiner profile CartPole-v1 …`.")
    if options.output is not None:
        check_ending(options.output, (".csv",), "profiles")
    name = options.protocol or usual_protocol(options.environment)
    path = None if options.output is None else Path(options.output)
    stopping = nullcontext() if path is None else stopped_in_order(path)
    with stopping, progress_bar("measuring") as progress:
        rows = profile_table(
            options.games or playable_games(),
            path,
            environment=options.environment,
            protocol=named_protocol(name),
            seed=told.seed,
            frames=options.frames,
            progress=progress,
        )
    show(findings.render(rows, path), "examiner.profile/1", told, protocol=name)
