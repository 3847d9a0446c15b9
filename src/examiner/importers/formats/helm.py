"""HELM run folders: the statistics of every instance, and the specification of the run beside them."""

from __future__ import annotations

import re
from pathlib import Path

from examiner.importers.documents import (
    Record,
    as_mapping,
    as_sequence,
    document_beside,
    document_of,
    mapping_at,
    number,
    parse_json,
    text_at,
    value_at,
)
from examiner.importers.files import SourceFile
from examiner.importers.logs import EvaluationLog, Samples, beginning_of, settings_of
from examiner.importers.options import ReadOptions
from examiner.importers.text import beginning, text_of
from examiner.messages import InputError, shorten

_START = re.compile(rb'\s*\[\s*\{\s*"(instance_id|perturbation|train_trial_index)"\s*:')
_STATE = re.compile(rb'\s*\{\s*"(?:adapter_spec|request_states)"\s*:')
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
_NAMES = ("per_instance_stats", "scenario_state")
"""What HELM calls its files, in a folder per run; another name is that of the run itself."""
_STATE_NOTE = (
    "scenario_state.json holds answers and no scores: an answer is marked 1 where it is, without blanks "
    "around it, a correct reference, as the metric exact_match does, else 0."
)


def recognises(file: SourceFile) -> bool:
    """A list of instances with their statistics.

    >>> head = b'[{"instance_id": "id1", "train_trial_index": 0, "stats": []}]'
    >>> recognises(SourceFile(Path("x"), None, head))
    True
    """
    head = beginning(file)
    return _START.match(head) is not None and b'"stats"' in head


def recognises_state(file: SourceFile) -> bool:
    """An object with the requests of a run, and what was answered.

    >>> recognises_state(SourceFile(Path("x"), None, b'{"adapter_spec": {}, "request_states": []}'))
    True
    """
    head = beginning(file)
    return _STATE.match(head) is not None and b'"request_states"' in head


def read(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the statistics of instances that are scores: another draw of examples is another run.

    >>> text = (b'[{"instance_id": "id1", "train_trial_index": 0, "stats": '
    ...         b'[{"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": 1}]}]')
    >>> path = Path("mmlu:subject=law,model=openai_gpt2/per_instance_stats.json")
    >>> (log,) = read(SourceFile(path, None, text, whole=True), ReadOptions())
    >>> log.model, log.benchmark, log.subtask, log.samples.scores
    ('openai_gpt2', 'mmlu', 'subject=law', {'exact_match': [1.0]})
    """
    texts = _texts(file.path) if options.item_text else {}
    samples = Samples(file.path)
    for instance in as_sequence(parse_json(text_of(file).data, file.path)):
        scores: dict[str, float | None] = {}
        costs: dict[str, float | None] = {}
        for stat in as_sequence(value_at(instance, "stats")):
            if value_at(stat, "name.perturbation.computed_on") == "worst":
                continue  # the least of several copies, and no observation of its own
            kind = text_at(stat, "name.name") or ""
            if kind in _COSTS:
                costs[_COSTS[kind]] = _mean(stat)
            elif kind and not _BOOKKEEPING.fullmatch(kind):
                scores[kind] = _mean(stat)
        name = value_at(instance, "instance_id")
        item, trial = _item(name, instance, file.path), value_at(instance, "train_trial_index")
        samples.add(
            item,
            scores,
            trial if isinstance(trial, int) else 0,
            text=texts.get(str(name)),
            **costs,  # type: ignore[arg-type]  # names of costs, of which `content` is none
        )
    specification = document_beside(file.path.with_name("run_spec.json"))
    return [_log(file, mapping_at(specification, "adapter_spec"), specification, samples)]


def read_state(file: SourceFile, options: ReadOptions) -> list[EvaluationLog]:
    """Read the answers of a run, and mark those that are a correct reference.

    >>> text = (b'{"adapter_spec": {"method": "generation", "model": "m"}, "request_states": [{"instance": '
    ...         b'{"id": "id1", "references": [{"output": {"text": "Yes"}, "tags": ["correct"]}]}, '
    ...         b'"result": {"success": true, "completions": [{"text": " Yes"}]}}]}')
    >>> (log,) = read_state(SourceFile(Path("quiz/x.json"), None, text, whole=True), ReadOptions())
    >>> log.model, log.samples.scores
    ('m', {'exact_match': [1.0]})
    """
    document = document_of(file)
    adapter = mapping_at(document, "adapter_spec")
    if "separate" in str(adapter.get("method")):
        raise InputError(
            f"{shorten(file.path, 200)} has one request for each choice of an item, of which the most "
            f"likely is the answer. Read per_instance_stats.json, which has the scores."
        )
    samples = Samples(file.path)
    for state in as_sequence(document.get("request_states")):
        instance, trial = mapping_at(state, "instance"), value_at(state, "train_trial_index")
        completions = as_sequence(value_at(state, "result.completions"))
        score = None
        if value_at(state, "result.success") is not False and completions:
            answer = str(value_at(completions[0], "text") or "").strip()
            answer = str(mapping_at(state, "output_mapping").get(answer, answer)).strip()
            correct = [
                str(value_at(reference, "output.text") or "").strip()
                for reference in as_sequence(instance.get("references"))
                if "correct" in as_sequence(value_at(reference, "tags"))
            ]
            score = float(answer in correct) if correct else None
        text = beginning_of(value_at(instance, "input.text")) if options.item_text else None
        item = _item(instance.get("id"), instance, file.path)
        samples.add(item, {"exact_match": score}, trial if isinstance(trial, int) else 0, text=text)
    specification = document_beside(file.path.with_name("run_spec.json"))
    return [_log(file, adapter, specification, samples, (_STATE_NOTE,))]


def _log(
    file: SourceFile,
    adapter: Record,
    specification: Record,
    samples: Samples,
    notes: tuple[str, ...] = (),
) -> EvaluationLog:
    called = file.path.name.partition(".")[0]
    folder = file.path.parent.name if called in _NAMES else called
    run = text_at(specification, "name") or folder
    benchmark, subtask, model = _run(run)
    benchmark = file.names.get("task") or benchmark
    return EvaluationLog.of(
        file,
        text_at(adapter, "model") or model,
        benchmark,
        samples,
        items=f"{benchmark}:{subtask}" if subtask else benchmark,
        evaluation=file.path.with_name(folder).as_posix(),
        subtask=subtask,
        settings=settings_of(
            {name: adapter.get(name) for name in _SETTINGS},
            {"deployment": text_at(adapter, "model_deployment")},
        ),
        notes=notes,
    )


def _item(name: object, instance: Record, path: Path) -> str:
    """The name of an item; the same instance, asked otherwise, is another item."""
    if not isinstance(name, str | int):
        raise InputError(
            f"{shorten(path, 200)} has an instance without `instance_id`. Correct or remove it."
        )
    perturbation = mapping_at(instance, "perturbation")
    if not perturbation:
        return str(name)
    kind, seed = text_at(perturbation, "name") or "perturbed", perturbation.get("seed")
    return f"{name}~{kind}" if seed is None else f"{name}~{kind}.{seed}"


def _mean(stat: object) -> float | None:
    mean, total, count = (number(value_at(stat, name)) for name in ("mean", "sum", "count"))
    if mean is not None or not count or total is None:
        return mean
    return total / count


def _run(name: str) -> tuple[str, str | None, str | None]:
    """Benchmark, part and model of `mmlu:subject=law,model=openai_gpt2`; folders may have no colon."""
    run = re.fullmatch(r"(?P<benchmark>[^:=]+?)[:_-](?P<parts>[^:=,]+=.*)", name)
    if run is None:
        return name.partition(":")[0], None, None
    parts = dict(part.partition("=")[::2] for part in re.split(r",(?=[^,=]+=)", run["parts"]))
    model = parts.pop("model", None)
    parts.pop("model_deployment", None)
    return run["benchmark"], ",".join(f"{key}={parts[key]}" for key in parts) or None, model


def _texts(path: Path) -> dict[str, str | None]:
    """What each instance asks, from the requests that were made."""
    texts: dict[str, str | None] = {}
    document = document_beside(path.with_name("scenario_state.json"))
    for state in as_sequence(document.get("request_states")):
        instance = as_mapping(value_at(state, "instance"))
        if instance.get("id") is not None and not instance.get("perturbation"):
            texts.setdefault(str(instance["id"]), beginning_of(value_at(instance, "input.text")))
    return texts
