"""Which measure of each benchmark counts: a scorer or a filter is a measure, and somebody has to choose."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from examiner.importers.logs import BESIDE, EvaluationLog
from examiner.importers.options import MeasureOf
from examiner.messages import InputError, counted, listed, shorten

MERGED = "score"
"""The measure in which different ones of different benchmarks are put together."""


class MeasureChoice(NamedTuple):
    """For each group of items, the columns to be and the measures of the logs they come from."""

    columns: Mapping[str, Mapping[str, str]]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def chosen(
    logs: Sequence[EvaluationLog], names: Sequence[str], choices: Sequence[MeasureOf]
) -> MeasureChoice:
    """Choose the measures named, or the one there is; refuse to choose among several.

    >>> from pathlib import Path
    >>> from examiner.importers.files import SourceFile
    >>> from examiner.importers.logs import Samples
    >>> file = SourceFile(Path("x.jsonl"), None, b"")
    >>> samples = Samples(file.path)
    >>> samples.add("1", {"acc": 1.0, "acc_norm": 0.0})
    >>> log = EvaluationLog.of(file, "gpt2", "arc", samples)
    >>> chosen([log], ["acc"], []).columns
    {'arc': {'acc': 'acc'}}
    >>> chosen([log], [], [])
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The logs hold several measures, of which one is to be chosen: 'acc',
    'acc_norm' of 'arc'. Name it (`--measure acc`), or one for each benchmark (`--measure arc=acc`).
    """
    measures: dict[str, dict[str, None]] = {}  # of each group of items
    benchmarks: dict[str, str] = {}
    for log in logs:
        costs = [name for name in names if name in BESIDE and name in log.samples.more]
        measures.setdefault(log.items, {}).update(dict.fromkeys((*log.samples.scores, *costs)))
        benchmarks[log.items] = log.benchmark
    _check_present(names, measures.values())
    for choice in choices:
        fitting = [measures[items] for items in measures if choice.is_of(items, benchmarks[items])]
        if fitting:  # else it is of logs in another format
            _check_present([choice.measure], fitting)
    if names and not choices:
        columns = {
            items: {name: name for name in names if name in present}
            for items, present in measures.items()
        }
        lacking = [items for items, present in columns.items() if not present]
        note = (
            f"{counted(len(lacking), 'benchmark')} without the measure {listed(names)} left out: "
            f"{listed(lacking)}."
        )
        return MeasureChoice(columns, tuple(names), (note,) if lacking else ())
    single: dict[str, str] = {}
    for items, present in measures.items():
        fitting_names = [
            choice.measure
            for choice in choices
            if choice.measure in present and choice.is_of(items, benchmarks[items])
        ]
        if fitting_names or len(present) == 1:
            single[items] = (*fitting_names, *present)[0]
    if len(single) < len(measures):
        unclear = {items: [*names] for items, names in measures.items() if items not in single}
        raise _several(unclear, benchmarks)
    if len(set(single.values())) == 1 and not choices:
        (name,) = set(single.values())
        return MeasureChoice({items: {name: name} for items in single}, (name,))
    items_of: dict[str, list[str]] = {}
    for items, name in single.items():
        items_of.setdefault(name, []).append(items)
    parts = "; ".join(f"{shorten(name)} of {listed(of, limit=3)}" for name, of in items_of.items())
    note = f"Benchmarks have different measures, which are read as {MERGED!r}: {parts}."
    return MeasureChoice(
        {items: {MERGED: name} for items, name in single.items()}, (MERGED,), (note,)
    )


def _check_present(names: Iterable[str], measures: Iterable[Mapping[str, None]]) -> None:
    present = dict.fromkeys(name for names_of_one in measures for name in names_of_one)
    for name in names:
        if name not in present:
            raise InputError(
                f"There is no column {shorten(name)}; found {listed(present, limit=20)}. Name one of them."
            )


def _several(unclear: Mapping[str, Sequence[str]], benchmarks: Mapping[str, str]) -> InputError:
    alike: dict[tuple[str, ...], list[str]] = {}
    for items, measures in unclear.items():
        alike.setdefault(tuple(measures), []).append(items)
    shown = [
        f"{listed(measures, limit=3)} of {listed(items, limit=1)}"
        for measures, items in alike.items()
    ]
    more = f"; and {len(shown) - 2} more" if len(shown) > 2 else ""
    items, measures = next(iter(unclear.items()))
    counts = Counter(name for names in unclear.values() for name in names)
    examples = [max(measures, key=counts.__getitem__), f"{benchmarks[items]}={measures[0]}"]
    words = [shlex.quote(text) if len(text) <= 60 else "MEASURE" for text in examples]
    return InputError(
        f"The logs hold several measures, of which one is to be chosen: {'; '.join(shown[:2])}{more}. Name "
        f"it (`--measure {words[0]}`), or one for each benchmark (`--measure {words[1]}`)."
    )
