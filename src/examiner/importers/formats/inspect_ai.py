"""Logs of inspect_ai: `.eval` archives, of which the summaries are read and no transcript, and `.json`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from examiner.importers.archives import ZipArchive, first_member, opened_zip, refusing_damage
from examiner.importers.documents import (
    Record,
    as_mapping,
    as_sequence,
    mapping_at,
    number,
    parse_json,
    text_at,
    value_at,
)
from examiner.importers.files import SourceFile
from examiner.importers.log_results import items_of_logs
from examiner.importers.logs import WITH_ERROR, EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning, text_of
from examiner.messages import InputError, listed, shorten
from examiner.results import Results

Kind = TypeVar("Kind")

_MEMBERS = (b"_journal/", b"samples/", b"header.json", b"summaries.json", b"reductions.json")
_START = re.compile(rb'\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,')
_JOURNAL, _HEADER, _SUMMARIES = "_journal/start.json", "header.json", "summaries.json"
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What inspect_ai itself makes of values that are no numbers."""
_VERSIONS = (1, 2, 3)


class Score(msgspec.Struct, gc=False):
    """What one scorer said of a sample."""

    value: Any = None  # Any: a number, a letter, or several of these by name


class Usage(msgspec.Struct, gc=False):
    """The tokens that a model read and wrote for a sample, and what they cost."""

    input_tokens: float | None = None
    output_tokens: float | None = None
    total_cost: float | None = None


class Sample(msgspec.Struct, gc=False):
    """The fields of a sample, or of its summary, that are read; the rest of the JSON is passed over."""

    id: Any = None  # Any: a text or a number
    epoch: Any = 1
    input: Any = None  # Any: a text, or messages
    target: Any = None
    scores: dict[str, Score | str | float | bool | list[Any] | None] | None = None
    model_usage: dict[str, Usage] | None = None
    error: Any = None  # Any: text, or an object that describes the error
    working_time: float | None = None
    total_time: float | None = None


_NO_USAGE = Usage()


class Log(msgspec.Struct, gc=False):
    """The fields of a whole log, or of the header of one, that are read."""

    version: Any = 1
    status: Any = None
    eval: dict[str, Any] | None = None  # Any: JSON values, of which some are settings
    plan: dict[str, Any] | None = None
    samples: list[Sample] | None = None


def recognises(file: SourceFile) -> bool:
    """An archive whose first member is one of a log, or an object that begins as a log does.

    >>> recognises(SourceFile(Path("x"), None, b'{"version": 2, "status": "success", "eval": {}}'))
    True
    """
    if first_member(file.head).startswith(_MEMBERS):
        return True
    head = beginning(file)
    return _START.match(head) is not None and b'"eval"' in head


def read(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the samples of a log: a run an epoch, a measure a scorer.

    >>> text = json.dumps({
    ...     "version": 2, "status": "success", "eval": {"task": "arc", "model": "openai/gpt2"},
    ...     "samples": [{"id": 7, "epoch": 1, "scores": {"match": {"value": "C"}}}]})
    >>> (log,) = read(SourceFile(Path("x.json"), None, text.encode(), whole=True), ReadOptions())
    >>> log.model, log.items, log.samples.scores
    ('openai/gpt2', 'arc', {'match': [1.0]})
    """
    log, summaries = _zipped(file) if first_member(file.head) else _plain(file)
    header = {"eval": log.eval, "plan": log.plan}
    model, task = text_at(header, "eval.model"), text_at(header, "eval.task")
    if model is None or task is None:
        raise InputError(
            f"{shorten(file.path, 200)} does not say which model did which task (`eval`). It may be "
            f"damaged: write it again with `inspect log convert`."
        )
    if log.version not in _VERSIONS:
        raise InputError(
            f"{shorten(file.path, 200)} is a log of version {shorten(log.version)}, and versions "
            f"{_VERSIONS[0]} to {_VERSIONS[-1]} are known. Update examiner, or convert the log."
        )
    by_content = value_at(header, "eval.dataset.shuffled") is True
    samples = Samples(file.path)
    for summary in summaries:
        _add(samples, summary, model, options, by_content=by_content)
    return [
        EvaluationLog.of(
            file,
            model,
            task,
            samples,
            evaluation=text_at(header, "eval.task_id", "eval.eval_id", "eval.run_id"),
            settings=_settings(header),
            unfinished=log.status != "success",
            versions=settings_of(
                {
                    "inspect_ai": value_at(header, "eval.packages.inspect_ai"),
                    f"the task {task}": value_at(header, "eval.task_version"),
                }
            ),
        )
    ]


def _add(
    samples: Samples, sample: Sample, model: str, options: ReadOptions, *, by_content: bool
) -> None:
    if sample.error:
        samples.left_out[WITH_ERROR] += 1
        return
    question, target = sample.input, sample.target
    if not (isinstance(question, str) and isinstance(target, str)):
        question, target = json.dumps([question, target], sort_keys=True), ""
    digest = hashlib.sha256(f"{question}\0{target}".encode(errors="replace")).hexdigest()
    usage = (sample.model_usage or {}).get(model, _NO_USAGE)
    samples.add(
        str(sample.id),
        _scores(sample.scores or {}),
        sample.epoch if isinstance(sample.epoch, int) else 1,
        # The ids of a shuffled data set may be places in it, and differ from log to log.
        content=digest if by_content and isinstance(sample.id, int) else "",
        input=digest[:16],
        text=_text(sample.input) if options.item_text else None,
        tokens_in=usage.input_tokens,
        tokens_out=usage.output_tokens,
        cost=usage.total_cost,
        seconds=sample.working_time or sample.total_time,
    )


def _scores(scores: Mapping[str, Any]) -> dict[str, float | None]:  # Any: as the fields above
    """One value a scorer; a scorer that gives several has a measure for each."""
    values: dict[str, float | None] = {}
    for scorer, score in scores.items():
        value = score.value if isinstance(score, Score) else score
        if isinstance(value, dict):
            values |= {f"{scorer}.{name}": _value(part) for name, part in value.items()}
        else:
            values[scorer] = _value(value)
    return values


def _value(value: object) -> float | None:
    if isinstance(value, str):
        known = _LETTERS.get(value)
        return _WORDS.get(value.lower(), number(value)) if known is None else known
    return number(value)


def _text(asked: object) -> str | None:
    """What was asked: a text, or the last message of a user."""
    messages = [as_mapping(message).get("content") for message in as_sequence(asked)]
    return beginning_of(next((text for text in reversed(messages) if isinstance(text, str)), asked))


def _settings(header: Record) -> dict[str, str]:
    """What may distinguish two evaluations of a model: solver, arguments, how it generates."""
    steps = [value_at(step, "solver") for step in as_sequence(value_at(header, "plan.steps"))]
    solver = text_at(header, "eval.solver") or ", ".join(filter(None, map(str, steps)))
    parts = ("eval.solver_args", "eval.task_args", "eval.model_args")
    generation = value_at(header, "eval.model_generate_config") or value_at(header, "plan.config")
    return settings_of(
        {"solver": solver},
        *(mapping_at(header, part) for part in parts),
        as_mapping(generation),
    )


def inspect_sample_ids(results: Results, tasks: Sequence[str]) -> list[str | int]:
    """Return what inspect_ai's `sample_id` takes: ids of samples, numbers where they are.

    >>> columns = {"agent": ["a", "a"], "task": ["cities/paris", "cities/7"], "score": [1.0, 0.0]}
    >>> inspect_sample_ids(Results.from_dict(columns), ["cities/paris", "cities/7"])
    ['paris', 7]
    """
    items = items_of_logs(results, tasks)
    names = dict.fromkeys(name for name, _ in items)
    if len(names) > 1:
        raise InputError(
            f"The chosen tasks are of several evaluations ({listed(names)}), and inspect_ai takes ids of "
            f"one. Distil each of them by itself: keep its tasks with `--keep`."
        )
    return [int(item) if item.isdecimal() else item for _, item in items]


# -------------------------------------------------------------------- containers


def _plain(file: SourceFile) -> tuple[Log, Iterable[Sample]]:
    log = _decoded(text_of(file).data, Log, file.path)
    return log, log.samples or ()


def _zipped(file: SourceFile) -> tuple[Log, Iterable[Sample]]:
    fault = (
        "the archive is cut off or damaged. Copy the log again, or recover it with `inspect log "
        "recover`."
    )
    with refusing_damage(file, fault), opened_zip(file) as archive:
        names = archive.places.keys()
        if archive.repeated:
            raise InputError(
                f"{shorten(file.path, 200)} holds {shorten(archive.repeated[0])} more than once, and "
                f"only one of them would be read. Write the log again with `inspect log convert`."
            )
        if not {_HEADER, _JOURNAL} & names:
            raise InputError(
                f"{shorten(file.path, 200)} has neither {_HEADER} nor {_JOURNAL}, so that nobody can "
                f"say whose samples these are. Recover it with `inspect log recover`."
            )
        # Without a header the evaluation was cut off: what it had written until then counts.
        header = _HEADER if _HEADER in names else _JOURNAL
        return _decoded(archive.read(header), Log, file.path), _summaries(archive)


def _summaries(archive: ZipArchive) -> list[Sample]:
    whole = [_SUMMARIES] if _SUMMARIES in archive.places else []
    parts = whole or _of_folder(archive, "_journal/summaries/")
    summaries = [_decoded(archive.read(name), list[Sample], archive.path) for name in parts]
    if parts:
        return [sample for part in summaries for sample in part]
    samples = _of_folder(archive, "samples/")
    return [_decoded(archive.read(name), Sample, archive.path) for name in samples]


def _of_folder(archive: ZipArchive, folder: str) -> list[str]:
    inside = (name for name in archive.places if name.startswith(folder))
    return sorted(inside, key=lambda name: (len(name), name))


def _decoded(data: bytes, kind: type[Kind], path: Path) -> Kind:
    """Decode JSON; what the fast decoder refuses, such as NaN, goes through the one that names mistakes."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        content = parse_json(data, path)
    try:
        return msgspec.convert(content, kind)
    except msgspec.ValidationError as problem:
        raise InputError(
            f"{shorten(path, 200)} is no log as inspect_ai writes it: {shorten(problem, 200)}. It may be "
            f"damaged: write it again with `inspect log convert`."
        ) from None
