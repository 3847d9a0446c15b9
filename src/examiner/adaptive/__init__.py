"""The next task: adaptive examinations on a stored fit."""

from examiner.adaptive.answers import Answer, TableAnswers, answers_from, answers_played
from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination, ExaminationStep
from examiner.adaptive.examine import examine, replay
from examiner.adaptive.rules import RULES, Choosing
from examiner.adaptive.simulate import SimulatedExaminations, simulate
from examiner.adaptive.state import ExaminationState, balance_of, next_task
from examiner.adaptive.stopping import Ending, Stop
from examiner.adaptive.study import ExaminationStudy, exposure, study

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
    "answers_from",
    "answers_played",
    "balance_of",
    "examine",
    "exposure",
    "next_task",
    "replay",
    "simulate",
    "study",
]
