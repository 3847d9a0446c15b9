"""lm-evaluation-harness: samples of a task, a line each, and the results of whole evaluations."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examiner.importers.evaluations.log import EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.files import SourceFile, open_source
from examiner.importers.json_values import as_mapping, as_sequence, first_text, number
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, parse_json, streamed_json_lines, text_of
from examiner.messages import InputError, shorten

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

    >>> recognises_samples(SourceFile(Path("x"), None, b'{"doc_id": 0, "doc": {}, "target": "1"}'))
    True
    """
    return _SAMPLE.match(beginning(file)) is not None


def recognises_results(file: SourceFile) -> bool:
    """The object begins with results, by task.

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


def read_samples(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read the samples of a task: an item a document, a measure a metric and filter.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "gpt2" / "samples_arc_2025-01-02T03-04-05.6.jsonl"
    >>> path.parent.mkdir()
    >>> _ = path.write_text('{"doc_id": 0, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": 1.0}')
    >>> (log,) = read_samples(open_source(path), TableOptions())
    >>> log.model, log.benchmark, log.rows.row(0)
    ('gpt2', 'arc', ('0', 0, 1.0))
    """
    task, date = _task_and_date(file)
    about = _results_beside(file.path.with_name(f"results_{date}.json"))
    samples, met = Samples(file.path), Counter[tuple[str, str]]()
    for line, record in streamed_json_lines(file):
        document = record.get("doc_id")
        if not isinstance(document, int | str) or isinstance(document, bool):
            raise InputError(
                f"{shorten(file.path, 200)}, line {line}, names no document (`doc_id`). Correct or remove "
                f"the line."
            )
        content = record.get("doc_hash")
        key = str(document), content if isinstance(content, str) else ""
        met[key] += 1
        samples.add(
            key[0],
            _scores(record, met[key]),
            content=key[1],
            text=_text(record) if options.item_text else None,
        )
    unnamed = any(name.endswith(f",{_UNNAMED} 2") for name in samples.measures)
    groups = as_mapping(about.get("group_subtasks"))
    benchmark = _root(task, groups)
    return [
        EvaluationLog(
            file.names.get("agent") or _model(about) or file.path.parent.name.replace("__", "/"),
            benchmark,
            samples.frame(),
            samples.measures,
            task,
            file.names.get("run") or date or file.path.name,
            subtask=task if task != benchmark else None,
            settings=_settings(about, task),
            left_out=samples.left_out,
            lower_is_better=_lower(about, task, samples.measures),
            notes=(_UNNAMED_NOTE,) if unnamed else (),
        )
    ]


def read_results(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read the results of whole tasks, where no samples are at hand: a task is an item.

    >>> text = b'{"results": {"arc": {"acc,none": 0.5, "acc_stderr,none": 0.1}}, "model_name": "gpt2"}'
    >>> (log,) = read_results(SourceFile(Path("x.json"), None, text, whole=True), TableOptions())
    >>> log.model, log.rows.row(0)
    ('gpt2', ('', 0, 0.5))
    """
    about = as_mapping(parse_json(text_of(file).data, file.path))
    results = as_mapping(about.get("results"))
    groups = as_mapping(about.get("group_subtasks"))
    model = file.names.get("agent") or _model(about) or file.path.parent.name.replace("__", "/")
    found = _RESULTS_NAME.fullmatch(file.path.name)
    evaluation = file.names.get("run") or (found["date"] if found else file.path.name)
    logs = []
    for task, scores in results.items():
        if as_sequence(groups.get(task)):
            continue  # the mean of others that stand here too
        samples = Samples(file.path)
        samples.add("", _aggregates(as_mapping(scores)))
        benchmark = _root(task, groups)
        logs.append(
            EvaluationLog(
                *(model, benchmark, samples.frame(), samples.measures, task, evaluation),
                subtask=task if task != benchmark else None,
                settings=_settings(about, task),
                left_out=samples.left_out,
                lower_is_better=_lower(about, task, samples.measures),
            )
        )
    if not logs:
        raise InputError(f"{shorten(file.path, 200)} holds no results of tasks. Check the file.")
    return logs


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


def _results_beside(path: Path) -> Mapping[str, Any]:  # Any: JSON values
    """What the results say that were written with the samples; nothing where there are none."""
    return _parsed_results(path, path.stat().st_mtime_ns) if path.is_file() else {}


@functools.lru_cache(maxsize=8)  # all tasks of an evaluation stand beside the same results
def _parsed_results(path: Path, changed_ns: int) -> Mapping[str, Any]:  # Any: JSON values
    try:
        return as_mapping(parse_json(text_of(open_source(path)).data, path))
    except InputError:  # the samples can be read without it
        return {}


def _scores(record: Mapping[str, Any], met: int) -> dict[str, float | None]:
    """The metrics of a line, which is the so-manieth of its document."""
    named = record.get("metrics")
    metrics = (
        named if isinstance(named, list) else [name for name in record if name not in _NO_METRICS]
    )
    kind = record.get("filter", f"{_UNNAMED} {met}" if met > 1 else _NO_FILTER)
    after = "" if kind == _NO_FILTER else f",{kind}"
    return {f"{metric}{after}": number(record.get(metric)) for metric in metrics}


def _aggregates(scores: Mapping[str, Any]) -> dict[str, float | None]:
    found = {}
    for name, value in scores.items():
        metric, _, kind = name.partition(",")
        if metric.endswith("_stderr") or not (kind or isinstance(value, float)):
            continue
        found[metric if kind in ("", _NO_FILTER) else name] = number(value)
    return found


def _text(record: Mapping[str, Any]) -> str | None:
    document = as_mapping(record.get("doc"))
    first = next(
        (text for text in document.values() if isinstance(text, str) and " " in text), None
    )
    return beginning_of(first_text(document, *_TEXTS) or first)


def _root(task: str, groups: Mapping[str, Any]) -> str:
    """The largest group that a task is part of, or itself."""
    for _ in range(len(groups)):
        above = next((name for name, tasks in groups.items() if task in as_sequence(tasks)), None)
        if above is None:
            break
        task = above
    return task


def _model(about: Mapping[str, Any]) -> str | None:
    arguments = _arguments(about)
    found = first_text(about, "model_name") or first_text(arguments, "pretrained", "model")
    return found or first_text(as_mapping(about.get("config")), "model")


def _arguments(about: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the model: an object, or text such as `pretrained=gpt2,dtype=float16`."""
    given = as_mapping(about.get("config")).get("model_args")
    if isinstance(given, dict):
        return given
    pairs = (part.partition("=") for part in given.split(",")) if isinstance(given, str) else ()
    return {name.strip(): value for name, _, value in pairs if value}


def _settings(about: Mapping[str, Any], task: str) -> dict[str, str]:
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
            "chat_template": (first_text(about, "chat_template_sha") or "")[:8],
            "system": (first_text(about, "system_instruction_sha") or "")[:8],
            "multiturn": about.get("fewshot_as_multiturn") or None,
            "gen_kwargs": config.get("gen_kwargs"),
        },
    )


def _lower(about: Mapping[str, Any], task: str, measures: tuple[str, ...]) -> frozenset[str]:
    higher = as_mapping(as_mapping(about.get("higher_is_better")).get(task))
    return frozenset(name for name in measures if higher.get(name.partition(",")[0]) is False)
