"""Raw made comparable: normalisers, success, likeness of tasks and agents, aggregates."""

from examiner.scores.aggregate import AgentAggregates, agent_aggregates, interquartile_mean
from examiner.scores.cells import RunMeans, cell_means, run_means
from examiner.scores.comparable import Normalised, Normaliser, TaskScores
from examiner.scores.correlation import TaskCorrelation, task_correlation
from examiner.scores.curves import LearningCurves, Summary, learning_curves
from examiner.scores.duplicates import (
    Likeness,
    near_identical_agents,
    without_near_identical_agents,
)
from examiner.scores.normalise import normalise, suggested_normaliser
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.reduce import default_reduction, reduce_runs
from examiner.scores.success import mark_success, responses
from examiner.scores.verdicts import Verdicts

__all__ = [
    "NORMALISERS",
    "AgentAggregates",
    "LearningCurves",
    "Likeness",
    "Normalised",
    "Normaliser",
    "RunMeans",
    "Summary",
    "TaskCorrelation",
    "TaskScores",
    "Verdicts",
    "agent_aggregates",
    "cell_means",
    "default_reduction",
    "interquartile_mean",
    "learning_curves",
    "mark_success",
    "near_identical_agents",
    "normalise",
    "reduce_runs",
    "responses",
    "run_means",
    "suggested_normaliser",
    "task_correlation",
    "without_near_identical_agents",
]
