"""What the sections about uncertainty resample: the agents shown, the unit, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from examiner.results import Results
from examiner.scores.uncertainty.resampling import Unit
from examiner.telling.finding import Finding, Name, Notes, Prose
from examiner.telling.study import Study
from examiner.wording import counted

MOST_AGENTS = 40
REPS = 2000
FEWEST_REPS = 200
MOST_WORK = 5e7
"""Scores weighed to resample all agents: a second or two; larger tables get fewer resamples."""


class Resampled(NamedTuple):
    """The scores of the agents shown, best first, and how they are to be resampled."""

    results: Results
    agents: tuple[str, ...]
    unit: Unit
    reps: int
    level: float = 0.95

    def places(self, agents: Sequence[str]) -> list[int]:
        """Return where the agents shown stand among others, best first.

        >>> Resampled(None, ("b", "a"), "runs", 10).places(["a", "b"])
        [1, 0]
        """
        found = {agent: place for place, agent in enumerate(agents)}
        return [found[agent] for agent in self.agents]


def resampled(study: Study) -> Resampled:
    """Choose the best agents, and runs as the unit where there are several, else tasks.

    >>> resampled(Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))).unit
    'tasks'
    """
    order = [agent for agent in study.order.tolist() if np.isfinite(study.ranks[agent])]
    shown = order[:MOST_AGENTS]
    results = study.scores
    if shown and len(shown) < len(results.agents):
        chosen = np.isin(np.arange(len(results.agents)), shown)
        results = results.where(chosen[results.agent_codes])
    unit: Unit = "runs" if study.counts["runs"] > 1 else "tasks"
    cells = len(shown) * len(study.results.tasks) * study.counts["runs"]
    reps = int(np.clip(MOST_WORK / max(cells, 1), FEWEST_REPS, REPS))
    return Resampled(results, tuple(study.results.agents[agent] for agent in shown), unit, reps)


def what_varies(made: Resampled, study: Study) -> Prose:
    """Say what the intervals are about.

    >>> from examiner.telling.finding import said
    >>> study = Study.of(Results.from_numpy([[0.5, 1.0], [0.0, 0.5]]))
    >>> said(what_varies(resampled(study), study))[:46]
    'Unit: tasks. There is one run in every cell, s'
    """
    how = f"{made.level:.0%}, {made.reps:,} resamples, seed {study.seed}".replace("%", " %")
    if made.unit == "runs":
        text = (
            "Unit: runs. Intervals say what other runs of the same agents on the same tasks could have "
            f"given ({how})."
        )
    else:
        text = (
            "Unit: tasks. There is one run in every cell, so that nothing is known about other runs; "
            f"intervals say what another choice of tasks could have given ({how})."
        )
    total = int(np.isfinite(study.ranks).sum())
    if total > len(made.agents):
        text += f" The first {len(made.agents)} of {counted(total, 'agent')} by mean are shown."
    return (text,)


def noted(notes: Sequence[str]) -> tuple[Notes, ...]:
    """Return the notes as a block, or nothing where there are none.

    >>> noted([])
    ()
    """
    if not notes:
        return ()
    return (Notes("Beware", tuple((Name(note),) for note in notes)),)


def untold(key: str, title: str, reason: str) -> Finding:
    """Return a section that cannot tell anything of these results, and says why.

    >>> untold("profiles", "Profiles", "There is one agent.").applies
    False
    """
    return Finding(key, title, (Name(reason),), applies=False)
