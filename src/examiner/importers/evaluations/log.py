"""One log of an evaluation: which model was asked what under which settings, and how each sample ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examiner.importers.files import SourceFile
from examiner.importers.suggestions import MissingNamesError
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
    """What one log holds of one benchmark: whose it is, and its samples.

    `items` is what the names of its items begin with. Logs of one `evaluation` are parts or retries of
    the same run. A log with `only_named` does not list the items it was asked: those that other logs name
    were failed. `versions` are those of the harness and of the benchmark, by name.
    """

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
        cls, file: SourceFile, model: str | None, benchmark: str, samples: Samples, **more: Any
    ) -> EvaluationLog:  # Any: the fields by their names
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
        evaluation = file.names.get("run") or more.pop("evaluation", "") or file.path.name
        more.pop("evaluation", None)
        items = more.pop("items", None)
        return cls(
            model, benchmark, samples, benchmark if items is None else items, evaluation, **more
        )


class Samples:
    """Samples of a log as they are met, one after the other: scores, and what else is known of each.

    Beside the costs this may be `content` (a hash that makes an item the same under any id), `input` (one
    that only warns), `text` and `subtask`. `left_out` counts samples by what became of them.

    >>> samples = Samples(Path("x.jsonl"))
    >>> samples.add("7", {"acc": 1.0}, tokens_in=12)
    >>> samples.add("8", {})
    >>> samples.scores, samples.more, dict(samples.left_out)
    ({('7', 0, ''): {'acc': 1.0}}, {('7', 0, ''): {'tokens_in': 12}}, {'without a score: not observed': 1})
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.scores: dict[tuple[str, int, str], dict[str, float]] = {}
        self.more: dict[tuple[str, int, str], dict[str, float | str]] = {}
        self.measures: dict[str, None] = {}
        self.left_out: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self.scores)

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
        observed = {_own_name(name): value for name, value in scores.items() if value is not None}
        if not observed:
            self.left_out[WITHOUT_SCORE] += 1
            return
        self.measures.update(dict.fromkeys(observed))
        key = sample, trial, content
        before = self.scores.setdefault(key, {})
        if before and observed.keys() <= before.keys():
            self.left_out[COPIES] += 1
        for name, value in observed.items():
            if before.setdefault(name, value) != value:
                raise InputError(
                    f"{shorten(self._path, 200)} holds two results of the sample {shorten(sample)}"
                    f"{f' in trial {trial}' if trial else ''}: {shorten(name)} is {before[name]:g} and "
                    f"{value:g}. Keep one of them."
                )
        described = {name: value for name, value in more.items() if value is not None}
        self.more.setdefault(key, {}).update(described)

    def add_failed(self, items: Mapping[str, str | None]) -> None:
        """Take items in as failed that are not here, each with the part of the benchmark it is of."""
        names = {sample for sample, _, _ in self.scores}
        for item, subtask in items.items():
            if item not in names:
                self.add(item, dict.fromkeys(self.measures, 0.0), subtask=subtask)


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
