"""Information of tasks about agents, similarity of tasks, and who could be made to win."""

from typing import TYPE_CHECKING

from examiner.information.added import AddedInformation as AddedInformation
from examiner.information.added import added as added
from examiner.information.analysis import InformationAnalysis as InformationAnalysis
from examiner.information.analysis import analyse as analyse
from examiner.information.channels import Channels as Channels
from examiner.information.channels import channels as channels
from examiner.information.clusters import TaskClusters as TaskClusters
from examiner.information.clusters import clusters as clusters
from examiner.information.disagreement import DeceptiveTasks as DeceptiveTasks
from examiner.information.disagreement import OpposedTasks as OpposedTasks
from examiner.information.disagreement import deceptive as deceptive
from examiner.information.disagreement import opposed as opposed
from examiner.information.factors import TaskFactors as TaskFactors
from examiner.information.factors import factors as factors
from examiner.information.favourable import FavourableTasks as FavourableTasks
from examiner.information.favourable import favourable_tasks as favourable_tasks
from examiner.information.gain import Confusion as Confusion
from examiner.information.gain import Redundancy as Redundancy
from examiner.information.gain import TaskInformation as TaskInformation
from examiner.information.gain import confusion as confusion
from examiner.information.gain import gain as gain
from examiner.information.gain import redundancy as redundancy
from examiner.information.general_factor import GeneralFactor as GeneralFactor
from examiner.information.general_factor import GeneralFactorByGroup as GeneralFactorByGroup
from examiner.information.general_factor import general_factor as general_factor
from examiner.information.general_factor import general_factor_by as general_factor_by
from examiner.information.noise import ChannelModel as ChannelModel
from examiner.information.noise import Noise as Noise
from examiner.information.separation import Separation as Separation
from examiner.information.separation import separation as separation
from examiner.information.sets import InformativeSet as InformativeSet
from examiner.information.sets import best_set as best_set
from examiner.information.similarity import SimilarityAnalysis as SimilarityAnalysis
from examiner.information.similarity import similarity as similarity
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.information.analysis import USUAL_SIZE as USUAL_SIZE
    from examiner.information.channels import channels_of as channels_of
    from examiner.information.channels import single_successes as single_successes
    from examiner.information.clusters import MOST_TASKS as MOST_TASKS
    from examiner.information.clusters import PAPER_THRESHOLD as PAPER_THRESHOLD
    from examiner.information.gain import bits_with as bits_with
    from examiner.information.gain import table_bits as table_bits
    from examiner.information.observations import Moments as Moments
    from examiner.information.observations import Observations as Observations
    from examiner.information.observations import moments as moments
    from examiner.information.observations import observe as observe
    from examiner.information.pairs import PairLikelihood as PairLikelihood
    from examiner.information.plausible import plausible_draws as plausible_draws
    from examiner.information.uncertainty import ends_of as ends_of
    from examiner.information.uncertainty import permuted as permuted
else:
    __getattr__ = _names_on_demand(__name__)
