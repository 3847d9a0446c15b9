"""Which measure of each benchmark counts: a scorer or a filter is a measure, and somebody has to choose."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from examiner.importers.evaluations.log import BESIDE, EvaluationLog
from examiner.messages import InputError, counted, listed, shorten

MERGED = "score"
"""The measure in which different ones of different benchmarks are put together."""
_MOST_TOLD = 2


class MeasureOf(NamedTuple):
    """Whose measure was chosen: benchmarks or groups of items like a pattern, and its name.

    >>> MeasureOf.of("arc*=acc_norm")
    MeasureOf(pattern='arc*', measure='acc_norm')
    """

    pattern: str
    measure: str

    @classmethod
    def of(cls, text: str) -> MeasureOf:
        """Read `PATTERN=MEASURE`."""
        pattern, _, measure = text.rpartition("=")
        if not pattern.strip() or not measure.strip():
            raise InputError(
                f"{shorten(text)} does not say which measure of which benchmark. Give PATTERN=MEASURE, "
                f"such as 'arc*=acc_norm'."
            )
        return cls(pattern.strip(), measure.strip())

    def is_of(self, items: str, benchmark: str) -> bool:
        """Tell whether a group of items, or its benchmark, is like the pattern.

        >>> MeasureOf("mmlu*", "acc").is_of("mmlu_law", "mmlu")
        True
        """
        return fnmatchcase(items, self.pattern) or fnmatchcase(benchmark, self.pattern)


def measures_of(names: Sequence[str]) -> tuple[MeasureOf, ...]:
    """Read measures for each benchmark; one that names no benchmark is for all others.

    >>> measures_of(["acc"]), measures_of(["arc*=acc_norm", "acc"])[1]
    ((), MeasureOf(pattern='*', measure='acc'))
    """
    if not any("=" in name for name in names):
        return ()
    each = [MeasureOf.of(name) if "=" in name else MeasureOf("*", name) for name in names]
    return tuple(sorted(each, key=lambda choice: choice.pattern == "*"))


class MeasureChoice(NamedTuple):
    """For each group of items, the columns to be and the measures of the logs they come from."""

    columns: Mapping[str, Mapping[str, str]]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def chosen(
    logs: Sequence[EvaluationLog], names: Sequence[str], each: Sequence[MeasureOf]
) -> MeasureChoice:
    """Choose the measures named, or the one there is; refuse to choose among several.

    >>> from pathlib import Path
    >>> from examiner.importers.evaluations.log import Samples
    >>> samples = Samples(Path("x.jsonl"))
    >>> samples.add("1", {"acc": 1.0, "acc_norm": 0.0})
    >>> log = EvaluationLog("gpt2", "arc", samples, "arc", "1")
    >>> chosen([log], ["acc"], []).columns
    {'arc': {'acc': 'acc'}}
    >>> chosen([log], [], [])
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The logs hold several measures, of which one is to be chosen: 'acc',
    'acc_norm' of 'arc'. Name it (`--measure acc`), or one for each benchmark (`--measure arc=acc`).
    """
    held: dict[str, dict[str, None]] = {}
    benchmarks: dict[str, str] = {}
    for log in logs:
        more = log.samples.more.values()
        costs = [name for name in names if name in BESIDE and any(name in about for about in more)]
        held.setdefault(log.items, {}).update(dict.fromkeys((*log.samples.measures, *costs)))
        benchmarks[log.items] = log.benchmark
    _check_known(names, held)
    for choice in each:
        fitting = {
            items: measures
            for items, measures in held.items()
            if choice.is_of(items, benchmarks[items])
        }
        if fitting:  # else it is of logs in another format
            _check_known([choice.measure], fitting)
    if names and not each:
        columns = {
            items: {name: name for name in names if name in measures}
            for items, measures in held.items()
        }
        lacking = [items for items, found in columns.items() if not found]
        note = (
            f"{counted(len(lacking), 'benchmark')} without the measure {listed(names)} left out: "
            f"{listed(lacking)}."
        )
        return MeasureChoice(columns, tuple(names), (note,) if lacking else ())
    single: dict[str, str] = {}
    unclear: dict[str, list[str]] = {}
    for items, measures in held.items():
        found = _named(items, benchmarks[items], measures, each)
        if found is None and len(measures) == 1:
            (found,) = measures
        if found is None:
            unclear[items] = list(measures)
        else:
            single[items] = found
    if unclear:
        raise _several(unclear, benchmarks)
    if len(set(single.values())) == 1 and not each:
        (name,) = set(single.values())
        return MeasureChoice({items: {name: name} for items in single}, (name,))
    whose: dict[str, list[str]] = {}
    for items, name in single.items():
        whose.setdefault(name, []).append(items)
    told = "; ".join(f"{shorten(name)} of {listed(of, limit=3)}" for name, of in whose.items())
    note = f"Benchmarks have different measures, which are read as {MERGED!r}: {told}."
    return MeasureChoice(
        {items: {MERGED: name} for items, name in single.items()}, (MERGED,), (note,)
    )


def _named(
    items: str, benchmark: str, measures: Mapping[str, None], each: Iterable[MeasureOf]
) -> str | None:
    fitting = (
        choice.measure
        for choice in each
        if choice.measure in measures and choice.is_of(items, benchmark)
    )
    return next(fitting, None)


def _check_known(names: Iterable[str], held: Mapping[str, Mapping[str, None]]) -> None:
    known = dict.fromkeys(name for measures in held.values() for name in measures)
    for name in names:
        if name not in known:
            raise InputError(
                f"There is no column {shorten(name)}; found {listed(known, limit=20)}. Name one of them."
            )


def _several(unclear: Mapping[str, Sequence[str]], benchmarks: Mapping[str, str]) -> InputError:
    alike: dict[tuple[str, ...], list[str]] = {}
    for items, measures in unclear.items():
        alike.setdefault(tuple(measures), []).append(items)
    told = "; ".join(
        f"{listed(measures, limit=3)} of {listed(items, limit=1)}"
        for measures, items in list(alike.items())[:_MOST_TOLD]
    )
    more = f"; and {len(alike) - _MOST_TOLD} more" if len(alike) > _MOST_TOLD else ""
    items, measures = next(iter(unclear.items()))
    counts = Counter(name for names in unclear.values() for name in names)
    often = max(measures, key=counts.__getitem__)
    examples = [often, f"{benchmarks[items]}={measures[0]}"]
    shown = [shlex.quote(text) if len(text) <= 60 else "MEASURE" for text in examples]
    return InputError(
        f"The logs hold several measures, of which one is to be chosen: {told}{more}. Name it "
        f"(`--measure {shown[0]}`), or one for each benchmark (`--measure {shown[1]}`)."
    )
