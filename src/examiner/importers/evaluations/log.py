"""One log of an evaluation: which model was asked what under which settings, and how each sample ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from examiner.messages import InputError, shorten

COSTS = ("tokens_in", "tokens_out", "seconds", "cost")
"""What a sample cost the agent itself: tokens read and written, seconds, and money."""
BESIDE = (*COSTS, "is_correct")
"""What is known of samples beside their measures, and may be asked for as one."""
TEXT_LETTERS = 300  # enough to know an item again
WITH_ERROR, WITHOUT_SCORE = "with an error: not observed", "without a score: not observed"
COPIES = "twice with the same result: counted once"
RESERVED = frozenset(
    {
        *("agent", "task", "run", "trial", "model", "settings", "evaluation", "log", "item_id"),
        *("item_hash", "id", "content", "input", "text", "subtask", "benchmark", "items", *BESIDE),
    }
)
"""Columns that are no measure, whatever a log calls its measures."""
_SETTING_LETTERS = 60  # a setting is part of an agent's name


@dataclass(frozen=True, slots=True)
class EvaluationLog:
    """What one log holds of one benchmark: whose it is, and a row a sample.

    `rows` has `id` and `trial`, the `measures`, any of the costs, and where known `content` (a hash
    that makes an item the same under any id), `input` (one that only warns), `text` and `subtask`.
    `items` is what the names of its items begin with. Logs of one `evaluation` are parts or retries of
    the same run. `left_out` counts samples by what became of them. A log with `only_named` does not list
    the items it was asked: those that other logs name were failed.
    """

    model: str
    benchmark: str
    rows: pl.DataFrame
    measures: tuple[str, ...]
    items: str
    evaluation: str
    subtask: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    unfinished: bool = False
    only_named: bool = False
    notes: tuple[str, ...] = ()


class Samples:
    """Samples of a log as they are met, one after the other.

    >>> samples = Samples(Path("x.jsonl"))
    >>> samples.add("7", {"acc": 1.0}, tokens_in=12)
    >>> samples.add("8", {})
    >>> samples.frame().to_dicts(), dict(samples.left_out)
    ([{'id': '7', 'trial': 0, 'acc': 1.0, 'tokens_in': 12.0}], {'without a score: not observed': 1})
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scores: dict[tuple[str, int, str], dict[str, float]] = {}
        self._more: dict[tuple[str, int, str], dict[str, float | str]] = {}
        self._measures: dict[str, None] = {}
        self.left_out: Counter[str] = Counter()

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures met so far, in their order."""
        return tuple(self._measures)

    def add(
        self,
        sample: str,
        scores: Mapping[str, float | None],
        trial: int = 0,
        *,
        content: str = "",
        **more: float | str | None,
    ) -> None:
        """Take a sample in, or more measures of one that is here; refuse it where it was scored otherwise.

        >>> samples = Samples(Path("x.jsonl"))
        >>> for score in (1.0, 0.0):
        ...     samples.add("7", {"acc": score})
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: 'x.jsonl' holds two results of the sample '7': 'acc' is 1 and 0. Keep
        one of them.
        """
        found = {_own_name(name): value for name, value in scores.items() if value is not None}
        if not found:
            self.left_out[WITHOUT_SCORE] += 1
            return
        self._measures.update(dict.fromkeys(found))
        key = sample, trial, content
        known = self._scores.setdefault(key, {})
        if known and found.keys() <= known.keys():
            self.left_out[COPIES] += 1
        for name, value in found.items():
            if known.setdefault(name, value) != value:
                raise InputError(
                    f"{shorten(self._path, 200)} holds two results of the sample {shorten(sample)}"
                    f"{f' in trial {trial}' if trial else ''}: {shorten(name)} is {known[name]:g} and "
                    f"{value:g}. Keep one of them."
                )
        told = {name: value for name, value in more.items() if value is not None}
        self._more.setdefault(key, {}).update(told)

    def frame(self) -> pl.DataFrame:
        """Return a row a sample; columns that nothing is known of are left out.

        >>> Samples(Path("x.jsonl")).frame().height
        0
        """
        keys, scores, more = list(self._scores), self._scores.values(), self._more.values()
        columns = [
            pl.Series("id", [key[0] for key in keys], dtype=pl.String),
            pl.Series("trial", [key[1] for key in keys], dtype=pl.Int64),
            *(
                pl.Series(name, [row.get(name) for row in scores], dtype=pl.Float64)
                for name in self._measures
            ),
        ]
        told = {name for row in more for name in row}
        columns += [
            pl.Series(name, [row.get(name) for row in more], dtype=pl.Float64, strict=False)
            for name in BESIDE
            if name in told
        ]
        columns += [
            pl.Series(name, [row.get(name) for row in more], dtype=pl.String, strict=False)
            for name in ("input", "text", "subtask")
            if name in told
        ]
        if any(key[2] for key in keys):
            columns.append(pl.Series("content", [key[2] for key in keys], dtype=pl.String))
        return pl.DataFrame(columns)


def _own_name(measure: str) -> str:
    """The name of a measure, kept apart from those of other columns."""
    return f"{measure} (measure)" if measure in RESERVED else measure


def setting(value: object) -> str:
    """Write the value of a setting as it may stand in an agent's name.

    >>> setting({"b": 1, "a": None}), setting("hf"), setting(0.5)
    ('{"a": null, "b": 1}', 'hf', '0.5')
    """
    if isinstance(value, str):
        text = value
    else:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return text if len(text) <= _SETTING_LETTERS else text[: _SETTING_LETTERS - 1] + "…"


def settings_of(*parts: Mapping[str, object]) -> dict[str, str]:
    """Join settings, without those that say nothing.

    >>> settings_of({"temperature": 0.5, "stop": None}, {"args": {}})
    {'temperature': '0.5'}
    """
    return {
        name: setting(value)
        for part in parts
        for name, value in part.items()
        if value is not None and value != {} and value != [] and value != ""
    }


def beginning_of(text: object) -> str | None:
    """Return the first letters of an item's text, on one line; None where there are none.

    >>> beginning_of("What is\\n2 + 2?"), beginning_of(["a"])
    ('What is 2 + 2?', None)
    """
    if not isinstance(text, str) or not text.strip():
        return None
    return " ".join(text[: 4 * TEXT_LETTERS].split())[:TEXT_LETTERS]
