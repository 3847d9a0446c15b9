"""SWE-bench: lists of what a submission resolved, details of each instance, reports of its harness."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from examiner.importers.documents import as_sequence, document_of, number
from examiner.importers.files import SourceFile
from examiner.importers.logs import WITH_ERROR, EvaluationLog, Samples
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning
from examiner.messages import InputError, listed, shorten

BENCHMARK = "SWE-bench"
MEASURE = "resolved"
_LISTS = re.compile(rb'\s*\{\s*"(no_generation|no_logs|resolved|generated|with_logs)"\s*:\s*\[')
_DETAILS = re.compile(rb'\s*\{\s*"[^"]+"\s*:\s*\{[^{}]*"resolved"\s*:\s*(true|false)')
_REPORT = re.compile(rb'"(?:un)?resolved_ids"\s*:')
_INSTANCE = re.compile(r"(?P<owner>.+?)__(?P<repository>.+)-\d+")


def recognises(file: SourceFile) -> bool:
    """Lists, one of them of what was resolved; or instances, each resolved or not; or ids of both.

    >>> recognises(SourceFile(Path("x"), None, b'{"no_generation": [], "resolved": ["a__b-1"]}'))
    True
    >>> recognises(SourceFile(Path("x"), None, b'{"a__b-1": {"resolved": true, "cost": 0.5}}'))
    True
    """
    head = beginning(file)
    if _LISTS.match(head):
        return b'"resolved"' in head or not file.whole
    report = head.lstrip().startswith(b"{") and _REPORT.search(head) is not None
    return report or _DETAILS.match(head) is not None


def read(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read what was resolved and what was not, and what it cost.

    Of lists, what is not resolved but listed otherwise, or by `--items`, was failed.

    >>> text = b'{"no_generation": ["a__b-2"], "resolved": ["a__b-1"]}'
    >>> path = Path("evaluation/verified/20250101_agent/results/results.json")
    >>> (log,) = read(SourceFile(path, None, text, whole=True), ReadOptions())
    >>> log.model, log.benchmark, log.samples.scores
    ('20250101_agent', 'SWE-bench verified', {'resolved': [1.0, 0.0]})
    """
    content = document_of(file)
    if "unresolved_ids" in content:  # forks of the harness call the list of the report differently
        content = {"resolved_ids": content.get("resolved", ()), **content}
    listed_only = "resolved_ids" not in content and isinstance(content.get("resolved"), list)
    details = content
    if listed_only:
        details = _of_lists(content, options.items)
    elif "resolved_ids" in content:
        details = _of_report(content)
    samples = Samples(file.path)
    wanted = None if options.items is None else set(options.items)
    notes: tuple[str, ...] = ()
    others = [instance for instance in details if wanted is not None and instance not in wanted]
    if others:
        notes = (f"Instances that the list of items lacks are left out: {listed(others)}.",)
    for instance, about in details.items():
        if wanted is None or instance in wanted:
            _add(samples, instance, about, file.path)
    samples.scores.setdefault(MEASURE, [])
    model, split, evaluation = _submission(file)
    return [
        EvaluationLog.of(
            file,
            model,
            f"{BENCHMARK} {split}" if split else BENCHMARK,
            samples,
            items="",  # the ids of instances name them in all parts of the benchmark
            evaluation=evaluation,
            settings={"split": split} if split else {},
            notes=notes,
            only_named=listed_only and options.items is None,
        )
    ]


def _add(samples: Samples, instance: str, about: object, path: Path) -> None:
    if not isinstance(about, dict):
        raise InputError(
            f"{shorten(path, 200)} says {shorten(about)} of {shorten(instance)}. Give an object "
            f"with `resolved`, true or false."
        )
    if about.get("error"):
        samples.left_out[WITH_ERROR] += 1
        return
    samples.add(
        instance,
        {MEASURE: number(about.get("resolved"))},
        subtask=_repository(instance),
        cost=number(about.get("cost")),
    )


def _of_lists(
    lists: Mapping[str, Any], items: Sequence[str] | None
) -> dict[str, dict[str, object]]:
    resolved = dict.fromkeys(map(_name, lists["resolved"]))
    named = (_name(instance) for names in lists.values() for instance in as_sequence(names))
    every = dict.fromkeys((*resolved, *named, *(items or ())))
    return {instance: {"resolved": instance in resolved} for instance in every}


def _of_report(report: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """The instances that a report of the harness lists; those it never ran, or lost, are not observed."""
    outcomes: dict[str, dict[str, object]] = {}
    for name in ("unresolved_ids", "empty_patch_ids", "resolved_ids"):
        for instance in as_sequence(report.get(name)):
            outcomes[_name(instance)] = {"resolved": name == "resolved_ids"}
    for instance in as_sequence(report.get("error_ids")):
        outcomes[_name(instance)] = {"error": True}
    return outcomes


def _name(instance: object) -> str:
    if isinstance(instance, bool) or not isinstance(instance, (str, int)):
        raise InputError(
            f"A list of instances of SWE-bench has {shorten(instance)} among its ids. Give them as texts."
        )
    return str(instance)


def _submission(file: SourceFile) -> tuple[str, str, str]:
    """Agent, part of the benchmark and evaluation, by `evaluation/SPLIT/AGENT/results/results.json`.

    A report of the harness, `AGENT.RUN.json`, names agent and evaluation itself.
    """
    name = file.path.name
    if not name.startswith(("results.", "per_instance")):
        model, _, run = name.removesuffix(".json").partition(".")
        return model, "", run or name
    folders = list(file.path.absolute().parts[1:-1])
    if folders[-1:] == ["results"]:
        folders.pop()
    model = folders[-1] if folders else file.path.stem
    split = folders[-2] if folders[-3:-2] == ["evaluation"] else ""
    return model, split, f"{split}/{model}"


def _repository(instance: str) -> str | None:
    parts = _INSTANCE.fullmatch(instance)
    return f"{parts['owner']}/{parts['repository']}" if parts else None
