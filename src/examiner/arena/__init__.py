"""Games played under a stated protocol."""

from examiner.arena.agent import Task
from examiner.arena.agents import AGENTS
from examiner.arena.deviation import Deviation, deviations
from examiner.arena.environments import ENVIRONMENTS
from examiner.arena.games import (
    TRAINING_GAMES,
    UNSAFE_GAMES,
    game_split,
    game_variant,
    game_variants,
    playable_game,
    playable_games,
)
from examiner.arena.job import Job
from examiner.arena.play import Episode, Playing, check_job
from examiner.arena.profile import Profile, profile_game, profiled_kinds
from examiner.arena.protocol import PROTOCOLS, Protocol, named_protocol

__all__ = [
    "AGENTS",
    "ENVIRONMENTS",
    "PROTOCOLS",
    "TRAINING_GAMES",
    "UNSAFE_GAMES",
    "Deviation",
    "Episode",
    "Job",
    "Playing",
    "Profile",
    "Protocol",
    "Task",
    "check_job",
    "deviations",
    "game_split",
    "game_variant",
    "game_variants",
    "named_protocol",
    "playable_game",
    "playable_games",
    "profile_game",
    "profiled_kinds",
]
