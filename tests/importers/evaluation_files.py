"""Small logs of evaluations of language models, as their writers write them."""

from __future__ import annotations

import hashlib
import json
import struct
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

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


# ------------------------------------------------------------------ inspect_ai


def inspect_header(**more: Any) -> dict[str, Any]:
    """The header of a log; `more` replaces parts of `eval`, but for `status` and `version`."""
    status, version = more.pop("status", "success"), more.pop("version", 2)
    about = {
        "eval_id": "e1",
        "run_id": "r1",
        "task_id": "t1",
        "task": "inspect_evals/arc_easy",
        "model": "openai/gpt2",
        "dataset": {"name": "arc", "samples": 2, "shuffled": False},
        "config": {"epochs": 1},
        "model_args": {},
        "task_args": {},
    }
    plan = {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}}
    return {"version": version, "status": status, "eval": about | more, "plan": plan}


def inspect_sample(sample: int | str, value: object, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": sample,
        "epoch": epoch,
        "input": f"What is {sample}?",
        "target": "A",
        "scores": {"choice": {"value": value, "answer": "A", "history": []}},
        "model_usage": {
            "openai/gpt2": {"input_tokens": 100, "output_tokens": 7, "total_tokens": 107},
            "openai/grader": {"input_tokens": 9_000, "output_tokens": 900, "total_tokens": 9_900},
        },
        "total_time": 3.5,
        "working_time": 2.5,
        "uuid": f"{sample}-{epoch}",
    } | more


def eval_archive(members: Mapping[str, object], method: int = 8) -> bytes:
    """A zip of JSON members: stored (0), deflated (8), or zstd in two frames (93), which zipfile lacks."""
    local, central = b"", b""
    for name, content in members.items():
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        packed = _packed(data, method)
        sizes = zlib.crc32(data), len(packed), len(data), len(name), 0
        shared = struct.pack("<HHHHH", 20, 0, method, 0, 33) + struct.pack("<IIIHH", *sizes)
        place = struct.pack("<HHHII", 0, 0, 0, 0, len(local))
        central += b"PK\x01\x02" + struct.pack("<H", 20) + shared + place + name.encode()
        local += b"PK\x03\x04" + shared + name.encode() + packed
    count = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


def _packed(data: bytes, method: int) -> bytes:
    if method == 93:
        return zstd.compress(data[:10]) + zstd.compress(data[10:])
    if method == 8:
        raw = zlib.compressobj(wbits=-15)
        return raw.compress(data) + raw.flush()
    return data


def inspect_members(samples: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, object]:
    """The members of an archive, with a transcript that nobody opens."""
    return {
        "_journal/start.json": {"version": 2, "eval": inspect_header(**more)["eval"]},
        "samples/1_epoch_1.json": b"no JSON at all: a transcript is not read",
        "summaries.json": list(samples),
        "header.json": inspect_header(**more),
    }


# ------------------------------------------------------------------ SWE-bench


def write_submission(
    folder: Path, agent: str, resolved: Sequence[str], *, split: str = "verified", **lists: Any
) -> Path:
    """What a submission to the leaderboard leaves: lists of ids, and files beside them."""
    path = folder / "evaluation" / split / agent / "results" / "results.json"
    path.parent.mkdir(parents=True)
    content = {"no_generation": [], "no_logs": [], "resolved": list(resolved)} | lists
    path.write_text(json.dumps(content, indent=4))
    (path.parent / "resolved_by_repo.json").write_text('{"a/b": {"resolved": 1, "total": 2}}')
    return path


def write_details(
    folder: Path, agent: str, details: Mapping[str, Any], *, split: str = "verified"
) -> Path:
    path = folder / "evaluation" / split / agent / "per_instance_details.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(details))
    return path


# ------------------------------------------------------------------ Every Eval Ever


def eee_line(sample: str, score: float, **more: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "source/org_m/1750000000",
        "model_id": "org/m",
        "evaluation_name": "quiz",
        "evaluation_result_id": "quiz.accuracy",
        "sample_id": sample,
        "sample_hash": document_hash(sample),
        "interaction_type": "single_turn",
        "input": {"raw": f"What is {sample}?", "reference": ["4"]},
        "output": {"raw": ["4"]},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score > 0.3},
        "token_usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17},
        "performance": {"latency_ms": 1500.0},
    } | more


def eee_aggregate(*metrics: str, lower: bool = False) -> dict[str, Any]:
    results = [
        {
            "evaluation_result_id": f"quiz.{metric}",
            "evaluation_name": "quiz",
            "source_data": {"dataset_name": "quizzes", "source_type": "other"},
            "metric_config": {"metric_id": metric, "lower_is_better": lower},
            "score_details": {"score": 0.75},
            "generation_config": {"generation_args": {"temperature": 0.5}},
        }
        for metric in metrics or ("accuracy",)
    ]
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "source/org_m/1750000000",
        "model_info": {"name": "m", "id": "org/m"},
        "evaluation_results": results,
    }


def write_eee(
    folder: Path, lines: Sequence[object], about: Mapping[str, Any] | None = None
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40_samples.jsonl"
    path.write_bytes(lines_of(lines))
    if about is not None:
        (folder / path.name.replace("_samples.jsonl", ".json")).write_text(json.dumps(about))
    return path


# ------------------------------------------------------------------ HELM


def helm_specification(model: str = "openai/gpt2", **adapter: Any) -> dict[str, Any]:
    name = f"mmlu:subject=law,method=multiple_choice_joint,model={model.replace('/', '_')}"
    return {"name": name, "adapter_spec": {"model": model, "max_train_instances": 5} | adapter}


def helm_stat(name: str, value: float | None, **more: Any) -> dict[str, Any]:
    """A statistic; without a value it was counted nowhere, and has no mean."""
    found = (
        {"count": 1, "sum": value, "mean": value} if value is not None else {"count": 0, "sum": 0}
    )
    return {"name": {"name": name, "split": "test"} | more} | found


def helm_instance(name: str, score: float | None, trial: int = 0, **more: Any) -> dict[str, Any]:
    stats = [
        helm_stat("num_references", 4),
        helm_stat("num_prompt_tokens", 333),
        helm_stat("num_output_tokens", 2),
        helm_stat("inference_runtime", 0.5),
        helm_stat("exact_match", score),
    ]
    return {"instance_id": name, "train_trial_index": trial, "stats": stats} | more


def write_helm(folder: Path, instances: Sequence[object], **about: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run_spec.json").write_text(json.dumps(helm_specification(**about), indent=2))
    (folder / "stats.json").write_text(json.dumps([helm_stat("exact_match", 0.5)], indent=2))
    path = folder / "per_instance_stats.json"
    path.write_text(json.dumps(list(instances), indent=2))
    return path


def helm_state(answers: Sequence[tuple[str, str, str]], method: str = "generation") -> Any:
    """What was answered: the id, the completion and the correct reference of each instance."""
    return {
        "adapter_spec": {"method": method, "model": "openai/gpt2"},
        "request_states": [
            {
                "instance": {
                    "id": name,
                    "references": [
                        {"output": {"text": correct}, "tags": ["correct"]},
                        {"output": {"text": "another"}, "tags": []},
                    ],
                },
                "train_trial_index": 0,
                "result": {"success": True, "completions": [{"text": answer}]},
            }
            for name, answer, correct in answers
        ],
    }


# ------------------------------------------------------------------ Harbor, MTEB


def harbor_trial(
    task: str, trial: str, reward: float | None, *, model: str = "gpt-5", agent: str = "terminus-2"
) -> dict[str, Any]:
    """The result of a trial; without a reward it was not scored."""
    return {
        "id": trial,
        "task_name": task,
        "trial_name": trial,
        "source": "terminal-bench",
        "agent_info": {"name": agent, "version": "2.0.0", "model_info": {"name": model}},
        "agent_result": {"n_input_tokens": 100, "n_output_tokens": 10, "cost_usd": 0.25},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None if reward is not None else {"exception_type": "TimeoutError"},
    }


def mteb_result(
    task: str, scores: Mapping[str, Mapping[str, float]], version: str = "2.1.0"
) -> dict[str, Any]:
    """The scores of a task by split and subset."""
    return {
        "dataset_revision": "abc",
        "task_name": task,
        "mteb_version": version,
        "scores": {
            split: [
                {"main_score": score, "hf_subset": subset, "languages": ["eng-Latn"]}
                for subset, score in of_split.items()
            ]
            for split, of_split in scores.items()
        },
        "evaluation_time": 1.5,
    }
