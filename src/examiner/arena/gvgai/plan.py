"""Plans of GVGAI plays: agents × games × levels × seeds under rules, read from a table of TOML."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from examiner.arena.gvgai.checkout import CONTROLLERS, Checkout, built, checkout, controller_class
from examiner.arena.gvgai.crew import JavaTongue
from examiner.arena.gvgai.play import GvgaiPlay, GvgaiRules
from examiner.arena.plan import (
    LimitsField,
    LimitsTable,
    Seeds,
    Text,
    Whole,
    folder_name,
    listed_seeds,
    refuse_too_many,
)
from examiner.ledger import JobRecord
from examiner.messages import ExaminerWarning, InputError, counted, shorten
from examiner.validation import Bounds, Wanted, from_record
from examiner.workers import Limits, ProgramCrew

ENVIRONMENT = "gvgai"
"""Model calls an action of controllers that do not search until their time is up."""


@dataclass(frozen=True, slots=True)
class GvgaiAgent:
    """An agent of a plan: a controller of the checkout by its short name, or a class of your own.

    >>> GvgaiAgent("sampleMCTS").name
    'sampleMCTS'
    """

    entry: Text
    name: Text = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.entry)


@dataclass(frozen=True, slots=True, repr=False)
class GvgaiPlan:
    """What is to be played in a checkout of GVGAI; games of None are all that it lists.

    >>> GvgaiPlan((GvgaiAgent("sampleMCTS"),), ("aliens",), levels=(0, 1))
    GvgaiPlan('plan': 1 agent × 1 game × 2 levels × 1 seed, 50 model calls an action)
    """

    agents: tuple[GvgaiAgent, ...]
    games: tuple[str, ...] | None = None
    levels: tuple[int, ...] | None = None
    seeds: tuple[int, ...] = (0,)
    rules: GvgaiRules = field(default_factory=GvgaiRules)
    checkout: Path | None = None
    class_path: tuple[Path, ...] = ()
    limits: Limits = field(default_factory=lambda: LimitsTable().limits)
    name: str = "plan"
    source: str = ""
    folder: Path | None = None

    def __repr__(self) -> str:
        games = "all games" if self.games is None else counted(len(self.games), "game")
        levels = "all levels" if self.levels is None else counted(len(self.levels), "level")
        return (
            f"GvgaiPlan({shorten(self.name)}: {counted(len(self.agents), 'agent')} × {games} × "
            f"{levels} × {counted(len(self.seeds), 'seed')}, {self.rules.name})"
        )

    def jobs(self) -> tuple[GvgaiPlay, ...]:
        """Return every play, agents, games and levels checked against the checkout.

        All agents play the first level of all games, then the second, and so with every seed: whenever
        a run ends early, what there is is balanced.

        >>> GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing")).jobs()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        found = checkout(self.checkout)
        games = found.listed_games() if self.games is None else self.games
        levels = {game: self._levels(game, found) for game in games}
        classes = [controller_class(each.entry, found, self.class_path) for each in self.agents]
        refuse_too_many(len(self.seeds) * len(self.agents) * sum(map(len, levels.values())))
        most = max(map(len, levels.values()))
        return tuple(
            GvgaiPlay(agent.name, entry, game, levels[game][place], seed, self.rules)
            for seed, place, game in product(self.seeds, range(most), games)
            if place < len(levels[game])
            for agent, entry in zip(self.agents, classes, strict=True)
        )

    def record(self, job: GvgaiPlay) -> JobRecord:
        """Return a play as a ledger keeps it; no game of GVGAI is set apart for tuning.

        >>> GvgaiPlan((GvgaiAgent("olets"),)).record(GvgaiPlay("a", "x", "aliens")).split
        'test'
        """
        return job.record()

    def crew(self, count: int, limits: Limits, log: Path | None) -> ProgramCrew:
        """Compile what is needed, and return so many Java processes to play on.

        >>> GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing")).crew(1, Limits(), None)
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        if self.rules.milliseconds is not None:
            warnings.warn(
                f"A budget of {self.rules.name} buys less on a busy machine, and agents may be "
                f"disqualified for it. Play on idle cores, or give a budget of model calls.",
                ExaminerWarning,
                stacklevel=2,
            )
        found = checkout(self.checkout)
        tongue = JavaTongue(found, built(found), self.class_path, self.rules, limits.memory_bytes)
        return ProgramCrew(tongue, count, log=log)

    def versions(self) -> dict[str, str]:
        """Return the versions of the checkout and of Java, which decide what a play looks like.

        >>> GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing")).versions()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        found = checkout(self.checkout)
        return {"gvgai": found.version(), "java": built(found).version}

    def _levels(self, game: str, found: Checkout) -> tuple[int, ...]:
        if self.levels is None:
            return found.levels(game)
        for level in self.levels:
            found.level_file(game, level)
        return self.levels


@dataclass(frozen=True, slots=True)
class _Table:
    """The keys of a plan's file, and what may stand under them."""

    environment: Text
    agents: Annotated[
        tuple[GvgaiAgent, ...],
        Bounds(1),
        Wanted('a table for each: [[agents]] with entry = "sampleMCTS" or the class of your own'),
    ]
    games: Annotated[
        Annotated[tuple[Text, ...], Bounds(1)] | Literal["all"],
        Wanted('a list, for example ["aliens"], or "all"'),
    ] = "all"
    levels: Annotated[
        Annotated[tuple[Whole, ...], Bounds(1)] | Literal["all"],
        Wanted('a list such as [0, 1], or "all"'),
    ] = "all"
    seeds: Seeds = 1
    rules: Annotated[
        Mapping[str, Any],  # Any: checked as rules
        Wanted("a table, for example { model_calls = 50 }"),
    ] = field(default_factory=dict)
    checkout: Text | None = None
    class_path: Annotated[
        tuple[Text, ...], Wanted('a list of folders and jars, for example ["agents/classes"]')
    ] = ()
    limits: LimitsField = field(default_factory=LimitsTable)
    name: Text = ""


def gvgai_plan(
    table: Mapping[str, Any],  # Any: TOML values
    source: str,
    *,
    name: str,
    folder: Path | None,
) -> GvgaiPlan:
    """Understand the table of a plan; paths in it begin at the plan's folder."""
    given = from_record(_Table, table, strict=True, what="plan")
    rules = from_record(GvgaiRules, given.rules, strict=True, what="rules of the plan")
    _refuse_doubles([agent.name for agent in given.agents], "agents")
    games = None if given.games == "all" else given.games
    _refuse_doubles(games or (), "games")
    for agent in given.agents:
        if "." not in agent.entry and agent.entry not in CONTROLLERS:
            controller_class(agent.entry, Checkout(Path()), ())
    return GvgaiPlan(
        agents=given.agents,
        games=games,
        levels=None if given.levels == "all" else tuple(dict.fromkeys(given.levels)),
        seeds=listed_seeds(given.seeds),
        rules=rules,
        checkout=None if given.checkout is None else _from(folder, given.checkout),
        class_path=tuple(_from(folder, entry) for entry in given.class_path),
        limits=given.limits.limits,
        name=folder_name(given.name or name),
        source=source,
        folder=folder,
    )


def _from(folder: Path | None, path: str) -> Path:
    return (folder or Path()) / Path(path).expanduser()


def _refuse_doubles(names: Sequence[str], where: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InputError(
                f"{where}[{index}]: {shorten(name)} is listed twice. Keep one, or rename it."
            )
