"""Many logs become one reading: measures chosen, agents, runs and items named, all else counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from examiner.importers.cells import with_given
from examiner.importers.evaluations.log import BESIDE, EvaluationLog
from examiner.importers.evaluations.measures import MeasureChoice, MeasureOf, chosen
from examiner.importers.evaluations.naming import Identity, named_logs, with_items
from examiner.importers.files import SourceFile
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
TAKEN_NAMES = ("agent", "task", "run")
"""Names from paths that say whose log it is, of what, and which evaluation; others are columns."""
_OF_A_LOG = ("log", "model", "settings", "items", "evaluation")


UNION_NOTE = (
    "The logs do not list the items they were asked. Those that any of them names are taken; items that "
    "nobody solved are missing, so that every score is too high. List them all with `--items FILE`."
)


class ReadLog(NamedTuple):
    """A log, and the file it was read from."""

    log: EvaluationLog
    file: SourceFile

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.file.path

    @property
    def name(self) -> str:
        """What it is remembered by."""
        return self.path.as_posix()


def reading_of(
    logs: Sequence[ReadLog],
    format: str,
    measures: Sequence[str] = (),
    each: Sequence[MeasureOf] = (),
) -> Reading:
    """Put logs together: one table, with what a reader should know of it.

    >>> rows = pl.DataFrame({"id": ["1"], "trial": [0], "acc": [1.0]})
    >>> log = EvaluationLog("gpt2", "arc", rows, ("acc",), "arc", "today")
    >>> reading_of([ReadLog(log, SourceFile(Path("x.jsonl"), None, b""))], "lm-eval").results.tasks
    ('arc/1',)
    """
    if not logs:
        raise InputError("There is no log to read. Name one.")
    # A log that names nobody's items still failed on those that others name.
    filled = [read for read in logs if len(read.log.rows) or read.log.only_named]
    if not any(len(read.log.rows) for read in filled):
        told = _left_out_notes([read.log for read in logs])
        raise InputError(
            f"{shorten(logs[0].path, 200)} holds no sample with a score. {' '.join(told)}".strip()
            + ("" if told else " Check that the evaluation was scored.")
        )
    filled = _with_union(filled)
    choice = chosen([read.log for read in filled], measures, each)
    stacked = pl.concat(
        [_rows(read, choice.columns[read.log.items]) for read in filled],
        how="diagonal_relaxed",
    )
    scored = stacked.filter(pl.any_horizontal(pl.col(choice.names).is_not_null()))
    notes = [*choice.notes, *_left_out_notes([read.log for read in logs])]
    if len(scored) < len(stacked):
        notes.append(
            f"{counted(len(stacked) - len(scored), 'sample')} without the measure "
            f"{listed(choice.names)} left out."
        )
    notes += [note for read in logs for note in read.log.notes]
    if any(read.log.only_named for read in filled):
        notes.append(UNION_NOTE)
    origin = Provenance(str(logs[0].path), format).with_notes(*notes)
    results = results_from_rows(scored, choice.names, origin, _lower(filled, choice))
    return Reading(results, _whereabouts(results, {read.name: read.path for read in filled}))


def _with_union(logs: Sequence[ReadLog]) -> list[ReadLog]:
    """Give logs that list only some of their items all that any log of the benchmark names, as failed."""
    incomplete = {read.log.benchmark for read in logs if read.log.only_named}
    named: dict[str, dict[str, str | None]] = {benchmark: {} for benchmark in incomplete}
    for log, _ in logs:
        if log.benchmark in incomplete:
            parts = log.rows["subtask"] if "subtask" in log.rows.columns else [None] * len(log.rows)
            named[log.benchmark] |= dict(zip(log.rows["id"], parts, strict=True))
    return [
        read._replace(log=_completed(read.log, named[read.log.benchmark]))
        if read.log.only_named
        else read
        for read in logs
    ]


def _completed(log: EvaluationLog, items: Mapping[str, str | None]) -> EvaluationLog:
    known = set(log.rows["id"])
    more = [(sample, subtask) for sample, subtask in items.items() if sample not in known]
    failed = pl.DataFrame(
        {
            "id": [sample for sample, _ in more],
            "trial": [0] * len(more),
            **{measure: [0.0] * len(more) for measure in log.measures},
            "subtask": [subtask for _, subtask in more],
        },
        schema_overrides={"id": pl.String, "subtask": pl.String, "trial": pl.Int64},
    )
    return replace(log, rows=pl.concat([log.rows, failed], how="diagonal_relaxed"))


def _whereabouts(results: Results, paths: Mapping[str, Path]) -> Whereabouts:
    """Where the rows stand; logs follow each other."""
    logs = results.to_polars().group_by("log", maintain_order=True).len()
    return Whereabouts([paths[name] for name in logs["log"]], logs["len"].to_list())


def results_from_rows(
    rows: pl.DataFrame,
    measures: Sequence[str],
    origin: Provenance,
    lower: Mapping[str, Sequence[str]],
) -> Results:
    """Name the agents, runs and items of stacked rows and build the results.

    `rows` has the columns of `ORIGIN` but for the last, `items`, `id`, `trial`, the levels and the
    measures; `lower` says of which items which measures are better the lower they are.
    """
    rows, notes = with_items(_in_order(rows))
    notes += _other_inputs(rows)
    about = rows.select(_OF_A_LOG).unique(maintain_order=True)
    named = named_logs(
        [
            Identity(model, tuple(json.loads(settings).items()), items, evaluation)
            for _, model, settings, items, evaluation in about.iter_rows()
        ]
    )
    about = about.with_columns(
        agent=pl.Series(named.agents).cast(pl.Categorical), run=pl.Series(named.runs)
    )
    rows = rows.join(about, on=_OF_A_LOG, how="left", maintain_order="left")
    kept = rows.unique(["agent", "task", "run", "trial"], keep="last", maintain_order=True)
    if len(kept) < len(rows):
        notes += (
            f"{counted(len(rows) - len(kept), 'sample')} of an evaluation stand in several logs, as copies "
            f"and retries have them: the last one counts.",
        )
    kept = _with_runs(kept)
    attributes = _attributes(kept)
    columns = ["agent", "task", "run", "trial", *measures, *ORIGIN]
    known = {*columns, *LEVELS, "id", "items", "input", TEXT}
    columns += [name for name in kept.columns if name not in known]
    frame = kept.select(columns).with_columns(
        pl.col("model", "settings", "evaluation", "log", "item_id").cast(pl.Categorical)
    )
    if frame["content"].null_count() == len(frame):
        frame = frame.drop("content")
    else:
        frame = frame.rename({"content": CONTENT})
    scales = Scales(
        TaskScale(task, measure, direction="lower")
        for items, found in lower.items()
        for task in kept.filter(pl.col("items") == items)["task"].unique(maintain_order=True)
        for measure in found
    )
    origin = origin.with_notes(*named.notes, *notes)
    return assemble(frame, measures, (), origin, scales, attributes)


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows by log, sample and epoch: what is named by what comes first does not depend on their order."""
    keys = [_natural_rank(rows[name]) for name in ("log", "id")]
    order = sorted_rows([*keys, rows["trial"]])
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


def _rows(read: ReadLog, columns: Mapping[str, str]) -> pl.DataFrame:
    """The rows of one log with the columns chosen, and what the log says of all of them."""
    log = read.log
    beside = (*BESIDE, "content", "input", TEXT)
    kept = [name for name in beside if name in log.rows.columns and name not in columns]
    subtask = pl.col("subtask") if "subtask" in log.rows.columns else pl.lit(log.subtask, pl.String)
    settings = json.dumps(dict(sorted(log.settings.items())), ensure_ascii=False)
    same = {
        "model": log.model,
        "settings": settings,
        "evaluation": log.evaluation,
        "log": read.name,
        "items": log.items,
        "benchmark": log.benchmark,
    }
    rows = log.rows.select(
        "id",
        "trial",
        *(pl.col(source).alias(name) for name, source in columns.items()),
        *kept,
        subtask.alias("subtask"),
        # Names that stand in every row of a log are coded, which takes a quarter of the memory.
        *(pl.lit(value).cast(pl.Categorical).alias(name) for name, value in same.items()),
    )
    if "content" not in kept:
        rows = rows.with_columns(content=pl.lit(None, pl.String))
    named = {name: value for name, value in read.file.names.items() if name not in TAKEN_NAMES}
    return with_given(rows, named)


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


def _attributes(rows: pl.DataFrame) -> Attributes:
    """The level of each task, and its text where it was asked for."""
    columns = [*LEVELS, *([TEXT] if TEXT in rows.columns else [])]
    table = rows.group_by("task", maintain_order=True).agg(
        pl.col(name).drop_nulls().first() for name in columns
    )
    names = tuple(table["task"])
    return Attributes("task", names, tuple(columns), tuple(table.select(columns).rows()))


def _lower(logs: Sequence[ReadLog], choice: MeasureChoice) -> dict[str, list[str]]:
    """For groups of items, the measures that are better the lower they are."""
    found: dict[str, dict[str, None]] = {}
    for log, _ in logs:
        lower = [
            name
            for name, source in choice.columns[log.items].items()
            if source in log.lower_is_better
        ]
        if lower:
            found.setdefault(log.items, {}).update(dict.fromkeys(lower))
    return {items: list(names) for items, names in found.items()}


def _left_out_notes(logs: Sequence[EvaluationLog]) -> list[str]:
    """Sentences on samples that were not observed, and on logs that did not end well."""
    notes = []
    counts: Counter[str] = Counter()
    for log in logs:
        counts.update(log.left_out)
    notes += [f"{counted(count, 'sample')} {reason}." for reason, count in counts.items() if count]
    unfinished = [log for log in logs if log.unfinished]
    if unfinished:
        samples = sum(len(log.rows) for log in unfinished)
        notes.append(
            f"{counted(len(unfinished), 'log')} did not come to a successful end: "
            f"{counted(samples, 'scored sample')} of {'it' if len(unfinished) == 1 else 'them'} count."
        )
    return notes
