"""A table of profiles: one row per game, written as soon as it is measured, so that it resumes."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from examiner.arena.environments.games import playable_game
from examiner.arena.job import Job, check_job
from examiner.arena.profile import MEASURES, Profile, profile
from examiner.arena.profiling.other_play import Achievement
from examiner.arena.protocol import PROTOCOLS, Protocol, usual_protocol
from examiner.messages import InputError, listed, shorten
from examiner.results import write_text

ProfileRow: TypeAlias = dict[str, str]
"""Column → text: `task`, features of the agent-centric schema, other numbers as `measured.…`, `notes`."""

_ALIKE = ("frames", "seed", "protocol")
"""What all rows of one table share."""


def profile_row(profile: Profile) -> ProfileRow:
    """Return a profile as the row of a table: numbers as text, empty where nothing is known.

    >>> row = profile_row(profile("CartPole-v1", environment="gymnasium", frames=1_000))
    >>> row["task"], row["action_space.size"], row["measured.reward_low"], row["measured.frames"]
    ('CartPole-v1', '2', '1', '1000')
    """
    measured: dict[str, object] = {}
    for name in MEASURES:
        measured[name] = getattr(profile, name)
        measured[f"{name}_se"] = profile.errors[name]
    measured |= {"reward_low": profile.reward_low, "reward_high": profile.reward_high}
    measured |= _achieved("lookahead", profile.lookahead)
    measured |= _achieved("open_loop", profile.open_loop)
    measured["open_loop_action"] = "" if profile.open_loop is None else profile.open_loop.action
    measured |= {
        "episodes": profile.episodes,
        "frames": profile.frames,
        "seed": profile.seed,
        "cpu_seconds": round(profile.cpu_seconds, 1),
        "protocol": profile.protocol,
    }
    notes = "; ".join(f"{name}: {reason}" for name, reason in profile.reasons.items())
    return (
        {"task": profile.task, **profile.features}
        | {f"measured.{name}": _text(value) for name, value in measured.items()}
        | {"notes": notes}
    )


def _achieved(name: str, played: Achievement | None) -> dict[str, object]:
    columns: dict[str, object] = {}
    for part in ("score", "random", "share"):
        value, error = (math.nan, math.nan) if played is None else getattr(played, part)
        columns |= {f"{name}_{part}": value, f"{name}_{part}_se": error}
    return columns | {f"{name}_decisions": math.nan if played is None else played.decisions}


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def profile_table(
    games: Sequence[str],
    path: str | Path | None = None,
    *,
    environment: str = "ale",
    protocol: Protocol | None = None,
    seed: int = 0,
    frames: int = 30_000,
    progress: Callable[[str, int, int], None] | None = None,
) -> tuple[ProfileRow, ...]:
    """Measure games one after the other, and write a row of each to a CSV file as soon as it is done.

    Games that the file already has are not measured again; a file measured with other frames, seed or
    protocol is refused. `examiner typology` and `read_classification` read the file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profiles.csv"
    >>> for games in (["CartPole-v1"], ["CartPole-v1", "Acrobot-v1"]):
    ...     rows = profile_table(games, path, environment="gymnasium", frames=1_000)
    >>> [row["task"] for row in rows], path.read_text().count("CartPole")
    (['CartPole-v1', 'Acrobot-v1'], 1)
    """
    protocol = protocol or PROTOCOLS[usual_protocol(environment)]
    rows = {} if path is None else _stored(Path(path), (str(frames), str(seed), protocol.hash))
    wanted = [playable_game(game) if environment == "ale" else game for game in games]
    for game in wanted:
        check_job(Job("random", "random", environment=environment, game=game, protocol=protocol))
    for number, game in enumerate(wanted):
        if progress is not None:
            progress(f"measuring {game}", number, len(wanted))
        if game not in rows:
            measured = profile(
                game, environment=environment, protocol=protocol, seed=seed, frames=frames
            )
            rows[game] = profile_row(measured)
            if path is not None:
                write_text(path, _csv(list(rows.values())))
    return tuple(rows[game] for game in dict.fromkeys(wanted))


def _stored(path: Path, wanted: tuple[str, str, str]) -> dict[str, ProfileRow]:
    """The rows of a table that was begun, if they were measured as is wanted now."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise InputError(
            f"Cannot read {shorten(path, 200)}: {problem}. Name another file."
        ) from None
    for row in rows:
        if None in row or None in row.values() or "measured.protocol" not in row:
            raise InputError(
                f"{shorten(path, 200)} is no table of profiles. Name another file, or move it away."
            )
        stored = tuple(row[f"measured.{name}"] for name in _ALIKE)
        if stored != wanted:
            differs = [
                f"{name} {theirs} instead of {ours}"
                for name, theirs, ours in zip(_ALIKE, stored, wanted, strict=True)
                if theirs != ours
            ]
            raise InputError(
                f"{shorten(path, 200)} holds {shorten(row['task'])} with {listed(differs)}. Name "
                f"another file, or measure as that one was."
            )
    return {row["task"]: row for row in rows}


def _csv(rows: Sequence[ProfileRow]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
