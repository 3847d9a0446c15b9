"""Learning curves: training logs summed up in several ways, and how that changes the verdict."""

from __future__ import annotations

import numpy as np

from examiner.scores import LearningCurves, Verdicts
from examiner.scores import curves as learning_curves
from examiner.telling.figures import bump
from examiner.telling.finding import (
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Name,
    Notes,
    Prose,
    Table,
    Text,
    enumerated,
)
from examiner.telling.numbers import three_digits
from examiner.telling.study import Study
from examiner.wording import counted

MOST_DRAWN = 24
MOST_NAMED = 3
TITLE = "Learning curves"


def curves(study: Study) -> Finding:
    """Sum up training logs in the ways of papers/001, section 3; without any, say so.

    >>> from examiner.results import Results
    >>> curves(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))).applies
    False
    """
    if study.training is None:
        none = "The results are no training logs, so there are no learning curves to sum up."
        return Finding("curves", TITLE, (none,), applies=False)
    made = learning_curves(study.training, study.measure)
    verdicts = made.verdicts()
    blocks: list[Block] = [Text(_meaning(made, study)), _table(made, verdicts)]
    if len(made.agents) > 1:
        blocks += [Text(_disagreement(verdicts)), _figure(made, verdicts)]
    if made.notes:
        notes = tuple((Name(note),) for note in made.notes)
        blocks.append(Notes("What the summaries could not use or tell", notes))
    return Finding("curves", TITLE, _lead(made, verdicts), tuple(blocks))


def _lead(made: LearningCurves, verdicts: Verdicts) -> Prose:
    if len(made.agents) == 1:
        return ("There is one agent: its curves are summed up, but not compared.",)
    leaders: dict[tuple[str, ...], list[str]] = {}
    for name, ranks in zip(verdicts.summaries, verdicts.rank, strict=True):
        first = tuple(agent for agent, rank in zip(made.agents, ranks, strict=True) if rank == 1)
        if first and name != "relative drop":  # steadiness is no performance
            leaders.setdefault(first, []).append(name)
    if len(leaders) == 1:
        (names,) = leaders
        word = "lead" if len(names) > 1 else "leads"
        return (*enumerated(names, MOST_NAMED), f" {word} by every summary of the learning curves.")
    parts: list[str | Name] = ["Who leads depends on the summary: "]
    for place, (names, by) in enumerate(leaders.items()):
        listed = by[0] if len(by) == 1 else f"{', '.join(by[:-1])} and {by[-1]}"
        parts += ["; " if place else "", *enumerated(names, MOST_NAMED), f" by {listed}"]
    return (*parts, ".")


def _meaning(made: LearningCurves, study: Study) -> Prose:
    assert study.training is not None
    reduction = study.results.provenance.reduction or "all"
    return (
        f"{counted(len(made.run), 'run')} were logged while the agents learnt. Everywhere else in this "
        f"report they are reduced by ",
        Name(reduction),
        f". Performance during training is the mean of the last {made.last:,} episodes; the best is "
        f"biased upward, and re-evaluated on other episodes of the same checkpoint. Numbers are ",
        Name(made.measure),
        " averaged over runs." if len(made.tasks) == 1 else _share(made),
    )


def _share(made: LearningCurves) -> str:
    return (
        f" turned into the share of the other agents that an agent beats, averaged over "
        f"{counted(len(made.tasks), 'task')}."
    )


def _table(made: LearningCurves, verdicts: Verdicts) -> Table:
    values = verdicts.cells[:, :, 0] if len(made.tasks) == 1 else verdicts.standing
    told = [place for place, row in enumerate(values) if not np.isnan(row).all()]
    summaries = [made.summaries[place] for place in told]
    columns = (
        Column("agent", "name"),
        *(Column(each.short, "number", f"{each.name}: {each.meaning}") for each in summaries),
    )
    rows: list[tuple[Cell, ...]] = [
        (Name(made.agents[agent]), *values[told, agent].tolist()) for agent in _order(verdicts)
    ]
    return Table(columns, tuple(rows))


def _order(verdicts: Verdicts) -> list[int]:
    """Agents by their performance at the last report point that tells any of them."""
    during = [
        row
        for name, row in zip(verdicts.summaries, verdicts.rank, strict=True)
        if name.startswith("training at") and not np.isnan(row).all()
    ]
    ranks = during[-1] if during else np.zeros(len(verdicts.agents))
    return [int(agent) for agent in np.argsort(ranks, kind="stable")]


def _disagreement(verdicts: Verdicts) -> Prose:
    taus = np.where(np.triu(np.ones_like(verdicts.agreement), k=1) > 0, verdicts.agreement, np.nan)
    if np.isnan(taus).all():
        return ("The summaries cannot be compared: they order too few agents.",)
    one, other = np.unravel_index(np.nanargmin(taus), taus.shape)
    lowest = three_digits(float(taus[one, other]))
    return (
        f"Of all pairs of summaries, {verdicts.summaries[one]} and {verdicts.summaries[other]} agree "
        f"least about the order of the agents: Kendall's τ is {lowest} (1 is the same order, −1 the "
        f"reverse).",
    )


def _figure(made: LearningCurves, verdicts: Verdicts) -> Figure:
    agents = _order(verdicts)[:MOST_DRAWN]
    drawn = bump.data(
        [verdicts.agents[agent] for agent in agents],
        [summary.short for summary in made.summaries],
        verdicts.rank[:, agents],
        verdicts.standing[:, agents],
    )
    moved = int((np.fmax.reduce(drawn.ranks) > np.fmin.reduce(drawn.ranks)).sum())
    total = len(verdicts.agents)
    rest = (f"The first {MOST_DRAWN} of {total:,} agents are drawn.",) if total > MOST_DRAWN else ()
    return Figure(
        key="curves-ranks",
        data=drawn._asdict(),
        drawing=bump.draw(drawn),
        caption=(f"{moved:,} of {counted(len(agents), 'agent')} change places with the summary.",),
        description="One line an agent: its rank under each summary of its learning curves.",
        legend=rest,
        narrowest=480,
    )
