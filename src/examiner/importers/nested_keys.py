"""Objects and lists within each other whose levels are named: `--axes tasks,agents,runs` of JSON."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from examiner.importers.column_names import measure_columns
from examiner.importers.files import SourceFile
from examiner.importers.json_tables import table_of
from examiner.importers.json_values import as_mapping, number
from examiner.importers.readings import Reading
from examiner.importers.suggestions import suggested_measure
from examiner.importers.table_columns import TableOptions
from examiner.importers.tables import table_reading
from examiner.messages import InputError, counted, listed, shorten

Names = Mapping[str, str | int]


def nested_reading(
    content: Any,  # Any: whatever JSON holds
    file: SourceFile,
    options: TableOptions,
    notes: Sequence[str] = (),
    kind: str = "json",
) -> Reading:
    """Read numbers that stand below levels of names or positions; each level is a key or a column.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x.json"), None, b"")
    >>> scores = {"pong": {"dqn": [1, 2], "ppo": [3, 4]}}
    >>> nested_reading(scores, file, TableOptions(axes=("task", "agent", "run"))).results
    Results: 2 agents × 1 task, 2 runs, 1 trial; measures: score
    """
    measure = next(iter(options.measures), "score")
    around: dict[str, Any] = {}
    if measure in as_mapping(
        content
    ):  # a document with the numbers in one place, and texts beside it
        around = {name: part for name, part in content.items() if isinstance(part, str)}
        content = content[measure]
    leaves = list(_leaves(content, options.axes, {}, file))
    if not leaves:
        raise InputError(
            f"{shorten(file.path, 200)} has nothing {len(options.axes)} levels below its beginning "
            f"({listed(options.axes)}). Name as many levels as there are."
        )
    _refuse_fields([leaf for _, leaf in leaves], measure, file)
    rows, trials, lacking = list[dict[str, Any]](), Counter[tuple[object, ...]](), 0
    for names, leaf in leaves:
        scores = _scores(leaf, measure, options, file)
        lacking += not scores
        # Trials are numbered through all checkpoints of a run, as other training logs have them.
        run = tuple(name for axis, name in names.items() if axis != "checkpoint")
        for score in scores:
            numbered = {"trial": trials[run]} if len(scores) > 1 or "checkpoint" in names else {}
            rows.append({**around, **names, **_beside(leaf), measure: number(score), **numbered})
            trials[run] += 1
    if lacking:
        notes = (*notes, f"{counted(lacking, 'object')} without {measure!r} left out.")
    plain = replace(options, axes=(), measures=(measure,))
    return table_reading(table_of(rows), file, plain, kind, notes)


def _leaves(
    value: Any, axes: Sequence[str], names: Names, file: SourceFile
) -> Iterator[tuple[Names, Any]]:
    if not axes:
        yield names, value
    elif isinstance(value, dict | list):
        entries = value if isinstance(value, dict) else dict(enumerate(value))
        for key, part in entries.items():
            if axes[0] == "checkpoint" and not re.search(r"\d", str(key)):
                continue  # a summary beside the checkpoints
            yield from _leaves(part, axes[1:], {**names, axes[0]: _name(axes[0], key)}, file)
    elif names:
        where = ", ".join(f"{key} {name}" for key, name in names.items())
        raise InputError(
            f"{shorten(file.path, 200)} has {shorten(value)} at {where}, where names or a list of the "
            f"{shorten(axes[0])} belong. Name as many levels as there are (`--axes`)."
        )


def _refuse_fields(leaves: Sequence[Any], measure: str, file: SourceFile) -> None:
    """Refuse numbers beside objects without the measure: fields of a summary, not runs or trials."""
    numbers = [leaf for leaf in leaves if isinstance(leaf, int | float)]
    if numbers and any(isinstance(leaf, dict) and measure not in leaf for leaf in leaves):
        raise InputError(
            f"{shorten(file.path, 200)} has numbers ({listed(numbers, limit=3)}) beside objects without "
            f"{measure!r} below its levels: these look like the fields of one object, not like results. "
            "Name one level less (`--axes`), or leave the file out."
        )


def _name(axis: str, key: str | int) -> str | int:
    """A key as the name on its axis; agents and tasks without names are numbered."""
    if isinstance(key, int):
        return f"{axis} {key + 1}" if axis in ("agent", "task") else key
    digits = re.search(r"\d+", key)
    if axis == "checkpoint" and digits:
        return int(digits[0])
    return int(key) if axis in ("run", "trial") and key.isdigit() else key


def _scores(leaf: Any, measure: str, options: TableOptions, file: SourceFile) -> list[Any]:
    """The scores of a leaf; none where it has not the measure."""
    if isinstance(leaf, dict):
        if not options.measures and measure not in leaf:
            numbers = [name for name, part in leaf.items() if _is_numbers(part)]
            likely = next(iter(measure_columns(numbers)), suggested_measure(numbers))
            raise InputError(
                f"{shorten(file.path, 200)} has objects below its levels, with {listed(leaf, limit=8)}. "
                f"Name what is measured: `--measure {likely or next(iter(numbers), 'NAME')}`."
            )
        leaf = leaf.get(measure)
    return leaf if isinstance(leaf, list) else [] if leaf is None else [leaf]


def _beside(leaf: Any) -> dict[str, float]:
    """Other numbers of a leaf, such as the time of a checkpoint."""
    return {name: part for name, part in as_mapping(leaf).items() if isinstance(part, int | float)}


def _is_numbers(value: object) -> bool:
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(part, int | float) for part in values)
