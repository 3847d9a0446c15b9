"""Small logs of evaluations of language models, as their writers write them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-01-21T03-44-18.458309"
LATER = "2026-02-01T00-00-00.000001"


def lines_of(records: Sequence[object]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


# ------------------------------------------------------------------ lm-evaluation-harness


def document_hash(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()


def lm_eval_line(
    document: int, scores: Mapping[str, float], *, kind: str | None = "none", question: str = ""
) -> dict[str, Any]:
    """A line of samples; without a filter as it was written before 2025."""
    question = question or f"What is {document} + {document}?"
    line: dict[str, Any] = {
        "doc_id": document,
        "doc": {"question": question, "idx": document},
        "target": str(2 * document),
        "arguments": {"gen_args_0": {"arg_0": f"Q: {question}\nA:", "arg_1": {"until": ["\n"]}}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
    }
    if kind is not None:
        line |= {"filter": kind, "metrics": list(scores)}
    hashes = ("doc_hash", "prompt_hash", "target_hash")
    return line | {name: document_hash(question) for name in hashes} | dict(scores)


def write_lm_eval(
    folder: Path,
    task: str,
    lines: Sequence[object],
    *,
    date: str = DATE,
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Samples of a task in the folder of a model, and the results beside them where anything is said."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_bytes(lines_of(lines))
    if about is not None:
        (folder / f"results_{date}.json").write_text(json.dumps(about))
    return path


LM_EVAL_RESULTS = {
    "results": {
        "mmlu": {"alias": "mmlu", "acc,none": 0.5, "acc_stderr,none": 0.1},
        "mmlu_law": {"alias": " - law", "acc,none": 0.25, "acc_stderr,none": 0.1},
        "mmlu_art": {"alias": " - art", "acc,none": 0.75, "acc_stderr,none": 0.1},
    },
    "group_subtasks": {"mmlu": ["mmlu_law", "mmlu_art"], "mmlu_law": [], "mmlu_art": []},
    "n-shot": {"mmlu_law": 5, "mmlu_art": 5},
    "higher_is_better": {"mmlu_law": {"acc": True}, "mmlu_art": {"acc": True}},
    "config": {"model": "hf", "model_args": "pretrained=org/tiny,dtype=float16"},
    "model_name": "org/tiny",
    "model_name_sanitized": "org__tiny",
}
