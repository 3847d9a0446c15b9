"""The next task: adaptive examinations on a stored fit."""

from examiner.adaptive.answers import TableAnswers as TableAnswers
from examiner.adaptive.answers import TaskResponse as TaskResponse
from examiner.adaptive.answers import answers_from as answers_from
from examiner.adaptive.answers import answers_played as answers_played
from examiner.adaptive.bank import TaskBank as TaskBank
from examiner.adaptive.examination import Examination as Examination
from examiner.adaptive.examination import ExaminationStep as ExaminationStep
from examiner.adaptive.examine import examine as examine
from examiner.adaptive.examine import next_task as next_task
from examiner.adaptive.examine import replay as replay
from examiner.adaptive.rules import RULES as RULES
from examiner.adaptive.rules import Choosing as Choosing
from examiner.adaptive.rules import balance_of as balance_of
from examiner.adaptive.simulate import SimulatedExaminations as SimulatedExaminations
from examiner.adaptive.simulate import simulate as simulate
from examiner.adaptive.stopping import Ending as Ending
from examiner.adaptive.stopping import Stop as Stop
from examiner.adaptive.study import ExaminationStudy as ExaminationStudy
from examiner.adaptive.study import Exposure as Exposure
from examiner.adaptive.study import exposure as exposure
from examiner.adaptive.study import study as study
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
