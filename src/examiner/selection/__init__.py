"""Fewer tasks, same story: which few to run, and proof on held-out agents that they are enough."""

from examiner.selection.choosing import ChosenSet, SetPlacement, chosen_set, select
from examiner.selection.constraints import Constraints
from examiner.selection.effort import Folds, expected_seconds, folds_of_proof
from examiner.selection.gathering import benchmark
from examiner.selection.material import Benchmark, on_agents
from examiner.selection.methods import METHODS, Method
from examiner.selection.quality import Comparison, compare
from examiner.selection.reasons import Reason, reasons
from examiner.selection.recipe import Recipe
from examiner.selection.selection import Selection

__all__ = [
    "METHODS",
    "Benchmark",
    "ChosenSet",
    "Comparison",
    "Constraints",
    "Folds",
    "Method",
    "Reason",
    "Recipe",
    "Selection",
    "SetPlacement",
    "benchmark",
    "chosen_set",
    "compare",
    "expected_seconds",
    "folds_of_proof",
    "on_agents",
    "reasons",
    "select",
]
