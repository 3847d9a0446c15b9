"""Which methods enter a comparison: those named, or all that the evidence allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.information.clusters import MOST_TASKS
from examiner.selection.benchmark import Benchmark
from examiner.selection.evidence import MISSING, fold_of
from examiner.selection.methods import BEST_OF, METHODS, Method, Select
from examiner.wording import unknown_name

BY_DISTANCE = ("anchors", "clusters", "typology")


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
    """Return the methods that the evidence allows, random left out, and why others are not there."""
    needs = tuple(dict.fromkeys(need for method in METHODS.values() for need in method.needs))
    evidence = fold_of(whole, np.arange(len(whole.agents)), needs).evidence
    able, notes = {}, []
    for name, method in METHODS.items():
        lacking = [need for need in method.needs if getattr(evidence, need) is None]
        if lacking:
            notes.append(f"{name} was left out: it needs {MISSING[lacking[0]]}")
        elif name in BY_DISTANCE and len(whole.tasks) > MOST_TASKS:
            notes.append(
                f"{name} was left out: distances between so many tasks do not fit into memory."
            )
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
    needs = tuple(dict.fromkeys(need for _, method in named for need in method.needs))
    evidence = fold_of(whole, np.arange(len(whole.agents)), needs).evidence
    for name, method in named:
        for need in method.needs:
            evidence.needed(name, need)
