"""Lists of chosen items, as the tools that evaluate language models take them."""

from __future__ import annotations

from collections.abc import Sequence

from examiner.messages import InputError, listed, shorten
from examiner.results import Results


def lm_eval_samples(results: Results, tasks: Sequence[str]) -> dict[str, list[int]]:
    """Return what `lm_eval --samples` takes: the numbers of documents, by the harness's task.

    >>> columns = {"agent": ["a", "a"], "task": ["arc/3", "arc/7"], "score": [1.0, 0.0]}
    >>> lm_eval_samples(Results.from_dict(columns), ["arc/7", "arc/3"])
    {'arc': [3, 7]}
    """
    found: dict[str, list[int]] = {}
    for name, item in _items(results, tasks):
        if not item.isdecimal() or not name:
            raise InputError(
                f"The item {shorten(item)} of {shorten(name)} is no document of lm-evaluation-harness: "
                f"they have numbers. Give results that were read from its logs."
            )
        found.setdefault(name, []).append(int(item))
    return {name: sorted(items) for name, items in found.items()}


def inspect_sample_ids(results: Results, tasks: Sequence[str]) -> list[str | int]:
    """Return what inspect_ai's `sample_id` takes: ids of samples, numbers where they are.

    >>> columns = {"agent": ["a", "a"], "task": ["cities/paris", "cities/7"], "score": [1.0, 0.0]}
    >>> inspect_sample_ids(Results.from_dict(columns), ["cities/paris", "cities/7"])
    ['paris', 7]
    """
    items = _items(results, tasks)
    names = dict.fromkeys(name for name, _ in items)
    if len(names) > 1:
        raise InputError(
            f"The chosen tasks are of several evaluations ({listed(names)}), and inspect_ai takes ids of "
            f"one. Distil each of them by itself: keep its tasks with `--keep`."
        )
    return [int(item) if item.isdecimal() else item for _, item in items]


def _items(results: Results, tasks: Sequence[str]) -> list[tuple[str, str]]:
    """The evaluation and the id of each task, as they were in the logs."""
    known = results.task_attributes
    parts = {}
    for level in ("subtask", "benchmark"):
        if level in known.columns:
            parts[level] = dict(
                zip(results.tasks, known.aligned(results.tasks, level), strict=True)
            )
    found = []
    for task in tasks:
        named = next((parts[level][task] for level in parts if parts[level].get(task)), None)
        before, _, item = task.rpartition("/")
        found.append((before if named is None else str(named), item))
    return found
