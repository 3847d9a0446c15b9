"""Two editions of an exam: which agents changed places, how significantly, and which tasks changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, count, error, flag, name, number, scalar
from examiner.information import gain
from examiner.messages import InputError, counted, listed
from examiner.reporting.figures import chart
from examiner.reporting.finding import Facts, Figure, Finding, shown_table
from examiner.reporting.prose import enumerated, labels, named, three_digits
from examiner.reporting.study import Study
from examiner.results import Results
from examiner.scores import kendall_tau, shared_ranks, significance
from examiner.validation import Floats


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
    """Two editions compared over the agents that took both."""

    kind = "editions"

    agents: EditionAgents
    tasks: EditionTasks
    pairs: int = field(metadata=scalar("Pairs of agents"))
    reversed_pairs: int = field(metadata=scalar("Pairs in another order", name="reversed"))
    tested_pairs: tuple[tuple[str, str], ...] = field(
        metadata=scalar(
            "Pairs in another order that differed significantly in an edition",
            name="reversed_though_significant",
        )
    )
    kendall: float = field(metadata=scalar("Kendall's tau of both orders"))
    saturated: list[str] = field(
        metadata=scalar("Tasks on which all agents have the best result by now")
    )
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


def finding(study: Study) -> Finding:
    """Compare this edition with the earlier one, over the agents that took both."""
    before = study.earlier
    assert before is not None, "checked by the study"
    agents = [agent for agent in study.results.agents if agent in before.results.agents]
    if len(agents) < 3:
        raise InputError(
            f"{counted(len(agents), 'agent')} took both editions: to compare them takes 3."
        )
    answer = compare_editions(before, study, agents)
    return Finding(
        blocks=(
            _figure(answer.agents),
            *map(shown_table, answer.tables.values()),
            _facts(before, study, answer),
        ),
        answer=answer,
    )


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
        score_unit=after.unit,
        caption="Agents in both editions",
    )
    tasks = _tasks(before, after, agents)
    return EditionComparison(
        agents=table.sorted_by("rank"),
        tasks=tasks,
        pairs=len(first),
        reversed_pairs=int(turned.sum()),
        tested_pairs=tuple(
            (agents[a], agents[b])
            for a, b in zip(first[significant], second[significant], strict=True)
        ),
        kendall=kendall_tau(earlier, later),
        saturated=[row.task for row in tasks if row.saturated],
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
    tests = significance(results, measure=study.measure, normalise=None)
    rows = [tests.agent_names.index(agent) for agent in agents]
    return np.asarray(tests.p[np.ix_(rows, rows)] < tests.alpha)


def _figure(agents: EditionAgents) -> Figure:
    """One point an agent: its rank in the earlier edition to the right, in this one upwards."""
    earlier, later = (part.astype(np.float64) for part in (agents.earlier_rank, agents.rank))
    count, names = len(agents), labels(agents.agent, 40)
    same = chart.line([1, count], [1, count], "same rank", chart.GREY, dash="dot")
    hover = "%{customdata}: rank %{x} before, %{y} now"
    points = chart.dots(earlier, later, "agents", chart.DOTS, hover, customdata=names)
    points |= chart.named_above(names, earlier, later) | chart.linked("agents", agents.agent)
    ends = [0.3, count + 0.7]
    x = chart.axis("rank in the earlier edition", range=ends)
    y = chart.axis("rank in this edition", range=ends[::-1])
    return Figure(
        key="editions",
        data={"agents": agents.agent, "earlier_rank": earlier, "later_rank": later},
        drawing=chart.figure([same, points], 340, x, y),
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
        score_unit=after.unit,
        caption="Tasks in both editions",
    )
    return moved.take(np.argsort(-np.abs(change), kind="stable"))


def _facts(before: Study, after: Study, answer: EditionComparison) -> Facts:
    old, new = before.results, after.results
    dropped = [task for task in old.tasks if task not in new.tasks]
    added = [task for task in new.tasks if task not in old.tasks]
    return Facts(
        (
            ("Earlier edition", named(before.title)),
            ("Agents × tasks", f"{len(old.agents):,} × {len(old.tasks):,}"),
            ("Agents in both", enumerated([agent for agent in new.agents if agent in old.agents])),
            ("Tasks dropped", enumerated(dropped) or "none"),
            ("Tasks added", enumerated(added) or "none"),
            ("Tasks saturated", enumerated(answer.saturated) or "none"),
        )
    )
