"""One file per way of choosing tasks; `METHODS` lists them all, and which of them evidence allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from examiner.information import MOST_TASKS
from examiner.messages import unknown_name
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import MISSING, SelectionEvidence, fold_of
from examiner.selection.greedy import TaskSet
from examiner.selection.methods.anchors import anchors
from examiner.selection.methods.covariance import covariance, covariance_path
from examiner.selection.methods.discrimination import discrimination
from examiner.selection.methods.fisher import fisher
from examiner.selection.methods.groups import clusters, typology
from examiner.selection.methods.information import (
    information_gain,
    information_swap,
    information_swap_path,
)
from examiner.selection.methods.random import random
from examiner.selection.methods.regression import regression, regression_path
from examiner.selection.methods.spread import spread
from examiner.selection.methods.strata import strata

DEFAULT = "covariance"
"""Chooses where no method is named: it beats random sets most surely (`benchmarks/selection.py`)."""
FOR_NEWER = "strata"
"""Chooses for newer agents (`benchmarks/newer_agents.py`)."""
BEST_OF = "best_of"
"""The name of no single method: of taking the one whose sets predict best in inner folds."""

Select = Callable[[SelectionEvidence, int, np.random.Generator], TaskSet]
Path = Callable[[SelectionEvidence, Sequence[int], np.random.Generator], Sequence[tuple[int, ...]]]


class Method(NamedTuple):
    """A way of choosing tasks: the function, the evidence it needs, and what it is in a few words.

    `nested` says that a larger set begins with the smaller ones, so that one choice serves all sizes;
    `path` gives the positions that `select` would choose, for several rising sizes at once. `linear` says
    that the work grows no faster than the table.
    """

    select: Select
    needs: tuple[str, ...]
    nested: bool
    title: str
    path: Path | None = None
    linear: bool = False


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "covariance": Method(
            covariance,
            ("target", "shrinkage"),
            False,
            "least variance of the aggregate left, by covariances between tasks",
            covariance_path,
            linear=True,
        ),
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
            fisher,
            ("items", "ability"),
            True,
            "most Fisher information over abilities",
            linear=True,
        ),
        "discrimination": Method(
            discrimination,
            ("items", "ability"),
            True,
            "steepest curves near the abilities",
            linear=True,
        ),
        "regression": Method(
            regression,
            ("target",),
            False,
            "best prediction of the full benchmark's aggregate",
            regression_path,
        ),
        "anchors": Method(anchors, (), False, "tasks that represent others with similar responses"),
        "clusters": Method(clusters, (), False, "one task of each cluster of correlated tasks"),
        "typology": Method(typology, ("groups",), True, "one task of each kind"),
        "spread": Method(spread, (), False, "evenly from easy to hard", linear=True),
        "strata": Method(
            strata,
            (),
            False,
            "a discriminating task of each stratum of difficulty",
            linear=True,
        ),
        "random": Method(random, (), True, "drawn at random"),
    }
)
"""Name → method. A new one is one file in this folder and one line here."""

MOST_CELLS = 1_000_000
"""Best-of, which chooses many times by every method, tries of larger tables only those that are linear."""
BY_DISTANCE = ("anchors", "clusters", "typology")


def usual_method(whole: Benchmark) -> str:
    """Return the method that chooses where none is named, which depends on the agents to be examined."""
    return FOR_NEWER if whole.examined == "newer" else DEFAULT


def method_named(choice: str | Select) -> tuple[str, Method]:
    """Return a method by its name, or make one of a function.

    >>> method_named("information-gain")[0]
    'information_gain'
    """
    if callable(choice):
        return getattr(choice, "__name__", "function"), Method(choice, (), False, "as given")
    name = str(choice).lower().replace("-", "_")
    if name not in METHODS:
        raise unknown_name("selection method", choice, (*METHODS, BEST_OF))
    return name, METHODS[name]


def able_methods(whole: Benchmark) -> tuple[dict[str, Method], tuple[str, ...]]:
    """Return the methods that evidence and size allow, random excluded, and why others are not there."""
    evidence = _evidence(whole, METHODS.values())
    able, notes = {}, []
    for name, method in METHODS.items():
        lacking = [need for need in _doubtful(method) if getattr(evidence, need) is None]
        if lacking:
            notes.append(f"{name} was left out: it needs {MISSING[lacking[0]]}")
        elif name in BY_DISTANCE and len(whole.tasks) > MOST_TASKS:
            notes.append(
                f"{name} was left out: distances between so many tasks do not fit into memory."
            )
        elif not method.linear and name != "random" and whole.values.size > MOST_CELLS:
            notes.append(f"{name} was left out: the table is large. Name it, and it is tried.")
        elif name != "random":
            able[name] = method
    return able, tuple(notes)


def entered_methods(
    whole: Benchmark, methods: Sequence[str | Select] | None
) -> tuple[tuple[tuple[str, Method], ...], bool, tuple[str, ...]]:
    """Return the methods that enter, whether best-of is asked for, and notes."""
    plain = [
        choice.replace("-", "_") if isinstance(choice, str) else choice for choice in methods or ()
    ]
    best = not plain or BEST_OF in plain
    named = [method_named(choice) for choice in plain if choice not in (BEST_OF, "random")]
    if named and (best is False or len(named) > 1):
        _check_needs(whole, named)
        return tuple(dict(named).items()), best, ()
    able, notes = able_methods(whole)
    return tuple({**able, **dict(named)}.items()), best or not named, notes


def _check_needs(whole: Benchmark, named: list[tuple[str, Method]]) -> None:
    evidence = _evidence(whole, [method for _, method in named])
    for name, method in named:
        for need in _doubtful(method):
            evidence.needed(name, need)


def _evidence(whole: Benchmark, methods: Iterable[Method]) -> SelectionEvidence:
    """What methods may lack, from all agents."""
    needs = tuple(dict.fromkeys(need for method in methods for need in _doubtful(method)))
    return fold_of(whole, whole.everyone, needs, curves=False).evidence


def _doubtful(method: Method) -> list[str]:
    """What a method needs and may not get; how far to shrink can always be settled, and takes a while."""
    return [need for need in method.needs if need != "shrinkage"]
