"""Plans of GVGAI plays: agents × games × levels × seeds under rules, read from a table of TOML."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from examiner.arena.gvgai.checkout import CONTROLLERS, Checkout, built, checkout, controller_class
from examiner.arena.gvgai.crew import JavaCrew
from examiner.arena.gvgai.play import GvgaiPlay, GvgaiRules
from examiner.arena.plan import (
    NOT_IN_FILES,
    DesignField,
    JobLimits,
    LimitsField,
    Seeds,
    Text,
    Variants,
    refuse_too_many,
)
from examiner.ledger import JobRecord
from examiner.messages import ExaminerWarning, InputError, counted, shorten
from examiner.validation import Bounds, Wanted, from_record
from examiner.workers import Limits

ENVIRONMENT = "gvgai"


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
    """What is to be played in a checkout of GVGAI; by default all games that it lists, with all levels.

    `design` says which variants of levels may be added; `listed` are plays one by one, in place of agents ×
    games × levels × seeds.

    >>> GvgaiPlan((GvgaiAgent("sampleMCTS"),), ("aliens",), levels=(0, 1))
    GvgaiPlan('plan': 1 agent × 1 game × 2 levels × 1 seed, 50 model calls an action)
    """

    agents: Annotated[
        tuple[GvgaiAgent, ...],
        Bounds(1),
        Wanted('a table for each: [[agents]] with entry = "sampleMCTS" or the class of your own'),
    ]
    games: Annotated[
        Annotated[tuple[Text, ...], Bounds(1)] | Literal["all"],
        Wanted('a list, for example ["aliens"], or "all"'),
    ] = "all"
    levels: Variants = "all"
    seeds: Seeds = (0,)
    rules: Annotated[GvgaiRules, Wanted("a table, for example { model_calls = 50 }")] = field(
        default_factory=GvgaiRules
    )
    checkout: Annotated[Path, Wanted("the path of a folder")] | None = None
    class_path: Annotated[
        tuple[Path, ...], Wanted('a list of folders and jars, for example ["agents/classes"]')
    ] = ()
    limits: LimitsField = field(default_factory=JobLimits)
    design: DesignField = None
    name: Text = "plan"
    environment: Text = ENVIRONMENT
    source: str = field(default="", metadata=NOT_IN_FILES)
    folder: Path | None = field(default=None, metadata=NOT_IN_FILES)
    listed: tuple[GvgaiPlay, ...] | None = field(default=None, metadata=NOT_IN_FILES)

    def __repr__(self) -> str:
        games = "all games" if self.games == "all" else counted(len(self.games), "game")
        levels = "all levels" if self.levels == "all" else counted(len(self.levels), "level")
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
        if self.listed is not None:
            return self.listed
        framework = checkout(self.checkout)
        games = framework.listed_games() if self.games == "all" else self.games
        levels = {game: self.levels_of(game) for game in games}
        classes = [
            controller_class(agent.entry, framework, self.class_path) for agent in self.agents
        ]
        seeds = tuple(dict.fromkeys(self.seeds))
        refuse_too_many(len(seeds) * len(self.agents) * sum(map(len, levels.values())))
        most = max(map(len, levels.values()))
        return tuple(
            GvgaiPlay(agent.name, entry, game, levels[game][place], seed, self.rules)
            for seed, place, game in product(seeds, range(most), games)
            if place < len(levels[game])
            for agent, entry in zip(self.agents, classes, strict=True)
        )

    def record(self, job: GvgaiPlay) -> JobRecord:
        """Return a play as a ledger keeps it; no game of GVGAI is set apart for tuning.

        >>> GvgaiPlan((GvgaiAgent("olets"),)).record(GvgaiPlay("a", "x", "aliens")).split
        'test'
        """
        return job.record()

    def of_jobs(self, variants: Mapping[GvgaiPlay, str]) -> GvgaiPlan:
        """Return a plan of just these plays; the game's name says which variant each plays.

        >>> GvgaiPlan((GvgaiAgent("olets"),)).of_jobs({}).jobs()
        ()
        """
        return replace(self, listed=tuple(variants))

    def job_by(self, agent: GvgaiAgent, job: GvgaiPlay, seed: int) -> GvgaiPlay:
        """Return the play of another agent, with another seed, on the same level.

        >>> plan = GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing"))
        >>> plan.job_by(plan.agents[0], GvgaiPlay("a", "x", "aliens"), 3)
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        entry = controller_class(agent.entry, checkout(self.checkout), self.class_path)
        return replace(job, agent=agent.name, entry=entry, seed=seed)

    def crew(self, count: int, limits: Limits, log: Path | None) -> JavaCrew:
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
        return JavaCrew(
            checkout(self.checkout),
            self.class_path,
            self.rules,
            count,
            memory_mib=limits.memory_mib,
            log=log,
        )

    def versions(self) -> dict[str, str]:
        """Return the versions of the checkout and of Java, which decide what a play looks like.

        >>> GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing")).versions()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        framework = checkout(self.checkout)
        return {"gvgai": framework.version(), "java": built(framework).version}

    def levels_of(self, game: str) -> tuple[int, ...]:
        """Return the levels of a game that are played: those of the plan, else the first five it has.

        >>> GvgaiPlan((GvgaiAgent("olets"),), checkout=Path("missing")).levels_of("aliens")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
        """
        games = checkout(self.checkout)
        if self.levels == "all":
            return games.levels(game)
        for level in self.levels:
            games.level_file(game, level)
        return tuple(dict.fromkeys(self.levels))


def gvgai_plan(table: dict[str, Any], folder: Path | None) -> GvgaiPlan:  # Any: TOML values
    """Understand the table of a plan; paths in it begin at the plan's folder."""

    def path(given: Any) -> Any:
        text = isinstance(given, str) and given
        return (folder or Path()) / Path(given).expanduser() if text else given

    if "checkout" in table:
        table["checkout"] = path(table["checkout"])
    if isinstance(table.get("class_path"), list):
        table["class_path"] = [path(entry) for entry in table["class_path"]]
    plan = from_record(GvgaiPlan, table, strict=True, what="plan")
    _refuse_doubles([agent.name for agent in plan.agents], "agents")
    _refuse_doubles(() if plan.games == "all" else plan.games, "games")
    for agent in plan.agents:
        if "." not in agent.entry and agent.entry not in CONTROLLERS:
            controller_class(agent.entry, Checkout(Path()), ())
    return plan


def _refuse_doubles(names: Sequence[str], where: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise InputError(
                f"{where}[{index}]: {shorten(name)} is listed twice. Keep one, or rename it."
            )
