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

from examiner.messages import InputError, counted
from examiner.reporting.ability_scale import Fitted, fit_of
from examiner.reporting.ranked import (
    chance_of,
    chance_over_tasks,
    not_significant,
    ranking_of,
    tests_of,
)
from examiner.results import Classification, Connections, Results, check_results, divided_sentence
from examiner.scores import (
    NORMALISERS,
    ONE_FUNCTION,
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
    automatic_notes,
    best_first,
    cell_means,
    is_automatic,
    on_range_of_log,
    on_scale,
    run_scores,
    score_unit,
    shared_ranks,
    task_scores,
    usual_cost,
    usual_reps,
    usual_unit,
)
from examiner.validation import Floats, Randomness, is_binary, read_only, seed_of

if TYPE_CHECKING:
    from examiner.information import InformationAnalysis
    from examiner.irt import AbilityInformation, Audit, ChanceTest
    from examiner.selection import Benchmark, MethodJudgement, Selection

MOST_CELLS, MOST_SELECTED_CELLS, MOST_PAIRED_CELLS = 5_000_000, 200_000, 60_000
"""Cells (agents · tasks) up to which fits and audits, selections, and comparisons of pairs of agents or
tasks use all results, as the commands do: a few seconds each. Beyond, they use the sample of the study."""
SAMPLED_AGENTS, SAMPLED_TASKS = 80, 200
"""Size of that sample, the same for all sections."""

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
        return {
            "rng": self.seed,
            "measure": self.measure,
            "normalise": None,
            "total": self.levels,
        }

    @property
    def shown_results(self) -> Results:
        """The results of the agents shown."""
        if len(self.agents) in (0, len(self.results.agents)):
            return self.results
        chosen = np.isin(np.array(self.results.agents), np.array(self.agents))
        return self.results.where(chosen[self.results.agent_codes])

    def rows(self, agents: Sequence[str]) -> list[int]:
        """Return where the agents shown stand among others, best first."""
        position = {agent: row for row, agent in enumerate(agents)}
        return [position[agent] for agent in self.agents]

    @property
    def what_varies(self) -> str:
        """What the intervals are about."""
        about = "what other runs of the same agents on the same tasks could have given"
        text = "Unit: runs. Intervals say"
        if self.unit == "tasks":
            about = "what another choice of tasks could have given"
            text = (
                "Unit: tasks. Some or all cells hold one run, so that nothing is known about other runs; "
                "intervals say"
            )
        text += f" {about} (95 %, {self.reps:,} resamples, seed {self.seed})."
        if len(self.results.agents) > len(self.agents):
            total = counted(len(self.results.agents), "agent")
            text += f" The first {len(self.agents)} of {total} by mean are shown."
        return text


class Selected(NamedTuple):
    """What tasks are selected from, the selection, and its validation."""

    material: Benchmark
    selection: Selection
    judgement: MethodJudgement
    note: str  # which agents and tasks it is about, where not all


@dataclass(frozen=True, eq=False)
class Study:
    """Results, the same made comparable, and what both come to; arrays are read-only.

    Training logs are reduced to one value a run; `training` is then the log itself, else None.
    `raw` and `comparable` have shape [agents, tasks], NaN where nothing was observed. `ranks` has
    shape [agents]: 1 is the best mean, ties share the better rank, NaN is an agent without any.
    `success` is what counts as one, where that was said (see `Recipe`); with a `share`, a cell
    succeeds as a whole when at least that share of its trials did. `total` says how tasks make one number,
    None where every task counts once. `cost` is what attempts cost, None where nothing says it.

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
    success: Success | None
    share: float | None
    total: Total | None
    recipe: Recipe
    title: str
    seed: int
    counts: Mapping[str, int]
    raw: Floats
    comparable: Floats
    aggregates: AggregatedAgents
    ranks: Floats
    cost: str | None
    earlier: Study | None

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
        if is_automatic(normalise):
            scores = scores.with_notes(*automatic_notes(results, measure))
        raw = cell_means(results, measure)
        comparable = raw if recipe.normaliser is None else cell_means(scores, measure)
        unit = score_unit(scores, measure)
        aggregates = aggregates_of(run_scores(scores, measure, total), unit)
        ranks = shared_ranks(aggregates.mean)
        for array in (raw, comparable, ranks):
            read_only(array)
        before = None
        if earlier is not None:
            before = cls.of(
                check_results(earlier), recipe.normaliser, measure, reduce=reduce, rng=rng
            )
        return cls(
            results=results,
            scores=scores,
            training=training,
            classification=typology,
            measure=measure,
            normaliser=_name(recipe.normaliser),
            success=success,
            share=share,
            total=recipe.total,
            recipe=recipe,
            title=title or _title(results),
            seed=seed_of(rng),
            counts=MappingProxyType(results.counts()),
            raw=raw,
            comparable=comparable,
            aggregates=aggregates,
            ranks=ranks,
            cost=usual_cost(results) if cost is None else cost,
            earlier=before,
        )

    @cached_property
    def curve_scale(self) -> CurveScale:
        """The training log on a scale that is one function of the score per task, and what it is."""
        assert self.training is not None, "there are curves of training logs only"
        if self.normaliser not in ONE_FUNCTION:
            return on_range_of_log(self.training, self.measure)
        assert self.recipe.learnt is not None, "the study's recipe has learnt"
        scores = task_scores(self.training, self.measure)
        log = on_scale(self.training, self.normaliser, scores, self.recipe.learnt.scale)
        return CurveScale(log, self.unit)

    @property
    def relative(self) -> bool:
        """Whether scores only compare the agents at hand with each other."""
        normaliser = NORMALISERS.get(self.normaliser or "")
        return normaliser is not None and normaliser.relative

    @property
    def landmark(self) -> Landmark | None:
        """The value at which the comparable score means something, if there is one."""
        normaliser = NORMALISERS.get(self.normaliser or "")
        return None if normaliser is None else normaliser.landmark

    @property
    def centre(self) -> float | None:
        """The value of the landmark, if there is one."""
        return None if self.landmark is None else self.landmark.value

    @property
    def binary(self) -> bool:
        """Whether every cell is 0 or 1, rescaled to chance or not: medians and quarters say nothing."""
        cells = self.raw if self.normaliser == "chance" else self.comparable
        observed = cells[np.isfinite(cells)]
        return bool(len(observed)) and is_binary(observed)

    @property
    def unit(self) -> str:
        """What the comparable numbers are, in words."""
        if self.normaliser is None:
            return f"{self.measure} as it was read"
        quoted = f"normalised by {self.normaliser!r}"
        step = self.scores.provenance.steps[-1]
        return step.replace(quoted, f"normalised by {self.normaliser}", 1)

    @property
    def axis_title(self) -> str:
        """What an axis of comparable scores is called."""
        return self.measure if self.normaliser is None else f"{self.measure} ({self.normaliser})"

    @property
    def judged_measure(self) -> str:
        """What a success is a threshold of, in words."""
        learnt = self.recipe.learnt
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
    def order(self) -> NDArray[np.intp]:
        """The agents' rows from the best mean to the worst; those without any come last."""
        return best_first(self.results.agents, -self.ranks)

    @cached_property
    def sample(self) -> tuple[Study, str]:
        """The one sample of a large study, and what a reader must know of it; the study itself if small.

        Agents are taken evenly from the best to the worst, so that the ends of the ranking and the range of
        abilities are kept; tasks are drawn at random, so that shares of them are unbiased. Scores stay as
        they are, and so do ranks: they are those of the whole.

        >>> small, note = Study.of(Results.from_numpy(np.eye(9))).sample
        >>> small.comparable.shape, note
        ((9, 9), '')
        """
        agents, tasks = self.comparable.shape
        parts = []
        rows, columns = np.arange(agents), np.arange(tasks)
        if agents > SAMPLED_AGENTS:
            even = np.linspace(0, agents - 1, SAMPLED_AGENTS).round().astype(np.intp)
            rows = np.sort(self.order[even])
            parts.append(
                f"{len(rows):,} of {counted(agents, 'agent')}, taken evenly from the best to the worst"
            )
        if tasks > SAMPLED_TASKS:
            drawing = np.random.default_rng(self.seed)
            columns = np.sort(drawing.choice(tasks, SAMPLED_TASKS, replace=False))
            parts.append(
                f"{len(columns):,} of {counted(tasks, 'task')}, drawn at random (seed {self.seed})"
            )
        if not parts:
            return self, ""
        cells = np.ix_(rows, columns)
        results, scores = (
            table.where(np.isin(table.agent_codes, rows) & np.isin(table.task_codes, columns))
            for table in (self.results, self.scores)
        )
        return replace(
            self,
            results=results,
            scores=scores,
            raw=self.raw[cells],
            comparable=self.comparable[cells],
            ranks=self.ranks[rows],
        ), f"Based on the sample of this report: {' and '.join(parts)}."

    @property
    def for_models(self) -> tuple[Study, str]:
        """What is fitted and audited: everything, or the sample of a very large study and its note."""
        return self._up_to(MOST_CELLS)

    @property
    def for_pairs(self) -> tuple[Study, str]:
        """What is compared in pairs, which takes longest: everything, or the sample."""
        return self._up_to(MOST_PAIRED_CELLS)

    def _up_to(self, cells: int) -> tuple[Study, str]:
        return self.sample if self.comparable.size > cells else (self, "")

    @cached_property
    def selected(self) -> Selected:
        """The few tasks that `examiner select` selects, with their validation: for all sections once."""
        from examiner.selection import CURVE_SIZES, Constraints, benchmark, select_and_judge

        used, note = self._up_to(MOST_SELECTED_CELLS)
        recipe = Recipe(
            measure=self.measure,
            normaliser=self.normaliser if self.normaliser in NORMALISERS else None,
            total=None if self.total is None else self.total.on(used.results.tasks),
        )
        constraints = Constraints(groups=self.classification)
        material = benchmark(used.results, recipe, constraints=constraints)
        sizes = [size for size in CURVE_SIZES if size < len(material.tasks)]
        size = min(5, sizes[-1])  # as `select` does by default
        selection = select_and_judge(material, size, sizes=sizes, rng=self.seed)
        assert selection.judgement is not None
        return Selected(material, selection, selection.judgement, note)

    @cached_property
    def resampled(self) -> Resampled:
        """The agents with a score, and the best of them, which are shown."""
        ranked, results = np.isfinite(self.ranks), self.scores
        if ranked.any() and not ranked.all():
            results = results.where(ranked[results.agent_codes])
        best = [agent for agent in self.order.tolist() if ranked[agent]][:40]  # readable rows
        agents = tuple(self.results.agents[agent] for agent in best)
        runs = run_scores(results, self.measure)
        resampling = usual_unit(runs), usual_reps(runs), self.seed, self.total
        return Resampled(results, agents, self.measure, *resampling)

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
    def ranking(self) -> Ranking:
        """The ranking of `scores.rank`, computed once for all sections."""
        return ranking_of(self)

    @cached_property
    def audited(self) -> Audit | str:
        """The audit of the tasks, of all results as `audit` has it; or why there is none."""
        agents, tasks = self.comparable.shape
        if min(agents, tasks) < 5:
            few = f"{counted(agents, 'agent')} on {counted(tasks, 'task')}"
            return f"{few} are too few for an audit: have 5 agents and 5 tasks."
        from examiner.irt import audit  # a package that small tables do not need

        return audit(self.for_models[0].results, recipe=self.recipe, rng=self.seed)

    @cached_property
    def informed(self) -> AbilityInformation | InformationAnalysis:
        """The information of the tasks: about ability where every cell is one trial of 0 or 1."""
        from examiner.information import USUAL_SIZE, analyse, single_successes
        from examiner.scores import FEWEST_TABLES, MOST_TABLES

        if single_successes(self.results, self.measure) and self.has_fit:
            from examiner.irt import ability_information

            size = min(USUAL_SIZE, len(self.fitted.fit.items))
            return ability_information(self.fitted.fit, rng=self.seed, size=size)
        small = self.for_pairs[0]
        agents, tasks = small.comparable.shape
        work = min(USUAL_SIZE, tasks) * tasks * agents**2 / 2
        reps = int(np.clip(1.5e8 // work, FEWEST_TABLES, MOST_TABLES))  # half a second
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
        """Why no agent may be named as better than another; nothing where agents differ significantly.

        One test at 5 % stands before everything a report says, so that of identical agents the whole
        report, and not each of its sections, names any in one table of twenty. What a section says beyond
        has tests of its own. Tables too small for the test are told as they are.

        References: Marcus, Peritz & Gabriel (1976), for tests behind a test of all.

        >>> Study.of(Results.from_numpy(np.random.default_rng(0).random((4, 9)))).none_better
        'Agents do not differ significantly: p = ... (permutation test over 9 tasks).'
        """
        if self.groups:
            return f"{divided_sentence(self.groups)} Agents of different groups cannot be compared."
        return not_significant(self, self.chance, self.resampled.unit)

    @cached_property
    def not_shown(self) -> str:
        """Why nothing may be said of other tasks or agents; nothing where agents differ over tasks too.

        >>> rng = np.random.default_rng(0)
        >>> runs = rng.normal(size=(4, 5, 1)) + 0.01 * rng.normal(size=(4, 5, 3))
        >>> study = Study.of(Results.from_numpy(runs))
        >>> study.none_better, study.not_shown
        ('', 'Agents do not differ significantly: p = ... (permutation test over 5 tasks).')
        """
        return self.none_better or not_significant(self, self.chance_over_tasks, "tasks")

    @cached_property
    def _fit(self) -> Fitted | str:
        return fit_of(self)

    @property
    def fitted(self) -> Fitted:
        """The fit of the responses, made once."""
        if isinstance(self._fit, str):
            raise InputError(self._fit)
        return self._fit

    @property
    def has_fit(self) -> bool:
        """Whether the responses could be fitted."""
        return not isinstance(self._fit, str)

    @property
    def made_fit(self) -> Fitted | None:
        """The fit, where a finding has asked for one and it could be made."""
        fitted = vars(self).get("_fit")
        return None if fitted is None or isinstance(fitted, str) else fitted

    def check(self, need: Need | None) -> None:
        """Say what is lacking, where a finding needs what this study has not.

        >>> Study.of(Results.from_numpy([[0.5, 1.0]])).check("training")
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: The results are no training logs, so there ...
        """
        agents, tasks = self.comparable.shape
        reason = {
            "training": "The results are no training logs, so there are no learning curves to sum up.",
            "classification": (
                "No classification of the tasks was given, so tasks are not compared by kind."
            ),
            "an earlier edition": "No earlier edition was given, so there is none to compare with.",
            "costs": "The results have no costs, so scores are not compared with costs.",
            "held-out agents": (
                f"{agents} agents on {tasks} tasks are too few to choose some tasks and to judge the "
                f"choice on other agents: it takes 8 agents and 3 tasks."
            ),
        }
        lacking = {
            "training": self.training is None,
            "classification": self.classification is None,
            "an earlier edition": self.earlier is None,
            "costs": self.cost is None,
            "held-out agents": agents < 8 or tasks < 3,
        }
        if need == "fit":
            self.fitted  # noqa: B018  # says itself why there is none
        elif need is not None and lacking[need]:
            raise InputError(reason[need])

    @property
    def weak_tasks(self) -> tuple[str, ...]:
        """Tasks with significantly negative discrimination, where a finding has asked for a fit."""
        fitted = self.made_fit
        if fitted is None or self.not_shown:
            return ()
        from examiner.irt import negative_tasks

        return negative_tasks(fitted.fit)

    @property
    def weak_notes(self) -> list[str]:
        """The warning of these tasks, if there are any: a wrong key looks like this."""
        if not self.weak_tasks:
            return []
        from examiner.irt import negative_sentence

        return [negative_sentence(self.weak_tasks)]


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
