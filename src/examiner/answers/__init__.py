"""What every public function returns: named tables of typed columns, scalars, notes and one sentence."""

from typing import TYPE_CHECKING

from examiner.answers.answer import Answer as Answer
from examiner.answers.answer import Scalar as Scalar
from examiner.answers.answer import StoredAnswer as StoredAnswer
from examiner.answers.answer import scalar as scalar
from examiner.answers.answer import setting as setting
from examiner.answers.columns import Column as Column
from examiner.answers.columns import bound as bound
from examiner.answers.columns import count as count
from examiner.answers.columns import error as error
from examiner.answers.columns import flag as flag
from examiner.answers.columns import name as name
from examiner.answers.columns import number as number
from examiner.answers.columns import text as text
from examiner.answers.columns import words as words
from examiner.answers.table import Row as Row
from examiner.answers.table import Table as Table
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.answers.answer import RESERVED as RESERVED
else:
    __getattr__ = _names_on_demand(__name__)
