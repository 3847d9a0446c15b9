"""Profiles: what games are to an agent, the classes that makes of them, and what measuring cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from examiner.arena.profiling.other_play import LAST_PLAYS
from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Piece, Record, Table
from examiner.results import Classification
from examiner.typology import SCHEMAS, Dimension, conform

SCHEMA = "agent-centric"
MEASURED = "measured."
NEAR = 0.975
"""A number is near a limit where the limit lies within the interval of so much on either side of it."""
NO_REWARD = "no reward"
"""A class that the next play may end: never sure."""

_ERRORS = {
    "action_space.branching": "branching_se",
    "observation.change": "screen_change_se",
    "episode.length": "episode_frames_se",
    "reward.density": "reward_density_se",
    "play.open_loop": "open_loop_share_se",
}
"""Dimension → the column of its standard error."""

_COLUMNS = (
    Column("game", "name", key="task"),
    Column("length", "number", "frames of an episode", "episode.length"),
    Column("density", "number", "share of decisions with a reward", "reward.density"),
    Column("delay", "text", "decisions until the first reward", "measured.reward_delay"),
    Column("next", "text", "different next states over actions", "action_space.branching"),
    Column("change", "number", "share of what is seen that changes", "observation.change"),
    Column(
        "ahead", "text", "share of one step of foresight, 0.5 as random", "measured.lookahead_share"
    ),
    Column("held", "text", "share of the best held action, likewise", "play.open_loop"),
    Column("CPU s", "number", "processor time", "measured.cpu_seconds"),
)


def tell(rows: Sequence[Mapping[str, str]], path: Path | None = None) -> Finding:
    """Tell rows of a table of profiles, the classes they are in, and which of these are not sure.

    >>> from examiner.arena import profile_table
    >>> rows = profile_table(["CartPole-v1"], environment="gymnasium", frames=1_000)
    >>> tell(rows).data["games"][0]["classes"]["action_space.size"]
    'up to 4'
    """
    kinds = classes(rows)
    found: list[Record] = [
        {name: _value(text) for name, text in row.items()}
        | {"classes": dict(zip(kinds.features, values, strict=True)), "unsure": unsure(row)}
        for row, values in zip(rows, kinds.values, strict=True)
    ]
    seconds = [float(row[MEASURED + "cpu_seconds"]) for row in rows]
    lead = (
        f"{counted(len(rows), 'game')} in {int(rows[0][MEASURED + 'frames']):,} frames each: "
        f"{sum(seconds):,.0f} s of processor time, {max(seconds):,.1f} s for the slowest."
    )
    blocks: list[Piece] = [Table.of(map(_shown, found), _COLUMNS, "Measured by simple play")]
    doubtful = [
        f"{row['task']} ({', '.join(map(str, row['unsure']))})" for row in found if row["unsure"]
    ]
    if doubtful:
        blocks.append(
            Text(("Near a limit, another seed may give another class: ", Name("; ".join(doubtful))))
        )
    if path is not None:
        blocks.append(Text(("Table: ", Name(f"{path}   (examiner typology {path})"))))
    about = f"Seed {rows[0][MEASURED + 'seed']}."
    return Finding("profiles", "What games are to an agent", lead, tuple(blocks), {"games": found},
                   about=about)  # fmt: skip


def classes(rows: Sequence[Mapping[str, str]]) -> Classification:
    """Return the games of a table of profiles in the classes of the agent-centric schema.

    >>> from examiner.arena import profile_table
    >>> rows = profile_table(["CartPole-v1"], environment="gymnasium", frames=1_000)
    >>> classes(rows).feature("dynamics.determinism")
    ('stochastic',)
    """
    names = [name for name in SCHEMAS[SCHEMA].names if name in rows[0]]
    known = Classification(
        tuple(row["task"] for row in rows),
        tuple(names),
        tuple(tuple(row[name] for name in names) for row in rows),
        source="measured by simple play",
    )
    return conform(known, SCHEMA)


def unsure(row: Mapping[str, str]) -> list[str]:
    """Return the dimensions whose number has a limit between classes within its 95 % interval, or no error.

    The interval is Student's: lengths rest on some episodes, held actions on three plays.

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
    reach = float(stdtrit(min(degrees, 1e9), NEAR)) * error
    return any(abs(value - limit) < reach for limit in dimension.limits)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _value(text: str) -> object:
    """A number as such; NaN where nothing was written, words as they are."""
    number = _number(text)
    return text if math.isnan(number) and text else number


def _shown(row: Record) -> Record:
    """The row with each share and its standard error in one cell, and other numbers short."""
    cells = dict(row)
    for name, error in (
        ("measured.lookahead_share", "measured.lookahead_share_se"),
        ("play.open_loop", "measured.open_loop_share_se"),
    ):
        if isinstance(row[name], float) and not math.isnan(row[error]):
            cells[name] = f"{row[name]:.2f}±{row[error]:.2f}"
    for name in ("measured.lookahead_share", "play.open_loop", "action_space.branching"):
        if isinstance(cells[name], float):
            cells[name] = "–" if math.isnan(cells[name]) else f"{cells[name]:.3g}"
    delay = row["measured.reward_delay"]
    return cells | {
        "measured.reward_delay": f"{delay:.3g}" if math.isfinite(delay) else "none seen"
    }
