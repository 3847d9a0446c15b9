"""Whether the chosen set would have been another without some agent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from examiner.selection.judging import Contest, Judged, Places
from examiner.selection.material import Benchmark


class Stability(NamedTuple):
    """Whether the set stays the same without some agent: shares of folds, and who changes it."""

    method: str
    size: int
    same: float
    changed_by: tuple[str, ...]


def stability_of(
    names: tuple[str, ...],
    contest: Contest,
    judged: list[Judged],
    all_sets: tuple[tuple[Places, ...], ...],
    material: Benchmark,
) -> tuple[Stability, ...]:
    """Compare the set of each fold with the one chosen on all agents; best-of has none on all."""
    found = []
    for place, name in enumerate(names[: len(all_sets)]):
        for size_place, size in enumerate(contest.sizes):
            whole = set(all_sets[place][size_place])
            same = [set(one.sets[place][size_place]) == whole for one in judged]
            changed = [
                material.agents[agent]
                for one, kept in zip(judged, same, strict=True)
                if not kept
                for agent in one.test
            ]
            found.append(Stability(name, size, float(np.mean(same)), tuple(changed)))
    return tuple(found)
