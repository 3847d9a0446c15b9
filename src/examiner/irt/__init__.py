"""Ability and difficulty: item response theory (papers/002 and 003)."""

from examiner.irt.ability import abilities, known
from examiner.irt.diagnostics.comparison import (
    HeldOutScore,
    ModelComparison,
    OverdispersionTest,
    compare,
    overdispersion,
)
from examiner.irt.diagnostics.dependence import (
    DependentPair,
    DimensionCheck,
    LocalDependence,
    pair_tables,
)
from examiner.irt.diagnostics.diagnosis import Diagnosis, diagnose
from examiner.irt.diagnostics.flags import rewarding_the_weak, weak_sentence
from examiner.irt.diagnostics.item_fit import SumScoreFit, sum_score_fit
from examiner.irt.diagnostics.residuals import AgentFit, MeanSquareFit
from examiner.irt.errors.draws import bootstrap
from examiner.irt.estimation.em import ResponseSource
from examiner.irt.fit import Fitting, FittingOptions, fit
from examiner.irt.fitted import Abilities, Dropped, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.indicators.bins import DifficultyBins, bins
from examiner.irt.indicators.comparison import (
    Dominance,
    IndicatorCorrelation,
    dominance,
    indicator_correlations,
)
from examiner.irt.indicators.curves import (
    EmpiricalAgentCurves,
    EmpiricalTaskCurves,
    ExpectedAgentCurves,
    TaskCurves,
    agent_curves,
    curves,
    empirical_agent_curves,
    empirical_curves,
)
from examiner.irt.indicators.generality import Indicators, indicators, standard_scores
from examiner.irt.items import (
    ItemParameters,
    Response,
    information,
    probability,
    steepness,
)
from examiner.irt.link import Link, link
from examiner.irt.model import Model, Normal, Priors
from examiner.irt.models import MODELS
from examiner.irt.place import Placement, known_tasks, place
from examiner.irt.posterior import Quadrature, log_likelihood, posterior_weights
from examiner.irt.prediction import Predictions, RankInterval, Unexpected
from examiner.irt.simulate import simulate

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
    "Fitting",
    "FittingOptions",
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
    "ResponseSource",
    "Starts",
    "SumScoreFit",
    "TaskCurves",
    "TaskErrors",
    "Unexpected",
    "abilities",
    "agent_curves",
    "bins",
    "bootstrap",
    "compare",
    "curves",
    "diagnose",
    "dominance",
    "empirical_agent_curves",
    "empirical_curves",
    "fit",
    "indicator_correlations",
    "indicators",
    "information",
    "known",
    "known_tasks",
    "link",
    "log_likelihood",
    "overdispersion",
    "pair_tables",
    "place",
    "posterior_weights",
    "probability",
    "rewarding_the_weak",
    "simulate",
    "standard_scores",
    "steepness",
    "sum_score_fit",
    "weak_sentence",
]
