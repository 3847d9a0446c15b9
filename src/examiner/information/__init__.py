"""What tells agents apart: bits of tasks and sets, likeness of tasks, and who could be crowned."""

from examiner.information.channels import Channels, Noise, channels
from examiner.information.confusion import confusion_matrix
from examiner.information.gain import TaskInformation, information_gain, set_information
from examiner.information.sets import InformativeSet, informative_set

__all__ = [
    "Channels",
    "InformativeSet",
    "Noise",
    "TaskInformation",
    "channels",
    "confusion_matrix",
    "information_gain",
    "informative_set",
    "set_information",
]
