"""Ability and difficulty: item response theory (papers/002 and 003)."""

from typing import TYPE_CHECKING

from examiner.irt.ability import abilities as abilities
from examiner.irt.ability import known as known
from examiner.irt.diagnostics.comparison import ModelComparison as ModelComparison
from examiner.irt.diagnostics.comparison import OverdispersionTest as OverdispersionTest
from examiner.irt.diagnostics.comparison import compare_models as compare_models
from examiner.irt.diagnostics.comparison import overdispersion as overdispersion
from examiner.irt.diagnostics.dependence import DimensionCheck as DimensionCheck
from examiner.irt.diagnostics.dependence import pair_tables as pair_tables
from examiner.irt.diagnostics.diagnosis import AgentFit as AgentFit
from examiner.irt.diagnostics.diagnosis import Diagnosis as Diagnosis
from examiner.irt.diagnostics.diagnosis import TaskFit as TaskFit
from examiner.irt.diagnostics.diagnosis import diagnose as diagnose
from examiner.irt.diagnostics.flags import negative_sentence as negative_sentence
from examiner.irt.diagnostics.flags import negative_tasks as negative_tasks
from examiner.irt.diagnostics.item_fit import SumScoreFit as SumScoreFit
from examiner.irt.diagnostics.item_fit import sum_score_fit as sum_score_fit
from examiner.irt.errors.draws import ResampledErrors as ResampledErrors
from examiner.irt.errors.draws import bootstrap as bootstrap
from examiner.irt.estimation.em import ResponseSource as ResponseSource
from examiner.irt.evidence import ChanceTest as ChanceTest
from examiner.irt.evidence import Evidence as Evidence
from examiner.irt.evidence import SlopeVerdicts as SlopeVerdicts
from examiner.irt.evidence import slope_verdicts as slope_verdicts
from examiner.irt.fit import fit as fit
from examiner.irt.fitted import Abilities as Abilities
from examiner.irt.fitted import Dropped as Dropped
from examiner.irt.fitted import FitOutcome as FitOutcome
from examiner.irt.fitted import IRTFit as IRTFit
from examiner.irt.fitted import JointDraws as JointDraws
from examiner.irt.fitted import Starts as Starts
from examiner.irt.fitted import TaskErrors as TaskErrors
from examiner.irt.fitting import Fitting as Fitting
from examiner.irt.fitting import FittingOptions as FittingOptions
from examiner.irt.growth.drift import Drift as Drift
from examiner.irt.growth.grow import Grown as Grown
from examiner.irt.growth.grow import grow as grow
from examiner.irt.indicators.ability_bits import AbilityInformation as AbilityInformation
from examiner.irt.indicators.ability_bits import ability_information as ability_information
from examiner.irt.indicators.bins import DifficultyBins as DifficultyBins
from examiner.irt.indicators.bins import bins as bins
from examiner.irt.indicators.comparison import Dominance as Dominance
from examiner.irt.indicators.comparison import IndicatorComparison as IndicatorComparison
from examiner.irt.indicators.comparison import dominance as dominance
from examiner.irt.indicators.comparison import indicator_correlations as indicator_correlations
from examiner.irt.indicators.comparison import leading as leading
from examiner.irt.indicators.compound import Compound as Compound
from examiner.irt.indicators.compound import compound as compound
from examiner.irt.indicators.curves import EmpiricalCurves as EmpiricalCurves
from examiner.irt.indicators.curves import ExpectedCurves as ExpectedCurves
from examiner.irt.indicators.curves import agent_curves as agent_curves
from examiner.irt.indicators.curves import curves as curves
from examiner.irt.indicators.curves import empirical_agent_curves as empirical_agent_curves
from examiner.irt.indicators.curves import empirical_curves as empirical_curves
from examiner.irt.indicators.generality import Indicators as Indicators
from examiner.irt.indicators.generality import indicators as indicators
from examiner.irt.indicators.generality import standard_scores as standard_scores
from examiner.irt.indicators.over_time import OverTime as OverTime
from examiner.irt.indicators.over_time import over_time as over_time
from examiner.irt.indicators.over_time import year_of as year_of
from examiner.irt.indicators.own_slopes import GeneralityEstimates as GeneralityEstimates
from examiner.irt.indicators.own_slopes import generality as generality
from examiner.irt.items import ItemParameters as ItemParameters
from examiner.irt.items import Response as Response
from examiner.irt.items import fisher_information as fisher_information
from examiner.irt.items import probability as probability
from examiner.irt.items import steepness as steepness
from examiner.irt.link import Link as Link
from examiner.irt.link import link as link
from examiner.irt.model import Model as Model
from examiner.irt.models import MODELS as MODELS
from examiner.irt.outcomes import expected_result as expected_result
from examiner.irt.outcomes import landmark_reached as landmark_reached
from examiner.irt.place import known_tasks as known_tasks
from examiner.irt.place import place as place
from examiner.irt.placements import Placements as Placements
from examiner.irt.posterior import Quadrature as Quadrature
from examiner.irt.posterior import log_likelihood as log_likelihood
from examiner.irt.posterior import posterior_weights as posterior_weights
from examiner.irt.priors import NormalPrior as NormalPrior
from examiner.irt.priors import Priors as Priors
from examiner.irt.priors import SlopeScale as SlopeScale
from examiner.irt.simulate import simulate as simulate
from examiner.irt.suspects.audit import audit as audit
from examiner.irt.suspects.discrimination import flat_tasks as flat_tasks
from examiner.irt.suspects.flagged import Audit as Audit
from examiner.irt.suspects.flagged import DependentGroup as DependentGroup
from examiner.irt.suspects.flagged import FlaggedTask as FlaggedTask
from examiner.irt.suspects.reasons import Reason as Reason
from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.validation import names_of as _names_of

__dir__ = _names_of(__name__)

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.irt.agent_posterior import AbilityEstimates as AbilityEstimates
    from examiner.irt.agent_posterior import SlopeTables as SlopeTables
    from examiner.irt.agent_posterior import estimate_abilities as estimate_abilities
    from examiner.irt.diagnostics.chance import agents_differ as agents_differ
    from examiner.irt.diagnostics.flags import BOUNDARY as BOUNDARY
    from examiner.irt.diagnostics.flags import NEGATIVE as NEGATIVE
    from examiner.irt.diagnostics.flags import NEGATIVE_ALONE as NEGATIVE_ALONE
    from examiner.irt.diagnostics.flags import NO_ERROR as NO_ERROR
    from examiner.irt.diagnostics.flags import NO_GUESSING as NO_GUESSING
    from examiner.irt.diagnostics.flags import NO_OVERDISPERSION as NO_OVERDISPERSION
    from examiner.irt.diagnostics.flags import NO_SLIPPING as NO_SLIPPING
    from examiner.irt.diagnostics.flags import SEPARATED as SEPARATED
    from examiner.irt.diagnostics.flags import SLOPE_NOT_SIGNIFICANT as SLOPE_NOT_SIGNIFICANT
    from examiner.irt.diagnostics.flags import UNBOUNDED_DIFFICULTY as UNBOUNDED_DIFFICULTY
    from examiner.irt.diagnostics.flags import with_evidence as with_evidence
    from examiner.irt.errors.abilities import AbilityErrors as AbilityErrors
    from examiner.irt.errors.any_scores import FEW_LEVELS as FEW_LEVELS
    from examiner.irt.errors.freedom import CompleteInformation as CompleteInformation
    from examiner.irt.errors.freedom import Freedom as Freedom
    from examiner.irt.errors.observed_information import ENOUGH as ENOUGH
    from examiner.irt.errors.observed_information import MOST_LEVELS as MOST_LEVELS
    from examiner.irt.errors.observed_information import ROUGHLY_ENOUGH as ROUGHLY_ENOUGH
    from examiner.irt.errors.observed_information import SMALL as SMALL
    from examiner.irt.errors.observed_information import (
        complete_information as complete_information,
    )
    from examiner.irt.errors.observed_information import free_slopes as free_slopes
    from examiner.irt.errors.observed_information import orthonormal as orthonormal
    from examiner.irt.errors.observed_information import whole_information as whole_information
    from examiner.irt.errors.parted import PartScores as PartScores
    from examiner.irt.estimates import Z as Z
    from examiner.irt.estimates import interval as interval
    from examiner.irt.estimation.em import Expected as Expected
    from examiner.irt.estimation.exponential import Totals as Totals
    from examiner.irt.estimation.exponential import kind_for as kind_for
    from examiner.irt.estimation.exponential import pace_for as pace_for
    from examiner.irt.estimation.exponential_statistics import Derivatives as Derivatives
    from examiner.irt.estimation.exponential_statistics import (
        ExponentialStatistics as ExponentialStatistics,
    )
    from examiner.irt.estimation.kernel import Kernel as Kernel
    from examiner.irt.estimation.kernel_source import KernelSource as KernelSource
    from examiner.irt.estimation.kernel_source import kernel_kind as kernel_kind
    from examiner.irt.estimation.kernel_statistics import KernelStatistics as KernelStatistics
    from examiner.irt.estimation.kernels import AS_BINOMIAL as AS_BINOMIAL
    from examiner.irt.estimation.kernels import BetaBinomial as BetaBinomial
    from examiner.irt.estimation.kernels import Binomial as Binomial
    from examiner.irt.estimation.kernels import kernel_for as kernel_for
    from examiner.irt.estimation.kernels import log_choices as log_choices
    from examiner.irt.estimation.kernels import log_density as log_density
    from examiner.irt.estimation.parts import Asked as Asked
    from examiner.irt.estimation.parts import Part as Part
    from examiner.irt.estimation.parts import PartedSource as PartedSource
    from examiner.irt.estimation.parts import Steps as Steps
    from examiner.irt.estimation.parts import TooLittleMemoryError as TooLittleMemoryError
    from examiner.irt.estimation.parts import Whole as Whole
    from examiner.irt.estimation.parts import added as added
    from examiner.irt.estimation.parts import added_up as added_up
    from examiner.irt.estimation.parts import in_order as in_order
    from examiner.irt.estimation.score_kernels import Beta as Beta
    from examiner.irt.estimation.tables import counts_of as counts_of
    from examiner.irt.estimation.task_curves import Places as Places
    from examiner.irt.estimation.task_curves import places_for as places_for
    from examiner.irt.estimation.usable_responses import UsableResponses as UsableResponses
    from examiner.irt.estimation.usable_responses import check_enough_agents as check_enough_agents
    from examiner.irt.estimation.usable_responses import set_aside as set_aside
    from examiner.irt.estimation.usable_responses import standard as standard
    from examiner.irt.estimation.usable_responses import start_along as start_along
    from examiner.irt.estimation.usable_responses import suitable_kind as suitable_kind
    from examiner.irt.estimation.usable_responses import usable_responses as usable_responses
    from examiner.irt.fit_tables import FittedTasks as FittedTasks
    from examiner.irt.fitted import fit_from_record as fit_from_record
    from examiner.irt.indicators.elsewhere import (
        indicators_without_responses as indicators_without_responses,
    )
    from examiner.irt.items import SCORES as SCORES
    from examiner.irt.items import Floats as Floats
    from examiner.irt.items import chances_of_ends as chances_of_ends
    from examiner.irt.items import information_of_scores as information_of_scores
    from examiner.irt.items import item_curves as item_curves
    from examiner.irt.items import rise as rise
    from examiner.irt.items import sigmoid_pair as sigmoid_pair
    from examiner.irt.model import Unknowns as Unknowns
    from examiner.irt.model import moved as moved
    from examiner.irt.parameter_covariance import ParameterCovariance as ParameterCovariance
    from examiner.irt.place import no_rank as no_rank
    from examiner.irt.posterior import agent_blocks as agent_blocks
    from examiner.irt.simulate import with_ends as with_ends
    from examiner.irt.suspects.audit import GROUPS as GROUPS
    from examiner.irt.suspects.reasons import FLAGS as FLAGS
    from examiner.irt.suspects.reasons import KINDS as KINDS
else:
    __getattr__ = _names_on_demand(__name__)
