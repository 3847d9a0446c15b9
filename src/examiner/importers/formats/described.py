"""JSON logs that a description suffices for: which files they are, and where each thing stands in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from examiner.importers.documents import (
    Record,
    as_sequence,
    document_beside,
    document_of,
    number,
    value_at,
)
from examiner.importers.files import SourceFile
from examiner.importers.logs import WITH_ERROR, EvaluationLog, Samples, settings_of
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning
from examiner.messages import InputError, shorten

Paths = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormatDescription:
    """Where JSON files of a kind keep what a log of an evaluation holds.

    `marks` are texts that all stand among the first bytes of a file, and `records` leads from the document
    to its records: keys joined by dots, in which `*` is any key or every entry of a list. Other fields
    are paths, of which the first that holds something is taken: keys in the record, else in the document,
    else in the file `beside` it; `@0` is the key met at the first `*`, `/0` the name of the file without
    its ending, `/1` that of its folder, and so on; `x/3` the same where a folder is called x. `scores` is
    a number, or an object of numbers by measure; `items` and `sample` are joined by slashes. A record with
    an `error` was not observed.
    `sums_up` are keys of records that are means of others. `outdated` marks files of earlier versions,
    with what is to be said of them.
    """

    title: str
    marks: tuple[bytes, ...]
    model: Paths
    benchmark: Paths
    scores: str
    records: str = ""
    items: tuple[Paths, ...] = ()
    sample: tuple[Paths, ...] = ()
    evaluation: Paths = ()
    error: Paths = ()
    measure: str = "score"
    beside: str = ""
    companions: tuple[str, ...] = ()
    sums_up: tuple[str, ...] = ()
    costs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    outdated: tuple[bytes, str] | None = None

    def _settings(self, find: _Finder) -> Iterator[Record]:
        """The settings of a log; the fields of an object are settings of their own."""
        for name, path in self.settings.items():
            value = find.value(path)
            yield value if isinstance(value, dict) else {name: value}

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file is one object that has the marks among its first bytes."""
        head = beginning(file)
        if not head.lstrip().startswith(b"{"):
            return False
        old = self.outdated is not None and self.outdated[0] in head
        return old or all(mark in head for mark in self.marks)

    def read(self, file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
        """Read the records of a file, those of one group of items as one log."""
        document = document_of(file)
        beside = document_beside(file.path.with_name(self.beside)) if self.beside else {}
        around = _Surroundings(file, (document, beside))
        logs: dict[tuple[str, str], tuple[_Finder, Samples]] = {}
        for keys, record in _records(document, self.records.split(".") if self.records else []):
            if keys[:1] and keys[0] in self.sums_up:
                continue
            find = _Finder(record, keys, around)
            group = find.joined(self.items), find.text(self.evaluation)
            if group not in logs:
                logs[group] = find, Samples(file.path)
            samples = logs[group][1]
            if any(find.value(path) for path in self.error):
                samples.left_out[WITH_ERROR] += 1
                continue
            scores = find.value(self.scores)
            values = scores if isinstance(scores, dict) else {self.measure: scores}
            costs = {name: number(find.value(path)) for name, path in self.costs.items()}
            samples.add(
                find.joined(self.sample),
                {
                    name: number(value)
                    for name, value in values.items()
                    if not name.endswith("_stderr")
                },
                **costs,  # type: ignore[arg-type]  # names of costs, of which `content` is none
            )
        if not logs:
            said = "" if self.outdated is None else f" {self.outdated[1]}"
            raise InputError(f"{shorten(file.path, 200)} holds no results of {self.title}.{said}")
        return [
            EvaluationLog.of(
                file,
                find.text(self.model) or None,
                find.text(self.benchmark),
                samples,
                items=items,
                evaluation=evaluation,
                settings=settings_of(*self._settings(find)),
                versions=settings_of({name: find.value(at) for name, at in self.versions.items()}),
            )
            for (items, evaluation), (find, samples) in logs.items()
        ]


class _Surroundings:
    """What stands around the records of a file: in its document, in the file beside it, in its path."""

    def __init__(self, file: SourceFile, documents: tuple[Record, ...]) -> None:
        self._documents = documents
        folders = (name.replace("__", "/") for name in file.path.parts[-2::-1])
        self._names = [file.path.name.partition(".")[0].replace("__", "/"), *folders]
        self._values: dict[str, object] = {}

    def value(self, path: str) -> object:
        """Return what a path leads to, for all records the same; None where that is nothing."""
        if path not in self._values:
            self._values[path] = self._found(path)
        return self._values[path]

    def _found(self, path: str) -> object:
        folder, slash, place = path.partition("/")
        if slash:
            missing = folder and folder not in self._names
            return None if missing else self._names[min(int(place), len(self._names) - 1)]
        values = (value_at(document, path) for document in self._documents)
        return next((value for value in values if value is not None), None)


class _Finder(NamedTuple):
    """A record, the keys that lead to it, and what stands around it."""

    record: Record
    keys: tuple[str, ...]
    around: _Surroundings

    def value(self, path: str) -> object:
        """Return what a path leads to, None where that is nothing."""
        if not path:
            return self.record
        if path.startswith("@"):
            return self.keys[int(path[1:])]
        value = None if "/" in path else value_at(self.record, path)
        return self.around.value(path) if value is None else value

    def text(self, paths: Paths) -> str:
        """Return the first of several paths that leads to a text or a number, as text."""
        values = map(self.value, paths)
        return next((str(value) for value in values if isinstance(value, str | int) and value), "")

    def joined(self, parts: tuple[Paths, ...]) -> str:
        """Return parts of a name, without those that are not there."""
        return "/".join(filter(None, map(self.text, parts)))


def _records(
    value: object, path: list[str], keys: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Record]]:
    """The records that a path leads to, each with the keys that stand for its stars."""
    if not path:
        if isinstance(value, dict):
            yield keys, value
    elif path[0] == "*":
        entries = value if isinstance(value, dict) else dict(enumerate(as_sequence(value)))
        for key, entry in entries.items():
            yield from _records(entry, path[1:], (*keys, str(key)))
    elif isinstance(value, dict):
        yield from _records(value.get(path[0]), path[1:], keys)


DESCRIPTIONS = MappingProxyType(
    {
        "harbor": FormatDescription(
            "Harbor trials, result.json",
            marks=(b'"task_name"', b'"trial_name"', b'"agent_info"'),
            model=("agent_info.model_info.name", "config.agent.model_name", "agent_info.name"),
            benchmark=("source", "task_name"),
            items=(("source",), ("task_name",)),
            evaluation=("trial_name", "id"),  # an attempt is a run
            scores="verifier_result.rewards",
            measure="reward",
            costs={
                "tokens_in": "agent_result.n_input_tokens",
                "tokens_out": "agent_result.n_output_tokens",
                "cost": "agent_result.cost_usd",
            },
            settings={
                "agent": "agent_info.name",
                "version": "agent_info.version",
                "arguments": "config.agent.kwargs",
            },
        ),
        "terminal-bench": FormatDescription(
            "Terminal-Bench runs, results.json",
            marks=(b'"is_resolved"', b'"task_id"', b'"results"'),
            records="results.*",
            model=("model_name",),
            benchmark=("dataset_name",),
            items=(("task_id",),),  # without metadata, a run does not name the data set
            evaluation=("trial_name", "id"),
            scores="is_resolved",
            measure="resolved",
            beside="run_metadata.json",
            companions=("run_metadata.json",),
            costs={"tokens_in": "total_input_tokens", "tokens_out": "total_output_tokens"},
            settings={"agent": "agent_name"},
            versions={"the data set": "dataset_version"},
        ),
        "mteb": FormatDescription(
            "MTEB results, a file a task in MODEL/REVISION",
            marks=(b'"dataset_revision"', b'"scores"'),
            records="scores.*.*",
            model=("experiments/4", "/2"),
            benchmark=("task_name",),
            items=(("task_name",),),
            sample=(("@0",), ("hf_subset",)),
            evaluation=("/1",),
            scores="main_score",
            measure="main_score",
            companions=("model_meta.json",),
            settings={"revision": "/1"},
            versions={"mteb": "mteb_version"},
            outdated=(
                b'"mteb_dataset_name"',
                "Files of versions before 1.11 do not say which score is the main one. Evaluate the "
                "model again, or leave them out.",
            ),
        ),
        "lighteval": FormatDescription(
            "lighteval results, JSON",
            marks=(b'"config_general"', b'"results"'),
            records="results.*",
            model=("config_general.model_name", "config_general.model_config.model_name"),
            benchmark=("@0",),
            items=(("@0",),),
            evaluation=("/0",),
            scores="",
            sums_up=("all",),
            versions={"lighteval": "config_general.lighteval_sha"},
        ),
    }
)
"""Formats that need no code of their own; a new one is an entry here."""
