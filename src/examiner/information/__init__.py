"""What tells agents apart: bits of tasks and sets, likeness of tasks, and who could be crowned."""

from examiner.information.analysis import InformationAnalysis, analyse_information
from examiner.information.channels import Channels, Noise, channels
from examiner.information.clusters import TaskClusters, cluster_tasks
from examiner.information.confusion import confusion_matrix
from examiner.information.crowning import Crowning, crown_agents
from examiner.information.decomposition import (
    GeneralFactor,
    TaskFactors,
    general_factor,
    task_factors,
)
from examiner.information.disagreement import (
    DeceptiveTasks,
    OpposedTasks,
    deceptive_tasks,
    opposed_tasks,
)
from examiner.information.gain import TaskInformation, information_gain, set_information
from examiner.information.likeness import LikenessAnalysis, analyse_likeness
from examiner.information.observations import observe
from examiner.information.separation import (
    Separation,
    pair_separation,
    separated_by,
    task_redundancy,
)
from examiner.information.sets import InformativeSet, informative_set
from examiner.information.uncertainty import (
    BitsByChance,
    BitsIntervals,
    bits_by_chance,
    bits_intervals,
)

__all__ = [
    "BitsByChance",
    "BitsIntervals",
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
    "analyse_information",
    "analyse_likeness",
    "bits_by_chance",
    "bits_intervals",
    "channels",
    "cluster_tasks",
    "confusion_matrix",
    "crown_agents",
    "deceptive_tasks",
    "general_factor",
    "information_gain",
    "informative_set",
    "observe",
    "opposed_tasks",
    "pair_separation",
    "separated_by",
    "set_information",
    "task_factors",
    "task_redundancy",
]
