"""Fewer tasks, same story: which few to run, and proof on held-out agents that they are enough."""

from examiner.selection.benchmark import Benchmark, benchmark
from examiner.selection.constraints import Constraints
from examiner.selection.greedy import TaskSet
from examiner.selection.methods import METHODS, Method
from examiner.selection.proof.comparison import Comparison, compare
from examiner.selection.proof.holdout import Folds, Holdout, expected_seconds, folds_of_proof
from examiner.selection.reasons import Reason, reasons
from examiner.selection.selection import (
    Selection,
    SetPlacement,
    choose,
    place,
    select,
    with_predictor,
)

__all__ = [
    "METHODS",
    "Benchmark",
    "Comparison",
    "Constraints",
    "Folds",
    "Holdout",
    "Method",
    "Reason",
    "Selection",
    "SetPlacement",
    "TaskSet",
    "benchmark",
    "choose",
    "compare",
    "expected_seconds",
    "folds_of_proof",
    "place",
    "reasons",
    "select",
    "with_predictor",
]
