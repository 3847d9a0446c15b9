"""One log of an evaluation: which model was asked what under which settings, and how each sample ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examiner.importers.files import SourceFile
from examiner.importers.suggestions import MissingNamesError
from examiner.messages import InputError, shorten

BESIDE = ("tokens_in", "tokens_out", "seconds", "cost", "is_correct")
"""What is known of samples beside their measures, and may be asked for as one: most of it costs."""
WITH_ERROR, WITHOUT_SCORE = "with an error: not observed", "without a score: not observed"
COPIES = "twice with the same result: counted once"
RESERVED = frozenset(
    {
        *("agent", "task", "run", "trial", "model", "settings", "evaluation", "log", "item_id"),
        *("item_hash", "id", "content", "input", "text", "subtask", "benchmark", "items", *BESIDE),
    }
)
"""Columns that are no measure, whatever a log calls its measures."""


@dataclass(frozen=True, slots=True)
class EvaluationLog:
    """What the log in a file holds of one benchmark: whose it is, and its samples.

    `items` is what the names of its items begin with. Logs of one `evaluation` are parts or retries of
    the same run. A log with `only_named` does not list the items it was asked: those that other logs name
    were failed. `versions` are those of the harness and of the benchmark, by name.
    """

    file: SourceFile
    model: str
    benchmark: str
    samples: Samples
    items: str
    evaluation: str
    subtask: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    unfinished: bool = False
    only_named: bool = False
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        file: SourceFile,
        model: str | None,
        benchmark: str,
        samples: Samples,
        *,
        items: str | None = None,
        evaluation: str | None = None,
        **more: Any,  # Any: the other fields by their names
    ) -> EvaluationLog:
        """Build a log of a file, where names that its path gives come before its own.

        >>> file = SourceFile(Path("x.json"), None, b"", names={"agent": "gpt2"})
        >>> EvaluationLog.of(file, None, "arc", Samples(file.path), evaluation="1").model
        'gpt2'
        """
        model = file.names.get("agent") or model
        if model is None:
            raise MissingNamesError(
                f"{shorten(file.path, 200)} does not say which model was evaluated. Name it "
                f"(`--agent =NAME`), or take it from the path (`--path '{{agent}}/'`).",
                ["agent"],
                "{agent}/",
            )
        benchmark = file.names.get("task") or benchmark
        items = benchmark if items is None else items
        evaluation = file.names.get("run") or evaluation or file.path.name
        return cls(file, model, benchmark, samples, items, evaluation, **more)

    @property
    def name(self) -> str:
        """What the log is remembered by: the path of its file."""
        return self.file.path.as_posix()


class Samples:
    """Samples of a log, one row each: scores by measure, and what else is known of each.

    `rows` has the row of each (sample, trial, content). The lists in `scores` and `more` have an entry per
    row and may end early; `column` returns them in full. Beside the costs, `more` may be `input` (a hash
    that only warns), `text` and `subtask`; `content` is a hash that makes an item the same under any id.
    `left_out` counts samples by the reason why they are no row.

    >>> samples = Samples(Path("x.jsonl"))
    >>> samples.add("7", {"acc": 1.0}, tokens_in=12)
    >>> samples.add("8", {})
    >>> samples.rows, samples.scores, samples.more, dict(samples.left_out)
    ({('7', 0, ''): 0}, {'acc': [1.0]}, {'tokens_in': [12]}, {'without a score: not observed': 1})
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows: dict[tuple[str, int, str], int] = {}
        self.scores: dict[str, list[float | None]] = {}
        self.more: dict[str, list[float | str | None]] = {}
        self.left_out: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.rows)

    def add(
        self,
        sample: str,
        scores: Mapping[str, float | None],
        trial: int = 0,
        *,
        content: str = "",
        **more: float | str | None,
    ) -> None:
        """Add a sample, or more measures of one that is here; refuse it where it was scored otherwise.

        >>> samples = Samples(Path("x.jsonl"))
        >>> for score in (1.0, 0.0):
        ...     samples.add("7", {"acc": score})
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: 'x.jsonl' holds two results of the sample '7': 'acc' is 1 and 0. Keep
        one of them.
        """
        observed = {
            f"{name} (measure)" if name in RESERVED else name: value
            for name, value in scores.items()
            if value is not None
        }
        if not observed:
            self.left_out[WITHOUT_SCORE] += 1
            return
        row = self.rows.setdefault((sample, trial, content), len(self.rows))
        copies = 0
        for name, value in observed.items():
            before = _put(self.scores, name, row, value)
            copies += before == value
            if before is not None and before != value:
                raise InputError(
                    f"{shorten(self._path, 200)} holds two results of the sample {shorten(sample)}"
                    f"{f' in trial {trial}' if trial else ''}: {shorten(name)} is {before:g} and "
                    f"{value:g}. Keep one of them."
                )
        if copies == len(observed):
            self.left_out[COPIES] += 1
        for name, detail in more.items():
            if detail is not None:
                _put(self.more, name, row, detail)

    def column(self, name: str) -> Sequence[Any]:  # Any: numbers, or text
        """Return the scores by a measure, or something else that is known of samples, for every row.

        >>> Samples(Path("x.jsonl")).column("acc")
        []
        """
        values: Sequence[object] = self.scores.get(name) or self.more.get(name, [])
        return [*values, *[None] * (len(self) - len(values))]


def _put(columns: dict[str, list[Any]], name: str, row: int, value: float | str) -> Any:
    """Put a value into a column, and return what was there; Any: a number, a text or None."""
    column = columns.setdefault(name, [])
    if row == len(column):
        column.append(value)
        return None
    column.extend([None] * (row + 1 - len(column)))
    before, column[row] = column[row], value
    return before


def settings_of(*parts: Mapping[str, object]) -> dict[str, str]:
    """Join settings as they may stand in an agent's name, without those that say nothing.

    >>> settings_of({"temperature": 0.5, "stop": None}, {"args": {}}, {"model": {"b": 1, "a": None}})
    {'temperature': '0.5', 'model': '{"a": null, "b": 1}'}
    """
    texts = {
        name: value
        if isinstance(value, str)
        else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
        for part in parts
        for name, value in part.items()
        if value is not None and value != {} and value != [] and value != ""
    }
    return {name: text if len(text) <= 60 else text[:59] + "…" for name, text in texts.items()}


def beginning_of(text: object) -> str | None:
    """Return the first 300 letters of an item's text, enough to know it again; None where there are none.

    >>> beginning_of("What is\\n2 + 2?"), beginning_of(["a"])
    ('What is 2 + 2?', None)
    """
    if not isinstance(text, str) or not text.strip():
        return None
    return " ".join(text[:1200].split())[:300]
