"""What tells agents apart: bits of tasks and sets, likeness of tasks, and who could be crowned."""

from examiner.information.analysis import InformationAnalysis as InformationAnalysis
from examiner.information.analysis import LikenessAnalysis as LikenessAnalysis
from examiner.information.analysis import analyse as analyse
from examiner.information.analysis import likeness as likeness
from examiner.information.channels import Channels as Channels
from examiner.information.channels import channels as channels
from examiner.information.channels import single_successes as single_successes
from examiner.information.clusters import TaskClusters as TaskClusters
from examiner.information.clusters import clusters as clusters
from examiner.information.confusion import confusion as confusion
from examiner.information.crowning import Crowning as Crowning
from examiner.information.crowning import crowns as crowns
from examiner.information.decomposition import GeneralFactor as GeneralFactor
from examiner.information.decomposition import TaskFactors as TaskFactors
from examiner.information.decomposition import factors as factors
from examiner.information.decomposition import general_factor as general_factor
from examiner.information.decomposition import general_factor_by as general_factor_by
from examiner.information.disagreement import DeceptiveTasks as DeceptiveTasks
from examiner.information.disagreement import OpposedTasks as OpposedTasks
from examiner.information.disagreement import deceptive as deceptive
from examiner.information.disagreement import opposed as opposed
from examiner.information.gain import TaskInformation as TaskInformation
from examiner.information.gain import gain as gain
from examiner.information.gain import set_gain as set_gain
from examiner.information.noise import ChannelModel as ChannelModel
from examiner.information.noise import Noise as Noise
from examiner.information.observations import observe as observe
from examiner.information.separation import Separation as Separation
from examiner.information.separation import redundancy as redundancy
from examiner.information.separation import separated_by as separated_by
from examiner.information.separation import separation as separation
from examiner.information.sets import InformativeSet as InformativeSet
from examiner.information.sets import best_set as best_set
from examiner.information.uncertainty import BitsByChance as BitsByChance
from examiner.information.uncertainty import BitsIntervals as BitsIntervals
from examiner.information.uncertainty import bits_by_chance as bits_by_chance
from examiner.information.uncertainty import bits_intervals as bits_intervals
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
