"""One file per way of choosing tasks; `METHODS` lists them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from examiner.selection.evidence import Evidence
from examiner.selection.methods.anchors import anchors
from examiner.selection.methods.clusters import clusters
from examiner.selection.methods.discrimination import discrimination
from examiner.selection.methods.fisher import fisher
from examiner.selection.methods.information_gain import information_gain
from examiner.selection.methods.information_swap import (
    information_swap,
    information_swap_path,
)
from examiner.selection.methods.random import random
from examiner.selection.methods.regression import regression, regression_path
from examiner.selection.methods.spread import spread
from examiner.selection.methods.typology import typology
from examiner.selection.task_set import TaskSet

BEST_OF = "best_of"
"""The name of no single method: of taking the one whose sets predict best in inner folds."""

Select = Callable[[Evidence, int, np.random.Generator], TaskSet]
Path = Callable[[Evidence, Sequence[int], np.random.Generator], Sequence[tuple[int, ...]]]


class Method(NamedTuple):
    """A way of choosing tasks: the function, the evidence it needs, and what it is in a few words.

    `nested` says that a larger set begins with the smaller ones, so that one choice serves all sizes;
    `path` gives the positions that `select` would choose, for several rising sizes at once.
    """

    select: Select
    needs: tuple[str, ...]
    nested: bool
    title: str
    path: Path | None = None


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "information_gain": Method(
            information_gain, ("channels",), True, "most bits, one task after the other"
        ),
        "information_swap": Method(
            information_swap,
            ("channels",),
            False,
            "most bits, with exchanges of tasks",
            information_swap_path,
        ),
        "fisher": Method(
            fisher, ("items", "ability"), True, "most Fisher information over abilities"
        ),
        "discrimination": Method(
            discrimination, ("items", "ability"), True, "steepest curves near the abilities"
        ),
        "regression": Method(
            regression,
            ("target",),
            False,
            "best prediction of the full benchmark's aggregate",
            regression_path,
        ),
        "anchors": Method(anchors, (), False, "tasks that stand for others with like responses"),
        "clusters": Method(clusters, (), False, "one task of each cluster of correlated tasks"),
        "typology": Method(typology, ("groups",), True, "one task of each kind"),
        "spread": Method(spread, (), False, "evenly from easy to hard"),
        "random": Method(random, (), True, "drawn at random"),
    }
)
"""Name → method. A new one is one file in this folder and one line here."""
