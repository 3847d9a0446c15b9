"""Ability against generality, and the indicators of every agent."""

from __future__ import annotations

import numpy as np

from examiner.irt import IndicatorCorrelation, dominance
from examiner.telling.figures import ability_generality as picture
from examiner.telling.finding import (
    Block,
    Column,
    Figure,
    Finding,
    Name,
    Prose,
    Table,
    Text,
    enumerated,
)
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import untold
from examiner.telling.study import Study

KEY, TITLE = "ability_generality", "Ability and generality"
MOST_COMPARED = 500


def ability_generality(study: Study) -> Finding:
    """Say whether the able are general, and list the indicators.

    >>> from examiner.results import Results
    >>> ability_generality(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    blocks: list[Block] = []
    if not np.isnan(made.told.generality).all():
        blocks.append(_figure(made))
    blocks += [_agents(made), _correlations(made)]
    if len(made.matrix.agents) <= MOST_COMPARED:
        blocks.append(Text(_dominance(made)))
    return Finding(KEY, TITLE, _lead(made), tuple(blocks))


def _lead(made: Fitted) -> Prose:
    told = made.told
    ablest = int(np.nanargmax(told.ability))
    start: Prose = (
        Name(told.agents[ablest]),
        f" is the ablest agent, {three_digits(float(told.ability[ablest]))} ± "
        f"{three_digits(float(told.ability_error[ablest]))}",
    )
    found = _between(made, "ability", "generality")
    if found is None or np.isnan(found.pearson):
        return (*start, ".")
    ends = f"{three_digits(found.low)} to {three_digits(found.high)}"
    clear = found.low > 0 or found.high < 0
    verdict = (
        f"the able are {'more' if found.pearson > 0 else 'less'} general"
        if clear
        else "whether the able are more general cannot be told"
    )
    return (*start, f"; {verdict} (correlation {three_digits(found.pearson)}, 95 %: {ends}).")


def _dominance(made: Fitted) -> Prose:
    found = dominance(made.matrix)
    share = found.transitive_share
    if np.isnan(share):
        return ("No two agents differ on a task they share.",)
    start = (
        f"In {share:.0%} of the pairs of agents that differ, one does at least as well as the other on "
        f"every task they share. "
    ).replace("%", " %")
    names = found.undominated
    if len(names) == 1:
        return (start, "Only ", Name(names[0]), " is dominated by nobody.")
    return (start, "Dominated by nobody: ", *enumerated(names, 12), ".")


def _between(made: Fitted, a: str, b: str) -> IndicatorCorrelation | None:
    return next((one for one in made.told.correlations if (one.a, one.b) == (a, b)), None)


def _figure(made: Fitted) -> Figure:
    told = made.told
    data = picture.data(told.agents, told.ability, told.ability_error, told.generality)
    infinite = int(np.isinf(told.generality).sum())
    stars = " Stars stand above all others: no variance in any bin." if infinite else ""
    return Figure(
        key="ability-generality",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(
            "Generality over ability: a general agent is good at all that is easy for it, and only that.",
        ),
        description="One point an agent: ability to the right, generality upwards.",
        legend=(
            "Agents that fail, or succeed, at nearly everything vary little and so count as general, "
            f"whatever they are. Lines are one standard error of ability.{stars}",
        ),
        narrowest=420,
    )


def _agents(made: Fitted) -> Table:
    told = made.told
    columns = (
        Column("agent", "name"),
        Column("mean", "number", "mean result"),
        Column("ability", "number", "posterior mean"),
        Column("±", "number", "standard error of ability"),
        Column("regularity", "number", "1 / variance of its results (papers/002, eq. 2)"),
        Column("generality", "number", "1 / sum of variances over bins of difficulty (eq. 3)"),
        Column("slope", "number", "steepness of its curve where it falls through one half"),
        Column("flags", "text"),
    )
    order = np.argsort(-np.nan_to_num(told.ability, nan=-np.inf), kind="stable")
    rows = tuple(
        (
            Name(told.agents[place]),
            float(told.mean[place]),
            float(told.ability[place]),
            float(told.ability_error[place]),
            float(told.regularity[place]),
            float(told.generality[place]),
            float(told.slope[place]),
            "; ".join(told.flags[place]),
        )
        for place in order
    )
    return Table(columns, rows, ("The ablest first.",))


def _correlations(made: Fitted) -> Table:
    columns = (
        Column("of", "text"),
        Column("and", "text"),
        Column("correlation", "number", "Pearson's, over the agents that have both"),
        Column("low", "number", "95 %, Fisher"),
        Column("high", "number", "95 %, Fisher"),
        Column("rank correlation", "number", "Spearman's"),
        Column("agents", "count"),
    )
    rows = tuple(
        (one.a, one.b, one.pearson, one.low, one.high, one.spearman, one.agents)
        for one in made.told.correlations
    )
    return Table(columns, rows, ("How the indicators go together.",))
