"""New agents on the scale of a fit: abilities, ranks, predicted and unexpected results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Row, Scalar, Table, bound, count, error, name, number, words
from examiner.irt.items import Floats
from examiner.messages import shorten


class PlacedAgents(Table):
    """Agents on the scale of a fit, in the order of their results.

    `ability` and `posterior_sd` are the mean and the standard deviation of the posterior; `ability_error`
    is the total standard error, which counts the errors of the task parameters too. The 95 % interval is
    ability ± 1.96 errors. `mean` is over all tasks with results, those excluded from the fit among them;
    `predicted_mean` is the mean over all tasks, if the agent had results on all: a task on which all
    agents had the same result counts as that.
    """

    agent: tuple[str, ...] = name("Agent")
    tasks: NDArray[np.int64] = count("Tasks of the fit with a result")
    ability: Floats = number("Posterior mean of ability", unit="logits")
    ability_error: Floats = error(
        "ability", "Total standard error of ability, which includes the errors of tasks"
    )
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    rank: NDArray[np.int64] = count("Rank by ability among the agents of the fit")
    rank_low: NDArray[np.int64] = count("95 % interval of the rank", title="low")
    rank_high: NDArray[np.int64] = count("95 % interval of the rank", title="high")
    ranked_among: NDArray[np.int64] = count("Agents that are ranked", title="of")
    mean: Floats = number("Mean result over all tasks with results")
    predicted_mean: Floats = number("Predicted mean result over all tasks of the fit")
    predicted_mean_low: Floats = bound("predicted_mean", "low")
    predicted_mean_high: Floats = bound("predicted_mean", "high")
    regularity: Floats = number("1 / variance of the agent's results (papers/002, eq. 2)")
    generality: Floats = number(
        "1 / sum of variances within bins of difficulty (papers/002, eq. 3): high where an agent "
        "succeeds up to its ability and fails beyond"
    )
    slope: Floats = number("Steepness of the agent's curve where it falls through one half")
    posterior_sd: Floats = number("Posterior standard deviation, without the errors of tasks")
    flags: tuple[tuple[str, ...], ...] = words("What to doubt about the placement")


class PredictedTasks(Table):
    """Expected results on tasks without a result."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    expected: Floats = number("Expected result")
    expected_low: Floats = bound("expected", "low")
    expected_high: Floats = bound("expected", "high")


class UnexpectedResults(Table):
    """Results that the agent's other results make improbable, the least probable first."""

    agent: tuple[str, ...] = name("Agent")
    task: tuple[str, ...] = name("Task")
    result: Floats = number("Observed result")
    expected: Floats = number("Result expected from the agent's other results")
    probability: Floats = number(
        "Probability of a result this far off, or farther, to the same side"
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Placements(Answer):
    """Agents on the scale of a fit: `placements["mine"].ability`, or one placement after the other."""

    kind: ClassVar[str] = "place"

    agents: PlacedAgents
    predictions: PredictedTasks
    unexpected: UnexpectedResults
    model: str
    fitted_tasks: int
    fitted_agents: int
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Row]:
        return iter(self.agents)

    def __len__(self) -> int:
        return len(self.agents)

    @property
    def headline(self) -> str:
        """Ability and rank of the agent, or of the best of several."""
        best = self.agents[int(self.agents.ability.argmax())]
        start = f"{shorten(best.agent)} has an ability of"
        if len(self) > 1:
            start = f"Of {len(self):,} new agents, {shorten(best.agent)} has the highest ability,"
        return (
            f"{start} {best.ability:.2f} ± {best.ability_error:.2f}: rank {best.rank} of "
            f"{best.ranked_among} (95 %: {best.rank_low} to {best.rank_high})."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The fit that agents were placed on."""
        return {
            "model": Scalar(self.model, "Model of the fit"),
            "tasks": Scalar(self.fitted_tasks, "Tasks of the fit"),
            "fitted_agents": Scalar(self.fitted_agents, "Agents of the fit"),
        }
