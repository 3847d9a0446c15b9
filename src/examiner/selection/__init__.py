"""Which few tasks to run, and validation on held-out agents that they are enough."""

from typing import TYPE_CHECKING

from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.selection.addition import Added as Added
from examiner.selection.addition import adds as adds
from examiner.selection.benchmark import Benchmark as Benchmark
from examiner.selection.benchmark import benchmark as benchmark
from examiner.selection.constraints import Constraints as Constraints
from examiner.selection.distil import distil as distil
from examiner.selection.distil import judge_tasks as judge_tasks
from examiner.selection.distil import select_and_judge as select_and_judge
from examiner.selection.early_stopping import stop_when_sure as stop_when_sure
from examiner.selection.greedy import TaskSet as TaskSet
from examiner.selection.methods import BEST_OF as BEST_OF
from examiner.selection.methods import DEFAULT as DEFAULT
from examiner.selection.methods import METHODS as METHODS
from examiner.selection.methods import Method as Method
from examiner.selection.placing import SetPlacement as SetPlacement
from examiner.selection.placing import place as place
from examiner.selection.predicted_gate import gate as gate
from examiner.selection.proof.folds import FoldByHand as FoldByHand
from examiner.selection.proof.folds import folds_by_hand as folds_by_hand
from examiner.selection.proof.holdout import Holdout as Holdout
from examiner.selection.proof.judgement import CURVE_SIZES as CURVE_SIZES
from examiner.selection.proof.judgement import SIZES as SIZES
from examiner.selection.proof.judgement import MethodJudgement as MethodJudgement
from examiner.selection.proof.judgement import judge as judge
from examiner.selection.reasons import SelectedTasks as SelectedTasks
from examiner.selection.record import Alarm as Alarm
from examiner.selection.record import Record as Record
from examiner.selection.selection import Selection as Selection
from examiner.selection.selection import choose as choose
from examiner.selection.selection import select as select
from examiner.selection.selection import settle as settle
from examiner.selection.selection import with_predictor as with_predictor
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.selection.curves import NODES as NODES
    from examiner.selection.evidence import fold_of as fold_of
    from examiner.selection.ridge import SHRINKAGE as SHRINKAGE
else:
    __getattr__ = _names_on_demand(__name__)
