"""Raw made comparable: normalisers, success, likeness of tasks and agents, aggregates."""

from examiner.scores.aggregate import AgentAggregates, aggregate, interquartile_mean
from examiner.scores.cells import RunMeans, cell_means, run_means
from examiner.scores.comparable import Normalised, Normaliser, TaskScores
from examiner.scores.comparison import (
    Improvement,
    ImprovementMatrix,
    improvement,
    improvement_matrix,
)
from examiner.scores.correlation import TaskCorrelation, correlation
from examiner.scores.curves import LearningCurves, Summary, curves
from examiner.scores.decision import DecisionStudy, decision
from examiner.scores.differences import Difference, detectable_effect, difference
from examiner.scores.duplicates import (
    Likeness,
    near_identical,
    without_near_identical,
)
from examiner.scores.efficiency import EfficiencyCurves, efficiency
from examiner.scores.intervals import AggregateIntervals, intervals
from examiner.scores.normalise import (
    normalise,
    suggested_aggregate,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.overview import Overview, averaging_notes, overview
from examiner.scores.profiles import Profiles, profiles
from examiner.scores.proportions import wilson
from examiner.scores.ranks import RankProbabilities, ranks
from examiner.scores.recipe import Prepared, Recipe, prepare
from examiner.scores.reduce import default_reduction, reduce
from examiner.scores.significance import Significance, significance
from examiner.scores.statistics import AGGREGATES, Aggregate, aggregate_named
from examiner.scores.success import mark_success, responses
from examiner.scores.variance import VarianceComponents, variance
from examiner.scores.verdicts import Verdicts

__all__ = [
    "AGGREGATES",
    "NORMALISERS",
    "AgentAggregates",
    "Aggregate",
    "AggregateIntervals",
    "DecisionStudy",
    "Difference",
    "EfficiencyCurves",
    "Improvement",
    "ImprovementMatrix",
    "LearningCurves",
    "Likeness",
    "Normalised",
    "Normaliser",
    "Overview",
    "Prepared",
    "Profiles",
    "RankProbabilities",
    "Recipe",
    "RunMeans",
    "Significance",
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
    "prepare",
    "profiles",
    "ranks",
    "reduce",
    "responses",
    "run_means",
    "significance",
    "suggested_aggregate",
    "suggested_normaliser",
    "task_ranges_apart",
    "variance",
    "wilson",
    "without_near_identical",
]
