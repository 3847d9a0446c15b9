"""lm-evaluation-harness: samples of a task, a line each, and the results of whole evaluations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from examiner.importers.documents import (
    Record,
    as_mapping,
    as_sequence,
    document_beside,
    document_of,
    mapping_at,
    number,
    streamed_json_lines,
    text_at,
    value_at,
)
from examiner.importers.files import SourceFile
from examiner.importers.log_results import items_of_logs
from examiner.importers.logs import EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning
from examiner.messages import InputError, shorten
from examiner.results import Results

_SAMPLE = re.compile(rb'\s*\{\s*"doc_id"\s*:.*"doc"\s*:', flags=re.DOTALL)
_RESULTS = re.compile(rb'\s*\{\s*"results"\s*:\s*\{', flags=re.DOTALL)
_SAMPLES_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:\-]+)\.jsonl")
_RESULTS_NAME = re.compile(r"results_(?P<date>\d{4}-\d\d-\d\dT[\d.:\-]+)\.json")
_NO_METRICS = frozenset(
    {
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    }
)
"""What is in a line beside its metrics; files from before 2025 do not say which these are."""
_TEXTS = ("question", "query", "problem", "prompt", "input", "text", "ctx", "sentence", "goal")
"""Fields of a document that hold what is asked, in the data sets met."""
_NO_FILTER, _UNNAMED = "none", "filter"
_UNNAMED_NOTE = (
    "Samples written before 2025 do not name their filters: the first line of a document is that of the "
    "first filter, the second is measured by 'METRIC,filter 2'."
)


def recognises_samples(file: SourceFile) -> bool:
    """The first line is a document with its number.

    >>> from pathlib import Path
    >>> recognises_samples(SourceFile(Path("x"), None, b'{"doc_id": 0, "doc": {}, "target": "1"}'))
    True
    """
    return _SAMPLE.match(beginning(file)) is not None


def recognises_results(file: SourceFile) -> bool:
    """The object begins with results, by task.

    >>> from pathlib import Path
    >>> head = b'{"results": {"arc": {"alias": "arc", "acc,none": 0.5}}, "group_subtasks": {}}'
    >>> recognises_results(SourceFile(Path("x"), None, head))
    True
    """
    head = beginning(file)
    if _RESULTS.match(head) is None:
        return False
    # Before 2024 metrics had no filters: "acc", beside "acc_stderr".
    return (
        re.search(rb'"(?:[^",]+,[^"]+|[^"]+_stderr)"\s*:', head) is not None or b'"n-shot"' in head
    )


def read_samples(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the samples of a task: an item a document, a measure a metric and filter.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from examiner.importers.files import open_source
    >>> path = Path(tempfile.mkdtemp()) / "gpt2" / "samples_arc_2025-01-02T03-04-05.6.jsonl"
    >>> path.parent.mkdir()
    >>> _ = path.write_text('{"doc_id": 0, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": 1.0}')
    >>> (log,) = read_samples(open_source(path), ReadOptions())
    >>> log.model, log.benchmark, log.samples.scores
    ('gpt2', 'arc', {'acc': [1.0]})
    """
    task, date = _task_and_date(file)
    about = document_beside(file.path.with_name(f"results_{date}.json"))
    samples, lines = Samples(file.path), Counter[tuple[str, str]]()
    for line, record in streamed_json_lines(file):
        document = record.get("doc_id")
        if not isinstance(document, int | str) or isinstance(document, bool):
            raise InputError(
                f"{shorten(file.path, 200)}, line {line}, names no document (`doc_id`). Correct or remove "
                f"the line."
            )
        key = str(document), text_at(record, "doc_hash") or ""
        lines[key] += 1
        samples.add(
            key[0],
            _scores(record, lines[key]),
            content=key[1],
            text=_text(record) if options.item_text else None,
        )
    unnamed = any(name.endswith(f",{_UNNAMED} 2") for name in samples.scores)
    notes = (_UNNAMED_NOTE,) if unnamed else ()
    return [_log(file, about, task, samples, date, notes)]


def read_results(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the results of whole tasks, where no samples are at hand: a task is an item.

    >>> from pathlib import Path
    >>> text = b'{"results": {"arc": {"acc,none": 0.5, "acc_stderr,none": 0.1}}, "model_name": "gpt2"}'
    >>> (log,) = read_results(SourceFile(Path("x.json"), None, text, whole=True), ReadOptions())
    >>> log.model, log.samples.scores
    ('gpt2', {'acc': [0.5]})
    """
    about = document_of(file)
    date = _RESULTS_NAME.fullmatch(file.path.name)
    logs = []
    for task, scores in mapping_at(about, "results").items():
        if as_sequence(mapping_at(about, "group_subtasks").get(task)):
            continue  # the mean of others that stand here too
        samples = Samples(file.path)
        samples.add("", _aggregates(as_mapping(scores)))
        logs.append(_log(file, about, task, samples, date["date"] if date else ""))
    if not logs:
        raise InputError(f"{shorten(file.path, 200)} holds no results of tasks. Check the file.")
    return logs


def _log(
    file: SourceFile,
    about: Record,
    task: str,
    samples: Samples,
    date: str,
    notes: tuple[str, ...] = (),
) -> EvaluationLog:
    benchmark = _root(task, mapping_at(about, "group_subtasks"))
    higher = as_mapping(mapping_at(about, "higher_is_better").get(task))
    lower = (name for name in samples.scores if higher.get(name.partition(",")[0]) is False)
    name = text_at(about, "model_name") or text_at(_arguments(about), "pretrained", "model")
    log = EvaluationLog.of(
        file,
        name or text_at(about, "config.model") or file.path.parent.name.replace("__", "/"),
        benchmark,
        samples,
        items=task,
        evaluation=date,
        subtask=task if task != benchmark else None,
        settings=_settings(about, task),
        lower_is_better=frozenset(lower),
        notes=notes,
        versions=settings_of(
            {
                "lm_eval": value_at(about, "lm_eval_version"),
                f"the task {task}": mapping_at(about, "versions").get(task),
            }
        ),
    )
    return replace(log, benchmark=benchmark)


def _task_and_date(file: SourceFile) -> tuple[str, str]:
    found = _SAMPLES_NAME.fullmatch(file.path.name)
    task = file.names.get("task") or (found["task"] if found else None)
    if task is None:
        raise InputError(
            f"{shorten(file.path, 200)} does not say which task its samples are of: lm-evaluation-harness "
            f"writes it into the file's name. Call the file samples_TASK_DATE.jsonl, or give a path "
            f"template such as '{{agent}}/{{task}}.jsonl'."
        )
    return task, found["date"] if found else ""


def _scores(record: Record, met: int) -> dict[str, float | None]:
    """The metrics of a line, which is the so-manieth of its document."""
    named = record.get("metrics")
    metrics = (
        named if isinstance(named, list) else [name for name in record if name not in _NO_METRICS]
    )
    kind = record.get("filter", f"{_UNNAMED} {met}" if met > 1 else _NO_FILTER)
    after = "" if kind == _NO_FILTER else f",{kind}"
    return {f"{metric}{after}": number(record.get(metric)) for metric in metrics}


def _aggregates(scores: Record) -> dict[str, float | None]:
    found = {}
    for name, value in scores.items():
        metric, _, kind = name.partition(",")
        if metric.endswith("_stderr") or not (kind or isinstance(value, float)):
            continue
        found[metric if kind in ("", _NO_FILTER) else name] = number(value)
    return found


def _text(record: Record) -> str | None:
    document = as_mapping(record.get("doc"))
    first = next(
        (text for text in document.values() if isinstance(text, str) and " " in text), None
    )
    return beginning_of(text_at(document, *_TEXTS) or first)


def _root(task: str, groups: Record) -> str:
    """The largest group that a task is part of, or itself."""
    for _ in range(len(groups)):
        above = next((name for name, tasks in groups.items() if task in as_sequence(tasks)), None)
        if above is None:
            break
        task = above
    return task


def _arguments(about: Record) -> dict[str, Any]:
    """The arguments of the model: an object, or text such as `pretrained=gpt2,dtype=float16`."""
    given = as_mapping(about.get("config")).get("model_args")
    if isinstance(given, dict):
        return given
    pairs = (part.partition("=") for part in given.split(",")) if isinstance(given, str) else ()
    return {name.strip(): value for name, _, value in pairs if value}


def _settings(about: Record, task: str) -> dict[str, str]:
    """What may distinguish two evaluations of a model: its arguments, shots, templates."""
    arguments = {
        name: value
        for name, value in _arguments(about).items()
        if name not in ("pretrained", "model")
    }
    config = as_mapping(about.get("config"))
    return settings_of(
        arguments,
        {
            "shots": as_mapping(about.get("n-shot")).get(task, config.get("num_fewshot")),
            "chat_template": (text_at(about, "chat_template_sha") or "")[:8],
            "system": (text_at(about, "system_instruction_sha") or "")[:8],
            "multiturn": about.get("fewshot_as_multiturn") or None,
            "gen_kwargs": config.get("gen_kwargs"),
        },
    )


def lm_eval_samples(results: Results, tasks: Sequence[str]) -> dict[str, list[int]]:
    """Return what `lm_eval --samples` takes: the numbers of documents, by the harness's task.

    >>> columns = {"agent": ["a", "a"], "task": ["arc/3", "arc/7"], "score": [1.0, 0.0]}
    >>> lm_eval_samples(Results.from_dict(columns), ["arc/7", "arc/3"])
    {'arc': [3, 7]}
    """
    documents: dict[str, list[int]] = {}
    for name, item in items_of_logs(results, tasks):
        if not item.isdecimal() or not name:
            raise InputError(
                f"The item {shorten(item)} of {shorten(name)} is no document of lm-evaluation-harness: "
                f"they have numbers. Give results that were read from its logs."
            )
        documents.setdefault(name, []).append(int(item))
    return {name: sorted(items) for name, items in documents.items()}
