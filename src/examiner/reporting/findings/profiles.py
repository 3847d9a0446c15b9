"""Profiles of games: what simple play measures, the classes of each game, and the processor time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examiner.answers import Column, Scalar, StoredAnswer, Table
from examiner.arena import LAST_PLAYS, MEASURES, ProfileRow, profiled_kinds
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, shown_table
from examiner.reporting.prose import named
from examiner.results import Classification
from examiner.typology import SCHEMAS, Dimension, conform

SCHEMA = "agent-centric"
MEASURED = "measured."
NO_REWARD = "no reward"
"""A class that the next reward would change: always uncertain."""

_ERRORS = {
    "action_space.branching": "branching_se",
    "observation.change": "screen_change_se",
    "episode.length": "episode_frames_se",
    "reward.density": "reward_density_se",
    "play.open_loop": "open_loop_share_se",
}
"""Dimension → the column of its standard error."""

_SHOWN = (
    *("game", "episode_frames", "reward_density", "reward_delay", "branching", "screen_change"),
    *("lookahead_share", "open_loop_share"),
)
_TITLES = {
    "episode_frames": "length",
    "reward_density": "density",
    "reward_delay": "delay",
    "screen_change": "change",
    "lookahead_share": "lookahead",
    "open_loop_share": "constant",
}


def render_profiles(rows: Sequence[ProfileRow], path: Path | None = None) -> Finding:
    """Show the profiles of games, the classes they are in, and which of these are uncertain.

    >>> from examiner.arena import profile_table
    >>> rows = profile_table(["CartPole-v1"], environment="gymnasium", frames=1_000)
    >>> render_profiles(rows).data["classes"][0]["action_space.size"]
    'up to 4'
    """
    answer = _answer(rows)
    table = "" if path is None else f"Table: {named(str(path))}   (examiner typology {path})"
    blocks = (
        shown_table(answer.stored_tables["games"], _SHOWN),
        Notes(answer.notes, "Note"),
        table,
    )
    return Finding("profiles", "Profiles of games", blocks=blocks, answer=answer)


def _answer(rows: Sequence[ProfileRow]) -> StoredAnswer:
    """The profiles as a table of games and a table of their classes."""
    seconds = [float(row[MEASURED + "cpu_seconds"]) for row in rows]
    frames = int(rows[0][MEASURED + "frames"])
    headline = (
        f"{counted(len(rows), 'game')} measured in {frames:,} frames each: "
        f"{sum(seconds):,.0f} s of processor time, {max(seconds):,.1f} s for the slowest."
    )
    kinds = classes(rows)
    features = [Column(feature, "text", f"Class by {feature}") for feature in kinds.features]
    values = {feature: kinds.feature(feature) for feature in kinds.features}
    class_table = Table.of(
        [Column("game", "name", "Game"), *features], {"game": kinds.tasks} | values
    )
    doubtful = [f"{row['task']} ({', '.join(unsure(row))})" for row in rows if unsure(row)]
    note = f"Another seed may give another class, near a limit: {'; '.join(doubtful)}."
    return StoredAnswer(
        "examiner.profile/1",
        headline,
        {"games": _games(rows), "classes": class_table},
        {"games_measured": Scalar(len(rows), "Number of games")},
        (note,) if doubtful else (),
        {"seed": int(rows[0][MEASURED + "seed"]), "frames": frames},
    )


def _games(rows: Sequence[ProfileRow]) -> Table:
    parts = [(Column("game", "name", "Game"), "task")]
    for name, (meaning, unit) in MEASURES.items():
        value = Column(name, "number", meaning, unit, _TITLES.get(name, ""))
        error = Column(f"{name}_error", "number", "Standard error", title="±", of=name)
        parts += [(value, MEASURED + name), (error, f"{MEASURED}{name}_se")]
    parts.append((Column("cpu_seconds", "number", "Processor time", "s"), MEASURED + "cpu_seconds"))
    for name, key, meaning in (
        ("actions", "action_space.size", "Number of actions, or continuous"),
        ("determinism", "dynamics.determinism", "Whether the same actions lead to the same states"),
        ("open_loop_action", MEASURED + "open_loop_action", "The best constant action"),
        ("notes", "notes", "Why a value or its standard error is missing"),
    ):
        parts.append((Column(name, "text", meaning), key))
    values: dict[str, list[Any]] = {  # Any: as the column declares
        column.name: [
            _number(row.get(key, "")) if column.kind == "number" else row[key] for row in rows
        ]
        for column, key in parts
    }
    uncertain = Column("uncertain", "words", "Dimensions whose class another seed may change")
    columns = [*(column for column, _ in parts), uncertain]
    values["uncertain"] = [unsure(row) for row in rows]
    return Table.of(columns, values, caption="Measured by simple play")


def classes(rows: Sequence[ProfileRow]) -> Classification:
    """Return the games of a table of profiles in the classes of the agent-centric schema.

    >>> from examiner.arena import profile_table
    >>> rows = profile_table(["CartPole-v1"], environment="gymnasium", frames=1_000)
    >>> classes(rows).feature("dynamics.determinism")
    ('stochastic',)
    """
    return conform(profiled_kinds(rows), SCHEMA)


def unsure(row: Mapping[str, str]) -> list[str]:
    """Return the dimensions whose number has a limit between classes within its 95 % interval, or no error.

    The interval is Student's: lengths are means over a few episodes, constant actions over three plays.

    >>> unsure({"reward.density": "0.0101", "measured.reward_density_se": "0.002"})
    ['reward.density']
    >>> unsure({"reward.density": "0.0301", "measured.reward_density_se": "0.002"})
    []
    """
    degrees = {
        "episode.length": _number(row.get(MEASURED + "episodes", "")) - 1,
        "play.open_loop": LAST_PLAYS - 1,
    }
    return [
        name
        for name, error in _ERRORS.items()
        if name in row
        and (
            row[name] == NO_REWARD
            or _near(
                SCHEMAS[SCHEMA].dimension(name),
                _number(row[name]),
                _number(row[MEASURED + error]),
                degrees.get(name, math.inf),
            )
        )
    ]


def _near(dimension: Dimension, value: float, error: float, degrees: float) -> bool:
    from scipy.special import stdtrit  # scipy takes half a second to import

    if math.isnan(value) or math.isnan(error):
        return math.isnan(error) and not math.isnan(value)
    reach = float(stdtrit(min(degrees, 1e9), 0.975)) * error  # of the 95 % interval
    return any(abs(value - limit) < reach for limit in dimension.limits)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
