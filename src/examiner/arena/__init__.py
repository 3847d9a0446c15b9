"""Games played under a stated protocol."""

from examiner.arena.agents import AGENTS
from examiner.arena.contract import Task
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.environments.games import (
    TRAINING_GAMES,
    UNSAFE_GAMES,
    game_split,
    game_variant,
    game_variants,
    playable_game,
    playable_games,
)
from examiner.arena.job import Job, Plan, PlannedAgent, PlannedGame, check_job
from examiner.arena.plans import bundled_plans, plan, plan_from_toml
from examiner.arena.play.episodes import Playing
from examiner.arena.play.runner import FailedJob, RunOutcome, Standing, run
from examiner.arena.play.runs import Estimate, ReplayTest, results_of
from examiner.arena.probe import (
    Contrast,
    Probe,
    ProbedPlan,
    ProbedVariant,
    probe,
)
from examiner.arena.profile import Profile, profile, profiled_kinds
from examiner.arena.protocol import PROTOCOLS, Deviation, Protocol, deviations, protocol
from examiner.ledger import Episode, Ledger, export

__all__ = [
    "AGENTS",
    "ENVIRONMENTS",
    "PROTOCOLS",
    "TRAINING_GAMES",
    "UNSAFE_GAMES",
    "Contrast",
    "Deviation",
    "Episode",
    "Estimate",
    "FailedJob",
    "Job",
    "Ledger",
    "Plan",
    "PlannedAgent",
    "PlannedGame",
    "Playing",
    "Probe",
    "ProbedPlan",
    "ProbedVariant",
    "Profile",
    "Protocol",
    "ReplayTest",
    "RunOutcome",
    "Standing",
    "Task",
    "bundled_plans",
    "check_job",
    "deviations",
    "export",
    "game_split",
    "game_variant",
    "game_variants",
    "plan",
    "plan_from_toml",
    "playable_game",
    "playable_games",
    "probe",
    "profile",
    "profiled_kinds",
    "protocol",
    "results_of",
    "run",
]
