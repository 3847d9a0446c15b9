"""HELM run folders: the statistics of every instance, and the specification of the run beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from examiner.importers.evaluations.log import EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.files import SourceFile, open_source
from examiner.importers.json_values import as_mapping, as_sequence, first_text, number
from examiner.importers.table_columns import TableOptions
from examiner.importers.text import beginning, parse_json, text_of
from examiner.messages import InputError, shorten

_START = re.compile(rb'\s*\[\s*\{\s*"(instance_id|perturbation|train_trial_index)"\s*:')
_PARTS = re.compile(r",(?=[^,=]+=)")
_MODEL_PARTS = ("model", "model_deployment")
_COSTS = {
    "num_prompt_tokens": "tokens_in",
    "num_output_tokens": "tokens_out",
    "inference_runtime": "seconds",
}
_BOOKKEEPING = re.compile(
    r"num_\w+|max_prob|logprob|batch_size|prompt_truncated|inference_\w+|training_\w+|finish_reason_\w+"
    r"|logprob_per_byte|bits_per_byte|perplexity|estimated_num_tokens_cost"
)
"""Statistics that tell of requests and texts, and not of how well an answer was."""
_SETTINGS = ("method", "max_train_instances", "temperature", "num_outputs", "max_tokens")


def recognises(file: SourceFile) -> bool:
    """A list of instances with their statistics.

    >>> head = b'[{"instance_id": "id1", "train_trial_index": 0, "stats": []}]'
    >>> recognises(SourceFile(Path("x"), None, head))
    True
    """
    head = beginning(file)
    return _START.match(head) is not None and b'"stats"' in head


def read(file: SourceFile, options: TableOptions) -> list[EvaluationLog]:
    """Read the statistics of instances that are scores: another draw of examples is another run.

    >>> text = (b'[{"instance_id": "id1", "train_trial_index": 0, "stats": '
    ...         b'[{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1}]}]')
    >>> path = Path("mmlu:subject=law,model=openai_gpt2/per_instance_stats.json")
    >>> (log,) = read(SourceFile(path, None, text, whole=True), TableOptions())
    >>> log.model, log.benchmark, log.subtask, log.rows.row(0)
    ('openai_gpt2', 'mmlu', 'subject=law', ('id1', 0, 1.0))
    """
    instances = as_sequence(parse_json(text_of(file).data, file.path))
    specification = _beside(file.path, "run_spec.json")
    adapter = as_mapping(specification.get("adapter_spec"))
    benchmark, subtask, named = _run(first_text(specification, "name") or file.path.parent.name)
    model = file.names.get("agent") or first_text(adapter, "model") or named
    if model is None:
        raise InputError(
            f"{shorten(file.path, 200)} does not say whose run it is: put run_spec.json beside it, or keep "
            f"the folder's name (`mmlu:subject=law,model=openai_gpt2`)."
        )
    texts = _texts(file.path) if options.item_text else {}
    samples = Samples(file.path)
    for instance in instances:
        _add(samples, as_mapping(instance), texts, file.path)
    benchmark = file.names.get("task") or benchmark
    return [
        EvaluationLog(
            model,
            benchmark,
            samples.frame(),
            samples.measures,
            f"{benchmark}:{subtask}" if subtask else benchmark,
            file.names.get("run") or file.path.parent.as_posix(),
            subtask=subtask,
            settings=settings_of(
                {name: adapter.get(name) for name in _SETTINGS},
                {"deployment": first_text(adapter, "model_deployment")},
            ),
            left_out=samples.left_out,
        )
    ]


def _add(
    samples: Samples, instance: Mapping[str, Any], texts: Mapping[str, str | None], path: Path
) -> None:
    name = instance.get("instance_id")
    if not isinstance(name, str | int):
        raise InputError(
            f"{shorten(path, 200)} has an instance without `instance_id`. Correct or remove it."
        )
    perturbed = as_mapping(instance.get("perturbation"))
    trial = instance.get("train_trial_index")
    scores: dict[str, float | None] = {}
    costs: dict[str, float | None] = dict.fromkeys(_COSTS.values())
    for stat in map(as_mapping, as_sequence(instance.get("stats"))):
        what = as_mapping(stat.get("name"))
        if as_mapping(what.get("perturbation")).get("computed_on") == "worst":
            continue  # the least of several copies, and no observation of its own
        kind = first_text(what, "name") or ""
        if kind in _COSTS:
            costs[_COSTS[kind]] = _mean(stat)
        elif kind and not _BOOKKEEPING.fullmatch(kind):
            scores[kind] = _mean(stat)
    samples.add(
        f"{name}~{_words(perturbed)}" if perturbed else str(name),
        scores,
        trial if isinstance(trial, int) else 0,
        text=texts.get(str(name)),
        tokens_in=costs["tokens_in"],
        tokens_out=costs["tokens_out"],
        seconds=costs["seconds"],
    )


def _words(perturbation: Mapping[str, Any]) -> str:
    """A perturbation as part of an item's name: the same instance, asked otherwise, is another item."""
    seed = perturbation.get("seed")
    name = first_text(perturbation, "name") or "perturbed"
    return name if seed is None else f"{name}.{seed}"


def _mean(stat: Mapping[str, Any]) -> float | None:
    mean, total, count = (number(stat.get(name)) for name in ("mean", "sum", "count"))
    if mean is not None or not count or total is None:
        return mean
    return total / count


def _run(name: str) -> tuple[str, str | None, str | None]:
    """Benchmark, part and model of `mmlu:subject=law,model=openai_gpt2`; folders may have no colon."""
    found = re.fullmatch(r"(?P<benchmark>[^:=]+?)[:_-](?P<parts>[^:=,]+=.*)", name)
    if found is None:
        return name.partition(":")[0], None, None
    parts = dict(part.partition("=")[::2] for part in _PARTS.split(found["parts"]))
    model = parts.get("model")
    kept = [f"{key}={value}" for key, value in parts.items() if key not in _MODEL_PARTS]
    return found["benchmark"], ",".join(kept) or None, model


def _beside(path: Path, name: str) -> Mapping[str, Any]:
    other = path.with_name(name)
    return (
        as_mapping(parse_json(text_of(open_source(other)).data, other)) if other.is_file() else {}
    )


def _texts(path: Path) -> dict[str, str | None]:
    """What each instance asks, from the requests that were made."""
    found: dict[str, str | None] = {}
    for state in as_sequence(_beside(path, "scenario_state.json").get("request_states")):
        instance = as_mapping(as_mapping(state).get("instance"))
        text = as_mapping(instance.get("input")).get("text")
        if instance.get("id") is not None and not instance.get("perturbation"):
            found.setdefault(str(instance["id"]), beginning_of(text))
    return found
