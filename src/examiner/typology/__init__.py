"""Kinds of task: schemas, groups of identical tasks, what they cover, and whether agents agree."""

from examiner.typology.coverage import Coverage as Coverage
from examiner.typology.coverage import coverage as coverage
from examiner.typology.kinds import Kinds as Kinds
from examiner.typology.kinds import TaskGroup as TaskGroup
from examiner.typology.kinds import kinds as kinds
from examiner.typology.schemas import SCHEMAS as SCHEMAS
from examiner.typology.schemas import Dimension as Dimension
from examiner.typology.schemas import Schema as Schema
from examiner.typology.schemas import conform as conform
from examiner.typology.schemas import fitting_schema as fitting_schema
from examiner.typology.schemas import observed_schema as observed_schema
from examiner.typology.validation import Draws as Draws
from examiner.typology.validation import Validation as Validation
from examiner.typology.validation import validate as validate
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
