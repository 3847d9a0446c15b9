"""Tables II and III of papers/000 from published deviations: `python docs/papers/tables.py DEVIATIONS.csv`.

Experiment 1 compares games by one agent's scores. The paper prints one score per game, from which no test
follows. With the deviations that Mnih et al. (2015), Extended Data Table 2, publish next to those scores (a
CSV with the columns game and standard_deviation; not bundled), Student's t-test from summary statistics
gives most of what is printed. The recipe is inferred from that agreement: both mean and deviation are
normalised by equation 1, and there are 30 episodes.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import ttest_ind_from_stats

import examiner as ex

EPISODES = 30
KRULL = 82.4
"""The random score of Krull that gives the printed row; the line is damaged, and 92.4 is bundled."""
PRINTED = {  # Table III: the mean p-value and its variance
    ("hero", "krull"): (0.125, 0.0),
    ("battle_zone", "chopper_command", "jamesbond", "up_n_down"): (0.385, 0.08),
    ("riverraid", "robotank"): (0.0008, 0.0),
    ("centipede", "space_invaders"): (0.14, 0.0),
    ("atlantis", "ms_pacman"): (1.76e-5, 0.0),
    ("assault", "beam_rider", "demon_attack", "enduro", "star_gunner", "time_pilot"): (0.31, 0.07),
    ("asteroids", "gravitar", "road_runner", "zaxxon"): (0.38, 0.145),
    ("asterix", "boxing", "gopher", "kung_fu_master", "name_this_game", "seaquest"): (0.28, 0.13),
    ("all within groups",): (0.30, 0.09),  # Table II
    ("all between groups",): (0.36, 0.14),
}


class Compared(NamedTuple):
    """A row of the paper: what is printed, and what published deviations give."""

    games: tuple[str, ...]
    printed_mean: float
    printed_variance: float
    mean: float
    variance: float

    @property
    def agrees(self) -> bool:
        """Whether mean and variance differ by at most one unit of the last printed digit."""
        unit = 1e-7 if self.printed_mean < 1e-4 else 1e-4 if self.printed_mean < 0.01 else 0.01
        same_mean = abs(self.mean - self.printed_mean) <= unit
        return same_mean and abs(self.variance - self.printed_variance) <= 0.01


def normalised_means(krull: float = KRULL) -> dict[str, tuple[float, float]]:
    """The score of DQN and its normalised value (equation 1) by game."""
    results = ex.load("atari-dqn-family")
    one = results.agents.index("dqn_mnih2015")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)  # equation 1 takes absolute values
        normalised = ex.normalise(results, "random-only")
    scores, norms = (ex.responses(table).to_numpy()[one] for table in (results, normalised))
    means = {
        game: (float(score), float(norm))
        for game, score, norm in zip(results.tasks, scores, norms, strict=True)
        if not np.isnan(score)
    }
    score = means["krull"][0]
    return means | {"krull": (score, (score - krull) / (score + krull))}


def experiment_one(deviations: Mapping[str, float], krull: float = KRULL) -> tuple[Compared, ...]:
    """Return Tables II and III, printed and recomputed, one row each."""
    means = normalised_means(krull)
    spread = {
        game: abs(norm * deviations[game] / score) if score else 0.0
        for game, (score, norm) in means.items()
    }

    def p_value(one: str, other: str) -> float:
        sides = ((means[game][1], spread[game], EPISODES) for game in (one, other))
        return float(ttest_ind_from_stats(*(part for side in sides for part in side)).pvalue)

    members = ex.typology.kinds(ex.load("atari-typology")).members
    groups = [tuple(game for game in group.tasks if game in means) for group in members]
    of_groups = {group: [p_value(*pair) for pair in combinations(group, 2)] for group in groups}
    within = [p for values in of_groups.values() for p in values]
    between = [
        p_value(one, other)
        for ours, theirs in combinations(groups, 2)
        for one in ours
        for other in theirs
    ]
    values = {
        tuple(sorted(group)): p_values for group, p_values in of_groups.items() if len(group) > 1
    }
    values |= {("all within groups",): within, ("all between groups",): between}
    return tuple(
        Compared(
            games,
            *printed,
            float(np.mean(values[tuple(sorted(games))])),
            _variance(values[tuple(sorted(games))]),
        )
        for games, printed in PRINTED.items()
    )


def _variance(values: Sequence[float]) -> float:
    """The sample variance; 0 of a single value, as the paper prints it."""
    return float(np.var(values, ddof=1)) if len(values) > 1 else 0.0


def read_deviations(path: Path) -> dict[str, float]:
    """Read the standard deviation of each game."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["game"]: float(row["standard_deviation"]) for row in csv.DictReader(file)}


def main(words: Sequence[str] | None = None) -> None:
    """Print every row of Tables II and III: printed, ours, agrees or not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("deviations", type=Path, help="CSV with game and standard_deviation")
    parser.add_argument("--krull", type=float, default=KRULL, help="random score of Krull")
    options = parser.parse_args(words)
    for row in experiment_one(read_deviations(options.deviations), options.krull):
        printed = f"{row.printed_mean:.3g}, {row.printed_variance:.2g}"
        ours = f"{row.mean:.3g}, {row.variance:.2g}"
        verdict = "agrees" if row.agrees else "differs"
        sys.stdout.write(f"{printed:15} {ours:15} {verdict:8} {', '.join(row.games)}\n")


if __name__ == "__main__":
    main()
