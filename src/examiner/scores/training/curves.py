"""Learning curves summarised in the ways papers/001 compares, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from examiner.messages import InputError, counted
from examiner.results import Results
from examiner.results.display import html_columns
from examiner.results.keys import EVALUATION
from examiner.scores.cells import group_means
from examiner.scores.standing import shared_ranks
from examiner.scores.training.checkpoints import (
    Checkpoints,
    at_times,
    best_mean,
    best_reevaluated,
    blocks_of,
    largest_drop,
    last_mean,
)
from examiner.scores.training.curve_notes import curve_notes
from examiner.scores.training.episodes import (
    AtPoints,
    Places,
    at_points,
    end_times,
    episodes_of,
    mean_over_time,
    report_points,
)
from examiner.scores.training.phases import Phases, learners_of, phases_of
from examiner.scores.training.verdicts import (
    Verdicts,
    agreement,
    averaged,
    shares_beaten,
    standing,
)
from examiner.validation import Floats, check_known, read_only


class Summary(NamedTuple):
    """One way of summing up a run: its name, long and short, what it is, and the frames it looks at."""

    name: str
    short: str
    meaning: str
    point: float | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LearningCurves:
    """Each run summed up in several ways; arrays are read-only and NaN where it cannot be said.

    `agent` and `task` (positions in `agents` and `tasks`), `run` (labels), `episodes` and `length` (time
    of the last episode, in `unit`) have shape [runs]; `values` has shape [runs, summaries];
    `episodes_at_points` [runs, points]. The relative drop is better when lower, all other summaries
    as their task's scale says.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
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

    def __repr__(self) -> str:
        runs, ways = counted(len(self.run), "run"), counted(len(self.summaries), "way")
        return (
            f"LearningCurves: {runs} of {counted(len(self.agents), 'agent')}, summed up in {ways}"
        )

    def _repr_html_(self) -> str:
        agents, tasks = np.array(self.agents)[self.agent], np.array(self.tasks)[self.task]
        sums = {of.short: values for of, values in zip(self.summaries, self.values.T, strict=True)}
        columns = {"agent": agents, "task": tasks, "run": self.run, **sums}
        return html_columns(repr(self), columns, self.notes)

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
        shape = len(self.agents), len(self.tasks)
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
            agents=self.agents,
            tasks=self.tasks,
            cells=cells,
            standing=standings,
            rank=np.array([shared_ranks(row) for row in standings]),
            agreement=agreement(standings),
            together=averaged(np.array(performance)),
        )


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
    made = LearningCurves(
        agents=results.agents,
        tasks=results.tasks,
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
    read_only(made.values, made.points, made.episodes_at_points, made.largest_drop)
    return made


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
    seen = ~np.isnan(values)
    means = group_means(values[seen], cell[seen], shape[0] * shape[1])
    if curves.summaries[summary].point is not None:
        means[cell[curves.episodes_at_points[:, summary] == 0]] = np.nan
    return means.reshape(shape)
