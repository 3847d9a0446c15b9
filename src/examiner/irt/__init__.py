"""Ability and difficulty: item response theory (papers/002 and 003)."""

from examiner.irt.ability import abilities
from examiner.irt.fit import fit_irt
from examiner.irt.fitted import Abilities, Dropped, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.items import ItemParameters, Response
from examiner.irt.likelihood import log_likelihood
from examiner.irt.logistic import probability
from examiner.irt.model import Model, Normal, Priors
from examiner.irt.models import MODELS
from examiner.irt.quadrature import Quadrature
from examiner.irt.simulate import simulate

__all__ = [
    "MODELS",
    "Abilities",
    "Dropped",
    "FitOutcome",
    "IRTFit",
    "ItemParameters",
    "Model",
    "Normal",
    "Priors",
    "Quadrature",
    "Response",
    "Starts",
    "TaskErrors",
    "abilities",
    "fit_irt",
    "log_likelihood",
    "probability",
    "simulate",
]
