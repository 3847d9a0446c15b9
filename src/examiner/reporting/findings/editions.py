"""Two editions of an exam: which agents changed places, how significantly, and which tasks changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, Table, count, error, flag, name, number
from examiner.information import gain
from examiner.messages import InputError, counted, listed
from examiner.reporting.figures import chart
from examiner.reporting.finding import (
    Facts,
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    shown_table,
)
from examiner.reporting.prose import (
    Name,
    Prose,
    Sentence,
    enumerated,
    labels,
    said,
    three_digits,
)
from examiner.reporting.study import Study
from examiner.results import Results
from examiner.scores import kendall_tau, shared_ranks, significance
from examiner.validation import Floats

FEWEST_AGENTS = 3


class EditionAgents(Table):
    """Agents that took both editions, best first in this one."""

    agent: tuple[str, ...] = name("Agent")
    rank: NDArray[np.int64] = count("Rank among the agents that took both editions")
    earlier_rank: NDArray[np.int64] = count("The same in the earlier edition")
    mean: Floats = number("Mean over tasks", unit="score")
    earlier_mean: Floats = number("Mean over tasks of the earlier edition", unit="score")


class EditionTasks(Table):
    """Tasks of both editions, those that changed most first."""

    task: tuple[str, ...] = name("Task")
    change: Floats = number(
        "Mean of these agents in this edition less that in the earlier", unit="score"
    )
    change_error: Floats = error("change", "Standard error over agents")
    agents: NDArray[np.int64] = count("Agents observed in both editions")
    saturated: NDArray[np.bool_] = flag(
        "These agents differed in the earlier edition, and all have the best result in this one"
    )


class EditionBits(Table):
    """Information about which of these agents is playing, of the tasks of an edition."""

    tasks: tuple[str, ...] = name("Tasks")
    task_count: NDArray[np.int64] = count("Number of tasks", title="number")
    bits: Floats = number("Information of these tasks together", unit="bits")


@dataclass(frozen=True, eq=False, repr=False)
class EditionComparison(Answer):
    """Two editions compared over the agents that took both: `reversed_pairs` have changed their order.

    `tested_pairs` are those of them that differed significantly in one of the editions.
    """

    kind = "editions"

    agents: EditionAgents
    tasks: EditionTasks
    pairs: int
    reversed_pairs: int
    tested_pairs: tuple[tuple[str, str], ...]
    kendall: float
    information: EditionBits | None = None

    @property
    def headline(self) -> str:
        """Whether both editions put agents in the same order."""
        agents = counted(len(self.agents), "agent")
        if not self.reversed_pairs:
            return f"Both editions put the {agents} that took them in the same order."
        start = (
            f"Of {counted(self.pairs, 'pair')} of the {agents} that took both editions, "
            f"{self.reversed_pairs:,} are in another order (Kendall's tau {three_digits(self.kendall)})"
        )
        if not self.tested_pairs:
            return f"{start}; none of these differed significantly in either edition."
        pairs = listed([" and ".join(pair) for pair in self.tested_pairs], limit=3)
        return f"{start}; {len(self.tested_pairs):,} of these differed significantly: {pairs}."

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Numbers of pairs, and how far both orders agree."""
        return {
            "pairs": Scalar(self.pairs, "Pairs of agents"),
            "reversed": Scalar(self.reversed_pairs, "Pairs in another order"),
            "reversed_though_significant": Scalar(
                [list(pair) for pair in self.tested_pairs],
                "Pairs in another order that differed significantly in an edition",
            ),
            "kendall": Scalar(self.kendall, "Kendall's tau of both orders"),
            "saturated": Scalar(
                list(np.array(self.tasks.task, dtype=object)[self.tasks.saturated]),
                "Tasks on which all agents have the best result by now",
            ),
        }

    @property
    def tables(self) -> Mapping[str, Table]:
        """Agents and tasks of both editions, and the information of each where runs are repeated."""
        tables: dict[str, Table] = {"agents": self.agents, "tasks": self.tasks}
        return tables if self.information is None else tables | {"information": self.information}


def finding(study: Study) -> Finding:
    """Compare this edition with the earlier one, over the agents that took both."""
    before = study.earlier
    assert before is not None, "checked by the study"
    agents = [agent for agent in study.results.agents if agent in before.results.agents]
    if len(agents) < FEWEST_AGENTS:
        raise NothingToTellError(
            f"{counted(len(agents), 'agent')} took both editions: to compare them takes {FEWEST_AGENTS}."
        )
    answer = compare_editions(before, study, agents)
    blocks: list[Piece] = [_figure(answer.agents)]
    blocks.append(shown_table(answer.agents, caption="Agents in both editions"))
    if len(answer.tasks):
        blocks.append(shown_table(answer.tasks, caption="Tasks in both editions"))
    if answer.information is not None:
        blocks.append(shown_table(answer.information))
    blocks.append(_facts(before, study, agents, answer.tasks))
    return Finding(lead=(Sentence(answer.headline),), blocks=tuple(blocks), answer=answer)


def compare_editions(before: Study, after: Study, agents: Sequence[str]) -> EditionComparison:
    """Compare means and ranks of agents that took both editions, and the tasks of both."""
    earlier, later = (
        np.array([study.aggregates.mean[study.results.agents.index(agent)] for agent in agents])
        for study in (before, after)
    )
    first, second = np.triu_indices(len(agents), 1)
    turned = (earlier[first] - earlier[second]) * (later[first] - later[second]) < 0
    differ = _differ(before, agents) | _differ(after, agents)
    significant = turned & differ[first, second]
    table = EditionAgents(
        agent=agents,
        rank=shared_ranks(later),
        earlier_rank=shared_ranks(earlier),
        mean=later,
        earlier_mean=earlier,
        score_unit=said(after.unit),
    )
    return EditionComparison(
        agents=table.sorted_by("rank"),
        tasks=_tasks(before, after, agents),
        pairs=len(first),
        reversed_pairs=int(turned.sum()),
        tested_pairs=tuple(
            (agents[a], agents[b])
            for a, b in zip(first[significant], second[significant], strict=True)
        ),
        kendall=kendall_tau(earlier, later),
        information=_information(before.scores, after.scores, agents),
    )


def _information(earlier: Results, later: Results, agents: Sequence[str]) -> EditionBits | None:
    """Bits of each edition, and of the tasks in both; None where no cell has several runs or trials."""
    common = [task for task in later.tasks if task in earlier.tasks]
    rows: list[tuple[str, int, float]] = []
    for results, words in ((earlier, "the earlier edition"), (later, "this edition")):
        kept = np.isin(np.array(results.agents, dtype=object), list(agents))
        channels = results.where(kept[results.agent_codes])
        try:
            rows.append((f"all of {words}", len(results.tasks), gain(channels).bits))
            if common:
                of_common = gain(channels, common).bits
                rows.append((f"those in both, in {words}", len(common), of_common))
        except InputError:  # of single trials, from which nothing is known of how agents vary
            return None
    what, number_of, bits = zip(*rows, strict=True)
    caption = "Information lost with dropped tasks, and gained with added ones"
    return EditionBits(tasks=what, task_count=number_of, bits=bits, caption=caption)


def _differ(study: Study, agents: Sequence[str]) -> NDArray[np.bool_]:
    """Which pairs differ significantly after Holm's correction, [agents, agents]."""
    kept = np.isin(np.array(study.scores.agents, dtype=object), list(agents))
    results = study.scores.where(kept[study.scores.agent_codes])
    tests = significance(results, measure=study.measure)
    rows = [tests.agent_names.index(agent) for agent in agents]
    return np.asarray(tests.p[np.ix_(rows, rows)] < tests.alpha)


class EditionData(NamedTuple):
    """Agents that took both editions, and their ranks among themselves, [agents]."""

    agents: tuple[str, ...]
    earlier_rank: Floats
    later_rank: Floats


def draw(data: EditionData) -> chart.Drawing:
    """Draw one point an agent: its rank in the earlier edition to the right, in this one upwards.

    >>> ranks = np.array([1.0, 2.0])
    >>> drawn = draw(EditionData(("<a>", "b"), ranks, ranks))
    >>> drawn["data"][1]["text"]
    ['&lt;a&gt;', 'b']
    """
    count = len(data.agents)
    same = chart.line([1, count], [1, count], "same rank", chart.GREY, dash="dot")
    hover = "%{customdata}: rank %{x} before, %{y} now"
    names = labels(data.agents, 40)
    points = chart.dots(data.earlier_rank, data.later_rank, "agents", chart.DOTS, hover)
    clear = chart.with_room(data.earlier_rank, data.later_rank, 0.3, 0.07)
    shown = [name if free else "" for name, free in zip(names, clear, strict=True)]
    points |= {"mode": "markers+text", "textposition": "top center", "text": shown}
    points |= {"customdata": names, "textfont": {"size": 10}} | chart.linked("agents", data.agents)
    ends = {"range": [0.3, count + 0.7]}
    x = chart.axis("rank in the earlier edition", **ends)
    y = chart.axis("rank in this edition", range=ends["range"][::-1])
    return chart.figure([same, points], 340, x, y)


def _figure(agents: EditionAgents) -> Figure:
    ranks = (column.astype(np.float64) for column in (agents.earlier_rank, agents.rank))
    data = EditionData(agents.agent, *ranks)
    return Figure(
        key="editions",
        drawn=data,
        drawing=draw(data),
        caption="Ranks of the agents that took both editions, among themselves.",
        description="One point an agent: its rank in the earlier edition and in this one.",
        legend="On the dotted line ranks are the same; above it an agent has gained.",
        narrowest=420,
    )


def _tasks(before: Study, after: Study, agents: Sequence[str]) -> EditionTasks:
    """How the scores of the agents in both moved on the tasks in both, with errors over agents."""
    common = [task for task in after.results.tasks if task in before.results.tasks]
    values = []
    for study in (before, after):
        rows = [study.results.agents.index(agent) for agent in agents]
        columns = [study.results.tasks.index(task) for task in common]
        values.append(study.comparable[np.ix_(rows, columns)])
    gap = values[1] - values[0]
    differed = np.nanmax(values[0], axis=0) > np.nanmin(values[0], axis=0)
    saturated = differed & (np.nanmin(values[1], axis=0) == np.nanmax(values[1], axis=0))
    saturated &= np.nanmin(values[1], axis=0) >= np.nanmax(values[0], axis=0)
    observed = np.isfinite(gap)
    agents_of = observed.sum(axis=0)
    divisor = np.maximum(agents_of, 1)
    change = np.where(observed, gap, 0.0).sum(axis=0) / divisor
    squares = (np.where(observed, gap - change, 0.0) ** 2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(squares / (divisor - 1) / divisor)
    moved = EditionTasks(
        task=common,
        change=change,
        change_error=spread,
        agents=agents_of,
        saturated=saturated,
        score_unit=said(after.unit),
    )
    return moved.take(np.argsort(-np.abs(change), kind="stable"))


def _facts(before: Study, after: Study, agents: Sequence[str], tasks: EditionTasks) -> Facts:
    old, new = before.results, after.results
    dropped = [task for task in old.tasks if task not in new.tasks]
    added = [task for task in new.tasks if task not in old.tasks]
    nobody: Prose = "none"
    saturated = [row.task for row in tasks if row.saturated]
    return Facts(
        (
            ("Earlier edition", (Name(before.title),)),
            ("Agents × tasks", f"{len(old.agents):,} × {len(old.tasks):,}"),
            ("Agents in both", enumerated(agents)),
            ("Tasks dropped", enumerated(dropped) if dropped else nobody),
            ("Tasks added", enumerated(added) if added else nobody),
            ("Tasks saturated", enumerated(saturated) if saturated else nobody),
        )
    )
