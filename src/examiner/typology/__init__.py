"""Kinds of task: schemas, groups of identical tasks, what they cover, and whether agents agree."""

from examiner.typology.agreement import Agreement as Agreement
from examiner.typology.agreement import GroupingTest as GroupingTest
from examiner.typology.agreement import adjusted_rand as adjusted_rand
from examiner.typology.agreement import cluster_agreement as cluster_agreement
from examiner.typology.agreement import permutation_test as permutation_test
from examiner.typology.agreement import profile_distances as profile_distances
from examiner.typology.agreement import task_clusters as task_clusters
from examiner.typology.coverage import Combination as Combination
from examiner.typology.coverage import Coverage as Coverage
from examiner.typology.coverage import ValueUse as ValueUse
from examiner.typology.coverage import coverage as coverage
from examiner.typology.kinds import Kinds as Kinds
from examiner.typology.kinds import TaskGroup as TaskGroup
from examiner.typology.kinds import groups as groups
from examiner.typology.kinds import kinds as kinds
from examiner.typology.kinds import one_of_each as one_of_each
from examiner.typology.pair_tests import TestedPairs as TestedPairs
from examiner.typology.schema import Dimension as Dimension
from examiner.typology.schema import Schema as Schema
from examiner.typology.schemas import SCHEMAS as SCHEMAS
from examiner.typology.schemas import conform as conform
from examiner.typology.schemas import fitting_schema as fitting_schema
from examiner.typology.schemas import observed_schema as observed_schema
from examiner.typology.validation import Draws as Draws
from examiner.typology.validation import GroupTests as GroupTests
from examiner.typology.validation import Validation as Validation
from examiner.typology.validation import validate as validate
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)
