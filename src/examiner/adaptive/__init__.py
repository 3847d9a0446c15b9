"""The next task: adaptive examinations on a stored fit."""

from examiner.adaptive.answers import Answer
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination, ExaminationStep
from examiner.adaptive.examine import examine, replay
from examiner.adaptive.exposure import exposure
from examiner.adaptive.rules import RULES
from examiner.adaptive.simulate import SimulatedExaminations, simulate
from examiner.adaptive.state import ExaminationState
from examiner.adaptive.step import Choosing, balance_of, next_task
from examiner.adaptive.stopping import Ending, Stop
from examiner.adaptive.study import ExaminationStudy, study
from examiner.adaptive.table_answers import TableAnswers

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
    "TableAnswers",
    "TaskBank",
    "balance_of",
    "examine",
    "exposure",
    "next_task",
    "replay",
    "simulate",
    "study",
]
