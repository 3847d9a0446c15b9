"""Games played under a stated protocol."""

from typing import TYPE_CHECKING

from examiner.arena.agents import AGENTS as AGENTS
from examiner.arena.contract import Task as Task
from examiner.arena.contrasts import ProbedPlan as ProbedPlan
from examiner.arena.contrasts import StickyContrasts as StickyContrasts
from examiner.arena.contrasts import contrasts as contrasts
from examiner.arena.contrasts import probe_plan as probe_plan
from examiner.arena.design import DesignedTask as DesignedTask
from examiner.arena.design import design as design
from examiner.arena.environments import ENVIRONMENTS as ENVIRONMENTS
from examiner.arena.environments.games import TRAINING_GAMES as TRAINING_GAMES
from examiner.arena.environments.games import UNSAFE_GAMES as UNSAFE_GAMES
from examiner.arena.environments.games import game_split as game_split
from examiner.arena.environments.games import game_variant as game_variant
from examiner.arena.environments.games import game_variants as game_variants
from examiner.arena.environments.games import playable_game as playable_game
from examiner.arena.environments.games import playable_games as playable_games
from examiner.arena.episodes import Playing as Playing
from examiner.arena.episodes import results_of as results_of
from examiner.arena.flavours import FlavourGaps as FlavourGaps
from examiner.arena.flavours import Flavours as Flavours
from examiner.arena.flavours import flavours as flavours
from examiner.arena.flavours import gaps as gaps
from examiner.arena.gvgai.checkout import CONTROLLERS as CONTROLLERS
from examiner.arena.gvgai.plan import GvgaiAgent as GvgaiAgent
from examiner.arena.gvgai.plan import GvgaiPlan as GvgaiPlan
from examiner.arena.gvgai.play import GvgaiPlay as GvgaiPlay
from examiner.arena.gvgai.play import GvgaiRules as GvgaiRules
from examiner.arena.job import Flavour as Flavour
from examiner.arena.job import Job as Job
from examiner.arena.job import check_job as check_job
from examiner.arena.plan import Evaluated as Evaluated
from examiner.arena.plan import FrameBudget as FrameBudget
from examiner.arena.plan import Plan as Plan
from examiner.arena.plan import PlannedAgent as PlannedAgent
from examiner.arena.plan import PlannedGame as PlannedGame
from examiner.arena.plan import frame_budgets as frame_budgets
from examiner.arena.plans import bundled_plans as bundled_plans
from examiner.arena.plans import plan as plan
from examiner.arena.plans import plan_from_toml as plan_from_toml
from examiner.arena.probe import Probe as Probe
from examiner.arena.probe import ReplayedScores as ReplayedScores
from examiner.arena.probe import probe as probe
from examiner.arena.profile import Measures as Measures
from examiner.arena.profile import Profile as Profile
from examiner.arena.profile import profile as profile
from examiner.arena.profiles import profile_table as profile_table
from examiner.arena.profiles import profiled_kinds as profiled_kinds
from examiner.arena.protocol import PROTOCOLS as PROTOCOLS
from examiner.arena.protocol import Deviation as Deviation
from examiner.arena.protocol import Protocol as Protocol
from examiner.arena.protocol import deviations as deviations
from examiner.arena.protocol import protocol as protocol
from examiner.arena.runner import FailedJobs as FailedJobs
from examiner.arena.runner import RunOutcome as RunOutcome
from examiner.arena.runner import Standing as Standing
from examiner.arena.runner import run as run
from examiner.ledger import Episode as Episode
from examiner.ledger import Ledger as Ledger
from examiner.ledger import Repair as Repair
from examiner.ledger import export as export
from examiner.ledger import repair as repair
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.arena.environments.screens import OBSERVATIONS as OBSERVATIONS
    from examiner.arena.episodes import packages_of as packages_of
    from examiner.arena.episodes import perform_job as perform_job
    from examiner.arena.plans import is_bundled as is_bundled
    from examiner.arena.plans import plan_of_frames as plan_of_frames
    from examiner.arena.probe import RANDOM_EPISODES as RANDOM_EPISODES
    from examiner.arena.profile import MEASURES as MEASURES
    from examiner.arena.profile import ProfileRow as ProfileRow
    from examiner.arena.protocol import REFERENCE as REFERENCE
    from examiner.arena.protocol import usual_protocol as usual_protocol
    from examiner.arena.runner import LEDGER as LEDGER
    from examiner.arena.runner import AnyPlan as AnyPlan
    from examiner.arena.runner import JobStanding as JobStanding
    from examiner.arena.runner import Watcher as Watcher
    from examiner.arena.simple_play import LAST_PLAYS as LAST_PLAYS
else:
    __getattr__ = _names_on_demand(__name__)
