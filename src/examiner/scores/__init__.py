"""Raw made comparable: normalisers, success, likeness of tasks and agents, aggregates."""

from examiner.scores.aggregate import (
    AGGREGATES,
    AgentAggregates,
    Aggregate,
    aggregate,
    aggregate_named,
    interquartile_mean,
)
from examiner.scores.cells import RunMeans, cell_means, run_means
from examiner.scores.comparable import (
    Landmark,
    LearntScale,
    Normalised,
    Normaliser,
    OwnFunction,
    TaskScores,
)
from examiner.scores.differences import Difference, detectable_effect, difference
from examiner.scores.estimate import Estimate, wilson
from examiner.scores.likeness import (
    Likeness,
    TaskCorrelation,
    correlation,
    near_identical,
    without_near_identical,
)
from examiner.scores.normalise import (
    normalise,
    suggested_aggregate,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.overview import Overview, averaging_notes, overview
from examiner.scores.recipe import Learnt, Recipe
from examiner.scores.significance import Significance, significance
from examiner.scores.standing import shared_ranks
from examiner.scores.success import Success, mark_success, responses
from examiner.scores.training.curves import LearningCurves, Summary, curves
from examiner.scores.training.efficiency import EfficiencyCurves, efficiency
from examiner.scores.training.reduce import default_reduction, reduce
from examiner.scores.training.verdicts import Verdicts
from examiner.scores.uncertainty.bootstrap import Resampling
from examiner.scores.uncertainty.improvement import (
    Improvement,
    ImprovementMatrix,
    improvement,
    improvement_matrix,
)
from examiner.scores.uncertainty.intervals import AggregateIntervals, intervals
from examiner.scores.uncertainty.profiles import Profiles, profiles
from examiner.scores.uncertainty.ranks import RankProbabilities, ranks
from examiner.scores.variance import DecisionStudy, VarianceComponents, decision, variance

__all__ = [
    "AGGREGATES",
    "NORMALISERS",
    "AgentAggregates",
    "Aggregate",
    "AggregateIntervals",
    "DecisionStudy",
    "Difference",
    "EfficiencyCurves",
    "Estimate",
    "Improvement",
    "ImprovementMatrix",
    "Landmark",
    "LearningCurves",
    "Learnt",
    "LearntScale",
    "Likeness",
    "Normalised",
    "Normaliser",
    "Overview",
    "OwnFunction",
    "Profiles",
    "RankProbabilities",
    "Recipe",
    "Resampling",
    "RunMeans",
    "Significance",
    "Success",
    "Summary",
    "TaskCorrelation",
    "TaskScores",
    "VarianceComponents",
    "Verdicts",
    "aggregate",
    "aggregate_named",
    "averaging_notes",
    "cell_means",
    "correlation",
    "curves",
    "decision",
    "default_reduction",
    "detectable_effect",
    "difference",
    "efficiency",
    "improvement",
    "improvement_matrix",
    "interquartile_mean",
    "intervals",
    "mark_success",
    "near_identical",
    "normalise",
    "overview",
    "profiles",
    "ranks",
    "reduce",
    "responses",
    "run_means",
    "shared_ranks",
    "significance",
    "suggested_aggregate",
    "suggested_normaliser",
    "task_ranges_apart",
    "variance",
    "wilson",
    "without_near_identical",
]
