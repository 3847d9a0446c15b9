"""Standing: what a normaliser that compares agents remembers, so that a newcomer is measured alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from examiner.results import Results
from examiner.scores.cells import cell_means
from examiner.scores.normalise import task_scores
from examiner.wording import InputError

Relative = Literal["z-score", "min-max", "rank"]
RELATIVE: tuple[Relative, ...] = ("z-score", "min-max", "rank")
"""Normalisers that compare the agents at hand with each other."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the agents of a table did on each task, as far as a relative normaliser needs it.

    `marks` holds for each task the mean and the sample standard deviation over agents (z-score), the
    worst and the best agent's mean (min-max), or all agents' means in rising order (rank).

    >>> known = Standing.of(Results.from_numpy([[10.0], [30.0]], tasks=["t"]), "min-max", "score")
    >>> known.marks["t"]
    (10.0, 30.0)
    """

    method: Relative
    marks: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(cls, results: Results, method: str, measure: str) -> Standing:
        """Learn from a table what the method needs to know of each task; flat tasks are left out."""
        if method not in RELATIVE:
            raise InputError(
                f"The normaliser {method!r} compares no agents. Nothing is to be learnt."
            )
        means = cell_means(results, measure)
        sign = task_scores(results, measure).sign
        marks: dict[str, tuple[float, ...]] = {}
        for place, task in enumerate(results.tasks):
            seen = means[~np.isnan(means[:, place]), place]
            if len(seen) < 2 or not seen.max() > seen.min():
                continue
            marks[task] = _marks(method, seen, float(sign[place]))
        return cls(method, marks)

    def apply(self, results: Results, measure: str) -> NDArray[np.float64]:
        """Return one value a row, measured against the agents learnt from; NaN on unknown tasks.

        >>> table = Results.from_numpy([[10.0], [30.0]], tasks=["t"])
        >>> new = Results.from_numpy([[20.0]], tasks=["t"])
        >>> Standing.of(table, "min-max", "score").apply(new, "score")
        array([0.5])
        """
        scores = task_scores(results, measure)
        values = np.full(len(results), np.nan)
        for place, task in enumerate(results.tasks):
            if task not in self.marks:
                continue
            rows = np.flatnonzero(scores.task_codes == place)
            own = scores.agent_means[scores.agent_codes[rows], place]
            values[rows] = self._placed(
                scores.values[rows], own, self.marks[task], float(scores.sign[place])
            )
        return values

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the standing as JSON values, which `from_dict` takes back.

        >>> Standing("min-max", {"t": (0.0, 2.0)}).to_dict()
        {'method': 'min-max', 'marks': {'t': [0.0, 2.0]}}
        """
        marks = {task: list(known) for task, known in self.marks.items()}
        return {"method": self.method, "marks": marks}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Standing:  # Any: JSON values
        """Read what `to_dict` gave."""
        marks = {task: tuple(map(float, found)) for task, found in content["marks"].items()}
        return cls(content["method"], marks)

    def _placed(
        self,
        values: NDArray[np.float64],
        own: NDArray[np.float64],
        marks: tuple[float, ...],
        sign: float,
    ) -> NDArray[np.float64]:
        if self.method == "min-max":
            worst, best = marks
            return (values - worst) / (best - worst)
        if self.method == "z-score":
            from scipy.special import ndtr  # half a second to import: only where it is needed

            mean, deviation = marks
            z = sign * (own - mean) / deviation
            steepness = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) * sign / deviation
            return np.asarray(ndtr(z) + steepness * (values - own))
        ladder = np.asarray(marks)
        below = np.searchsorted(ladder, sign * values, "left")
        upto = np.searchsorted(ladder, sign * values, "right")
        return np.where(np.isnan(values), np.nan, (below + upto) / 2 / len(ladder))


def _marks(method: str, means: NDArray[np.float64], sign: float) -> tuple[float, ...]:
    if method == "z-score":
        return float(means.mean()), float(means.std(ddof=1))
    if method == "min-max":
        ends = float(means.min()), float(means.max())
        return ends if sign > 0 else ends[::-1]
    return tuple(np.sort(sign * means).tolist())
