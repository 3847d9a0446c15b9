"""Ability and difficulty: item response theory (papers/002 and 003)."""

from examiner.irt.items import ItemParameters, Response
from examiner.irt.likelihood import log_likelihood
from examiner.irt.logistic import information, probability
from examiner.irt.quadrature import Quadrature

__all__ = [
    "ItemParameters",
    "Quadrature",
    "Response",
    "information",
    "log_likelihood",
    "probability",
]
