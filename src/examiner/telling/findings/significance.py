"""Which agents differ over tasks: Friedman, Wilcoxon with Holm, and the critical-difference diagram."""

from __future__ import annotations

import numpy as np

from examiner.results import Results
from examiner.scores import Significance
from examiner.scores import significance as agent_differences
from examiner.scores.differences import difference_of
from examiner.scores.uncertainty.strata import run_scores
from examiner.telling.figures import critical as picture
from examiner.telling.finding import (
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Name,
    Prose,
    Table,
    Text,
)
from examiner.telling.resampled import noted, resampled, untold
from examiner.telling.study import Study
from examiner.wording import InputError, counted

KEY, TITLE = "significance", "Which agents differ"
MOST_ROWS = 30


def significance(study: Study) -> Finding:
    """Test agents over tasks, and say what differences these data could show at all.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = np.linspace(0.1, 0.9, 24).reshape(8, 3).T
    >>> said(significance(Study.of(Results.from_numpy(scores))).lead)
    'Agents differ over tasks (Friedman, p = 0.00034): 3 of 3 pairs do, at 5 % after Holm.'
    """
    shown = resampled(study)
    if len(shown.agents) < 2:
        return untold(KEY, TITLE, "There are no two agents with comparable scores to test.")
    try:
        made = agent_differences(shown.results, measure=study.measure)
    except InputError as problem:
        return untold(KEY, TITLE, f"No tests: {problem}")
    text = (
        f"Agents are ranked on each of {counted(len(made.tasks), 'task')}. Friedman's test asks whether "
        "any differ, Wilcoxon's signed ranks with Holm's correction which pairs do. Tests over tasks "
        f"speak of other tasks like these, and need no repeated runs.{_gaps(made)}"
    )
    blocks: list[Block] = [
        Text((text,)),
        _figure(made),
        _table(shown.results, study.measure, made, shown.agents),
    ]
    return Finding(KEY, TITLE, _lead(made), (*blocks, *noted(made.notes)))


def _lead(made: Significance) -> Prose:
    pairs = len(made.agents) * (len(made.agents) - 1) // 2
    found = int((made.p < made.alpha).sum()) // 2
    if len(made.agents) == 2:
        word = "differ" if found else "do not differ significantly"
        p = f" over tasks (Wilcoxon, p = {made.p[0, 1]:.2g})."
        return (Name(made.agents[0]), " and ", Name(made.agents[1]), f" {word}{p}")
    friedman = f"(Friedman, p = {made.p_value:.2g})"
    if made.p_value >= made.alpha:
        return (f"No difference between agents is significant over these tasks {friedman}.",)
    return (
        f"Agents differ over tasks {friedman}: {found:,} of {counted(pairs, 'pair')} do, at 5 % after "
        "Holm.",
    )


def _gaps(made: Significance) -> str:
    """How many tasks stand behind the test of a pair, where that is not all of them."""
    pairs = made.common[np.triu_indices(len(made.agents), 1)]
    few, most = int(pairs.min()), int(pairs.max())
    if few == len(made.tasks):
        return ""
    many = f"{few:,}" if few == most else f"between {few:,} and {most:,}"
    return (
        f" Some results are missing: agents seen on a task are ranked among themselves, and each pair is "
        f"tested on the tasks that both have, {many} of {len(made.tasks):,}."
    )


def _figure(made: Significance) -> Figure:
    data = picture.data(made.agents, made.mean_rank, made.cliques, made.critical)
    return Figure(
        key="critical-difference",
        data=data._asdict() | {"p": made.p, "posthoc": made.posthoc},
        drawing=picture.draw(data),
        caption=("Mean ranks over tasks; a bar joins agents among whom no pair differs.",),
        description="A line of mean ranks with a label for each agent and bars over groups.",
        legend=("Left is better. Wilcoxon with Holm, at 5 %.",),
        narrowest=560,
    )


def _table(results: Results, measure: str, made: Significance, agents: tuple[str, ...]) -> Table:
    """The best agent against the others: what differs, and what could have been seen."""
    columns = (
        Column("agent", "name"),
        Column("mean rank", "number"),
        Column("behind the first by", "number", "mean difference over common tasks"),
        Column("error", "number", "standard error, paired over tasks, clustered by game"),
        Column("detectable", "number", "a true difference found four times in five"),
        Column("p", "number", "Wilcoxon, after Holm, against the first"),
        Column("tasks", "count", "that both have"),
    )
    first, places = agents[0], {agent: place for place, agent in enumerate(made.agents)}
    scores, games = run_scores(results, measure), np.array(results.task_names)
    rows: list[tuple[Cell, ...]] = []
    for agent in agents[:MOST_ROWS]:
        place = places[agent]
        if agent == first:
            rows.append((Name(agent), float(made.mean_rank[place]), *([None] * 5)))
            continue
        gap = difference_of(scores.of(first), scores.of(agent), games)
        p = float(made.p[places[first], place])
        ranks = float(made.mean_rank[place])
        common = int(made.common[places[first], place])
        rows.append((Name(agent), ranks, gap.value, gap.clustered, gap.detectable, p, common))
    caption = "The first agent by mean against each other, with the least difference these data could show."
    return Table(columns, tuple(rows), (caption,))
