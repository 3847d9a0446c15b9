"""Wright map: agents and tasks on one scale, and where tasks are missing."""

from __future__ import annotations

import numpy as np

from examiner.telling.figures import wright_map as picture
from examiner.telling.finding import Block, Figure, Finding, Prose, Text
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, untold
from examiner.telling.study import Study
from examiner.wording import counted

KEY, TITLE = "wright_map", "Agents and tasks on one scale"
MOST_DRAWN = 400


def wright_map(study: Study) -> Finding:
    """Draw abilities beside difficulties, and say which agents no task is made for.

    >>> from examiner.results import Results
    >>> wright_map(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    blocks: tuple[Block, ...] = (_figure(made), Text(_how(made)), *noted(made.fit.warnings))
    return Finding(KEY, TITLE, _lead(made), blocks)


def _lead(made: Fitted) -> Prose:
    ability = made.fit.abilities.ability
    rising = made.fit.items.slope > 0
    difficulty = made.fit.items.difficulty[rising]
    tasks = counted(int(rising.sum()), "task")
    hard = int((difficulty > ability.max()).sum())
    easy = int((difficulty < ability.min()).sum())
    low, high = three_digits(float(ability.min())), three_digits(float(ability.max()))
    return (
        f"Abilities run from {low} to {high}; of {tasks} that reward the able, {hard:,} are harder than "
        f"the ablest agent is able, and {easy:,} easier than the least able.",
    )


def _how(made: Fitted) -> Prose:
    fit = made.fit
    agreeing = f"{fit.starts.agreeing} of {counted(len(fit.starts.objectives), 'start')} agree"
    return (
        f"{fit.model} of {made.what}, {fit.estimator}, log-likelihood "
        f"{three_digits(fit.log_likelihood)}; {fit.quadrature.kind}; {agreeing}. {fit.outcome.value} An "
        f"agent has even chances on a task that stands as high as it does.",
    )


def _figure(made: Fitted) -> Figure:
    fit = made.fit
    agents = _some(len(fit.abilities.agents))
    tasks = _some(len(fit.items))
    data = picture.data(
        [fit.abilities.agents[place] for place in agents],
        fit.abilities.ability[agents],
        fit.abilities.error[agents],
        [fit.items.tasks[place] for place in tasks],
        fit.items.difficulty[tasks],
        fit.items.slope[tasks] < 0,
    )
    beyond = int((np.abs(data.difficulty) > np.abs(data.high)).sum())
    edge = f" {counted(beyond, 'task')} beyond the edge stand at it." if beyond else ""
    thinned = (
        f" Of many, every so many are drawn: {len(agents):,} agents, {len(tasks):,} tasks."
        if len(agents) < len(fit.abilities.agents) or len(tasks) < len(fit.items)
        else ""
    )
    return Figure(
        key="wright-map",
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=("Agents on the left, the ablest on top; tasks on the right, the hardest on top.",),
        description="Two columns of dots on one scale: abilities of agents, difficulties of tasks.",
        legend=(f"Lines are one standard error of an ability.{edge}{thinned}",),
        narrowest=420,
    )


def _some(count: int) -> np.ndarray:
    return np.arange(0, count, max(1, -(-count // MOST_DRAWN)))
