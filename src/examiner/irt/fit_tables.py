"""The tables of a fit: tasks with difficulty and discrimination, agents with ability, what was excluded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Table, bound, count, error, name, number, text, words
from examiner.irt.estimates import Abilities, TaskErrors, interval
from examiner.irt.evidence import Evidence, verdicts
from examiner.irt.items import Floats, ItemParameters

_FIELLER = "95 % interval (Fieller); infinite where the slope may be 0"


class FittedTasks(Table):
    """Estimates of tasks, the most difficult first."""

    task: tuple[str, ...] = name("Task")
    difficulty: Floats = number(
        "Ability at which success and failure are equally likely", unit="logits"
    )
    difficulty_error: Floats = error("difficulty")
    difficulty_low: Floats = bound("difficulty", "low", _FIELLER)
    difficulty_high: Floats = bound("difficulty", "high", _FIELLER)
    discrimination: Floats = number("Slope of the task's curve; negative: weaker agents do better")
    discrimination_error: Floats = error("discrimination")
    discrimination_low: Floats = bound("discrimination", "low")
    discrimination_high: Floats = bound("discrimination", "high")
    flags: tuple[tuple[str, ...], ...] = words("What to doubt about the estimates")
    significance: tuple[tuple[str, ...], ...] = words(
        "What is significant about the discrimination (5 %, Benjamini–Hochberg): positive, negative, "
        "above or below the average of tasks"
    )
    guessing: Floats = number("Chance of success of the weakest agents")
    ceiling: Floats = number("Chance of success of the strongest agents")
    intercept: Floats = number("Log-odds of success at ability 0", unit="logits")
    intercept_error: Floats = error("intercept")
    precision: Floats | None = number("Precision of the distribution of responses", default=None)
    precision_error: Floats | None = error("precision", default=None)


class FittedAgents(Table):
    """Estimates of agents, the highest ability first."""

    agent: tuple[str, ...] = name("Agent")
    ability: Floats = number("Posterior mean of ability", unit="logits")
    ability_error: Floats = error("ability", "Total standard error of ability")
    ability_low: Floats = bound("ability", "low")
    ability_high: Floats = bound("ability", "high")
    mean: Floats = number("Mean result over all tasks with results, excluded tasks included")
    posterior_sd: Floats = number("Posterior standard deviation, without the errors of tasks")
    group: NDArray[np.int64] | None = count(
        "Agents of different groups have no task in common and cannot be compared", default=None
    )


class FittedEditions(Table):
    """Editions of agents, the reference first."""

    edition: tuple[str, ...] = name("Edition")
    agents: NDArray[np.int64] = count("Agents of the edition")
    mean_ability: Floats = number("Mean ability of its population", unit="logits")
    mean_ability_error: Floats = error("mean_ability")
    mean_ability_low: Floats = bound("mean_ability", "low")
    mean_ability_high: Floats = bound("mean_ability", "high")
    deviation: Floats = number("Standard deviation of ability in its population", unit="logits")


class ExcludedTasks(Table):
    """Tasks that were excluded from the fit."""

    task: tuple[str, ...] = name("Task")
    reason: tuple[str, ...] = text("Why the task was excluded")


class ExcludedAgents(Table):
    """Agents that were excluded from the fit."""

    agent: tuple[str, ...] = name("Agent")
    reason: tuple[str, ...] = text("Why the agent was excluded")


def edition_table(
    editions: Sequence[str], abilities: Abilities, population_sd: float
) -> FittedEditions:
    """Return the populations of editions, on the scale of abilities."""
    assert abilities.populations is not None
    of_agents = abilities.populations[:, 3].astype(np.int64)
    first = [int(np.flatnonzero(of_agents == number)[0]) for number in range(len(editions))]
    mean, sd, mean_error, _ = abilities.populations[first].T * population_sd
    low, high = interval(mean, mean_error)
    return FittedEditions(
        edition=tuple(editions),
        agents=np.bincount(of_agents)[: len(editions)],
        mean_ability=mean,
        mean_ability_error=mean_error,
        mean_ability_low=low,
        mean_ability_high=high,
        deviation=sd,
    )


def task_table(
    items: ItemParameters,
    errors: TaskErrors | None,
    flags: Sequence[Sequence[str]],
    evidence: Evidence | None,
) -> FittedTasks:
    """Return the estimates of tasks, the most difficult first."""
    order = np.argsort(-items.difficulty, kind="stable")

    def error_of(part: str) -> Floats:
        values: Floats = np.full(len(items), np.nan) if errors is None else getattr(errors, part)
        return values[order]

    significant = _significance(items, errors, evidence)
    precise = {}
    if items.precision is not None:
        precise = {
            "precision": items.precision[order],
            "precision_error": error_of("precision"),
        }
    return FittedTasks(
        task=tuple(items.tasks[task] for task in order),
        difficulty=items.difficulty[order],
        difficulty_error=error_of("difficulty"),
        difficulty_low=error_of("difficulty_low"),
        difficulty_high=error_of("difficulty_high"),
        discrimination=items.slope[order],
        discrimination_error=error_of("slope"),
        discrimination_low=error_of("slope_low"),
        discrimination_high=error_of("slope_high"),
        flags=tuple(tuple(flags[task]) for task in order),
        significance=tuple(significant[task] for task in order),
        guessing=items.guessing[order],
        ceiling=items.ceiling[order],
        intercept=items.intercept[order],
        intercept_error=error_of("intercept"),
        **dict[str, Any](precise),
    )


def _significance(
    items: ItemParameters, errors: TaskErrors | None, evidence: Evidence | None
) -> list[tuple[str, ...]]:
    if errors is None:
        return [() for _ in items.tasks]
    slopes = verdicts(items, errors, evidence)
    parts = {
        "positive": slopes.rising,
        "negative": slopes.falling,
        "above average": slopes.steeper,
        "below average": slopes.flatter,
    }
    return [
        tuple(word for word, significant in parts.items() if significant[task])
        for task in range(len(items))
    ]


def agent_table(
    abilities: Abilities, means: Floats | None, groups: Sequence[Sequence[str]]
) -> FittedAgents:
    """Return the estimates of agents, the highest ability first."""
    order = np.argsort(-abilities.ability, kind="stable")
    low, high = interval(abilities.ability, abilities.error)
    deviation = abilities.error if abilities.posterior is None else abilities.posterior
    agents = tuple(abilities.agents[agent] for agent in order)
    group = {agent: number for number, members in enumerate(groups, 1) for agent in members}
    nothing = np.full(len(order), np.nan)
    return FittedAgents(
        agent=agents,
        ability=abilities.ability[order],
        ability_error=abilities.error[order],
        ability_low=low[order],
        ability_high=high[order],
        mean=nothing if means is None else means[order],
        posterior_sd=deviation[order],
        group=np.array([group.get(agent, 0) for agent in agents]) if group else None,
    )
