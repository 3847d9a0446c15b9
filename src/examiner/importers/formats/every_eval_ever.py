"""Every Eval Ever: samples of an evaluation, a line each, and the aggregates beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from examiner.importers.evaluations.log import (
    WITH_ERROR,
    EvaluationLog,
    Samples,
    beginning_of,
    settings_of,
)
from examiner.importers.files import SourceFile, open_source
from examiner.importers.json_values import as_mapping, as_sequence, first_text, number
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, parse_json, streamed_json_lines, text_of
from examiner.messages import InputError, shorten

MEASURE = "score"
_SAMPLES_ENDING = "_samples.jsonl"
_IN_A_LINE = (b'"evaluation_id"', b'"model_id"', b'"sample_id"')
_IN_AN_AGGREGATE = (b'"schema_version"', b'"evaluation_id"', b'"evaluation_results"')
_VERSIONS = ("0.2.", "0.3.")
_SETTINGS = ("temperature", "top_p", "top_k", "max_tokens", "reasoning", "max_attempts")
_UNKNOWN_LEVEL = -1.0  # as the schema has it, where a metric has an unknown level


def recognises_samples(file: SourceFile) -> bool:
    """The first line names an evaluation, a model and a sample.

    >>> line = b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "sample_id": "1"}'
    >>> recognises_samples(SourceFile(Path("x"), None, line))
    True
    """
    head = beginning(file).lstrip()
    line = head.partition(b"\n")[0]
    return head.startswith(b"{") and all(name in line for name in _IN_A_LINE)


def recognises_aggregates(file: SourceFile) -> bool:
    """An object with a version of the schema, the id of an evaluation, and its results.

    >>> head = b'{"schema_version": "0.3.0", "evaluation_id": "e", "evaluation_results": []}'
    >>> recognises_aggregates(SourceFile(Path("x"), None, head))
    True
    """
    head = beginning(file).lstrip()
    return head.startswith(b"{") and all(name in head for name in _IN_AN_AGGREGATE)


class _Group(NamedTuple):
    """What samples have in common that are one log."""

    model: str
    name: str
    evaluation: str


def read_samples(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read samples: an item a sample of an evaluation, by its hash where there is one.

    >>> line = (b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m", '
    ...         b'"evaluation_name": "quiz", "sample_id": "7", "evaluation": {"score": 0.5}}')
    >>> (log,) = read_samples(SourceFile(Path("x.jsonl"), None, line, whole=True), TableOptions())
    >>> log.model, log.items, log.rows.row(0)
    ('org/m', 'quiz', ('7', 0, 0.5))
    """
    beside = file.path.with_name(file.path.name.removesuffix(_SAMPLES_ENDING) + ".json")
    about = _aggregate(beside) if beside != file.path and beside.is_file() else {}
    metrics = _metrics(about)
    groups: dict[_Group, list[Mapping[str, Any]]] = {}
    for line, record in streamed_json_lines(file):
        _check_version(record, f"{shorten(file.path, 200)}, line {line},")
        groups.setdefault(_group(record, line, file), []).append(_kept(record, options))
    return [_log(file, group, lines, about, metrics) for group, lines in groups.items()]


def read_aggregates(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read the scores of whole evaluations, where no samples are at hand: an evaluation is an item.

    >>> text = (b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_info": {"id": "org/m"}, '
    ...         b'"evaluation_results": [{"evaluation_name": "quiz", "score_details": {"score": 0.5}}]}')
    >>> (log,) = read_aggregates(SourceFile(Path("x.json"), None, text, whole=True), TableOptions())
    >>> log.items, log.rows.row(0)
    ('quiz', ('', 0, 0.5))
    """
    about = as_mapping(parse_json(text_of(file).data, file.path))
    _check_version(about, shorten(file.path, 200))
    model = file.names.get("agent") or first_text(as_mapping(about.get("model_info")), "id", "name")
    results = [as_mapping(result) for result in as_sequence(about.get("evaluation_results"))]
    named = [result for result in results if first_text(result, "evaluation_name")]
    if model is None or not named:
        raise InputError(
            f"{shorten(file.path, 200)} does not say which model had which results (`model_info`, "
            f"`evaluation_results`). Check the file."
        )
    metrics = _metrics(about)
    samples = {result["evaluation_name"]: Samples(file.path) for result in named}
    several = Counter(result["evaluation_name"] for result in named)
    for result in named:
        name = result["evaluation_name"]
        score = number(as_mapping(result.get("score_details")).get("score"))
        metric = _metric_name(result) if several[name] > 1 else MEASURE
        samples[name].add("", {metric: score})
    return [
        _built(file, _Group(model, name, _evaluation(about, file)), found, about, metrics)
        for name, found in samples.items()
    ]


def _log(
    file: SourceFile,
    group: _Group,
    lines: Sequence[Mapping[str, Any]],
    about: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, Any]],
) -> EvaluationLog:
    samples, met = Samples(file.path), Counter[tuple[str, str]]()
    several = len({line["result"] for line in lines}) > 1
    for line in lines:
        if line["error"]:
            samples.left_out[WITH_ERROR] += 1
            continue
        result = metrics.get(line["result"], {})
        measure = (_metric_name(result) if result else line["result"]) if several else MEASURE
        config = as_mapping(result.get("metric_config"))
        unknown = config.get("has_unknown_level") is True and line["score"] == _UNKNOWN_LEVEL
        key = line["sample"], measure
        # There is no field for epochs: a sample that comes again was asked again.
        trial, met[key] = met[key], met[key] + 1
        samples.add(
            line["sample"],
            {measure: None if unknown else line["score"]},
            trial,
            content=line["content"],
            **line["more"],
        )
    return _built(file, group, samples, about, metrics)


def _built(
    file: SourceFile,
    group: _Group,
    samples: Samples,
    about: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, Any]],
) -> EvaluationLog:
    own = [result for result in metrics.values() if result.get("evaluation_name") == group.name]
    configs = [as_mapping(result.get("metric_config")) for result in own]
    dataset = next(
        (first_text(as_mapping(result.get("source_data")), "dataset_name") for result in own), None
    )
    benchmark = file.names.get("task") or dataset or group.name
    arguments = [
        as_mapping(as_mapping(result.get("generation_config")).get("generation_args"))
        for result in own
    ]
    lower = bool(configs) and all(config.get("lower_is_better") is True for config in configs)
    old = not str(about.get("schema_version", _VERSIONS[-1])).startswith(_VERSIONS[-1])
    note = "Some logs are of version 0.2 of the schema and are read as if they were of 0.3."
    return EvaluationLog(
        file.names.get("agent") or group.model,
        benchmark,
        samples.frame(),
        samples.measures,
        group.name,
        file.names.get("run") or group.evaluation,
        subtask=group.name if group.name != benchmark else None,
        settings=settings_of(
            *({name: part.get(name) for name in _SETTINGS} for part in arguments[:1])
        ),
        left_out=samples.left_out,
        lower_is_better=frozenset(samples.measures) if lower else frozenset(),
        notes=(note,) if old else (),
    )


def _group(record: Mapping[str, Any], line: int, file: SourceFile) -> _Group:
    named = [first_text(record, name) for name in ("model_id", "evaluation_name", "evaluation_id")]
    if None in named or record.get("sample_id") is None:
        raise InputError(
            f"{shorten(file.path, 200)}, line {line}, lacks one of `model_id`, `evaluation_name`, "
            f"`evaluation_id` and `sample_id`. Correct or remove the line."
        )
    model, name, evaluation = (text or "" for text in named)
    return _Group(model, name, evaluation)


def _kept(record: Mapping[str, Any], options: TableOptions) -> dict[str, Any]:
    """The little that is needed of a line, which may hold a whole conversation."""
    tokens, speed = as_mapping(record.get("token_usage")), as_mapping(record.get("performance"))
    outcome = as_mapping(record.get("evaluation"))
    milliseconds = number(speed.get("latency_ms") or speed.get("generation_time_ms"))
    text = as_mapping(record.get("input")).get("raw") if options.item_text else None
    return {
        "sample": str(record.get("sample_id")),
        "result": str(record.get("evaluation_result_id")),
        "error": bool(record.get("error")),
        "score": number(outcome.get("score")),
        "content": first_text(record, "sample_hash") or "",
        "more": {
            "is_correct": number(outcome.get("is_correct")),
            "tokens_in": number(tokens.get("input_tokens")),
            "tokens_out": number(tokens.get("output_tokens")),
            "seconds": None if milliseconds is None else milliseconds / 1000,
            "text": beginning_of(text),
        },
    }


def _aggregate(path: Path) -> Mapping[str, Any]:
    try:
        return as_mapping(parse_json(text_of(open_source(path)).data, path))
    except InputError:  # samples can be read without it
        return {}


def _metrics(about: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The results of an aggregate by their ids."""
    results = [as_mapping(result) for result in as_sequence(about.get("evaluation_results"))]
    return {
        str(result.get("evaluation_result_id") or f"result {number}"): result
        for number, result in enumerate(results)
    }


def _metric_name(result: Mapping[str, Any]) -> str:
    config = as_mapping(result.get("metric_config"))
    found = first_text(config, "metric_id", "metric_name") or first_text(
        result, "evaluation_result_id"
    )
    return found or MEASURE


def _evaluation(about: Mapping[str, Any], file: SourceFile) -> str:
    return first_text(about, "evaluation_id") or file.path.name


def _check_version(record: Mapping[str, Any], where: str) -> None:
    version = record.get("schema_version")
    if not str(version).startswith(_VERSIONS):
        raise InputError(
            f"{where} is of version {shorten(version)} of the schema, and 0.3 is known. Write it anew "
            f"with the package every_eval_ever, or correct `schema_version`."
        )
