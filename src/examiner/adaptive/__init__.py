"""The next task: adaptive examinations on a stored fit."""

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination, ExaminationStep
from examiner.adaptive.examine import examine, replay
from examiner.adaptive.exposure import exposure_shares
from examiner.adaptive.rules import RULES
from examiner.adaptive.simulate import SimulatedExaminations, simulate_examinations
from examiner.adaptive.state import ExaminationState
from examiner.adaptive.step import Choosing, balance_of, next_task
from examiner.adaptive.stopping import Ending, Stop
from examiner.adaptive.study import ExaminationStudy, examination_study

__all__ = [
    "RULES",
    "Answer",
    "Choosing",
    "Ending",
    "Examination",
    "ExaminationState",
    "ExaminationStep",
    "ExaminationStudy",
    "SimulatedExaminations",
    "Stop",
    "TaskBank",
    "balance_of",
    "examination_study",
    "examine",
    "exposure_shares",
    "next_task",
    "replay",
    "simulate_examinations",
]
