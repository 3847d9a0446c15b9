"""Study: everything a finding may look at, each thing computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.reporting.ability_scale import Fitted, fit_of
from examiner.reporting.finding import NothingToTellError
from examiner.reporting.prose import Name, Parts, Prose, Sentence, said
from examiner.reporting.ranked import FirstAgent, first_agent, ranking_of, tests_of
from examiner.reporting.selected import Selected, selected
from examiner.reporting.shown import (
    chance_of,
    chance_over_tasks,
    reason_not_to_generalise,
    reason_not_to_name,
)
from examiner.reporting.thinning import Thinned, thin
from examiner.results import Classification, Connections, Results, check_results
from examiner.scores import (
    NORMALISERS,
    AggregatedAgents,
    CurveScale,
    Landmark,
    OwnFunction,
    Ranking,
    Recipe,
    Significance,
    Success,
    Total,
    Unit,
    aggregates_of,
    best_first,
    cell_means,
    on_curve_scale,
    on_scale,
    run_scores,
    score_unit,
    shared_ranks,
    task_scores,
    usual_cost,
    usual_reps,
    usual_unit,
)
from examiner.validation import Randomness, is_binary, read_only, seed_of

if TYPE_CHECKING:
    from examiner.information import InformationAnalysis
    from examiner.irt import AbilityInformation, Audit, ChanceTest

FEWEST_CHOSEN_ON, FEWEST_CHOSEN_FROM = 8, 3
"""Agents and tasks from which a few tasks can be chosen and judged on others."""
MOST_AGENTS = 40
"""Agents whose uncertainty is told, the best: more rows nobody reads."""
MOST_CELLS, MOST_PAIRED_CELLS = 200_000, 60_000
"""Agents · tasks that models, and comparisons of pairs of tasks, take in full: a few seconds each."""
FEWEST_AUDITED, MOST_AUDITED_CELLS = 5, 5_000_000
"""Agents or tasks from which an audit says something, and cells of which it takes a few seconds."""
INFORMATIVE_TASKS = 10
"""Tasks of the most informative set, as `information` chooses by default."""
CHANCE_WORK = 1.5e8
"""Pairs of agents in all permuted tables that bits are compared with: half a second."""
SAMPLED_AGENTS, SAMPLED_TASKS = 80, 200
"""The sample of a larger study: one for all its sections."""
ONE_FUNCTION = ("human", "chance", "random-only", "min-max")
"""Normalisers that are one increasing function of the score per task, the same for all agents."""

Need = Literal[
    "fit", "training", "classification", "held-out agents", "costs", "an earlier edition"
]
"""What findings may need of a study."""


class StudyOptions(TypedDict, total=False):
    """What a study may be told beside its results, normaliser and measure."""

    reduce: str | None
    typology: Classification | None
    title: str | None
    success: Success | None
    share: float | None
    total: Total | None
    cost: str | None
    earlier: Results | None
    rng: Randomness


class Resampled(NamedTuple):
    """Agents with a score, the first of them, which are shown, and how all of them are resampled.

    `how` leaves unit and number of resamples to the functions, which choose those of `unit` and `reps`.
    """

    results: Results
    agents: tuple[str, ...]
    measure: str
    unit: Unit
    reps: int
    seed: int
    levels: Total | None = None

    @property
    def how(self) -> dict[str, Any]:  # Any: options of the functions that resample
        """How the agents are resampled, always from the same seed."""
        return {"rng": self.seed, "measure": self.measure, "total": self.levels}

    @property
    def shown_results(self) -> Results:
        """The results of the agents shown."""
        if len(self.agents) in (0, len(self.results.agents)):
            return self.results
        chosen = np.isin(np.array(self.results.agents), np.array(self.agents))
        return self.results.where(chosen[self.results.agent_codes])

    def rows(self, agents: Sequence[str]) -> list[int]:
        """Return where the agents shown stand among others, best first."""
        found = {agent: row for row, agent in enumerate(agents)}
        return [found[agent] for agent in self.agents]

    @property
    def what_varies(self) -> Prose:
        """What the intervals are about."""
        how = f"(95 %, {self.reps:,} resamples, seed {self.seed})."
        if self.unit == "runs":
            text = (
                "Unit: runs. Intervals say what other runs of the same agents on the same tasks could "
                f"have given {how}"
            )
        else:
            text = (
                "Unit: tasks. Some or all cells hold one run, so that nothing is known about other runs; "
                f"intervals say what another choice of tasks could have given {how}"
            )
        if len(self.results.agents) > len(self.agents):
            total = counted(len(self.results.agents), "agent")
            text += f" The first {len(self.agents)} of {total} by mean are shown."
        return text


@dataclass(frozen=True, eq=False)
class Study:
    """Results, the same made comparable, and what both come to; arrays are read-only.

    Training logs are reduced to one value a run; `training` is then the log itself, else None.
    `raw` and `comparable` have shape [agents, tasks], NaN where nothing was observed. `ranks` has
    shape [agents]: 1 is the best mean, ties share the better rank, NaN is an agent without any.
    `success` is what counts as one, where that was said (see `Recipe`); with a `share`, a cell
    succeeds as a whole when at least that share of its trials did. `cost` is what attempts cost, None
    where nothing says it.

    >>> study = Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))
    >>> study.ranks, study.normaliser
    (array([1., 2.]), None)
    """

    results: Results
    scores: Results
    training: Results | None
    classification: Classification | None
    measure: str
    normaliser: str | None
    title: str
    seed: int
    counts: Mapping[str, int]
    raw: NDArray[np.float64]
    comparable: NDArray[np.float64]
    aggregates: AggregatedAgents
    ranks: NDArray[np.float64]
    success: Success | None = None
    share: float | None = None
    recipe: Recipe | None = None
    cost: str | None = None
    earlier: Study | None = None

    @classmethod
    def of(
        cls,
        results: Results,
        normalise: str | OwnFunction | None = "auto",
        measure: str | None = None,
        *,
        reduce: str | None = None,
        typology: Classification | None = None,
        title: str | None = None,
        success: Success | None = None,
        share: float | None = None,
        total: Total | None = None,
        cost: str | None = None,
        earlier: Results | None = None,
        rng: Randomness = 0,
    ) -> Study:
        """Reduce training logs, make the results comparable and aggregate them.

        `total` says how tasks make one number: by which levels, with which weights. `cost` is what
        attempts cost (see `scores.attempt_costs`), by default money, tokens or seconds, where known.
        `earlier` are results of an earlier edition of the exam, treated in the same way.

        >>> Study.of(Results.from_numpy([[3.0], [9.0]]), "min-max").comparable
        array([[0.],
               [1.]])
        """
        results = check_results(results)
        measure = results.measure_name(measure)
        training = results if results.provenance.training else None
        wished = Recipe(
            measure,
            reduction=reduce,
            normaliser=normalise,
            success=success,
            share=share,
            total=total,
        )
        results = wished.ready(results)
        recipe = wished.learn(results)
        if share is not None:
            recipe.responses(results)  # refuses a share of trials that are not successes
        scores = recipe.comparable(results)
        raw = cell_means(results, measure)
        comparable = raw if recipe.normaliser is None else cell_means(scores, measure)
        unit = score_unit(scores, measure)
        aggregates = aggregates_of(run_scores(scores, measure, total), unit)
        ranks = shared_ranks(aggregates.mean)
        for array in (raw, comparable, ranks):
            read_only(array)
        return cls(
            results=results,
            scores=scores,
            training=training,
            classification=typology,
            measure=measure,
            normaliser=_name(recipe.normaliser),
            title=title or _title(results),
            seed=seed_of(rng),
            counts=MappingProxyType(results.counts()),
            raw=raw,
            comparable=comparable,
            aggregates=aggregates,
            ranks=ranks,
            success=success,
            share=share,
            recipe=recipe,
            cost=usual_cost(results) if cost is None else cost,
            earlier=None
            if earlier is None
            else cls.of(check_results(earlier), recipe.normaliser, measure, reduce=reduce, rng=rng),
        )

    @cached_property
    def curve_scale(self) -> CurveScale:
        """The training log on a scale that is one function of the score per task, and what it is."""
        assert self.training is not None, "there are curves of training logs only"
        if self.normaliser not in ONE_FUNCTION:
            return on_curve_scale(self.training, self.measure)
        learnt = None if self.recipe is None else self.recipe.learnt
        assert learnt is not None, "the study's recipe has learnt"
        scores = task_scores(self.training, self.measure)
        log = on_scale(self.training, self.normaliser, scores, learnt.scale)
        return CurveScale(log, said(self.unit))

    @property
    def total(self) -> Total | None:
        """How tasks make one number; None where every task counts once."""
        return None if self.recipe is None else self.recipe.total

    @property
    def relative(self) -> bool:
        """Whether scores only compare the agents at hand with each other."""
        known = NORMALISERS.get(self.normaliser or "")
        return known is not None and known.relative

    @property
    def binary(self) -> bool:
        """Whether every cell is 0 or 1, rescaled to chance or not: medians and quarters say nothing."""
        cells = self.raw if self.normaliser == "chance" else self.comparable
        seen = cells[np.isfinite(cells)]
        return bool(len(seen)) and is_binary(seen)

    @property
    def unit(self) -> Parts:
        """What the comparable numbers are, in words."""
        if self.normaliser is None:
            return (Name(self.measure), " as it was read")
        step = self.scores.provenance.steps[-1]
        start = f"{self.measure} normalised by {self.normaliser!r} "
        if not step.startswith(start):
            return (Sentence(step),)
        named = (Name(self.measure), " normalised by ", Name(self.normaliser))
        return (*named, f" {step[len(start) :]}")

    @property
    def axis_title(self) -> str:
        """What an axis of comparable scores is called."""
        return self.measure if self.normaliser is None else f"{self.measure} ({self.normaliser})"

    @property
    def judged_measure(self) -> str:
        """What a success is a threshold of, in words."""
        learnt = None if self.recipe is None else self.recipe.learnt
        as_read = isinstance(self.success, str) or (learnt is not None and learnt.success_as_read)
        if self.normaliser is None or as_read:
            return self.measure
        return f"{self.measure} normalised by {self.normaliser}"

    @property
    def curve_axis(self) -> str:
        """What an axis of learning curves over several tasks is called."""
        if self.normaliser in ONE_FUNCTION:
            return self.axis_title
        raw = self.curve_scale.log is self.training
        return self.measure if raw else f"{self.measure} (range of the log)"

    @property
    def landmark(self) -> Landmark | None:
        """The value at which the comparable score means something, if there is one."""
        known = NORMALISERS.get(self.normaliser or "")
        return None if known is None else known.landmark

    @property
    def centre(self) -> float | None:
        """The value of the landmark, if there is one."""
        return None if self.landmark is None else self.landmark.value

    @property
    def order(self) -> NDArray[np.intp]:
        """The agents' rows from the best mean to the worst; those without any come last."""
        return best_first(self.results.agents, -self.ranks)

    @cached_property
    def sample(self) -> tuple[Study, str]:
        """The one sample of a large study, and what a reader must know of it; the study itself if small.

        Scores stay as they are, and so do ranks: they are those of the whole.

        >>> small, note = Study.of(Results.from_numpy(np.eye(9))).sample
        >>> small.comparable.shape, note
        ((9, 9), '')
        """
        kept = thin(
            self.order,
            self.comparable.shape[1],
            most_agents=SAMPLED_AGENTS,
            most_tasks=SAMPLED_TASKS,
            seed=self.seed,
        )
        if kept.whole:
            return self, ""
        cells = np.ix_(kept.agents, kept.tasks)
        return replace(
            self,
            results=_some(self.results, kept),
            scores=_some(self.scores, kept),
            raw=self.raw[cells],
            comparable=self.comparable[cells],
            ranks=self.ranks[kept.agents],
        ), kept.note

    @property
    def for_models(self) -> tuple[Study, str]:
        """What models are fitted to and tasks chosen from: everything, or the sample of a large study."""
        return self.sample if self.comparable.size > MOST_CELLS else (self, "")

    @property
    def for_pairs(self) -> tuple[Study, str]:
        """What pairs of tasks are compared in, which takes longer: everything, or the sample."""
        return self.sample if self.comparable.size > MOST_PAIRED_CELLS else (self, "")

    @cached_property
    def selected(self) -> Selected:
        """The few tasks chosen, with their validation, computed once."""
        return selected(self)

    @cached_property
    def resampled(self) -> Resampled:
        """The agents with a score, and the best of them, which are shown."""
        ranked, results = np.isfinite(self.ranks), self.scores
        if ranked.any() and not ranked.all():
            results = results.where(ranked[results.agent_codes])
        best = [agent for agent in self.order.tolist() if ranked[agent]][:MOST_AGENTS]
        agents = tuple(self.results.agents[agent] for agent in best)
        runs = run_scores(results, self.measure)
        how = usual_unit(runs), usual_reps(runs), self.seed, self.total
        return Resampled(results, agents, self.measure, *how)

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of agents without a common task, which cannot be compared; none where all can."""
        observed = np.isfinite(self.comparable)
        agents, tasks = self.results.agents, self.results.tasks
        return Connections.by_groups(agents, tasks, observed).separate

    @cached_property
    def tests(self) -> Significance | str:
        """The tests of pairs of agents, or the sentence that says why there are none."""
        return tests_of(self)

    @cached_property
    def first_agent(self) -> FirstAgent | None:
        """The first agent compared with the others; None where nothing was tested."""
        return None if isinstance(self.tests, str) else first_agent(self, self.tests)

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking of `scores.rank`, computed once for all sections."""
        return ranking_of(self)

    @cached_property
    def audited(self) -> Audit | str:
        """The audit of the tasks, of all results as `audit` has it; or why there is none."""
        agents, tasks = self.comparable.shape
        if agents < FEWEST_AUDITED or tasks < FEWEST_AUDITED:
            few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
            needed = f"{FEWEST_AUDITED} agents and {FEWEST_AUDITED} tasks"
            return f"{few} are too few for an audit: have {needed}."
        from examiner.irt import audit  # a package that small tables do not need

        used = (
            self.results if self.comparable.size <= MOST_AUDITED_CELLS else self.sample[0].results
        )
        return audit(used, recipe=self.recipe, rng=self.seed)

    @cached_property
    def informed(self) -> AbilityInformation | InformationAnalysis:
        """The information of the tasks: about ability where every cell is one trial of 0 or 1."""
        from examiner.information import analyse, single_successes
        from examiner.scores import FEWEST_TABLES, MOST_TABLES

        if single_successes(self.results, self.measure) and self.has_fit:
            from examiner.irt import ability_information

            size = min(INFORMATIVE_TASKS, len(self.fitted.fit.items))
            return ability_information(self.fitted.fit, rng=self.seed, size=size)
        small = self.for_pairs[0]
        agents, tasks = small.comparable.shape
        work = min(INFORMATIVE_TASKS, tasks) * tasks * agents**2 / 2
        reps = int(np.clip(CHANCE_WORK // work, FEWEST_TABLES, MOST_TABLES))
        return analyse(small.results, [self.measure], rng=self.seed, reps=reps)

    @cached_property
    def chance(self) -> ChanceTest | None:
        """The test whether agents differ, made once, over the unit of `resampled`; None without one."""
        return chance_of(self)

    @cached_property
    def chance_over_tasks(self) -> ChanceTest | None:
        """The test whether agents differ over other tasks like these, made once; None without one."""
        return chance_over_tasks(self)

    @cached_property
    def none_better(self) -> str:
        """Why no agent may be named as better than another; nothing where agents differ significantly."""
        return reason_not_to_name(self)

    @cached_property
    def not_shown(self) -> str:
        """Why nothing may be said of other tasks or agents; nothing where agents differ over tasks too."""
        return reason_not_to_generalise(self)

    @cached_property
    def _fit(self) -> Fitted | str:
        return fit_of(self)

    @property
    def fitted(self) -> Fitted:
        """The fit of the responses, made once."""
        if isinstance(self._fit, str):
            raise NothingToTellError(self._fit)
        return self._fit

    @property
    def has_fit(self) -> bool:
        """Whether the responses could be fitted."""
        return not isinstance(self._fit, str)

    @property
    def made_fit(self) -> Fitted | None:
        """The fit, where a finding has asked for one and it could be made."""
        made = vars(self).get("_fit")
        return None if made is None or isinstance(made, str) else made

    def check(self, need: Need | None) -> None:
        """Say what is lacking, where a finding needs what this study has not.

        >>> Study.of(Results.from_numpy([[0.5, 1.0]])).check("training")
        Traceback (most recent call last):
        ...
        examiner.reporting.finding.NothingToTellError: The results are no training logs, so there ...
        """
        agents, tasks = self.comparable.shape
        if need == "fit":
            self.fitted  # noqa: B018  # says itself why there is none
        elif need == "training" and self.training is None:
            raise NothingToTellError(
                "The results are no training logs, so there are no learning curves to sum up."
            )
        elif need == "classification" and self.classification is None:
            raise NothingToTellError(
                "No classification of the tasks was given, so tasks are not compared by kind."
            )
        elif need == "an earlier edition" and self.earlier is None:
            raise NothingToTellError(
                "No earlier edition was given, so there is none to compare with."
            )
        elif need == "costs" and self.cost is None:
            raise NothingToTellError(
                "The results have no costs, so scores are not compared with costs."
            )
        elif need == "held-out agents" and (
            agents < FEWEST_CHOSEN_ON or tasks < FEWEST_CHOSEN_FROM
        ):
            raise NothingToTellError(
                f"{agents} agents on {tasks} tasks are too few to choose some tasks and to judge the "
                f"choice on other agents: it takes {FEWEST_CHOSEN_ON} agents and {FEWEST_CHOSEN_FROM} "
                f"tasks."
            )

    @property
    def weak_tasks(self) -> tuple[str, ...]:
        """Tasks with significantly negative discrimination, where a finding has asked for a fit."""
        made = self.made_fit
        if made is None or self.not_shown:
            return ()
        from examiner.irt import negative_tasks

        return negative_tasks(made.fit)


def _some(results: Results, kept: Thinned) -> Results:
    return results.where(kept.agents[results.agent_codes] & kept.tasks[results.task_codes])


def _name(method: str | OwnFunction | None) -> str | None:
    if method is None:
        return None
    if callable(method):
        return getattr(method, "__name__", "function")
    return str(method).lower().replace("_", "-")


def _title(results: Results) -> str:
    source = results.provenance.source
    if source and source != "memory":
        return PurePath(source).name or source
    return f"{counted(len(results.agents), 'agent')} on {counted(len(results.tasks), 'task')}"
