"""py-irt JSON lines: {"subject_id": agent, "responses": {task: 0 or 1}}, one agent a line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from examiner.messages import InputError, counted, shorten
from examiner.results.storage import check_ending, write_bytes
from examiner.results.table import Results

ENDINGS = (".jsonl", ".ndjson")


def py_irt(results: Results, path: str | Path) -> Path:
    """Write the first measure, which must be 0 or 1, once per agent and task.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "responses.jsonl"
    >>> results = Results.from_numpy([[1, 0]], ["bert"], ["q1", "q2"], measure="correct")
    >>> py_irt(results, path).read_text()
    '{"subject_id": "bert", "responses": {"q1": 1, "q2": 0}}\\n'
    """
    check_ending(path, ENDINGS, "py-irt")
    measure, values = results.measures[0], results.measure()
    observed = ~np.isnan(values)
    if not results.is_binary():
        odd = next(value for value in values[observed] if value not in (0, 1))
        raise InputError(
            f"py-irt holds responses of 0 or 1, and the measure {shorten(measure)} has {odd:g}. Mark "
            f"success first (`--success`, or `ex.scores.mark_success`), or choose another measure."
        )
    agents, tasks = results.agent_codes[observed], results.task_codes[observed]
    cells = agents.astype(np.int64) * len(results.tasks) + tasks
    if len(np.unique(cells)) < len(cells):
        most = int(np.bincount(cells).max())
        raise InputError(
            f"py-irt holds one response per agent and task, and there are up to "
            f"{counted(most, 'trial')} of one. Keep one trial each, or write a tidy table."
        )
    order = np.argsort(agents, kind="stable")
    ends = np.searchsorted(agents[order], np.arange(1, len(results.agents)))
    lines = []
    for agent, rows in zip(results.agents, np.split(order, ends), strict=True):
        responses = {
            results.tasks[task]: int(value)
            for task, value in zip(tasks[rows], values[observed][rows], strict=True)
        }
        lines.append(json.dumps({"subject_id": agent, "responses": responses}, ensure_ascii=False))
    return write_bytes(("\n".join(lines) + "\n").encode(), path)
