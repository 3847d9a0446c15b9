"""Ability and difficulty: item response theory (papers/002 and 003)."""

from examiner.irt.ability import abilities
from examiner.irt.agent_curves import (
    EmpiricalAgentCurves,
    ExpectedAgentCurves,
    agent_curves,
    empirical_agent_curves,
)
from examiner.irt.agent_fit import AgentFit
from examiner.irt.bins import DifficultyBins, bins
from examiner.irt.bootstrap import bootstrap
from examiner.irt.chosen_recipe import chosen_recipe
from examiner.irt.correlation import IndicatorCorrelation, indicator_correlations
from examiner.irt.curves import (
    EmpiricalTaskCurves,
    TaskCurves,
    curves,
    empirical_curves,
)
from examiner.irt.dependence import DependentPair, LocalDependence, pair_tables
from examiner.irt.diagnostics import Diagnosis, diagnose
from examiner.irt.dimensionality import DimensionCheck
from examiner.irt.dominance import Dominance, dominance
from examiner.irt.fit import fit
from examiner.irt.fitted import Abilities, Dropped, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.heldout import HeldOutScore, ModelComparison, compare
from examiner.irt.indicators import Indicators, indicators, standard_scores
from examiner.irt.item_fit import SumScoreFit, sum_score_fit
from examiner.irt.items import ItemParameters, Response
from examiner.irt.known import known
from examiner.irt.likelihood import log_likelihood
from examiner.irt.linking import Link, link
from examiner.irt.logistic import probability
from examiner.irt.mean_square_fit import MeanSquareFit
from examiner.irt.model import Model, Normal, Priors
from examiner.irt.models import MODELS
from examiner.irt.overdispersion import OverdispersionTest, overdispersion
from examiner.irt.place import Placement, place
from examiner.irt.prediction import Predictions
from examiner.irt.quadrature import Quadrature
from examiner.irt.simulate import simulate
from examiner.irt.standings import RankInterval
from examiner.irt.surprise import Unexpected

__all__ = [
    "MODELS",
    "Abilities",
    "AgentFit",
    "DependentPair",
    "Diagnosis",
    "DifficultyBins",
    "DimensionCheck",
    "Dominance",
    "Dropped",
    "EmpiricalAgentCurves",
    "EmpiricalTaskCurves",
    "ExpectedAgentCurves",
    "FitOutcome",
    "HeldOutScore",
    "IRTFit",
    "IndicatorCorrelation",
    "Indicators",
    "ItemParameters",
    "Link",
    "LocalDependence",
    "MeanSquareFit",
    "Model",
    "ModelComparison",
    "Normal",
    "OverdispersionTest",
    "Placement",
    "Predictions",
    "Priors",
    "Quadrature",
    "RankInterval",
    "Response",
    "Starts",
    "SumScoreFit",
    "TaskCurves",
    "TaskErrors",
    "Unexpected",
    "abilities",
    "agent_curves",
    "bins",
    "bootstrap",
    "chosen_recipe",
    "compare",
    "curves",
    "diagnose",
    "dominance",
    "empirical_agent_curves",
    "empirical_curves",
    "fit",
    "indicator_correlations",
    "indicators",
    "known",
    "link",
    "log_likelihood",
    "overdispersion",
    "pair_tables",
    "place",
    "probability",
    "simulate",
    "standard_scores",
    "sum_score_fit",
]
