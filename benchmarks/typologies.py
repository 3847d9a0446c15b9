"""Claim: which typology says more of games, that of a human judge or the measured one?

For two data sets and three meanings of similarity, the permutation test of `examiner.typology` on the games
that both typologies have: `nearer` is the probability that two games of one group are nearer to each other
than two of different groups, 0.5 where groups say nothing. Games are near
- in likeness, where the same agents do well on both: 1 - r of human-normalised scores;
- in level, as papers/000 has it: Euclidean distance of scores against the random player;
- in difficulty: rank of the mean human-normalised score.
The difference of the two typologies has a standard error by leaving out each game once.
Run: python benchmarks/typologies.py [--draws 9999]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import examiner as ex
from examiner.results import Classification
from examiner.scores import cell_means
from examiner.typology.agreement import permutation_test, profile_distances

DATA = ("atari-dqn-family", "atari-arena")
TYPOLOGIES = {"judged": "atari-typology", "measured": "atari-profile"}

Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=9_999)
    draws = parser.parse_args().draws
    kinds = {name: _conformed(ex.load(source)) for name, source in TYPOLOGIES.items()}
    for data in DATA:
        tasks, distances = _distances(data, kinds)
        for meaning, far in distances.items():
            print(f"{data}, {len(tasks)} games, {meaning}")
            codes = {name: _codes(kind, tasks) for name, kind in kinds.items()}
            for name, groups in codes.items():
                print(f"  {name:9} {_told(far, groups, draws)}")
            judged, measured = codes.values()
            print(f"  measured - judged {_difference(far, measured, judged)}")
        for feature in kinds["measured"].features:
            _tell_feature(kinds["measured"], feature, tasks, distances, draws)


def _conformed(kinds: Classification) -> Classification:
    schema = ex.typology.fitting_schema(kinds)
    return kinds if schema is None else ex.typology.conform(kinds, schema)


def _distances(
    data: str, kinds: dict[str, Classification]
) -> tuple[tuple[str, ...], dict[str, Floats]]:
    results = ex.load(data)
    if results.provenance.training:
        results = ex.reduce(results)
    human = ex.normalise(results, "human")
    known = [set(kind.tasks) for kind in kinds.values()]
    kept = [column for column, task in enumerate(human.tasks) if all(task in s for s in known)]
    scores = cell_means(human)[:, kept]
    level = cell_means(ex.normalise(results, "random-only"))[:, kept]
    rank = np.nanmean(scores, axis=0).argsort().argsort().astype(float)
    return tuple(human.tasks[column] for column in kept), {
        "similarity": profile_distances(scores, "correlation"),
        "level": profile_distances(level),
        "difficulty": np.abs(rank[:, None] - rank),
    }


def _codes(
    kinds: Classification, tasks: Sequence[str], features: Sequence[str] | None = None
) -> NDArray[np.intp]:
    group_of = {
        task: number
        for number, group in enumerate(ex.typology.kinds(kinds, None, features).members)
        for task in group.tasks
    }
    return np.array([group_of[task] for task in tasks], dtype=np.intp)


def _told(distances: Floats, groups: NDArray[np.intp], draws: int) -> str:
    found = permutation_test(distances, groups, draws=draws, rng=0)
    count = len(np.unique(groups))
    return f"{count:3} groups   nearer {found.nearer:.2f}   p {found.p_value:.3f}"


def _difference(distances: Floats, one: NDArray[np.intp], other: NDArray[np.intp]) -> str:
    def gap(kept: NDArray[np.intp]) -> float:
        nearer = [
            permutation_test(distances[np.ix_(kept, kept)], groups[kept], draws=1, rng=0).nearer
            for groups in (one, other)
        ]
        return nearer[0] - nearer[1]

    everyone = np.arange(len(one))
    without = np.array([gap(np.delete(everyone, index)) for index in everyone])
    error = np.sqrt((len(one) - 1) * without.var())
    return f"{gap(everyone):+.2f} ± {error:.2f}"


def _tell_feature(
    kinds: Classification,
    feature: str,
    tasks: Sequence[str],
    distances: dict[str, Floats],
    draws: int,
) -> None:
    groups = _codes(kinds, tasks, [feature])
    if len(np.unique(groups)) > 1:
        told = "   ".join(
            f"{meaning}: {_told(far, groups, draws)}" for meaning, far in distances.items()
        )
        print(f"  by {feature:24} {told}")


if __name__ == "__main__":
    main()
