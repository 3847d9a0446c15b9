"""Many logs become one table: measures chosen; agents, runs and items named; all else counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from examiner.importers.cells import coded_names, spread
from examiner.importers.log_measures import MeasureChoice, chosen
from examiner.importers.logs import BESIDE, EvaluationLog
from examiner.importers.options import MeasureOf
from examiner.importers.readings import Reading, Whereabouts
from examiner.messages import InputError, counted, listed, shorten
from examiner.results import (
    Attributes,
    Provenance,
    Results,
    Scales,
    TaskScale,
    assemble,
    recoded,
    sorted_rows,
)
from examiner.validation import natural_key

ORIGIN = ("model", "settings", "evaluation", "log", "item_id")
"""Columns that keep of each row where it is from, by which logs are added later."""
CONTENT = "item_hash"
LEVELS = ("benchmark", "subtask")
"""What is known of tasks: the benchmark and, where it has any, the part of it."""
TEXT = "text"
_OF_A_LOG = ("log", "model", "settings", "items", "evaluation")
_ITEM = ("items", CONTENT, "twin")
UNION_NOTE = (
    "The logs do not list the items they were asked. Those that any of them names are taken; items that "
    "nobody solved are missing, so that every score is too high. List them all with `--items FILE`."
)


def reading_of(
    logs: Sequence[EvaluationLog],
    format: str,
    measures: Sequence[str] = (),
    choices: Sequence[MeasureOf] = (),
) -> Reading:
    """Put logs together: one table, with what a reader should know of it.

    >>> from pathlib import Path
    >>> from examiner.importers.files import SourceFile
    >>> from examiner.importers.logs import Samples
    >>> file, samples = SourceFile(Path("x.jsonl"), None, b""), Samples(Path("x.jsonl"))
    >>> samples.add("1", {"acc": 1.0})
    >>> reading_of([EvaluationLog.of(file, "gpt2", "arc", samples)], "lm-eval").results.tasks
    ('arc/1',)
    """
    if not logs:
        raise InputError("There is no log to read. Name one.")
    # A log that names nobody's items still failed on those that others name.
    filled = [log for log in logs if len(log.samples) or log.only_named]
    if not any(len(log.samples) for log in filled):
        reasons = _left_out_notes(logs)
        raise InputError(
            f"{shorten(logs[0].file.path, 200)} holds no sample with a score. {' '.join(reasons)}".strip()
            + ("" if reasons else " Check that the evaluation was scored.")
        )
    _complete(filled)
    choice = chosen(filled, measures, choices)
    stacked = _stacked(filled, choice)
    scored = stacked.filter(pl.any_horizontal(pl.col(choice.names).is_not_null()))
    notes = [*choice.notes, *_left_out_notes(logs)]
    if len(scored) < len(stacked):
        notes.append(
            f"{counted(len(stacked) - len(scored), 'sample')} without the measure "
            f"{listed(choice.names)} left out."
        )
    notes += [note for log in logs for note in log.notes]
    notes += _version_notes(filled)
    if any(log.only_named for log in filled):
        notes.append(UNION_NOTE)
    origin = Provenance(str(logs[0].file.path), format).with_notes(*notes)
    lower = dict.fromkeys(
        (log.items, name)
        for log in filled
        for name, source in choice.columns[log.items].items()
        if source in log.lower_is_better
    )
    results = results_from_rows(scored, choice.names, origin, lower)
    rows = results.to_polars().group_by("log", maintain_order=True).len()  # logs follow each other
    paths = {log.name: log.file.path for log in filled}
    return Reading(
        results, Whereabouts([paths[name] for name in rows["log"]], rows["len"].to_list())
    )


def _complete(logs: Sequence[EvaluationLog]) -> None:
    """Add to logs that list only some of their items all that any log of the benchmark names, as failed."""
    named: dict[str, dict[str, str | None]] = {log.benchmark: {} for log in logs if log.only_named}
    for log in logs:
        if log.benchmark in named:
            items = (sample for sample, _, _ in log.samples.rows)
            named[log.benchmark] |= dict(zip(items, log.samples.column("subtask"), strict=True))
    for log in logs:
        if log.only_named:
            listed_items = {sample for sample, _, _ in log.samples.rows}
            for item, subtask in named[log.benchmark].items():
                if item not in listed_items:
                    failed = dict.fromkeys(log.samples.scores, 0.0)
                    log.samples.add(item, failed, subtask=subtask)


def _version_notes(logs: Sequence[EvaluationLog]) -> list[str]:
    """Warn of versions of harnesses and benchmarks that differ between logs which are compared."""
    versions: dict[str, dict[str, None]] = {}
    for log in logs:
        for name, version in log.versions.items():
            versions.setdefault(name, {})[version] = None
    named = [
        f"{name} ({listed(sorted(values), limit=3)})"
        for name, values in versions.items()
        if len(values) > 1
    ]
    if not named:
        return []
    more = f"; and {len(named) - 3} more" if len(named) > 3 else ""
    return [
        f"Warning: the logs are of different versions of {'; '.join(named[:3])}{more}. Scores of different "
        f"versions may not be comparable."
    ]


def _left_out_notes(logs: Sequence[EvaluationLog]) -> list[str]:
    """Sentences on samples that were not observed, and on logs that did not end well."""
    counts: Counter[str] = Counter()
    for log in logs:
        counts.update(log.samples.left_out)
    notes = [f"{counted(count, 'sample')} {reason}." for reason, count in counts.items() if count]
    unfinished = [log for log in logs if log.unfinished]
    if unfinished:
        samples = sum(len(log.samples) for log in unfinished)
        notes.append(
            f"{counted(len(unfinished), 'log')} did not come to a successful end: "
            f"{counted(samples, 'scored sample')} of {'it' if len(unfinished) == 1 else 'them'} count."
        )
    return notes


def _stacked(logs: Sequence[EvaluationLog], choice: MeasureChoice) -> pl.DataFrame:
    """The samples of all logs with the measures chosen, and what each log says of all of its own."""
    log_of_row = np.repeat(np.arange(len(logs)), [len(log.samples) for log in logs])
    keys = [key for log in logs for key in log.samples.rows]
    columns = [
        pl.Series("id", [key[0] for key in keys], dtype=pl.String),
        pl.Series("trial", [key[1] for key in keys], dtype=pl.Int64),
        pl.Series(CONTENT, [key[2] or None for key in keys], dtype=pl.String),
    ]

    def column(name: str, kind: type[pl.DataType], sources: Sequence[str]) -> pl.Series:
        parts = zip(logs, sources, strict=True)
        values = [value for log, source in parts for value in log.samples.column(source)]
        return pl.Series(name, values, kind, strict=False)

    for name in choice.names:
        sources = [choice.columns[log.items].get(name, "") for log in logs]
        columns.append(column(name, pl.Float64, sources))
    described = {name for log in logs for name in log.samples.more} - set(choice.names)
    for name in (*BESIDE, "input", TEXT):
        if name in described:
            kind = pl.Float64 if name in BESIDE else pl.String
            columns.append(column(name, kind, [name] * len(logs)))
    subtasks = [
        log.subtask if subtask is None else subtask
        for log in logs
        for subtask in log.samples.column("subtask")
    ]
    columns.append(pl.Series("subtask", subtasks, dtype=pl.String))
    same = {
        "model": [log.model for log in logs],
        "settings": [
            json.dumps(dict(sorted(log.settings.items())), ensure_ascii=False) for log in logs
        ],
        "evaluation": [log.evaluation for log in logs],
        "log": [log.name for log in logs],
        "items": [log.items for log in logs],
        "benchmark": [log.benchmark for log in logs],
    }
    columns += [coded_names(name, values, log_of_row) for name, values in same.items()]
    frame = pl.DataFrame(columns)
    # Names from paths that are no keys are columns.
    given = {name for log in logs for name in log.file.names} - {"agent", "task", "run"}
    for name in sorted(given):
        if name in frame.columns:
            raise InputError(
                f"The path names {shorten(name)}, which logs of evaluations have already. Call it by "
                f"another name there."
            )
        names = [log.file.names.get(name, "") for log in logs]
        frame = frame.with_columns(spread(name, names, log_of_row))
    return frame


# -------------------------------------------------------------------- names


def results_from_rows(
    rows: pl.DataFrame,
    measures: Sequence[str],
    origin: Provenance,
    lower: Iterable[tuple[str, str]] = (),
) -> Results:
    """Name the agents, runs and items of stacked rows and build the results.

    `rows` has the columns of `ORIGIN` but for the last, `items`, `id`, `trial`, the levels and the
    measures; `lower` are groups of items, each with a measure that is better the lower it is.
    """
    rows, notes = with_items(_in_order(rows))
    notes += _other_inputs(rows)
    about, agent_notes = with_agents(rows.select(_OF_A_LOG).unique(maintain_order=True))
    rows = rows.join(about, on=_OF_A_LOG, how="left", maintain_order="left")
    kept = rows.unique(["agent", "task", "run", "trial"], keep="last", maintain_order=True)
    if len(kept) < len(rows):
        notes += (
            f"{counted(len(rows) - len(kept), 'sample')} of an evaluation stand in several logs, as copies "
            f"and retries have them: the last one counts.",
        )
    kept = _with_runs(kept)
    levels = [*LEVELS, *([TEXT] if TEXT in kept.columns else [])]
    tasks = kept.group_by("task", maintain_order=True).agg(pl.col(levels).drop_nulls().first())
    attributes = Attributes(
        "task", tuple(tasks["task"]), tuple(levels), tuple(tasks[levels].rows())
    )
    scales = Scales(
        TaskScale(task, measure, direction="lower")
        for items, measure in lower
        for task in kept.filter(pl.col("items") == items)["task"].unique(maintain_order=True)
    )
    frame = kept.drop(*levels, "id", "items", "input", strict=False)
    if frame[CONTENT].null_count() == len(frame):
        frame = frame.drop(CONTENT)
    first = ("agent", "task", "run", "trial", *measures, *ORIGIN)
    frame = frame.select(*first, pl.exclude(first)).with_columns(
        pl.col(ORIGIN).cast(pl.Categorical)
    )
    return assemble(
        frame, measures, (), origin.with_notes(*agent_notes, *notes), scales, attributes
    )


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by log, sample and epoch: what is named by what comes first does not depend on their order."""
    order = sorted_rows([_natural_rank(rows["log"]), _natural_rank(rows["id"]), rows["trial"]])
    return rows if order is None else rows[order]


def _natural_rank(names: pl.Series) -> pl.Series:
    coded = names.cast(pl.String).cast(pl.Categorical)
    places = {name: at for at, name in enumerate(sorted(coded.unique(), key=natural_key))}
    return recoded(coded, lambda distinct: distinct.replace_strict(places, return_dtype=pl.UInt32))


def _with_runs(rows: pl.DataFrame) -> pl.DataFrame:
    """Epochs are independent attempts of an agent that does not learn: each is a run of its own.

    A run of the rows so far is an evaluation; its epochs are counted on through the next one.
    """
    attempt = ["agent", "items", "run", "trial"]
    runs = rows.select(attempt).unique().sort("run", "trial")
    runs = runs.with_columns(attempt=pl.int_range(pl.len()).over("agent", "items"))
    joined = rows.join(runs, on=attempt, how="left", maintain_order="left")
    return joined.with_columns(run=pl.col("attempt")).drop("attempt")


def _other_inputs(rows: pl.DataFrame) -> tuple[str, ...]:
    """Ids may be positions in a data set that was shuffled or has changed: said, never mended."""
    if "input" not in rows.columns:
        return ()
    inputs = rows.group_by("task", maintain_order=True).agg(pl.col("input").n_unique())
    others = inputs.filter(pl.col("input") > 1)["task"]
    if not len(others):
        return ()
    return (
        f"{counted(len(others), 'item')} of {inputs.height:,} have another input in another log, under the "
        f"same id, and are taken for the same: {listed(others, limit=3)}.",
    )


def with_agents(logs: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Name the agent of each log: its model, and the settings in which it differs on the same items.

    Another evaluation of the same agent on the same items is another run. The notes say what a reader
    should know of the names.

    >>> warm = {"model": "gpt2", "settings": '{"temperature": "1"}', "items": "arc", "evaluation": "b"}
    >>> logs = [warm | {"settings": '{"temperature": "0"}', "evaluation": "a"}, warm, warm]
    >>> with_agents(pl.DataFrame(logs))[0].select("agent", "run").rows()
    [('gpt2 (temperature=0)', 0), ('gpt2 (temperature=1)', 0), ('gpt2 (temperature=1)', 0)]
    """
    columns = [logs[name].cast(pl.String).to_list() for name in ("model", "items", "evaluation")]
    models, items, _ = columns
    settings = [json.loads(text) for text in logs["settings"].cast(pl.String)]
    groups: dict[str, dict[str, list[dict[str, str]]]] = {}  # settings by model and items
    for model, of_items, values in zip(models, items, settings, strict=True):
        groups.setdefault(model, {}).setdefault(of_items, []).append(values)
    differing = {model: _differing([*parts.values()]) for model, parts in groups.items()}
    agents, runs = [], []
    numbers: dict[tuple[str, str], dict[str, int]] = {}
    for model, of_items, evaluation, values in zip(*columns, settings, strict=True):
        parts = ", ".join(f"{key}={values[key]}" for key in differing[model] if key in values)
        agents.append(f"{model} ({parts})" if parts else model)
        known_runs = numbers.setdefault((agents[-1], of_items), {})
        runs.append(known_runs.setdefault(evaluation, len(known_runs)))
    notes = []
    several = {model: keys for model, keys in differing.items() if keys}
    if several:
        keys = dict.fromkeys(key for differing_keys in several.values() for key in differing_keys)
        notes.append(
            f"{counted(len(several), 'model')} with several settings ({listed(keys, limit=4)}) "
            f"{'is' if len(several) == 1 else 'are'} an agent for each: {listed(several, limit=3)}."
        )
    again = [f"{agent} on {of}" for (agent, of), evaluated in numbers.items() if len(evaluated) > 1]
    if again:
        notes.append(
            f"Some were evaluated more than once under the same settings, which are runs of their own: "
            f"{listed(again, limit=3)}."
        )
    named = logs.with_columns(agent=pl.Series(agents).cast(pl.Categorical), run=pl.Series(runs))
    return named, tuple(notes)


def _differing(parts: Sequence[Sequence[Mapping[str, str]]]) -> list[str]:
    """The settings of a model that differ between logs of the same items, each part having those of one.

    Settings that are particular to items, such as the name of a job, are left out where others suffice.

    >>> _differing([[{"job": f"{task}-{tool}", "tool": tool} for tool in "ab"] for task in "tu"])
    ['tool']
    """
    keys = [
        key
        for part in parts
        for key in dict.fromkeys(key for settings in part for key in settings)
        if len({settings.get(key) for settings in part}) > 1
    ]
    keys = list(dict.fromkeys(keys))

    def kinds(names: Sequence[str]) -> list[int]:
        return [len({tuple(map(settings.get, names)) for settings in part}) for part in parts]

    for key in list(keys):
        values = [{settings.get(key) for settings in part} for part in parts]
        particular = len(parts) > 1 and len(set().union(*values)) == sum(map(len, values))
        others = [other for other in keys if other != key]
        if particular and kinds(others) == kinds(keys):
            keys = others
    return keys


def with_items(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Name the item of each row (`log`, `model`, `items`, `id`, `item_hash`, `trial`) in a column `task`.

    Where a row says what its item contains, items are the same that contain the same, whatever their
    id, and items of one id that contain something else are told apart.

    >>> rows = pl.DataFrame({"log": [0, 1, 1], "model": "m", "items": "arc", "id": ["1", "1", "2"],
    ...                      "item_hash": ["a", "b", "a"], "trial": 0})
    >>> with_items(rows)[0]["task"].to_list()
    ['arc/1', 'arc/1#b', 'arc/1']
    """
    rows = rows.with_columns(
        # What a data set holds twice is two items.
        twin=pl.int_range(pl.len()).over("log", "model", "items", CONTENT, "trial")
    )
    names = _by_content(rows.filter(pl.col(CONTENT).is_not_null()))
    rows = rows.join(names, on=_ITEM, how="left", maintain_order="left")
    rows = rows.with_columns(item_id=pl.coalesce("item_id", "id"))
    items = pl.col("items").cast(pl.String)
    bare = (items == "") | (pl.col("item_id") == "")
    joined = items + pl.when(bare).then(pl.lit("")).otherwise(pl.lit("/"))
    others = names.filter(pl.col("again") > 0)["item_id"]
    notes: tuple[str, ...] = ()
    if len(others):
        notes = (
            f"{counted(len(others), 'item')} of an id that stands for something else in another log "
            f"{'is' if len(others) == 1 else 'are'} told apart by content: {listed(others, limit=3)}.",
        )
    return rows.drop("twin", "again").with_columns(
        task=(joined + pl.col("item_id")).cast(pl.Categorical)
    ), notes


def _by_content(rows: pl.DataFrame) -> pl.DataFrame:
    """One name for each item: the first id it has, and some of its hash where that is another's too."""
    names = rows.group_by(_ITEM, maintain_order=True).agg(item_id=pl.col("id").first())
    nth_of_name = pl.int_range(pl.len()).over("items", "item_id")
    hashed = pl.col("item_id") + "#" + pl.col(CONTENT).str.slice(0, 8)
    names = names.with_columns(again=nth_of_name)
    names = names.with_columns(
        item_id=pl.when(pl.col("again") == 0).then("item_id").otherwise(hashed)
    )
    numbered = pl.col("item_id") + "." + nth_of_name.cast(pl.String)
    return names.with_columns(item_id=pl.when(nth_of_name == 0).then("item_id").otherwise(numbered))


def items_of_logs(results: Results, tasks: Sequence[str]) -> list[tuple[str, str]]:
    """Return the evaluation and the id of each task, as they were in the logs.

    >>> items_of_logs(Results.from_numpy([[1.0]], tasks=["arc/3"]), ["arc/3"])
    [('arc', '3')]
    """
    about = results.task_attributes
    levels = [
        dict(zip(results.tasks, about.aligned(results.tasks, level), strict=True))
        for level in reversed(LEVELS)
        if level in about.columns
    ]
    items = []
    for task in tasks:
        before, _, item = task.rpartition("/")
        named = next((level[task] for level in levels if level.get(task)), None)
        items.append((before if named is None else str(named), item))
    return items
