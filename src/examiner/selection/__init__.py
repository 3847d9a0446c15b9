"""Fewer tasks, same story: which few to run, and proof on held-out agents that they are enough."""

from examiner.selection.choosing import ChosenSet, SetPlacement, chosen_set, select
from examiner.selection.constraints import Constraints
from examiner.selection.gathering import gather_material
from examiner.selection.material import Material, on_agents
from examiner.selection.methods import METHODS, Method
from examiner.selection.quality import Comparison, compare_selections
from examiner.selection.reasons import Reason, reasons
from examiner.selection.recipe import Recipe
from examiner.selection.selection import Selection

__all__ = [
    "METHODS",
    "ChosenSet",
    "Comparison",
    "Constraints",
    "Material",
    "Method",
    "Reason",
    "Recipe",
    "Selection",
    "SetPlacement",
    "chosen_set",
    "compare_selections",
    "gather_material",
    "on_agents",
    "reasons",
    "select",
]
