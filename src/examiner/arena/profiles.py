"""Tables of profiles: one row per game, written as soon as it is measured, so that it resumes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from examiner.arena.environments.games import playable_game
from examiner.arena.job import Job, check_job
from examiner.arena.profile import ProfileRow, profile
from examiner.arena.protocol import PROTOCOLS, Protocol, usual_protocol
from examiner.messages import InputError, listed, shorten
from examiner.results import Classification, write_text

_ALIKE = ("frames", "seed", "protocol")  # for all rows of one table


def profiled_kinds(rows: Sequence[ProfileRow]) -> Classification:
    """Return rows of profiles as a classification that the agent-centric schema understands.

    >>> game = profile("CartPole-v1", environment="gymnasium", frames=1_000)
    >>> profiled_kinds([game.row]).feature("observation.dimensions")
    ('4',)
    """
    if not rows:
        raise InputError("There are no profiles. Measure at least one game with profile.")
    names = [name for name in rows[0] if "." in name and not name.startswith("measured.")]
    return Classification(
        tasks=tuple(row["task"] for row in rows),
        features=tuple(names),
        values=tuple(tuple(row[name] for name in names) for row in rows),
        source="measured by simple play",
    )


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
            rows[game] = profile(
                game, environment=environment, protocol=protocol, seed=seed, frames=frames
            ).row
            if path is not None:
                text = io.StringIO()
                writer = csv.DictWriter(text, list(rows[game]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows.values())
                write_text(path, text.getvalue())
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
