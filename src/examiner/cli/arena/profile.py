"""`examiner arena profile`: properties of games measured by simple play, one row per game."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from examiner.arena import ENVIRONMENTS, PROTOCOLS, playable_games, profile_table, usual_protocol
from examiner.arena import protocol as named_protocol
from examiner.cli.options import OUTPUT, Seeded, argument, option
from examiner.cli.output import progress_bar, show
from examiner.cli.stopping import stopped_in_order
from examiner.messages import InputError
from examiner.reporting import render_profiles
from examiner.results import check_ending


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """Which games are measured, for how long, and where the table is stored."""

    games: tuple[str, ...] = argument(
        "GAMES", "The games to measure: Atari games [default: all], or Gymnasium ids.", ()
    )
    frames: int = option(30_000, "Frames per game, including simulated ones.", min=1_000)
    output: str | None = option(
        None,
        "CSV file that gets one row after each game; an existing file is continued.",
        *OUTPUT,
        metavar="FILE",
        writes="answer",
    )
    environment: str = option("ale", f"Environment: {', '.join(ENVIRONMENTS)}.")
    protocol: str | None = option(
        None, f"Protocol: {', '.join(PROTOCOLS)} [default: the environment's].", metavar="NAME"
    )


def profile(options: ProfileOptions, printing: Seeded) -> None:
    """Measure properties of games by simple play: rewards, episodes, branching, screens."""
    if not options.games and options.environment != "ale":
        raise InputError(
            "No game is named. Name the games to measure: `examiner arena profile CartPole-v1 …`."
        )
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
            seed=printing.seed,
            frames=options.frames,
            progress=progress,
        )
    show(render_profiles(rows, path), printing, "profile", protocol=name)
