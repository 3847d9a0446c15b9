"""Common times of runs, and the value of each run there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, counted, listed
from examiner.results import CHECKPOINT, EVALUATION, LEARNS, Results
from examiner.scores.cells import group_means
from examiner.scores.training.episodes import (
    REACHED,
    Curve,
    Episodes,
    Places,
    end_times,
    last_of_runs,
    window_means,
)
from examiner.validation import Floats

SURE = 0.01
"""How often a flat, noisy curve may be taken for one that moved."""


class Checkpoints(NamedTuple):
    """Blocks of episodes in time order, run after run; shape [checkpoints], `lengths` [runs].

    `first_half` and `second_half` are means over every other episode of a block, NaN where it has
    only one; `error` is the standard error of a block's mean, from the spread within the run's
    blocks, shape [runs], NaN where no block has two episodes.
    """

    run: Places
    mean: Floats
    first_half: Floats
    second_half: Floats
    lengths: Places
    error: Floats


class Drop(NamedTuple):
    """The largest fall of each run; `relative` is NaN where the curve is flat within its noise."""

    largest: Floats
    relative: Floats


def blocks_of(curve: Curve, episodes: int) -> Checkpoints:
    """Cut each run into blocks of k episodes, counted from its end; an incomplete first is left out.

    A run of fewer than k episodes is one block.

    >>> curve = Curve(np.zeros(5, int), np.arange(5.0), np.array([9.0, 1, 3, 5, 9]), np.array([5]))
    >>> blocks_of(curve, 2).mean
    array([2., 7.])
    """
    blocks = np.where(curve.lengths > 0, np.maximum(curve.lengths // episodes, 1), 0)
    run = np.repeat(np.arange(len(blocks)), blocks)
    from_end = np.repeat(np.cumsum(blocks), blocks) - 1 - np.arange(len(run))
    stop = np.cumsum(curve.lengths)[run] - from_end * episodes
    return _checkpoints(curve, run, np.maximum(stop - episodes, curve.start[run]), stop, blocks)


def evaluations_of(curve: Curve) -> Checkpoints:
    """Take the episodes of a run that share one time as one evaluation.

    >>> curve = Curve(np.zeros(4, int), np.array([5.0, 5, 9, 9]), np.array([1.0, 3, 5, 9]), np.array([4]))
    >>> evaluations_of(curve).mean
    array([2., 7.])
    """
    start = np.flatnonzero(_new_times(curve))
    run = curve.run[start]
    blocks = np.bincount(run, minlength=len(curve.lengths))
    return _checkpoints(curve, run, start, np.append(start[1:], len(curve.run)), blocks)


def none_alone(curve: Curve) -> bool:
    """Whether every episode shares its time with another of its run.

    >>> none_alone(Curve(np.zeros(3, int), np.array([5.0, 5, 9]), np.zeros(3), np.array([3])))
    False
    """
    new = np.append(_new_times(curve), True)
    return len(curve.run) > 0 and not (new[1:] & new[:-1]).any()


def _new_times(curve: Curve) -> NDArray[np.bool_]:
    new = np.ones(len(curve.run), dtype=bool)
    new[1:] = (curve.run[1:] != curve.run[:-1]) | (curve.time[1:] != curve.time[:-1])
    return new


def last_mean(points: Checkpoints) -> Floats:
    """Mean of each run's last checkpoint; NaN where it has none; shape [runs].

    >>> curve = Curve(np.zeros(2, int), np.array([5.0, 9]), np.array([1.0, 3]), np.array([2, 0]))
    >>> last_mean(evaluations_of(curve))
    array([ 3., nan])
    """
    return last_of_runs(points.mean, points.lengths)


def best_mean(points: Checkpoints) -> Floats:
    r"""Greatest mean among the checkpoints of each run: biased upward; shape [runs].

    .. math:: \mathbb{E}[\max_j \bar{x}_j] \ge \max_j \mathbb{E}[\bar{x}_j]

    References: papers/001, section 3: "the best score achieved across training is a statistically
    biased estimate of an agent's best performance".

    >>> curve = Curve(np.zeros(4, int), np.arange(4.0), np.array([1.0, 3, 9, 5]), np.array([4]))
    >>> best_mean(blocks_of(curve, 2))
    array([7.])
    """
    return _at_best(points, points.mean, points.mean)


def best_reevaluated(points: Checkpoints) -> Floats:
    r"""Performance of the best checkpoint, chosen on one half of its episodes, judged on the other.

    .. math:: \tfrac{1}{2} \big( \bar{x}^{(2)}_{\arg\max_j \bar{x}^{(1)}_j}
              + \bar{x}^{(1)}_{\arg\max_j \bar{x}^{(2)}_j} \big)

    Every other episode of a block is in the first half, so that learning within a block favours
    neither. The choice never sees the episodes it is judged by: the expected value is that of the
    policy chosen, which is at most that of the best. It is the "second, independent evaluation" of
    papers/001, section 3, as far as a log allows one. Shape [runs]; NaN where no block has two
    episodes.

    >>> curve = Curve(np.zeros(4, int), np.arange(4.0), np.array([1.0, 3, 9, 5]), np.array([4]))
    >>> best_reevaluated(blocks_of(curve, 2))
    array([7.])
    """
    chosen_by_first = _at_best(points, points.first_half, points.second_half)
    chosen_by_second = _at_best(points, points.second_half, points.first_half)
    return (chosen_by_first + chosen_by_second) / 2


def largest_drop(points: Checkpoints) -> Drop:
    r"""Return how far each run fell below its own best so far, in the measure and as a share of its range.

    .. math:: D = \max_j \big( \max_{i \le j} \bar{x}_i - \bar{x}_j \big), \qquad
              d = D / (\max_j \bar{x}_j - \min_j \bar{x}_j)

    d is 0 where the curve never falls and 1 where it loses everything between its best and its
    worst; adding to or multiplying all scores does not change it. A flat curve would fall by its
    whole range through noise alone. So d is NaN unless the range is beyond what noise gives in 99
    of 100 flat curves, :math:`2 z s` with :math:`z = \Phi^{-1}(1 - 0.01 / 2B)` for B checkpoints of
    standard error s (where s is known); D is always given. One checkpoint gives NaN for both.

    References: papers/001, section 3, on "plummeting" (no formula there; this one is ours).

    >>> curve = Curve(np.zeros(4, int), np.arange(4.0), np.array([0.0, 8, 2, 4]), np.array([4]))
    >>> largest_drop(blocks_of(curve, 1))
    Drop(largest=array([6.]), relative=array([0.75]))
    """
    from scipy.special import ndtri  # half a second to import: only where it is needed

    several = points.lengths > 1
    largest = np.full(len(several), np.nan)
    relative = np.full(len(several), np.nan)
    if not several.any():
        return Drop(largest, relative)
    inside = several[points.run]
    mean, run = points.mean[inside], points.run[inside]
    starts = np.flatnonzero(np.append(True, np.diff(run) != 0))
    drop = _running_best(run, mean) - mean
    largest[several] = np.maximum.reduceat(drop, starts)
    span = np.maximum.reduceat(mean, starts) - np.minimum.reduceat(mean, starts)
    noise = 2 * ndtri(1 - SURE / (2 * points.lengths[several])) * points.error[several]
    moved = span > np.where(np.isnan(noise), 0.0, noise)
    relative[several] = np.where(moved, largest[several] / np.where(span > 0, span, 1.0), np.nan)
    return Drop(largest, relative)


def _running_best(run: Places, values: Floats) -> Floats:
    """The greatest value so far within each run: exact, because ranks are accumulated, not values."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    offset = run * len(order)  # later runs rank above all earlier ones
    return values[order][np.maximum.accumulate(rank + offset) - offset]


def _at_best(points: Checkpoints, judge: Floats, value: Floats) -> Floats:
    """The value of each run's checkpoint that the judge puts first; NaN where it judges none."""
    judged = np.flatnonzero(~np.isnan(judge) & ~np.isnan(value))
    best = np.full(len(points.lengths), np.nan)
    if len(judged):
        run = points.run[judged]
        # Stable, from the last place: of equal checkpoints the earliest is the best.
        order = np.lexsort((-judged, judge[judged], run))
        last = np.flatnonzero(np.append(np.diff(run[order]) != 0, True))
        chosen = judged[order[last]]
        best[points.run[chosen]] = value[chosen]
    return best


def _checkpoints(
    curve: Curve, run: Places, start: Places, stop: Places, lengths: NDArray[np.integer]
) -> Checkpoints:
    sizes = stop - start
    block = np.repeat(np.arange(len(run)), sizes)
    number = np.arange(len(block)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    values = curve.values[np.repeat(start, sizes) + number]
    mean = window_means(curve.values, start, stop)
    halves = []
    for parity in (0, 1):
        part = number % 2 == parity
        half = group_means(values[part], block[part], len(run))
        halves.append(np.where(sizes > 1, half, np.nan))
    runs = len(lengths)
    squares = np.bincount(run[block], weights=(values - mean[block]) ** 2, minlength=runs)
    freedom = np.bincount(run, weights=sizes - 1, minlength=runs)
    typical = np.bincount(run, weights=sizes, minlength=runs) / np.maximum(lengths, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(freedom > 0, np.sqrt(squares / freedom / typical), np.nan)
    return Checkpoints(run, mean, halves[0], halves[1], lengths.astype(np.int64), error)


def evaluation_rows(
    results: Results, episodes: Episodes, column: str = EVALUATION
) -> NDArray[np.bool_] | None:
    """Tell for each row whether it is of an evaluation; None where nothing says so.

    Without the column, all are where no episode of a run is alone on its frame: training episodes
    end on different ones, those of an evaluation share theirs.

    >>> from examiner.scores.training.episodes import episodes_of
    >>> results = Results.from_dict({"agent": ["a"] * 3, "task": ["t"] * 3, "run": [0] * 3,
    ...     "trial": [0, 1, 2], "score": [1, 2, 3], "evaluation": [None, 0, 0]})
    >>> evaluation_rows(results, episodes_of(results))
    array([False,  True,  True])
    """
    values = results.numbers(column) if column in results.attributes else None
    if values is None or np.isnan(values).all():
        together = episodes.is_timed and none_alone(episodes.observed(np.zeros(len(results))))
        return np.ones(len(results), dtype=bool) if together else None
    observed = ~np.isnan(values)
    if not observed.all() or not np.isin(values, (0.0, 1.0)).all():
        return observed
    # Zeros and ones are flags, or the numbers of two evaluations whose episodes stand together.
    if episodes.is_timed and none_alone(episodes.observed(values)):
        return observed
    return np.asarray(values == 1)


def checkpoint_runs(results: Results, episodes: Episodes) -> NDArray[np.bool_]:
    """Tell which runs hold checkpoints and no episodes; shape [runs].

    They are those whose rows have a number in the column `checkpoint`.

    >>> from examiner.scores.training.episodes import episodes_of
    >>> log = {"agent": ["a"] * 2, "task": ["t"] * 2, "run": [0, 1], "trial": [0, 0], "score": [1, 2]}
    >>> table = Results.from_dict(log | {"checkpoint": [0, None]})
    >>> checkpoint_runs(table, episodes_of(table))
    array([ True, False])
    """
    runs = len(episodes.lengths)
    if CHECKPOINT not in results.attributes:
        return np.zeros(runs, dtype=bool)
    numbered = ~np.isnan(results.numbers(CHECKPOINT))[episodes.rows]
    return np.asarray(np.bincount(episodes.run, weights=numbered, minlength=runs) > 0)


def at_times(curve: Curve) -> Curve:
    """Take the rows of a run that share one time as one point: their mean.

    >>> curve = Curve(np.zeros(4, int), np.array([5.0, 5, 9, 9]), np.array([1.0, 3, 5, 9]), np.array([4]))
    >>> at_times(curve).values
    array([2., 7.])
    """
    if not len(curve.run):
        return curve
    start = np.flatnonzero(_new_times(curve))
    if len(start) == len(curve.run):
        return curve
    means = window_means(curve.values, start, np.append(start[1:], len(curve.run)))
    run = curve.run[start]
    return Curve(run, curve.time[start], means, np.bincount(run, minlength=len(curve.lengths)))


class Phases(NamedTuple):
    """Rows logged while learning, and the evaluations without; whether those are all, or guessed.

    `points` tells which runs hold checkpoints in place of episodes; shape [runs].
    """

    training: Curve
    evaluated: Checkpoints | None
    points: NDArray[np.bool_]
    only_evaluations: bool = False
    guessed: bool = False

    @property
    def only_checkpoints(self) -> bool:
        """Whether no run holds episodes."""
        return bool(self.points.all())


def learners_of(results: Results) -> tuple[Results, tuple[str, ...]]:
    """Leave out agents that are known not to learn, and say which.

    >>> from examiner.results import Attributes
    >>> known = Attributes("agent", ("a", "b"), ("learns",), ((True,), (False,)))
    >>> table = Results.from_numpy([[1.0], [2.0]], agents=["a", "b"]).with_attributes(known)
    >>> learners_of(table)[1]
    ("1 agent did not learn, and is left out of learning curves: 'b'.",)
    """
    known = results.agent_attributes.aligned(results.agents, LEARNS)
    learn = np.array([str(value).lower() not in ("false", "0", "no") for value in known])
    if learn.all():
        return results, ()
    idle = [agent for agent, learns in zip(results.agents, learn, strict=True) if not learns]
    if not learn.any():
        raise InputError("No agent learnt: there are no learning curves. Look at scores instead.")
    verb = "is" if len(idle) == 1 else "are"
    note = f"{counted(len(idle), 'agent')} did not learn, and {verb} left out of learning curves: "
    return results.where(learn[results.agent_codes]), (f"{note}{listed(idle)}.",)


def phases_of(
    results: Results, measure: str, episodes: Episodes, column: str, sign: Floats
) -> Phases:
    """Return the curve of training, higher being better, and the evaluations where there are any.

    >>> from examiner.scores.training.episodes import episodes_of
    >>> table = Results.from_numpy([[1.0]])
    >>> phases_of(table, "score", episodes_of(table), "evaluation", np.ones(1)).evaluated is None
    True
    """
    values = results.measure(measure) * sign[results.task_codes]
    points = checkpoint_runs(results, episodes)
    judged = evaluation_rows(results, episodes, column)
    if judged is None or not judged.any():
        return Phases(episodes.observed(values), None, points)
    evaluated = evaluations_of(episodes.observed(np.where(judged, values, np.nan)))
    # A log of evaluations only: they are the learning curve as well.
    learning = values if judged.all() else np.where(judged, np.nan, values)
    guessed = column not in results.attributes
    return Phases(episodes.observed(learning), evaluated, points, bool(judged.all()), guessed)


def shared_times(curve: Curve, most: int) -> Floats | None:
    """Return the times of checkpoints where runs share them, at most so many; None where they do not.

    >>> curve = Curve(np.array([0, 0, 1, 1]), np.array([5.0, 9, 5, 9]), np.zeros(4), np.array([2, 2]))
    >>> shared_times(curve, 60)
    array([5., 9.])
    """
    times = np.unique(curve.time)
    if len(times) >= 2 * int(np.max(curve.lengths, initial=1)) + 1:
        return None
    chosen = np.unique(np.linspace(len(times) - 1, 0, min(most, len(times))).round().astype(int))
    return np.asarray(times[chosen])


def values_at(
    curve: Curve, points: Floats, checkpoints: NDArray[np.bool_], last: int | None = None
) -> Floats:
    """Return the value of each run at each time, [runs, points]: of checkpoints the last one by then.

    >>> curve = Curve(np.zeros(2, int), np.array([10.0, 20]), np.array([1.0, 3]), np.array([2]))
    >>> [values_at(curve, np.array([20.0]), np.array([kind])).item() for kind in (True, False)]
    [3.0, 2.0]
    """
    of_rows = on_grid(curve, points, last)
    if last is not None or not checkpoints.any():
        return of_rows
    return np.where(checkpoints[:, None], on_grid(at_times(curve), points, 1), of_rows)


def on_grid(curve: Curve, points: Floats, last: int | None = None) -> Floats:
    """Return the value of each run at each time, [runs, points]; NaN before its first and after its end.

    The mean since the point before, the last value where there is none; or that of the last k rows.

    >>> curve = Curve(np.zeros(3, int), np.array([10.0, 20, 30]), np.array([1.0, 3, 8]), np.array([3]))
    >>> on_grid(curve, np.array([5.0, 20.0, 30.0])), on_grid(curve, np.array([30.0]), last=3)
    (array([[nan,  2.,  8.]]), array([[4.]]))
    """
    stop, start = curve.ended_by(points), curve.start[:, None]
    if last is None:
        before = np.pad(stop[:, :-1], ((0, 0), (1, 0)))
        begin = np.where(stop > before, before, np.maximum(stop - 1, 0))
    else:
        begin = np.maximum(stop - last, 0)
    means = window_means(curve.values, (start + begin).ravel(), (start + stop).ravel())
    return np.where(
        end_times(curve)[:, None] >= REACHED * points, means.reshape(stop.shape), np.nan
    )
