"""One file per way of making scores comparable; `NORMALISERS` lists them."""

from types import MappingProxyType

from examiner.scores.normalisers.human import human
from examiner.scores.normalisers.log import log
from examiner.scores.normalisers.min_max import min_max
from examiner.scores.normalisers.random_only import random_only
from examiner.scores.normalisers.rank import rank
from examiner.scores.normalisers.z_score import z_score

NORMALISERS = MappingProxyType(
    {
        "human": human,
        "random-only": random_only,
        "z-score": z_score,
        "min-max": min_max,
        "rank": rank,
        "log": log,
    }
)
"""Name → normaliser. A new one is one file in this folder and one line here."""
