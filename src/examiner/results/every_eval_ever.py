"""Every Eval Ever 0.3: a folder with an aggregate and its samples, for each agent and run."""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from examiner.messages import InputError, shorten
from examiner.results.storage import write_bytes
from examiner.results.table import Results

VERSION = "0.3.0"
_PLAIN = "results"  # the evaluation that tasks are said to be of that are of no benchmark
_NOT_IN_A_PATH = re.compile(r"[^\w.+=@-]+")
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}


def every_eval_ever(results: Results, path: str | Path) -> Path:
    """Write the first measure, which must lie between 0 and 1, into a new folder.

    Files lie in `data/SOURCE/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl`. A sample is correct
    where its score is 1. What is not known, such as what a model answered, is left empty.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "eee"
    >>> results = Results.from_numpy([[1, 0]], ["org/m"], ["q1", "q2"], measure="correct")
    >>> sorted(file.name[36:] for file in every_eval_ever(results, folder).rglob("*.json*"))
    ['.json', '_samples.jsonl']
    """
    target = Path(path)
    check_folder(target)
    values = results.measure()
    observed = ~np.isnan(values)
    odd = values[observed & ((values < 0) | (values > 1))]
    if len(odd):
        raise InputError(
            f"Every Eval Ever tells right from wrong, and the measure {shorten(results.measures[0])} has "
            f"{odd[0]:g}. Mark success first (`--success`), or normalise to 0 … 1."
        )
    columns = _columns(results)
    runs = np.stack([results.agent_codes.astype(np.int64), results.run_codes], axis=1)
    for agent, run in np.unique(runs[observed], axis=0).tolist():
        rows = np.flatnonzero(observed & (runs == (agent, run)).all(axis=1))
        samples = [{name: column[row] for name, column in columns.items()} for row in rows.tolist()]
        _write_evaluation(target, results, results.agents[agent], run, samples)
    return target


def check_folder(target: Path) -> None:
    """Refuse what is no new or empty folder.

    >>> check_folder(Path("scores.csv"))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: The layout 'every-eval-ever' is written to a new folder, not to
    'scores.csv'. Name a folder that is not there yet.
    """
    if target.suffix or target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise InputError(
            f"The layout 'every-eval-ever' is written to a new folder, not to {shorten(target, 200)}. "
            f"Name a folder that is not there yet."
        )


def _columns(results: Results) -> dict[str, Sequence[Any]]:
    """What is written of each row, None where it is not known."""
    about, names = results.task_attributes, results.task_names
    unknown: list[Any] = [None] * len(results)

    def column(name: str) -> Sequence[Any]:
        return results.column(name) if name in results.attributes else unknown

    def of_task(name: str) -> list[Any]:
        attributes = about.aligned(names, name)
        return [attributes[code] for code in results.task_codes.tolist()]

    labels = [results.tasks[code] for code in results.task_codes.tolist()]
    ids = [sample or label for sample, label in zip(column("item_id"), labels, strict=True)]
    return {
        "sample_id": ids,
        # What is left of an item's name without its id is the evaluation it is of.
        "evaluation_name": [
            label.removesuffix(sample).rstrip("/") or part or benchmark or _PLAIN
            for label, sample, part, benchmark in zip(
                labels, ids, of_task("subtask"), of_task("benchmark"), strict=True
            )
        ],
        "dataset": of_task("benchmark"),
        "score": results.measure().tolist(),
        "hash": column("item_hash"),
        "text": of_task("text"),
        "tokens_in": column("tokens_in"),
        "tokens_out": column("tokens_out"),
        "seconds": column("seconds"),
    }


def _write_evaluation(
    folder: Path, results: Results, agent: str, run: int, samples: Sequence[Mapping[str, Any]]
) -> None:
    """Write what one agent did in one run."""
    measure, source = results.measures[0], Path(results.provenance.source).stem or "examiner"
    parts = [_NOT_IN_A_PATH.sub("_", part) or "_" for part in ("unknown/" + agent).split("/")[-2:]]
    now = str(int(time.time()))
    evaluation = f"{_NOT_IN_A_PATH.sub('_', source)}/{'_'.join(parts)}/{now}.{run}"
    digest = hashlib.sha256(f"{source} {agent} {run} {measure}".encode()).digest()
    name = str(uuid.UUID(bytes=digest[:16], version=4))  # the schema wants this version
    place = Path("data", _NOT_IN_A_PATH.sub("_", source), *parts)
    lines = [_line(agent, evaluation, measure, sample) for sample in samples]
    data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    detailed = {
        "format": "jsonl",
        "file_path": (place / f"{name}_samples.jsonl").as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(data).hexdigest(),
        "total_rows": len(lines),
    }
    aggregate = {
        "schema_version": VERSION,
        "evaluation_id": evaluation,
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": source,
            "source_type": "documentation",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "unknown", "version": "unknown"},
        "model_info": {"name": agent, "id": agent, "additional_details": _UNKNOWN},
        "evaluation_results": _results(samples, measure),
        "detailed_evaluation_results": detailed,
    }
    (folder / place).mkdir(parents=True, exist_ok=True)
    write_bytes(data, folder / place / f"{name}_samples.jsonl")
    text = json.dumps(aggregate, indent=2, ensure_ascii=False)
    write_bytes(text.encode(), folder / place / f"{name}.json")


def _results(samples: Sequence[Mapping[str, Any]], measure: str) -> list[dict[str, Any]]:
    """The mean score of each evaluation."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for sample in samples:
        groups.setdefault(sample["evaluation_name"], []).append(sample)
    entries = []
    for name, group in groups.items():
        scores = np.array([sample["score"] for sample in group])
        binary = bool(np.isin(scores, (0, 1)).all())
        dataset = next((sample["dataset"] for sample in group if sample["dataset"]), name)
        entries.append(
            {
                "evaluation_result_id": f"{name}.{measure}",
                "evaluation_name": name,
                "source_data": {"dataset_name": dataset, "source_type": "other"},
                "metric_config": {
                    "metric_id": measure,
                    "lower_is_better": False,
                    "score_type": "binary" if binary else "continuous",
                    "min_score": 0.0,
                    "max_score": 1.0,
                },
                "score_details": {
                    "score": float(scores.mean()),
                    "uncertainty": {"num_samples": len(scores)},
                },
            }
        )
    return entries


def _line(agent: str, evaluation: str, measure: str, sample: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {
        "schema_version": VERSION,
        "evaluation_id": evaluation,
        "model_id": agent,
        "evaluation_name": sample["evaluation_name"],
        "evaluation_result_id": f"{sample['evaluation_name']}.{measure}",
        "sample_id": str(sample["sample_id"]),
        "sample_hash": sample["hash"],
        "interaction_type": "single_turn",
        "input": {"raw": sample["text"] or "", "reference": []},
        "output": {"raw": []},
        "answer_attribution": [],
        "evaluation": {"score": sample["score"], "is_correct": sample["score"] == 1},
    }
    tokens = sample["tokens_in"], sample["tokens_out"]
    if None not in tokens:
        read, written = (int(count) for count in tokens)
        usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
        line["token_usage"] = usage
    if sample["seconds"] is not None:
        line["performance"] = {"latency_ms": 1000 * sample["seconds"]}
    return line
