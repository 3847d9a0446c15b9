"""Kinds of task: schemas, groups of identical tasks, what they cover, and whether agents agree."""

from examiner.typology.agreement import (
    Agreement,
    PermutationTest,
    adjusted_rand,
    cluster_agreement,
    permutation_test,
    profile_distances,
    task_clusters,
)
from examiner.typology.coverage import Combination, Coverage, ValueUse, coverage
from examiner.typology.kinds import Kinds, TaskGroup, groups, kinds, one_of_each
from examiner.typology.pair_tests import TestedPairs
from examiner.typology.schema import Dimension, Schema
from examiner.typology.schemas import SCHEMAS, conform, fitting_schema, observed_schema
from examiner.typology.validation import Draws, GroupTests, Validation, validate

__all__ = [
    "SCHEMAS",
    "Agreement",
    "Combination",
    "Coverage",
    "Dimension",
    "Draws",
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
