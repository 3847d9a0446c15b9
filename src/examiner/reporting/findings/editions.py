"""Two editions of an exam: who changed places, whether that is more than luck, and which tasks moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.messages import counted
from examiner.reporting.figures import chart
from examiner.reporting.finding import Facts, Figure, Finding, NothingToTellError
from examiner.reporting.prose import Name, Prose, enumerated, labels, three_digits
from examiner.reporting.study import Study
from examiner.reporting.table import Record, ShownColumn, ShownTable, records
from examiner.results import Results
from examiner.scores import kendall_tau, shared_ranks
from examiner.scores import significance as agent_differences
from examiner.validation import Floats

FEWEST_AGENTS = 3
LEVEL = 0.05
MOVED = (
    ShownColumn("task", "name"),
    ShownColumn("change", "number", "of the mean of these agents, this edition less the earlier"),
    ShownColumn("±", "number", "its standard error over agents", "error"),
    ShownColumn("agents", "count"),
)


def finding(study: Study) -> Finding:
    """Compare this edition with the earlier one, over the agents that took both."""
    before = study.earlier
    assert before is not None, "checked by the study"
    agents = [agent for agent in study.results.agents if agent in before.results.agents]
    if len(agents) < FEWEST_AGENTS:
        raise NothingToTellError(
            f"{counted(len(agents), 'agent')} took both editions: to compare them takes {FEWEST_AGENTS}."
        )
    data = _data(before, study, agents)
    moved = _moved(before, study, agents, data)
    tasks = _tasks(before, study, agents)
    blocks = (_figure(data), _agents(data), *tasks.blocks, _facts(before, study, agents))
    lead = _lead(data, moved, len(agents))
    return Finding(lead=lead, blocks=blocks, beside=moved | {"tasks": tasks.data})


class EditionData(NamedTuple):
    """Means of the agents that took both editions, [agents], and their ranks among themselves."""

    agents: tuple[str, ...]
    earlier: Floats
    later: Floats
    earlier_rank: Floats
    later_rank: Floats


def _data(before: Study, after: Study, agents: Sequence[str]) -> EditionData:
    means = [
        np.array([study.aggregates.mean[study.results.agents.index(agent)] for agent in agents])
        for study in (before, after)
    ]
    return EditionData(tuple(agents), *means, *(shared_ranks(mean) for mean in means))


def _moved(before: Study, after: Study, agents: Sequence[str], data: EditionData) -> Record:
    """Pairs of agents in another order, and those of them that an edition had told apart."""
    first, second = np.triu_indices(len(agents), 1)
    turned = (data.earlier[first] - data.earlier[second]) * (
        data.later[first] - data.later[second]
    ) < 0
    told = _told_apart(before, agents) | _told_apart(after, agents)
    sure = turned & told[first, second]
    pairs = zip(first[sure].tolist(), second[sure].tolist(), strict=True)
    return {
        "agents": len(agents),
        "pairs": len(first),
        "turned": int(turned.sum()),
        "turned_though_told_apart": [[agents[a], agents[b]] for a, b in pairs],
        "kendall": kendall_tau(data.earlier, data.later),
    }


def _told_apart(study: Study, agents: Sequence[str]) -> NDArray[np.bool_]:
    """Which pairs Wilcoxon's test with Holm's correction tells apart, [agents, agents]."""
    made = agent_differences(_only(study.scores, agents), measure=study.measure)
    rows = [made.agent_names.index(agent) for agent in agents]
    return np.asarray(made.p[np.ix_(rows, rows)] < LEVEL)


def _only(results: Results, agents: Sequence[str]) -> Results:
    kept = np.isin(np.array(results.agents, dtype=object), list(agents))
    return results.where(kept[results.agent_codes])


def _lead(data: EditionData, moved: Record, agents: int) -> Prose:
    sure = moved["turned_though_told_apart"]
    start = (
        f"Of {counted(moved['pairs'], 'pair')} of the {counted(agents, 'agent')} that took both editions, "
        f"{moved['turned']:,} are in another order (Kendall {three_digits(moved['kendall'])})"
    )
    if not moved["turned"]:
        return f"Both editions put the {counted(agents, 'agent')} that took them in the same order."
    if not sure:
        return f"{start}; none of these was told apart by either edition."
    named = enumerated([" and ".join(pair) for pair in sure], 3)
    return (
        f"{start}; {len(sure):,} of these although an edition had told them apart: ",
        *named,
        ".",
    )


def draw(data: EditionData) -> chart.Drawing:
    """Draw one point an agent: its rank in the earlier edition to the right, in this one upwards.

    >>> ranks = np.array([1.0, 2.0])
    >>> drawn = draw(EditionData(("<a>", "b"), ranks, ranks, ranks, ranks))
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


def _figure(data: EditionData) -> Figure:
    return Figure(
        key="editions",
        drawn=data,
        drawing=draw(data),
        caption="Ranks of the agents that took both editions, among themselves.",
        description="One point an agent: its rank in the earlier edition and in this one.",
        legend="On the dotted line ranks are the same; above it an agent has gained.",
        narrowest=420,
    )


def _agents(data: EditionData) -> ShownTable:
    columns = (
        ShownColumn("agent", "name"),
        ShownColumn("rank", "count", "among the agents that took both editions"),
        ShownColumn("earlier rank", "count", key="earlier_rank"),
        ShownColumn("mean", "number"),
        ShownColumn("earlier mean", "number", key="earlier_mean"),
    )
    rows = records(
        agent=data.agents,
        rank=data.later_rank.astype(int),
        earlier_rank=data.earlier_rank.astype(int),
        mean=data.later,
        earlier_mean=data.earlier,
    )
    return ShownTable.of(
        sorted(rows, key=lambda row: row["rank"]), columns, "Agents in both editions"
    )


class _Tasks(NamedTuple):
    blocks: tuple[ShownTable, ...]
    data: list[Record]


def _tasks(before: Study, after: Study, agents: Sequence[str]) -> _Tasks:
    """How the scores of the agents in both moved on the tasks in both, with errors over agents."""
    common = [task for task in after.results.tasks if task in before.results.tasks]
    if not common:
        return _Tasks((), [])
    values = []
    for study in (before, after):
        rows = [study.results.agents.index(agent) for agent in agents]
        columns = [study.results.tasks.index(task) for task in common]
        values.append(study.comparable[np.ix_(rows, columns)])
    gap = values[1] - values[0]
    seen = np.isfinite(gap)
    count = np.maximum(seen.sum(axis=0), 1)
    change = np.where(seen, gap, 0.0).sum(axis=0) / count
    spread = np.where(seen, gap - change, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt((spread**2).sum(axis=0) / (count - 1) / count)
    moved = records(task=common, change=change, error=error, agents=seen.sum(axis=0))
    moved.sort(key=lambda row: -abs(row["change"]))
    return _Tasks((ShownTable.of(moved, MOVED, "Tasks in both editions"),), moved)


def _facts(before: Study, after: Study, agents: Sequence[str]) -> Facts:
    old, new = before.results, after.results
    dropped = [task for task in old.tasks if task not in new.tasks]
    added = [task for task in new.tasks if task not in old.tasks]
    nobody: Prose = "none"
    return Facts(
        (
            ("Earlier edition", (Name(before.title),)),
            ("Agents × tasks", f"{len(old.agents):,} × {len(old.tasks):,}"),
            ("Agents in both", enumerated(agents)),
            ("Tasks dropped", enumerated(dropped) if dropped else nobody),
            ("Tasks added", enumerated(added) if added else nobody),
        )
    )
