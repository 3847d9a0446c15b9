"""Learning curves summarised in the ways papers/001 compares, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Column, Scalar, Table, count, name, number, text
from examiner.messages import InputError, counted, joined
from examiner.results import EVALUATION, Results, reads_results
from examiner.scores.cells import group_means, ratio
from examiner.scores.comparable import TaskScores
from examiner.scores.normalisers import NORMALISERS
from examiner.scores.standing import shared_ranks
from examiner.scores.training.checkpoints import (
    Checkpoints,
    Phases,
    at_times,
    best_mean,
    best_reevaluated,
    blocks_of,
    largest_drop,
    last_mean,
    learners_of,
    phases_of,
)
from examiner.scores.training.episodes import (
    AtPoints,
    Episodes,
    Places,
    at_points,
    end_times,
    episodes_of,
    mean_over_time,
    report_points,
)
from examiner.validation import Floats, check_known, read_only


class Verdicts(NamedTuple):
    """Agents under each summary; NaN where a summary says nothing about an agent.

    `cells` has shape [summaries, agents, tasks], `standing` and `rank` [summaries, agents],
    `agreement` [summaries, summaries]. `together` [agents, tasks] is the share of other agents beaten on
    a task, averaged over all summaries but the relative drop, which is no performance.
    """

    summaries: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    cells: Floats
    standing: Floats
    rank: Floats
    agreement: Floats
    together: Floats


def standing(cells: Floats) -> Floats:
    """Share of the other agents that each one beats, averaged over its tasks; ties count half.

    No unit is needed to compare tasks, and agents need not all have the same ones: on a task, the
    observed agents are compared with each other, as the normaliser "rank" does. Shape [agents, tasks]
    in (higher is better), [agents] out; NaN for an agent that never met another.

    >>> standing(np.array([[3.0, 10.0], [2.0, 10.0], [1.0, np.nan]]))
    array([0.75, 0.5 , 0.  ])
    """
    return _mean(shares_beaten(cells), axis=1)


def shares_beaten(cells: Floats) -> Floats:
    """Share of the other agents that each one beats on each task; ties count half. [agents, tasks].

    >>> shares_beaten(np.array([[3.0, 10.0], [2.0, 10.0], [1.0, np.nan]]))
    array([[1. , 0.5],
           [0.5, 0.5],
           [0. , nan]])
    """
    if len(cells) < 2:
        return np.full(cells.shape, np.nan)
    names = [[str(number) for number in range(size)] for size in cells.shape]
    scores = TaskScores.of_cells(cells, *names)
    rank = NORMALISERS["rank"]
    return np.asarray(rank.apply(rank.learn(scores), scores).reshape(cells.shape))


def averaged(shares: Floats) -> Floats:
    """Average shares over summaries where they say anything; [summaries, agents, tasks] in, one table out.

    >>> averaged(np.array([[[0.0, np.nan]], [[1.0, np.nan]]]))
    array([[0.5, nan]])
    """
    return _mean(shares, axis=0)


def _mean(shares: Floats, axis: int) -> Floats:
    return ratio(np.nansum(shares, axis=axis), (~np.isnan(shares)).sum(axis=axis))


def kendall_tau(first: Floats, second: Floats) -> float:
    r"""Kendall's tau-b between two orders of the agents that have both; NaN where one says nothing.

    .. math:: \tau_b = \frac{\sum_{i<j} \operatorname{sgn}(x_i - x_j) \operatorname{sgn}(y_i - y_j)}
              {\sqrt{n_x n_y}}

    n_x and n_y are the numbers of pairs that are not tied. 1 is the same order, −1 the reverse.

    References: Kendall (1945), "The treatment of ties in ranking problems".

    >>> kendall_tau(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    0.3333333333333333
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    pairs = np.triu_indices(int(both.sum()), k=1)
    x, y = (np.round(values[both], 12) for values in (first, second))
    dx, dy = np.sign(x[pairs[0]] - x[pairs[1]]), np.sign(y[pairs[0]] - y[pairs[1]])
    untied = np.sqrt(float((dx != 0).sum()) * float((dy != 0).sum()))
    return float((dx * dy).sum() / untied) if untied else float("nan")


def agreement(standings: Floats) -> Floats:
    """Kendall's tau between each two summaries; shape [summaries, agents] in, square out.

    >>> agreement(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    return np.array([[kendall_tau(row, other) for other in standings] for row in standings])


def curve_notes(
    episodes: Episodes, phases: Phases, during: AtPoints, relative_drop: Floats
) -> tuple[str, ...]:
    """Return one sentence for each thing that a summary of learning curves could not use or tell.

    >>> from examiner.results import Results
    >>> from examiner.scores.training.curves import curves
    >>> curves(Results.from_numpy([[1.0]])).notes[0]
    "There is no column 'frames' or 'steps': time is counted in episodes."
    """
    notes = list(episodes.notes)
    if not episodes.is_timed and not notes:
        notes.append("There is no column 'frames' or 'steps': time is counted in episodes.")
    notes += _training_notes(during, phases.points)
    notes += _checkpoint_notes(phases, during.last)
    unsaid = np.isnan(relative_drop) & (phases.training.lengths > 0)
    if unsaid.any():
        notes.append(
            f"The relative drop of {int(unsaid.sum()):,} of {counted(len(unsaid), 'run')} cannot be "
            f"told: they have a single checkpoint, or are flat within their noise."
        )
    cells = set(zip(episodes.agent.tolist(), episodes.task.tolist(), strict=True))
    missing = (int(episodes.agent.max()) + 1) * (int(episodes.task.max()) + 1) - len(cells)
    if missing:
        notes.append(
            f"{counted(missing, 'cell')} (agent and task) have no run: agents are compared on the "
            f"tasks they share."
        )
    return tuple(dict.fromkeys(notes))


def _training_notes(during: AtPoints, checkpoints: NDArray[np.bool_]) -> list[str]:
    """What report points could not use, each thing said once for all points."""
    here = ~np.isnan(during.mean)
    early = during.episodes == 0
    short = here & ~checkpoints[:, None] & (during.episodes < during.last)
    notes = [
        (~here & ~early, "do not reach {}: they have no value there"),
        (
            early,
            "have no episode by {}: their agents have no value there on these tasks, because runs whose "
            "episodes end early differ from the others",
        ),
        (
            short,
            f"have fewer than {during.last:,} episodes by {{}} and are averaged over all they have",
        ),
    ]
    return [
        _at_points(during.points, which.sum(axis=0), len(here), words)
        for which, words in notes
        if which.any()
    ]


def _at_points(points: Floats, counts: NDArray[np.int64], runs: int, words: str) -> str:
    """One sentence for the points at which some runs are left out: how many of them, and at which."""
    reached = [(int(count), point) for count, point in zip(counts, points, strict=True) if count]
    most, at = max(count for count, _ in reached), [f"{point:,.15g}" for _, point in reached]
    number = f"{most:,}" if len({count for count, _ in reached}) == 1 else f"Up to {most:,}"
    listed_points = " and ".join([", ".join(at[:-1]), at[-1]] if len(at) > 1 else at)
    return f"{number} of {counted(runs, 'run')} {words.format(listed_points)}."


def _checkpoint_notes(phases: Phases, last: int) -> list[str]:
    training, evaluated = phases.training, phases.evaluated
    if evaluated is None and phases.only_checkpoints:
        return [
            "The runs hold checkpoints made while learning: there is no evaluation after it, and none of "
            "them can be judged again on other episodes."
        ]
    if evaluated is None:
        return [
            f"No episodes are marked as evaluation (a column 'evaluation'): there is no evaluation "
            f"after learning, and the best policy is sought among blocks of {last:,} training "
            f"episodes."
        ]
    if phases.guessed:
        return [
            "No episode of a run is alone on its frame: all are taken as evaluations without "
            "learning, those of one frame together."
        ]
    single = np.isnan(evaluated.first_half).all()
    if len(evaluated.first_half) and single:
        return [
            "Every evaluation is a single episode: the best policy cannot be evaluated again on "
            "other episodes."
        ]
    without = int(((evaluated.lengths == 0) & (training.lengths > 0)).sum())
    if without:
        return [f"{without:,} of {counted(len(training.lengths), 'run')} have no evaluation."]
    return []


class Summary(NamedTuple):
    """One way of summing up a run: its name, long and short, what it is, and the frames it looks at."""

    name: str
    short: str
    meaning: str
    point: float | None = None


class SummaryMeanings(Table):
    """Ways of summing up a run."""

    summary: tuple[str, ...] = name("Summary")
    meaning: tuple[str, ...] = text("What it is")
    point: Floats = number("Report point that it looks at")


class SummedAgents(Table):
    """Agents under each summary."""

    agent: tuple[str, ...] = name("Agent")
    summary: tuple[str, ...] = name("Summary")
    standing: Floats = number("Share of the other agents that the agent beats, averaged over tasks")
    rank: Floats = count("Rank; ties share the better rank")


class SummedCells(Table):
    """Each agent on each task under each summary."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    summary: tuple[str, ...] = name("Summary")
    mean: Floats = number("Mean over runs", unit="score")


class SummaryAgreement(Table):
    """How far two summaries agree about the order of agents."""

    one: tuple[str, ...] = name("Summary")
    other: tuple[str, ...] = name("Other summary")
    tau: Floats = number("Kendall's tau of the orders of agents")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearningCurves(Answer):
    """Each run summed up in several ways; arrays are read-only and NaN where it cannot be computed.

    `agent` and `task` (positions in `agent_names` and `task_names`), `run` (labels), `episodes` and
    `length` (time of the last episode, in `unit`) have shape [runs]; `values` has shape
    [runs, summaries]; `episodes_at_points` [runs, points]. The relative drop is better when lower, all
    other summaries as their task's scale says.
    """

    kind = "curves"

    agent_names: tuple[str, ...]
    task_names: tuple[str, ...]
    measure: str
    unit: str
    last: int
    points: Floats
    summaries: tuple[Summary, ...]
    agent: Places
    task: Places
    run: tuple[object, ...]
    episodes: Places
    length: Floats
    values: Floats
    episodes_at_points: Places
    largest_drop: Floats
    sign: Floats
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """Which agents lead by most summaries of performance."""
        if len(self.agent_names) == 1:
            return "There is one agent: its curves are summarised, but not compared."
        verdicts = self.verdicts()
        performance = [row for row, one in enumerate(self.summaries) if one.name != "relative drop"]
        firsts = (verdicts.rank[performance] == 1).sum(axis=0)
        ordered = int((~np.isnan(verdicts.rank[performance]).all(axis=1)).sum())
        if not firsts.any():
            return "No summary of the learning curves orders the agents."
        best = [self.agent_names[row] for row in np.flatnonzero(firsts == firsts.max())]
        verb = "ranks" if len(best) == 1 else "rank"
        ways = f"{int(firsts.max()):,} of {counted(ordered, 'summary')}"
        return f"{joined(best)} {verb} first by {ways} of the learning curves."

    @property
    def agents(self) -> SummedAgents:
        """One row per agent and summary."""
        verdicts = self.verdicts()
        ways = len(self.summaries)
        return SummedAgents(
            agent=[agent for agent in self.agent_names for _ in range(ways)],
            summary=list(verdicts.summaries) * len(self.agent_names),
            standing=verdicts.standing.T.ravel(),
            rank=verdicts.rank.T.ravel(),
        )

    @property
    def cells(self) -> SummedCells:
        """One row per agent, task and summary that has a value."""
        cells = self.verdicts().cells.transpose(1, 2, 0)
        agent, task, way = np.nonzero(~np.isnan(cells))
        return SummedCells(
            agent=[self.agent_names[row] for row in agent],
            task=[self.task_names[row] for row in task],
            summary=[self.summaries[row].name for row in way],
            mean=cells[agent, task, way],
        )

    @property
    def agreement(self) -> SummaryAgreement:
        """One row per pair of summaries."""
        first, second = np.triu_indices(len(self.summaries), 1)
        return SummaryAgreement(
            one=[self.summaries[row].name for row in first],
            other=[self.summaries[row].name for row in second],
            tau=self.verdicts().agreement[first, second],
        )

    @property
    def runs(self) -> Table:
        """One row per run: its length and all its summaries."""
        columns = [
            Column("agent", "name", "Agent"),
            Column("task", "name", "Task"),
            Column("run", "name", "Run"),
            Column("episodes", "count", "Episodes of training"),
            Column("length", "number", "Time of the last episode", unit=self.unit),
            Column("largest_drop", "number", "Largest fall below the best so far", unit="score"),
        ]
        values: dict[str, Any] = {  # Any: names or arrays
            "agent": [self.agent_names[row] for row in self.agent],
            "task": [self.task_names[row] for row in self.task],
            "run": list(map(str, self.run)),
            "episodes": self.episodes,
            "length": self.length,
            "largest_drop": self.largest_drop,
        }
        for column, point in enumerate(self.points):
            key = f"episodes_at_{point:.15g}"
            columns.append(Column(key, "count", f"Episodes averaged at {point:,.15g} {self.unit}"))
            values[key] = self.episodes_at_points[:, column]
        for column, one in enumerate(self.summaries):
            columns.append(Column(one.name, "number", one.meaning, title=one.short))
            values[one.name] = self.values[:, column]
        return Table.of(columns, values)

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents under each summary, what summaries mean and how they agree, cells, and runs."""
        meanings = SummaryMeanings(
            summary=[one.name for one in self.summaries],
            meaning=[one.meaning for one in self.summaries],
            point=[np.nan if one.point is None else one.point for one in self.summaries],
        )
        return {
            "agents": self.agents,
            "summaries": meanings,
            "agreement": self.agreement,
            "cells": self.cells,
            "runs": self.runs,
        }

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """What was summed up, and at which points."""
        return {
            "measure": Scalar(self.measure, "Measure of the score"),
            "unit": Scalar(self.unit, "Unit of time"),
            "last_episodes": Scalar(self.last, "Episodes averaged at each report point"),
            "points": Scalar(self.points.tolist(), "Report points"),
        }

    def summary(self, name: str) -> Floats:
        """Return one summary of every run; shape [runs].

        >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0] * 4, "trial": [0, 1, 2, 3],
        ...        "frames": [100, 300, 600, 800], "score": [0, 2, 6, 2]}
        >>> curves(Results.from_dict(log), last=2).summary("best")
        array([4.])
        """
        names = [summary.name for summary in self.summaries]
        check_known("summary", name, names)
        return self.values[:, names.index(name)]

    def verdicts(self) -> Verdicts:
        """Average runs within cells, and rank the agents under each summary.

        >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0] * 4, "trial": [0, 1, 2, 3],
        ...        "frames": [100, 300, 600, 800], "score": [0, 2, 6, 2]}
        >>> curves(Results.from_dict(log)).verdicts().cells.shape
        (9, 1, 1)
        """
        shape = len(self.agent_names), len(self.task_names)
        cells = np.array([_cell_means(self, index, shape) for index in range(len(self.summaries))])
        better = np.array([-1.0 if s.name == "relative drop" else 1.0 for s in self.summaries])
        direction = np.where(better[:, None] < 0, -1.0, self.sign)
        standings = np.array([standing(c * d) for c, d in zip(cells, direction, strict=True)])
        performance = [
            shares_beaten(c * d)
            for c, d, way in zip(cells, direction, better, strict=True)
            if way > 0
        ]
        return Verdicts(
            summaries=tuple(summary.name for summary in self.summaries),
            agents=self.agent_names,
            tasks=self.task_names,
            cells=cells,
            standing=standings,
            rank=np.array([shared_ranks(row) for row in standings]),
            agreement=agreement(standings),
            together=averaged(np.array(performance)),
        )


@reads_results
def curves(
    results: Results,
    measure: str | None = None,
    *,
    points: Sequence[float] | None = None,
    last: int = 100,
    evaluation: str = EVALUATION,
) -> LearningCurves:
    """Sum up training logs in the ways of papers/001, section 3, so that they can be compared.

    - `training at P`: performance during training, the paper's proposal: the mean of the last k
      episodes that ended by P frames; of runs that log checkpoints, the last one by then. It is
      called `evaluation at P` where the log holds evaluations only. Without
      `points`, P are the paper's 10, 50, 100 and 200 million frames, scaled down to what half of the
      runs reached; NaN for runs that end before P.
    - `evaluation after learning`: the mean of the last evaluation without learning. Episodes of
      evaluation are those for which the column named by `evaluation` is true or holds a number;
      without the column, all are where no episode of a run is alone on its frame.
    - `best`: the greatest mean of a checkpoint. Checkpoints are evaluations, where there are some,
      else blocks of k training episodes. Biased upward, the more so the more checkpoints there are.
    - `best re-evaluated`: the checkpoint chosen on half of its episodes, judged by the other half.
    - `area under the curve`: mean performance during training, over frames.
    - `relative drop`: the largest fall below the best so far, as a share of the curve's range; over
      blocks of k training episodes, or evaluations where there is nothing else.

    Frames are cumulative in a run and count skipped ones. Without them, time is in steps, else in
    episodes. Runs may be of different lengths and miss episodes; what is short or missing is said in the
    notes. Agents that are known not to learn (`learns` in the table of agents) are left out.

    References: Machado et al. (papers/001), section 3, pages 2-3.

    >>> log = {"agent": ["a"] * 4, "task": ["t"] * 4, "run": [0] * 4, "trial": [0, 1, 2, 3],
    ...        "frames": [100, 300, 600, 800], "score": [0, 2, 6, 2]}
    >>> made = curves(Results.from_dict(log), last=2)
    >>> dict(zip((s.name for s in made.summaries), made.values[0].tolist()))["training at 800"]
    4.0
    """
    measure = results.measure_name(measure)
    if last < 1:
        raise InputError(f"Cannot average the last {last} episodes. Give a number of at least 1.")
    results, idle = learners_of(results)
    episodes = episodes_of(results)
    scales = results.scales.aligned(results.task_names, measure)
    phases = phases_of(results, measure, episodes, evaluation, scales.sign)
    training = phases.training
    ends = end_times(training)
    during = _during(phases, report_points(points, ends), last)
    blocks = _curve_points(phases, last)
    drop = largest_drop(blocks)
    levels = np.column_stack([during.mean, *_levels(phases, blocks)])
    curves = LearningCurves(
        agent_names=results.agents,
        task_names=results.tasks,
        measure=measure,
        unit=episodes.unit,
        last=last,
        points=during.points,
        summaries=_summaries(during.points, phases, last, episodes.unit),
        agent=episodes.agent,
        task=episodes.task,
        run=episodes.label,
        episodes=training.lengths,
        length=ends,
        values=np.column_stack([levels * scales.sign[episodes.task, None], drop.relative]),
        episodes_at_points=during.episodes,
        largest_drop=drop.largest,
        sign=scales.sign,
        notes=(*idle, *curve_notes(episodes, phases, during, drop.relative)),
    )
    read_only(curves.values, curves.points, curves.episodes_at_points, curves.largest_drop)
    return curves


def _during(phases: Phases, points: Floats, last: int) -> AtPoints:
    """Performance by each point: of the last k episodes, or of the last checkpoint."""
    of_episodes = at_points(phases.training, points, last)
    if not phases.points.any():
        return of_episodes
    of_checkpoints = at_points(at_times(phases.training), points, 1)
    chosen = phases.points[:, None]
    return of_episodes._replace(
        mean=np.where(chosen, of_checkpoints.mean, of_episodes.mean),
        episodes=np.where(chosen, of_checkpoints.episodes, of_episodes.episodes),
    )


def _curve_points(phases: Phases, last: int) -> Checkpoints:
    """The points of the learning curve: evaluations where there is nothing else, else blocks."""
    if phases.evaluated is not None and phases.only_evaluations:
        return phases.evaluated
    if phases.only_checkpoints:
        return blocks_of(at_times(phases.training), 1)
    return blocks_of(phases.training, last)


def _levels(phases: Phases, blocks: Checkpoints) -> list[Floats]:
    """Evaluation after learning, best, best re-evaluated and area; each of shape [runs]."""
    training, evaluated = phases.training, phases.evaluated
    judged = blocks if evaluated is None else evaluated
    after = np.full(len(training.lengths), np.nan) if evaluated is None else last_mean(evaluated)
    return [after, best_mean(judged), best_reevaluated(judged), mean_over_time(training)]


def _summaries(points: Floats, phases: Phases, last: int, unit: str) -> tuple[Summary, ...]:
    what = (
        "the last checkpoint" if phases.only_checkpoints else f"mean of the last {last:,} episodes"
    )
    phase = "evaluation" if phases.only_evaluations else "training"
    during = [
        Summary(
            f"{phase} at {point:,.15g}",
            f"at {point:,.15g}",
            f"{what} by {point:,.15g} {unit}",
            float(point),
        )
        for point in points
    ]
    return (
        *during,
        Summary(
            "evaluation after learning",
            "evaluated",
            "mean of the last evaluation, without learning",
        ),
        Summary("best", "best", "greatest mean of a checkpoint: biased upward"),
        Summary(
            "best re-evaluated",
            "re-evaluated",
            "best by one half of the episodes, judged by the other",
        ),
        Summary("area under the curve", "area", f"mean over the {unit} of training"),
        Summary(
            "relative drop", "drop", "largest fall below the best so far, as a share of the range"
        ),
    )


def _cell_means(curves: LearningCurves, summary: int, shape: tuple[int, int]) -> Floats:
    """Runs averaged in cells; none where a run had no episode yet: the others are a choice of them."""
    values, cell = curves.values[:, summary], curves.agent * shape[1] + curves.task
    observed = ~np.isnan(values)
    means = group_means(values[observed], cell[observed], shape[0] * shape[1])
    if curves.summaries[summary].point is not None:
        means[cell[curves.episodes_at_points[:, summary] == 0]] = np.nan
    return means.reshape(shape)
