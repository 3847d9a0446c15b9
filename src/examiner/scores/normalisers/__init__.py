"""One file per way of making scores comparable; `NORMALISERS` lists them."""

from types import MappingProxyType

from examiner.scores.comparable import Landmark, Normaliser
from examiner.scores.normalisers import (
    human,
    log,
    min_max,
    points,
    random_only,
    rank,
    z_score,
)

NORMALISERS = MappingProxyType(
    {
        "human": Normaliser(
            human.learn,
            human.apply,
            "1.0 = human reference, 0.0 = random",
            marks=2,
            landmark=Landmark(1.0, "human"),
        ),
        "random-only": Normaliser(
            random_only.learn,
            random_only.apply,
            "0.0 = random, towards 1.0 = far above",
            marks=1,
            landmark=Landmark(0.0, "random"),
            bounds=(-1.0, 1.0),
        ),
        "chance": Normaliser(
            human.learn,  # the same line, through what guessing gets and through all right
            human.apply,
            "0.0 = guessing, 1.0 = all right",
            marks=2,
            landmark=Landmark(0.0, "guessing"),
        ),
        "z-score": Normaliser(
            z_score.learn,
            z_score.apply,
            "0.5 = average agent; Φ of z-scores over agents",
            marks=3,
            relative=True,
            landmark=Landmark(0.5, "the average agent"),
            bounds=(0.0, 1.0),
        ),
        "min-max": Normaliser(
            min_max.learn,
            min_max.apply,
            "0.0 = worst agent, 1.0 = best agent of each task",
            marks=3,
            relative=True,
            bounds=(0.0, 1.0),
        ),
        "rank": Normaliser(
            rank.learn,
            rank.apply,
            "share of the other agents beaten, ties half",
            marks=None,
            relative=True,
            bounds=(0.0, 1.0),
        ),
        "points": Normaliser(
            points.learn,
            points.apply,
            "25, 18, 15, … points for ranks on a task",
            marks=None,
            relative=True,
            bounds=(0.0, float(points.POINTS[0])),
        ),
        "log": Normaliser(log.learn, log.apply, "signed log₁₀ of 1 + |score|", marks=0),
    }
)
"""Name → normaliser. A new one is one file in this folder and one line here."""
