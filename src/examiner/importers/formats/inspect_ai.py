"""Logs of inspect_ai: `.eval` archives, of which the summaries are read and no transcript, and `.json`."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from examiner.importers.archives import DAMAGE, first_member, member_bytes, opened_zip
from examiner.importers.evaluations.log import (
    WITH_ERROR,
    EvaluationLog,
    Samples,
    beginning_of,
    settings_of,
)
from examiner.importers.files import SourceFile
from examiner.importers.json_values import (
    Record,
    as_mapping,
    as_sequence,
    document_of,
    mapping_at,
    number,
    text_at,
    value_at,
)
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, parse_json
from examiner.messages import InputError, shorten

_MEMBERS = (b"_journal/", b"samples/", b"header.json", b"summaries.json", b"reductions.json")
_START = re.compile(rb'\s*\{\s*("version"\s*:\s*\d+\s*,\s*)?"status"\s*:\s*"\w+"\s*,')
_JOURNAL, _HEADER, _SUMMARIES = "_journal/start.json", "header.json", "summaries.json"
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""What inspect_ai itself makes of values that are no numbers."""
_VERSIONS = (1, 2, 3)


def recognises(file: SourceFile) -> bool:
    """An archive whose first member is one of a log, or an object that begins as a log does.

    >>> recognises(SourceFile(Path("x"), None, b'{"version": 2, "status": "success", "eval": {}}'))
    True
    """
    if first_member(file.head).startswith(_MEMBERS):
        return True
    head = beginning(file)
    return _START.match(head) is not None and b'"eval"' in head


def read(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read the samples of a log: a run an epoch, a measure a scorer.

    >>> text = json.dumps({
    ...     "version": 2, "status": "success", "eval": {"task": "arc", "model": "openai/gpt2"},
    ...     "samples": [{"id": 7, "epoch": 1, "scores": {"match": {"value": "C"}}}]})
    >>> (log,) = read(SourceFile(Path("x.json"), None, text.encode(), whole=True), TableOptions())
    >>> log.model, log.items, log.samples.scores
    ('openai/gpt2', 'arc', {('7', 1, ''): {'match': 1.0}})
    """
    header, summaries = _zipped(file) if first_member(file.head) else _plain(file)
    model, task = text_at(header, "eval.model"), text_at(header, "eval.task")
    if model is None or task is None:
        raise InputError(
            f"{shorten(file.path, 200)} does not say which model did which task (`eval`). It may be "
            f"damaged: write it again with `inspect log convert`."
        )
    if header.get("version", 1) not in _VERSIONS:
        raise InputError(
            f"{shorten(file.path, 200)} is a log of version {shorten(header['version'])}, and versions "
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
            unfinished=header.get("status") != "success",
            versions=settings_of(
                {
                    "inspect_ai": value_at(header, "eval.packages.inspect_ai"),
                    f"the task {task}": value_at(header, "eval.task_version"),
                }
            ),
        )
    ]


def _add(
    samples: Samples, summary: Record, model: str, options: TableOptions, *, by_content: bool
) -> None:
    if summary.get("error"):
        samples.left_out[WITH_ERROR] += 1
        return
    sample, epoch = summary.get("id"), summary.get("epoch", 1)
    question, target = summary.get("input"), summary.get("target")
    if not (isinstance(question, str) and isinstance(target, str)):
        question, target = json.dumps([question, target], sort_keys=True), ""
    digest = hashlib.sha256(f"{question}\0{target}".encode(errors="replace")).hexdigest()
    usage = as_mapping(as_mapping(summary.get("model_usage")).get(model))
    samples.add(
        str(sample),
        _scores(as_mapping(summary.get("scores"))),
        epoch if isinstance(epoch, int) else 1,
        # The ids of a shuffled data set may be places in it, and differ from log to log.
        content=digest if by_content and isinstance(sample, int) else "",
        input=digest[:16],
        text=_text(summary.get("input")) if options.item_text else None,
        tokens_in=number(usage.get("input_tokens")),
        tokens_out=number(usage.get("output_tokens")),
        cost=number(usage.get("total_cost")),
        seconds=number(summary.get("working_time") or summary.get("total_time")),
    )


def _scores(scores: Record) -> dict[str, float | None]:
    """One value a scorer; a scorer that gives several has a measure for each."""
    values: dict[str, float | None] = {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
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


# -------------------------------------------------------------------- containers


def _plain(file: SourceFile) -> tuple[Record, Sequence[Record]]:
    log = document_of(file)
    return log, [as_mapping(sample) for sample in as_sequence(log.get("samples"))]


def _zipped(file: SourceFile) -> tuple[Record, Sequence[Record]]:
    try:
        with opened_zip(file) as archive:
            names = set(archive.namelist())
            _refuse_repeated_members(archive.namelist(), file.path)
            if _HEADER not in names and _JOURNAL not in names:
                raise InputError(
                    f"{shorten(file.path, 200)} has neither {_HEADER} nor {_JOURNAL}, so that nobody can "
                    f"say whose samples these are. Recover it with `inspect log recover`."
                )
            # Without a header the evaluation was cut off: what it had written until then counts.
            header = _HEADER if _HEADER in names else _JOURNAL
            log = as_mapping(parse_json(member_bytes(archive, header, file.path), file.path))
            return log, list(_summaries(archive, names, file.path))
    except InputError:
        raise
    except DAMAGE as problem:
        raise InputError(
            f"Cannot read {shorten(file.path, 200)}: the archive is cut off or damaged. Copy the log "
            f"again, or recover it with `inspect log recover`."
        ) from problem


def _refuse_repeated_members(names: Sequence[str], path: Path) -> None:
    """An archive may hold two files of one name, of which only the last would be read."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"{shorten(path, 200)} holds {shorten(repeated[0])} {names.count(repeated[0])} times, and only "
            f"one of them would be read. Write the log again with `inspect log convert`."
        )


def _summaries(archive: zipfile.ZipFile, names: set[str], path: Path) -> Iterator[Record]:
    parts = [_SUMMARIES] if _SUMMARIES in names else _of_folder(names, "_journal/summaries/")
    for part in parts:
        for summary in as_sequence(parse_json(member_bytes(archive, part, path), path)):
            yield as_mapping(summary)
    for sample in () if parts else _of_folder(names, "samples/"):
        yield as_mapping(parse_json(member_bytes(archive, sample, path), path))


def _of_folder(names: set[str], folder: str) -> list[str]:
    return sorted(
        (name for name in names if name.startswith(folder)), key=lambda name: (len(name), name)
    )
