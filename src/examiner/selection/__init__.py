"""Fewer tasks, same story: which few to run, and proof on held-out agents that they are enough."""

from examiner.selection.addition import Added as Added
from examiner.selection.addition import adds as adds
from examiner.selection.benchmark import Benchmark as Benchmark
from examiner.selection.benchmark import benchmark as benchmark
from examiner.selection.constraints import Constraints as Constraints
from examiner.selection.distil import distil as distil
from examiner.selection.early_stopping import stop_when_sure as stop_when_sure
from examiner.selection.given import Trial as Trial
from examiner.selection.given import trial as trial
from examiner.selection.greedy import TaskSet as TaskSet
from examiner.selection.methods import DEFAULT as DEFAULT
from examiner.selection.methods import METHODS as METHODS
from examiner.selection.methods import Method as Method
from examiner.selection.proof.comparison import Comparison as Comparison
from examiner.selection.proof.comparison import compare as compare
from examiner.selection.proof.holdout import Folds as Folds
from examiner.selection.proof.holdout import Holdout as Holdout
from examiner.selection.proof.holdout import expected_once as expected_once
from examiner.selection.proof.holdout import expected_seconds as expected_seconds
from examiner.selection.proof.holdout import folds_of_proof as folds_of_proof
from examiner.selection.reasons import SelectedTask as SelectedTask
from examiner.selection.reasons import reasons as reasons
from examiner.selection.record import Alarm as Alarm
from examiner.selection.record import Record as Record
from examiner.selection.selection import Selection as Selection
from examiner.selection.selection import SetPlacement as SetPlacement
from examiner.selection.selection import choose as choose
from examiner.selection.selection import place as place
from examiner.selection.selection import select as select
from examiner.selection.selection import settle as settle
from examiner.selection.selection import with_predictor as with_predictor
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
