"""Every Eval Ever: samples of an evaluation, a line each, and the aggregates beside them."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

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
from examiner.importers.logs import WITH_ERROR, EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning
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

    >>> from pathlib import Path
    >>> line = b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "sample_id": "1"}'
    >>> recognises_samples(SourceFile(Path("x"), None, line))
    True
    """
    head = beginning(file).lstrip()
    line = head.partition(b"\n")[0]
    return head.startswith(b"{") and all(name in line for name in _IN_A_LINE)


def recognises_aggregates(file: SourceFile) -> bool:
    """An object with a version of the schema, the id of an evaluation, and its results.

    >>> from pathlib import Path
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


def read_samples(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read samples: an item a sample of an evaluation, by its hash where there is one.

    >>> from pathlib import Path
    >>> line = (b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m", '
    ...         b'"evaluation_name": "quiz", "sample_id": "7", "evaluation": {"score": 0.5}}')
    >>> (log,) = read_samples(SourceFile(Path("x.jsonl"), None, line, whole=True), ReadOptions())
    >>> log.model, log.items, log.samples.scores
    ('org/m', 'quiz', {'score': [0.5]})
    """
    beside = file.path.with_name(file.path.name.removesuffix(_SAMPLES_ENDING) + ".json")
    about = document_beside(beside) if beside != file.path else {}
    metrics = _metrics(about)
    groups: dict[_Group, dict[str, Samples]] = {}
    attempts = Counter[tuple[_Group, str, str]]()
    for line, record in streamed_json_lines(file):
        where = f"{shorten(file.path, 200)}, line {line},"
        _check_version(record, where)
        group, result = _group(record, where), str(record.get("evaluation_result_id"))
        samples = groups.setdefault(group, {}).setdefault(result, Samples(file.path))
        if record.get("error"):
            samples.left_out[WITH_ERROR] += 1
            continue
        score, sample = number(value_at(record, "evaluation.score")), str(record["sample_id"])
        unknown = value_at(metrics.get(result), "metric_config.has_unknown_level") is True
        milliseconds = number(
            value_at(record, "performance.latency_ms")
            or value_at(record, "performance.generation_time_ms")
        )
        # There is no field for epochs: a sample that comes again was asked again.
        trial = attempts[group, result, sample]
        attempts[group, result, sample] += 1
        samples.add(
            sample,
            {MEASURE: None if unknown and score == _UNKNOWN_LEVEL else score},
            trial,
            content=text_at(record, "sample_hash") or "",
            is_correct=number(value_at(record, "evaluation.is_correct")),
            tokens_in=number(value_at(record, "token_usage.input_tokens")),
            tokens_out=number(value_at(record, "token_usage.output_tokens")),
            seconds=None if milliseconds is None else milliseconds / 1000,
            text=beginning_of(value_at(record, "input.raw")) if options.item_text else None,
        )
    return [
        _log(file, group, _merged(parts, metrics, file), about) for group, parts in groups.items()
    ]


def read_aggregates(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the scores of whole evaluations, where no samples are at hand: an evaluation is an item.

    >>> from pathlib import Path
    >>> text = (b'{"schema_version": "0.3.0", "evaluation_id": "e", "model_info": {"id": "org/m"}, '
    ...         b'"evaluation_results": [{"evaluation_name": "quiz", "score_details": {"score": 0.5}}]}')
    >>> (log,) = read_aggregates(SourceFile(Path("x.json"), None, text, whole=True), ReadOptions())
    >>> log.items, log.samples.scores
    ('quiz', {'score': [0.5]})
    """
    about = document_of(file)
    _check_version(about, shorten(file.path, 200))
    model = file.names.get("agent") or text_at(about, "model_info.id", "model_info.name")
    named = [result for result in _metrics(about).values() if text_at(result, "evaluation_name")]
    if model is None or not named:
        raise InputError(
            f"{shorten(file.path, 200)} does not say which model had which results (`model_info`, "
            f"`evaluation_results`). Check the file."
        )
    samples = {result["evaluation_name"]: Samples(file.path) for result in named}
    several = Counter(result["evaluation_name"] for result in named)
    for result in named:
        name = result["evaluation_name"]
        metric = _metric_name(result) if several[name] > 1 else MEASURE
        samples[name].add("", {metric: number(value_at(result, "score_details.score"))})
    evaluation = text_at(about, "evaluation_id") or file.path.name
    return [
        _log(file, _Group(model, name, evaluation), of_name, about)
        for name, of_name in samples.items()
    ]


def _merged(parts: dict[str, Samples], metrics: dict[str, Record], file: SourceFile) -> Samples:
    """The samples of one evaluation; results of several metrics are measures, called by them."""
    if len(parts) == 1:
        return next(iter(parts.values()))
    merged = Samples(file.path)
    for result, samples in parts.items():
        measure = _metric_name(metrics[result]) if result in metrics else result
        merged.left_out.update(samples.left_out)
        scores, more = (
            samples.column(MEASURE),
            {name: samples.column(name) for name in samples.more},
        )
        for (sample, trial, content), row in samples.rows.items():
            beside = {name: values[row] for name, values in more.items()}
            merged.add(sample, {measure: scores[row]}, trial, content=content, **beside)
    return merged


def _log(file: SourceFile, group: _Group, samples: Samples, about: Record) -> EvaluationLog:
    results = [
        result for result in _metrics(about).values() if result.get("evaluation_name") == group.name
    ]
    configs = [mapping_at(result, "metric_config") for result in results]
    datasets = (text_at(result, "source_data.dataset_name") for result in results)
    benchmark = file.names.get("task") or next(datasets, None) or group.name
    arguments = [mapping_at(result, "generation_config.generation_args") for result in results[:1]]
    lower = bool(configs) and all(config.get("lower_is_better") is True for config in configs)
    old = not str(about.get("schema_version", _VERSIONS[-1])).startswith(_VERSIONS[-1])
    note = "Some logs are of version 0.2 of the schema and are read as if they were of 0.3."
    library = text_at(about, "eval_library.name")
    return EvaluationLog.of(
        file,
        group.model,
        benchmark,
        samples,
        items=group.name,
        evaluation=group.evaluation,
        subtask=group.name if group.name != benchmark else None,
        settings=settings_of(*({name: part.get(name) for name in _SETTINGS} for part in arguments)),
        lower_is_better=frozenset(samples.scores) if lower else frozenset(),
        notes=(note,) if old else (),
        versions=settings_of({library or "": value_at(about, "eval_library.version")}),
    )


def _group(record: Record, where: str) -> _Group:
    named = [text_at(record, name) for name in ("model_id", "evaluation_name", "evaluation_id")]
    if None in named or record.get("sample_id") is None:
        raise InputError(
            f"{where} lacks one of `model_id`, `evaluation_name`, "
            f"`evaluation_id` and `sample_id`. Correct or remove the line."
        )
    return _Group(*(text or "" for text in named))


def _metrics(about: Record) -> dict[str, Record]:
    """The results of an aggregate by their ids."""
    results = [as_mapping(result) for result in as_sequence(about.get("evaluation_results"))]
    return {
        str(result.get("evaluation_result_id") or f"result {place}"): result
        for place, result in enumerate(results)
    }


def _metric_name(result: Record) -> str:
    paths = ("metric_config.metric_id", "metric_config.metric_name", "evaluation_result_id")
    return text_at(result, *paths) or MEASURE


def _check_version(record: Record, where: str) -> None:
    version = record.get("schema_version")
    if not str(version).startswith(_VERSIONS):
        raise InputError(
            f"{where} is of version {shorten(version)} of the schema, and 0.3 is known. Write it anew "
            f"with the package every_eval_ever, or correct `schema_version`."
        )
