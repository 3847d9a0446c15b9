"""Plans: all the jobs of a study as its file states them, and their budgets of frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from examiner.arena.environments.games import (
    TRAINING_GAMES,
    game_variant,
    game_variants,
    playable_game,
)
from examiner.arena.job import Job, check_job
from examiner.arena.protocol import PROTOCOLS, Protocol
from examiner.ledger import JobRecord
from examiner.messages import InputError, counted, shorten
from examiner.results import atari_game
from examiner.validation import Bounds, Wanted
from examiner.workers import Limits

MOST_JOBS = 1_000_000
"""More take minutes to list and gigabytes to keep, before the first is played."""

Text = Annotated[str, Bounds(1, words="text")]
Count = Annotated[int, Bounds(1, words="a whole number of at least 1")]
Whole = Annotated[int, Bounds(0, words="a whole number of at least 0")]
Seeds = Annotated[
    tuple[Whole, ...],
    Bounds(1),
    Wanted(f"how many there are, up to {MOST_JOBS:,}, or a list such as [0, 1, 2]"),
]
_Limit = Annotated[
    float,
    # Above 0, and below what clocks and systems can still count.
    Bounds(5e-324, 1e12, "a number above 0 and below 1e+12"),
]


@dataclass(frozen=True, slots=True)
class JobLimits(Limits):
    """The limits of a job, as a plan states them: by default an agent hangs after a silent hour."""

    job_seconds: _Limit | None = None
    silent_seconds: _Limit | None = 3600.0
    memory_mib: _Limit | None = None


LimitsField = Annotated[JobLimits, Wanted("a table, for example { job_seconds = 3600 }")]


def refuse_too_many(jobs: int) -> None:
    """Refuse a plan of more jobs than a run may have.

    >>> refuse_too_many(5_490)
    """
    if jobs > MOST_JOBS:
        raise InputError(
            f"The plan has {jobs:,} jobs, seeds × games × agents, and a run may have {MOST_JOBS:,}. "
            f"Give it fewer seeds, or make several plans of it."
        )


Variants = Annotated[
    Annotated[tuple[Whole, ...], Bounds(1)] | Literal["all"],
    Wanted('a list of whole numbers, or "all"'),
]
Settings = Annotated[
    Mapping[str, Any],  # Any: values of TOML, which the agent's factory takes or refuses
    Wanted("a table, for example { epsilon = 0.05 }"),
]


@dataclass(frozen=True, slots=True)
class PlannedAgent:
    """An agent of a plan, by default called like its entry; what is None is the plan's.

    The frame skip is a setting that the protocol leaves to the agent.

    >>> PlannedAgent("random").name
    'random'
    """

    entry: Text
    name: Text = ""
    settings: Settings = field(default_factory=dict)
    observation: Text | None = None
    episodes: Count | None = None
    frames: Count | None = None
    seeds: Seeds | None = None
    frame_skip: Count | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.entry)


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """A game of a plan; no modes or difficulties are the protocol's, or the game's default."""

    name: Text
    modes: Variants | None = None
    difficulties: Variants | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The modes and difficulties in which `flavours` evaluates; None are those that are learnt on."""

    modes: Variants | None = None
    difficulties: Variants | None = None


_Probability = Annotated[float, Bounds(0, 1, "a probability between 0 and 1")]


@dataclass(frozen=True, slots=True)
class VariedGame:
    """A game whose settings are varied: every combination of the values is a variant.

    Modes and difficulties are those of an Atari game, levels those of a GVGAI game. `settings` are keyword
    arguments of a Gymnasium environment, or parameters of a GVGAI game, each with a list of values. None
    leaves a setting as the plan has it.
    """

    game: Text
    modes: Variants | None = None
    difficulties: Variants | None = None
    levels: Variants | None = None
    frame_skip: Annotated[tuple[Count, ...], Bounds(1)] | None = None
    sticky_probability: Annotated[tuple[_Probability, ...], Bounds(1)] | None = None
    settings: Annotated[
        Mapping[str, Any],  # Any: values of TOML, which the environment takes or refuses
        Wanted("a table of lists, for example { is_slippery = [true, false] }"),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DesignBudget:
    """The table `[design]` of a plan: which variants are searched, by whom, and with how many plays.

    `generator` names a function (`module:function`) that returns further variants, each a table like
    those of `variants` with single values. `held_out` are agents of the plan that take no part in the
    search. `plays` is the budget of everything: a play is one run of one agent on one task. Each round
    of the search starts with `runs` per cell; the result is measured again with `confirming_runs`, next
    to `random_variants` drawn at random. `measure` is what counts in a play; only GVGAI games have wins.
    """

    variants: tuple[VariedGame, ...] = ()
    generator: Text | None = None
    held_out: tuple[str, ...] = ()
    plays: Count = 5_000
    runs: Annotated[int, Bounds(2, words="a whole number of at least 2")] = 4
    confirming_runs: Annotated[int, Bounds(2, words="a whole number of at least 2")] = 20
    random_variants: Count = 8
    measure: Literal["score", "win"] = "score"


DesignField = Annotated[
    DesignBudget | None, Wanted("a table, for example { plays = 5000, held_out = [] }")
]


NOT_IN_FILES = MappingProxyType({"stored": False})
"""Metadata of what is known of a plan besides what its file states."""


class Learnt(NamedTuple):
    """What an agent has behind it: training episodes of another job, their frames, and what it saved."""

    episodes: int
    frames: int
    saved: bytes | None


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What is to be played. `source` is its text, `folder` where its agents are looked for first.

    `modes` and `difficulties` are those of games that name none.
    `evaluated` says in which other modes and difficulties agents are judged once they have learnt,
    `design` which variants of tasks may be added. `listed` are jobs one by one, in place of agents ×
    games × seeds; `variants` names what they play, where mode and difficulty do not say it, and `learnt`
    has what agents have behind them.

    >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),), seeds=(0, 1), episodes=2)
    >>> plan
    Plan('plan': 1 agent × 1 game × 2 seeds under machado-2018)
    >>> [job.seed for job in plan.jobs()]
    [0, 1]
    """

    agents: Annotated[
        tuple[PlannedAgent, ...],
        Bounds(1),
        Wanted('a table for each: [[agents]] with entry = "random" or entry = "module:factory"'),
    ]
    games: Annotated[
        tuple[
            Annotated[
                PlannedGame, Wanted('a name, or a table such as { name = "pong", modes = [0, 1] }')
            ],
            ...,
        ],
        Bounds(1),
        Wanted('a list, for example ["pong"], or "all", or "training"'),
    ]
    modes: Variants | None = None
    difficulties: Variants | None = None
    seeds: Seeds = (0,)
    protocol: Protocol = PROTOCOLS["machado-2018"]
    environment: Text = "ale"
    observation: Text = "raw"
    episodes: Count | None = None
    frames: Count | None = None
    tuning_games: Annotated[tuple[str, ...], Wanted('a list of games, for example ["freeway"]')] = (
        TRAINING_GAMES
    )
    limits: LimitsField = field(default_factory=JobLimits)
    evaluated: Annotated[
        Evaluated, Wanted('a table, for example { modes = "all", difficulties = [0, 1] }')
    ] = field(default_factory=Evaluated)
    design: DesignField = None
    name: Text = "plan"
    source: str = field(default="", metadata=NOT_IN_FILES)
    folder: Path | None = field(default=None, metadata=NOT_IN_FILES)
    listed: tuple[Job, ...] | None = field(default=None, metadata=NOT_IN_FILES)
    variants: Mapping[Job, str] = field(default_factory=dict, metadata=NOT_IN_FILES)
    learnt: Mapping[Job, Learnt] = field(default_factory=dict, metadata=NOT_IN_FILES)

    def __repr__(self) -> str:
        return (
            f"Plan({shorten(self.name)}: {counted(len(self.agents), 'agent')} × "
            f"{counted(len(self.games), 'game')} × {counted(len(self.seeds), 'seed')} under "
            f"{self.protocol.name or 'a protocol of its own'})"
        )

    def jobs(self) -> tuple[Job, ...]:
        """Return every job, games, modes and difficulties checked.

        All agents and games come with the first seed, then with the second: whenever a run ends
        early, they have been played about as often.

        >>> Plan((PlannedAgent("random"),), (PlannedGame("pong", modes=(9,)),)).jobs()
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The game 'pong' has no mode 9. It has 0, 1.
        """
        if self.listed is not None:
            return self.listed
        variants = [variant for game in self.games for variant in self._variants(game)]
        seeds = {agent.name: self.seeds_of(agent) for agent in self.agents}
        refuse_too_many(len(variants) * sum(map(len, seeds.values())))
        most = max(map(len, seeds.values()), default=0)
        return tuple(
            self._job(agent, *variant, seeds[agent.name][place])
            for place, variant, agent in product(range(most), variants, self.agents)
            if place < len(seeds[agent.name])
        )

    def seeds_of(self, agent: PlannedAgent) -> tuple[int, ...]:
        """Return the seeds with which an agent is played: its own, or the plan's.

        >>> plan = Plan((), (), seeds=(0, 1, 2))
        >>> plan.seeds_of(PlannedAgent("random")), plan.seeds_of(PlannedAgent("dqn", seeds=(0, 1)))
        ((0, 1, 2), (0, 1))
        """
        return tuple(dict.fromkeys(self.seeds if agent.seeds is None else agent.seeds))

    def with_fewer_seeds(self, count: int) -> Plan:
        """Return the plan with at most so many seeds per agent, the first ones.

        >>> Plan((PlannedAgent("dqn", seeds=(4, 5, 6)),), (), seeds=(0, 1, 2)).with_fewer_seeds(2).seeds
        (0, 1)
        """
        if count < 1:
            raise InputError(f"Cannot play a plan with {count} seeds. Give at least 1.")
        agents = [replace(agent, seeds=self.seeds_of(agent)[:count]) for agent in self.agents]
        return replace(self, agents=tuple(agents), seeds=self.seeds[:count])

    def evaluated_variants(self, game: str) -> tuple[tuple[int | None, int | None], ...]:
        """Return the modes and difficulties of a game that agents are judged in, those learnt on first.

        >>> wanted = Evaluated(difficulties=(0, 1))
        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),), evaluated=wanted)
        >>> plan.evaluated_variants("pong")
        ((0, 0), (0, 1))
        """
        names = (atari_game(planned.name) or planned.name for planned in self.games)
        planned = dict(zip(names, self.games, strict=True))[game]
        judged = PlannedGame(
            planned.name,
            self.evaluated.modes or planned.modes,
            self.evaluated.difficulties or planned.difficulties,
        )
        variants = (*self._variants(planned), *self._variants(judged))
        return tuple(dict.fromkeys(variant[1:] for variant in variants))

    def versions(self) -> dict[str, str]:
        """Return the versions of what plays beside packages of Python: nothing.

        >>> Plan((PlannedAgent("random"),), (PlannedGame("pong"),)).versions()
        {}
        """
        return {}

    def record(self, job: Job) -> JobRecord:
        """Return a job as a ledger keeps it, with what its game is for.

        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("freeway"),))
        >>> plan.record(plan.jobs()[0]).split
        'train'
        """
        return job.record(self.split(job.game))._replace(variant=self.variants.get(job))

    def of_jobs(self, variants: Mapping[Job, str]) -> Plan:
        """Return a plan of just these jobs, each with the name of the variant it plays.

        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),))
        >>> plan.of_jobs({}).jobs()
        ()
        """
        return replace(self, listed=tuple(variants), variants=variants, tuning_games=())

    def job_by(self, agent: PlannedAgent, job: Job, seed: int) -> Job:
        """Return the job of another agent, with another seed, on the same task.

        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),))
        >>> job = plan.job_by(PlannedAgent("no-op"), plan.jobs()[0], 3)
        >>> job.agent, job.game, job.seed
        ('no-op', 'pong', 3)
        """
        other = self._job(agent, job.game, job.mode, job.difficulty, seed)
        return replace(other, protocol=job.protocol)

    def split(self, game: str) -> str:
        """Say whether settings may be tuned on a game: "train", else "test".

        >>> plan = Plan((PlannedAgent("random"),), (PlannedGame("pong"),))
        >>> plan.split("freeway"), plan.split("pong")
        ('train', 'test')
        """
        return "train" if game in self.tuning_games else "test"

    def _job(
        self,
        agent: PlannedAgent,
        game: str,
        mode: int | None = None,
        difficulty: int | None = None,
        seed: int = 0,
    ) -> Job:
        return Job(
            agent.name,
            agent.entry,
            agent.settings,
            agent.observation or self.observation,
            self.environment,
            game,
            mode,
            difficulty,
            seed,
            self.protocol
            if agent.frame_skip is None
            else replace(self.protocol, frame_skip=agent.frame_skip),
            agent.episodes or self.episodes,
            agent.frames or self.frames,
        )

    def _variants(self, game: PlannedGame) -> list[tuple[str, int | None, int | None]]:
        modes, difficulties = game.modes or self.modes, game.difficulties or self.difficulties
        if self.environment != "ale":
            if modes or difficulties:
                raise InputError(
                    f"The game {shorten(game.name)} of the environment {shorten(self.environment)} has "
                    f"no modes or difficulties. Leave them out."
                )
            # One's own environment is looked at where it is played: to look is to run its code.
            observations = set() if ":" in game.name else {a.observation for a in self.agents}
            for observation in observations:
                check_job(self._job(PlannedAgent("random", observation=observation), game.name))
            return [(game.name, None, None)]
        name = playable_game(game.name)
        if modes == "all":
            modes = game_variants(name).modes
        if difficulties == "all":
            difficulties = game_variants(name).difficulties
        wanted = product(
            modes or (self.protocol.mode,), difficulties or (self.protocol.difficulty,)
        )
        return [(name, *game_variant(name, *variant)) for variant in dict.fromkeys(wanted)]


class FrameBudget(NamedTuple):
    """The most frames that all jobs of an agent play; infinite where nothing bounds them."""

    agent: str
    jobs: int
    training_frames: float
    evaluation_frames: float


def frame_budgets(plan: Plan) -> tuple[FrameBudget, ...]:
    """Return how many frames each agent of a plan plays at most, without playing any.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["pong"]\\nepisodes = 2\\n[[agents]]\\nentry = "random"')
    >>> frame_budgets(plan)
    (FrameBudget(agent='random', jobs=1, training_frames=36000, evaluation_frames=0),)
    """
    budgets: dict[str, FrameBudget] = {}
    for job in plan.jobs():
        longest = job.protocol.max_episode_frames or math.inf
        # The last episode begins before the last frame, and only its length limits it from there.
        by_frames = math.inf if job.last_frame is None else job.last_frame + longest
        by_episodes = math.inf if job.episodes is None else job.episodes * longest
        evaluated = job.protocol.evaluation_episodes * len(job.protocol.report_shares)
        before = budgets.get(job.agent, FrameBudget(job.agent, 0, 0, 0))
        budgets[job.agent] = FrameBudget(
            job.agent,
            before.jobs + 1,
            before.training_frames + min(by_frames, by_episodes),
            before.evaluation_frames + (evaluated * longest if evaluated else 0),
        )
    return tuple(budgets.values())
