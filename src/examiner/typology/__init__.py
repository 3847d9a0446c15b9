"""Kinds of task: schemas, groups of identical tasks, what they cover, and whether agents agree."""

from examiner.typology.agreement import (
    Agreement,
    adjusted_rand,
    cluster_agreement,
    task_clusters,
)
from examiner.typology.conformity import conform, fitting_schema, observed_schema
from examiner.typology.coverage import Combination, Coverage, ValueUse, coverage
from examiner.typology.grouping import TaskGroup, groups, one_of_each
from examiner.typology.kinds import Kinds, kinds
from examiner.typology.permutation import (
    PermutationTest,
    permutation_test,
    profile_distances,
)
from examiner.typology.schema import Dimension, Schema
from examiner.typology.schemas import SCHEMAS
from examiner.typology.validation import (
    GroupTests,
    TestedPairs,
    Validation,
    validate,
)

__all__ = [
    "SCHEMAS",
    "Agreement",
    "Combination",
    "Coverage",
    "Dimension",
    "GroupTests",
    "Kinds",
    "PermutationTest",
    "Schema",
    "TaskGroup",
    "TestedPairs",
    "Validation",
    "ValueUse",
    "adjusted_rand",
    "cluster_agreement",
    "conform",
    "coverage",
    "fitting_schema",
    "groups",
    "kinds",
    "observed_schema",
    "one_of_each",
    "permutation_test",
    "profile_distances",
    "task_clusters",
    "validate",
]
