"""Agent curves: results over difficulty, and who is general."""

from __future__ import annotations

import numpy as np

from examiner.irt import EmpiricalAgentCurves
from examiner.irt import agent_curves as expected_agent_curves
from examiner.telling.figures import agent_curves as picture
from examiner.telling.finding import Block, Figure, Finding, Name, Prose
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import counted

KEY, TITLE = "agent_curves", "Curves of agents"


def agent_curves(study: Study) -> Finding:
    """Draw results of agents from the ablest to the least able over bins of difficulty.

    >>> from examiner.results import Results
    >>> agent_curves(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    if made.told.curves is None or len(made.told.curves.difficulty) < 2:
        why = made.told.notes[0] if made.told.notes else "There is one bin of difficulty only."
        return untold(KEY, TITLE, f"No curve of an agent can be drawn: {why}")
    blocks: tuple[Block, ...] = (_figure(made, made.told.curves), *noted(made.told.notes))
    return Finding(KEY, TITLE, _lead(made), blocks)


def _lead(made: Fitted) -> Prose:
    slope = made.told.slope
    falling = int(np.isfinite(slope).sum())
    total = counted(len(slope), "agent")
    if not falling:
        return (f"No curve of {total} falls through one half: no slope can be told.",)
    steepest = int(np.nanargmax(slope))
    return (
        f"The results of {falling:,} of {total} fall through one half as tasks get harder; those of ",
        Name(made.told.agents[steepest]),
        f" most steeply, by {three_digits(float(slope[steepest]))} per unit of difficulty.",
    )


def _figure(made: Fitted, curves: EmpiricalAgentCurves) -> Figure:
    ability = np.nan_to_num(made.told.ability, nan=-np.inf)
    order = np.argsort(-ability, kind="stable")
    spread = np.unique(np.linspace(0, len(order) - 1, picture.MOST_LINES).round().astype(int))
    chosen = order[spread]
    expected = expected_agent_curves(made.fit.abilities, made.fit.items)
    names = [curves.agents[place] for place in chosen]
    data = picture.data(
        names,
        curves.difficulty,
        curves.mean[chosen],
        curves.variance[chosen],
        expected.difficulty,
        expected.success[chosen],
    )
    shown = (
        f" {len(names)} of {len(order):,} agents are drawn, from the ablest to the least able."
        if len(names) < len(order)
        else ""
    )
    return Figure(
        key="agent-curves",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(
            "Mean results in bins of difficulty; a general agent is good up to its ability and fails "
            "beyond it.",
        ),
        description="Falling lines of mean results over difficulty, one for each agent drawn.",
        legend=(
            "Ribbons are ± half the variance within a bin: the narrower, the more general (papers/002, "
            "Fig. 5). Dotted curves are what the model expects on a typical task; vertical lines "
            f"are the bins' median difficulties.{shown}",
        ),
        narrowest=460,
    )
