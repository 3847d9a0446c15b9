"""The published random and human score of each Atari game."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from examiner.results.scale import Scales

_SOURCE = "Mnih et al. 2015 and Wang et al. 2016, no-op starts"


@cache
def atari_scales() -> Scales:
    """Return the scales of the data set `atari-human-random`: 0 is random, 1 human.

    >>> atari_scales().lookup("pong").reference
    14.6
    """
    data = files("examiner").joinpath("datasets", "data", "atari-human-random.csv")
    rows = csv.DictReader(data.read_text(encoding="utf-8").splitlines())
    return Scales.from_dicts(
        {
            "task": row["game"],
            "random": float(row["random"]),
            "human": float(row["human"]),
            "source": _SOURCE,
        }
        for row in rows
    )
