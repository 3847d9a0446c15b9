"""The models: one small file of data each, over the mathematics of the package."""

from collections.abc import Mapping
from types import MappingProxyType

from examiner.irt.model import Model
from examiner.irt.models.beta import BETA
from examiner.irt.models.four_pl import FOUR_PL
from examiner.irt.models.normal import NORMAL
from examiner.irt.models.one_pl import ONE_PL
from examiner.irt.models.rasch import RASCH
from examiner.irt.models.three_pl import THREE_PL
from examiner.irt.models.two_pl import TWO_PL

MODELS: Mapping[str, Model] = MappingProxyType(
    {model.name: model for model in (ONE_PL, RASCH, TWO_PL, THREE_PL, FOUR_PL, BETA, NORMAL)}
)
"""Every model by name."""

__all__ = ["MODELS"]
