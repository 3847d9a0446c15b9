"""Raw made comparable: normalisers, success, likeness of tasks and agents, aggregates."""

from examiner.scores.aggregate import AgentAggregates, agent_aggregates, interquartile_mean
from examiner.scores.cells import RunMeans, cell_means, run_means
from examiner.scores.comparable import Normalised, Normaliser, TaskScores
from examiner.scores.comparison import (
    Improvement,
    ImprovementMatrix,
    improvement_matrix,
    probability_of_improvement,
)
from examiner.scores.correlation import TaskCorrelation, task_correlation
from examiner.scores.curves import LearningCurves, Summary, learning_curves
from examiner.scores.decision import DecisionStudy, decision_study
from examiner.scores.differences import Difference, detectable_effect, paired_difference
from examiner.scores.duplicates import (
    Likeness,
    near_identical_agents,
    without_near_identical_agents,
)
from examiner.scores.efficiency import EfficiencyCurves, sample_efficiency
from examiner.scores.intervals import AggregateIntervals, aggregate_intervals
from examiner.scores.normalise import (
    normalise,
    suggested_aggregate,
    suggested_normaliser,
    task_ranges_apart,
)
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.profiles import Profiles, performance_profiles
from examiner.scores.proportions import wilson
from examiner.scores.ranks import RankProbabilities, rank_probabilities
from examiner.scores.recipe import Prepared, Recipe, prepare
from examiner.scores.reduce import default_reduction, reduce_runs
from examiner.scores.significance import Significance, significance
from examiner.scores.statistics import AGGREGATES, Aggregate, aggregate_named
from examiner.scores.success import mark_success, responses
from examiner.scores.variance import VarianceComponents, variance_components
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
    "agent_aggregates",
    "aggregate_intervals",
    "aggregate_named",
    "cell_means",
    "decision_study",
    "default_reduction",
    "detectable_effect",
    "improvement_matrix",
    "interquartile_mean",
    "learning_curves",
    "mark_success",
    "near_identical_agents",
    "normalise",
    "paired_difference",
    "performance_profiles",
    "prepare",
    "probability_of_improvement",
    "rank_probabilities",
    "reduce_runs",
    "responses",
    "run_means",
    "sample_efficiency",
    "significance",
    "suggested_aggregate",
    "suggested_normaliser",
    "task_correlation",
    "task_ranges_apart",
    "variance_components",
    "wilson",
    "without_near_identical_agents",
]
