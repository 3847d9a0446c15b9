"""What tells agents apart: bits of tasks and sets, likeness of tasks, and who could be crowned."""

from examiner.information.analysis import (
    InformationAnalysis,
    LikenessAnalysis,
    analyse,
    likeness,
)
from examiner.information.channels import Channels, channels
from examiner.information.clusters import TaskClusters, clusters
from examiner.information.confusion import confusion
from examiner.information.crowning import Crowning, crowns
from examiner.information.decomposition import (
    GeneralFactor,
    TaskFactors,
    factors,
    general_factor,
)
from examiner.information.disagreement import (
    DeceptiveTasks,
    OpposedTasks,
    deceptive,
    opposed,
)
from examiner.information.gain import TaskInformation, gain, set_gain
from examiner.information.noise import ChannelModel, Noise
from examiner.information.observations import observe
from examiner.information.separation import (
    Separation,
    redundancy,
    separated_by,
    separation,
)
from examiner.information.sets import InformativeSet, best_set
from examiner.information.uncertainty import (
    BitsByChance,
    BitsIntervals,
    bits_by_chance,
    bits_intervals,
)

__all__ = [
    "BitsByChance",
    "BitsIntervals",
    "ChannelModel",
    "Channels",
    "Crowning",
    "DeceptiveTasks",
    "GeneralFactor",
    "InformationAnalysis",
    "InformativeSet",
    "LikenessAnalysis",
    "Noise",
    "OpposedTasks",
    "Separation",
    "TaskClusters",
    "TaskFactors",
    "TaskInformation",
    "analyse",
    "best_set",
    "bits_by_chance",
    "bits_intervals",
    "channels",
    "clusters",
    "confusion",
    "crowns",
    "deceptive",
    "factors",
    "gain",
    "general_factor",
    "likeness",
    "observe",
    "opposed",
    "redundancy",
    "separated_by",
    "separation",
    "set_gain",
]
