"""Many logs become one reading: measures chosen, agents, runs and items named, all else counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from examiner.importers.cells import coded_names, spread
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
    def name(self) -> str:
        """What it is remembered by."""
        return self.file.path.as_posix()


def reading_of(
    logs: Sequence[ReadLog],
    format: str,
    measures: Sequence[str] = (),
    each: Sequence[MeasureOf] = (),
) -> Reading:
    """Put logs together: one table, with what a reader should know of it.

    >>> from examiner.importers.evaluations.log import Samples
    >>> file, samples = SourceFile(Path("x.jsonl"), None, b""), Samples(Path("x.jsonl"))
    >>> samples.add("1", {"acc": 1.0})
    >>> log = EvaluationLog("gpt2", "arc", samples, "arc", "today")
    >>> reading_of([ReadLog(log, file)], "lm-eval").results.tasks
    ('arc/1',)
    """
    if not logs:
        raise InputError("There is no log to read. Name one.")
    # A log that names nobody's items still failed on those that others name.
    filled = [read for read in logs if len(read.log.samples) or read.log.only_named]
    if not any(len(read.log.samples) for read in filled):
        reasons = _left_out_notes([read.log for read in logs])
        raise InputError(
            f"{shorten(logs[0].file.path, 200)} holds no sample with a score. {' '.join(reasons)}".strip()
            + ("" if reasons else " Check that the evaluation was scored.")
        )
    _complete(filled)
    choice = chosen([read.log for read in filled], measures, each)
    stacked = _stacked(filled, choice)
    scored = stacked.filter(pl.any_horizontal(pl.col(choice.names).is_not_null()))
    notes = [*choice.notes, *_left_out_notes([read.log for read in logs])]
    if len(scored) < len(stacked):
        notes.append(
            f"{counted(len(stacked) - len(scored), 'sample')} without the measure "
            f"{listed(choice.names)} left out."
        )
    notes += [note for read in logs for note in read.log.notes]
    notes += _version_notes([read.log for read in filled])
    if any(read.log.only_named for read in filled):
        notes.append(UNION_NOTE)
    origin = Provenance(str(logs[0].file.path), format).with_notes(*notes)
    results = results_from_rows(scored, choice.names, origin, _lower(filled, choice))
    return Reading(results, _whereabouts(results, {read.name: read.file.path for read in filled}))


def _complete(logs: Sequence[ReadLog]) -> None:
    """Give logs that list only some of their items all that any log of the benchmark names, as failed."""
    named: dict[str, dict[str, str | None]] = {
        read.log.benchmark: {} for read in logs if read.log.only_named
    }
    for log, _ in logs:
        if log.benchmark in named:
            parts = (more.get("subtask") for more in log.samples.more.values())
            items = (sample for sample, _, _ in log.samples.scores)
            named[log.benchmark] |= dict(zip(items, parts, strict=True))  # type: ignore[arg-type]
    for log, _ in logs:
        if log.only_named:
            log.samples.add_failed(named[log.benchmark])


def _version_notes(logs: Sequence[EvaluationLog]) -> list[str]:
    """Warn of versions of harnesses and benchmarks that differ between logs which are compared."""
    versions: dict[str, dict[str, None]] = {}
    for log in logs:
        for name, version in log.versions.items():
            versions.setdefault(name, {}).setdefault(version)
    different = {name: list(values) for name, values in versions.items() if len(values) > 1}
    named = [f"{name} ({listed(sorted(values), limit=3)})" for name, values in different.items()]
    if not named:
        return []
    more = f"; and {len(named) - 3} more" if len(named) > 3 else ""
    return [
        f"Warning: the logs are of different versions of {'; '.join(named[:3])}{more}. Scores of different "
        f"versions may not be comparable."
    ]


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


def _stacked(logs: Sequence[ReadLog], choice: MeasureChoice) -> pl.DataFrame:
    """The samples of all logs with the measures chosen, and what each log says of all of its own."""
    counts = [len(read.log.samples) for read in logs]
    log_of_row = np.repeat(np.arange(len(logs)), counts)
    keys = [key for read in logs for key in read.log.samples.scores]
    more = [about for read in logs for about in read.log.samples.more.values()]
    columns = [
        pl.Series("id", [key[0] for key in keys], dtype=pl.String),
        pl.Series("trial", [key[1] for key in keys], dtype=pl.Int64),
        pl.Series("content", [key[2] or None for key in keys], dtype=pl.String),
    ]
    for name in choice.names:
        values: list[float | str | None] = []
        for log, _ in logs:
            source = choice.columns[log.items].get(name, "")
            beside = source in BESIDE
            values += [
                row.get(source)
                for row in (log.samples.more if beside else log.samples.scores).values()
            ]
        columns.append(pl.Series(name, values, dtype=pl.Float64, strict=False))
    described = {name for about in more for name in about} - set(choice.names)
    for name in (*BESIDE, "input", TEXT):
        if name in described:
            kind = pl.Float64 if name in BESIDE else pl.String
            columns.append(pl.Series(name, [about.get(name) for about in more], kind, strict=False))
    parts = [read.log.subtask for read in logs]
    subtasks = [
        about.get("subtask", parts[log]) for about, log in zip(more, log_of_row, strict=True)
    ]
    columns.append(pl.Series("subtask", subtasks, dtype=pl.String))
    settings = (dict(sorted(read.log.settings.items())) for read in logs)
    same = {
        "model": [read.log.model for read in logs],
        "settings": [json.dumps(each, ensure_ascii=False) for each in settings],
        "evaluation": [read.log.evaluation for read in logs],
        "log": [read.name for read in logs],
        "items": [read.log.items for read in logs],
        "benchmark": [read.log.benchmark for read in logs],
    }
    columns += [coded_names(name, values, log_of_row) for name, values in same.items()]
    frame = pl.DataFrame(columns)
    given = {name for read in logs for name in read.file.names} - set(TAKEN_NAMES)
    for name in sorted(given):
        if name in frame.columns:
            raise InputError(
                f"The path names {shorten(name)}, which logs of evaluations have already. Call it by "
                f"another name there."
            )
        names = [read.file.names.get(name, "") for read in logs]
        frame = frame.with_columns(spread(name, names, log_of_row))
    return frame


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
        counts.update(log.samples.left_out)
    notes += [f"{counted(count, 'sample')} {reason}." for reason, count in counts.items() if count]
    unfinished = [log for log in logs if log.unfinished]
    if unfinished:
        samples = sum(len(log.samples) for log in unfinished)
        notes.append(
            f"{counted(len(unfinished), 'log')} did not come to a successful end: "
            f"{counted(samples, 'scored sample')} of {'it' if len(unfinished) == 1 else 'them'} count."
        )
    return notes
