"""One file per format; `FORMATS` lists them, the most particular first."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from examiner.importers.evaluations.assembly import ReadLog, reading_of
from examiner.importers.evaluations.log import EvaluationLog
from examiner.importers.files import SourceFile
from examiner.importers.formats import (
    bare_array,
    cleanrl,
    described,
    dopamine,
    every_eval_ever,
    gvgai,
    helm,
    inspect_ai,
    json_records,
    ledger,
    lm_eval,
    markdown,
    ndjson,
    parquet,
    py_irt,
    rliable,
    sb3,
    separated,
    swe_bench,
    wandb,
)
from examiner.importers.other_files import with_real_reason
from examiner.importers.readings import Reading
from examiner.importers.table_columns import TableOptions
from examiner.messages import InputError, listed, shorten, unknown_name

ReadOne = Callable[[SourceFile, TableOptions], Reading]
ReadMany = Callable[[Sequence[SourceFile], TableOptions], list[Reading]]
ReadLogs = Callable[[SourceFile, TableOptions], list[EvaluationLog]]


class Format(NamedTuple):
    """How a kind of file is recognised by its first bytes, and how it is read.

    A format reads one file, or many at once where that is more than reading each. In a folder, only
    files with one of the `endings` are taken, where there are any. `training` says that it holds the
    episodes of agents while they learnt; `leads` that results beside it are made from it.

    A format whose files are logs of evaluations has `logs` instead: agents, runs and items are named
    when all files were read. `companions` are names of files that belong to its own and need no word, and
    `sums_up` is the format of the samples that its own files are aggregates of.
    """

    description: str
    recognises: Callable[[SourceFile], bool]
    read: ReadOne | None = None
    read_many: ReadMany | None = None
    endings: tuple[str, ...] = ()
    training: bool = False
    leads: bool = False
    logs: ReadLogs | None = None
    companions: tuple[str, ...] = ()
    sums_up: str | None = None

    def read_one(self, file: SourceFile, options: TableOptions) -> Reading:
        """Read one file.

        >>> from pathlib import Path
        >>> file = SourceFile(Path("x"), None, b"mcts,aliens,0,1,80.0,476", whole=True)
        >>> FORMATS["gvgai-trials"].read_one(file, TableOptions()).results.tasks
        ('aliens.0',)
        """
        with with_real_reason(file):
            if self.read is not None:
                return self.read(file, options)
            if self.logs is not None:
                found = [ReadLog(log, file) for log in self.logs(file, options)]
                return self.reading_of(found, options)
            assert self.read_many is not None
            return self.read_many([file], options)[0]

    def reading_of(self, logs: Sequence[ReadLog], options: TableOptions) -> Reading:
        """Put logs of this format together.

        >>> FORMATS["lm-eval"].reading_of([], TableOptions())
        Traceback (most recent call last):
        ...
        examiner.messages.InputError: There is no log to read. Name one.
        """
        name = next(name for name, kind in FORMATS.items() if kind is self)
        return reading_of(logs, name, options.measures, options.measure_of)


FORMATS = MappingProxyType(
    {
        "parquet": Format("Parquet, tidy or wide", parquet.recognises, parquet.read),
        "ledger": Format(
            "ledgers of `examiner arena run`", ledger.recognises, ledger.read, leads=True
        ),
        # Recognised by the same marks, so that it is read only where it is named.
        "ledger-training": Format(
            "all episodes of such a ledger as a training log, its evaluations marked",
            ledger.recognises,
            partial(ledger.read, phase="both"),
            leads=True,
        ),
        # Before all that look for arrays in an archive, which takes longer than to tell it is a log.
        "inspect": Format(
            "inspect_ai logs, .eval and .json", inspect_ai.recognises, logs=inspect_ai.read
        ),
        "cleanrl": Format(
            "TensorBoard event files: CleanRL run folders, Stable-Baselines3",
            cleanrl.recognises,
            read_many=cleanrl.read_many,
            training=True,
        ),
        "sb3-monitor": Format(
            "Stable-Baselines3 Monitor logs, a folder a run",
            sb3.recognises_monitor,
            read_many=sb3.read_monitor,
            training=True,
        ),
        "sb3-evaluations": Format(
            "Stable-Baselines3 evaluations.npz",
            sb3.recognises_evaluations,
            sb3.read_evaluations,
            training=True,
        ),
        "dopamine": Format(
            "Dopamine baselines, JSON", dopamine.recognises, dopamine.read, training=True
        ),
        "lm-eval": Format(
            "lm-evaluation-harness samples, JSON lines",
            lm_eval.recognises_samples,
            logs=lm_eval.read_samples,
            leads=True,
            companions=("results_*.json",),
        ),
        "lm-eval-results": Format(
            "lm-evaluation-harness results of whole tasks, JSON",
            lm_eval.recognises_results,
            logs=lm_eval.read_results,
            sums_up="lm-eval",
        ),
        "swe-bench": Format(
            "SWE-bench results.json, per_instance_details.json and reports of its harness",
            swe_bench.recognises,
            logs=swe_bench.read,
            companions=("resolved_by_*.json", "metadata.yaml", "README.md"),
        ),
        "every-eval-ever": Format(
            "Every Eval Ever samples, JSON lines",
            every_eval_ever.recognises_samples,
            logs=every_eval_ever.read_samples,
            leads=True,
        ),
        "every-eval-ever-results": Format(
            "Every Eval Ever aggregates, JSON",
            every_eval_ever.recognises_aggregates,
            logs=every_eval_ever.read_aggregates,
            sums_up="every-eval-ever",
        ),
        "helm": Format(
            "HELM per_instance_stats.json, a folder a run",
            helm.recognises,
            logs=helm.read,
            leads=True,
            companions=("*.json",),
        ),
        "helm-answers": Format(
            "HELM scenario_state.json, answers marked by their references",
            helm.recognises_state,
            logs=helm.read_state,
            sums_up="helm",
        ),
        **{
            name: Format(kind.title, kind.recognises, logs=kind.read, companions=kind.companions)
            for name, kind in described.DESCRIPTIONS.items()
        },
        "rliable": Format(
            "rliable arrays [runs, tasks], npz or JSON", rliable.recognises, rliable.read
        ),
        "py-irt": Format("py-irt responses, JSON lines", py_irt.recognises, py_irt.read),
        "gvgai-stdout": Format(
            "what the GVGAI framework prints", gvgai.recognises_stdout, gvgai.read_stdout
        ),
        "gvgai-trials": Format(
            "GVGAI trials, CSV without a header", gvgai.recognises_trials, gvgai.read_trials
        ),
        "gvgai-executor": Format(
            "GVGAI executor lines", gvgai.recognises_executor, gvgai.read_executor
        ),
        "npy": Format(
            "bare .npy arrays of evaluations, with a path template",
            bare_array.recognises,
            bare_array.read,
            training=True,
        ),
        "json": Format(
            "JSON lists of records, or of curves (xs, ys)",
            json_records.recognises,
            json_records.read,
            endings=(".json",),
        ),
        "yaml": Format(
            "YAML, as JSON of the same content",
            json_records.recognises_yaml,
            json_records.read_yaml,
        ),
        "markdown": Format("tables on Markdown pages", markdown.recognises, markdown.read),
        "wandb": Format("charts exported from Weights & Biases, CSV", wandb.recognises, wandb.read),
        "ndjson": Format(
            "JSON lines, one record a line",
            ndjson.recognises,
            ndjson.read,
            endings=(".ndjson", ".jsonl"),
        ),
        "csv": Format(
            "CSV, TSV and other separated text",
            separated.recognises,
            separated.read,
            separated.read_many,
            endings=(".csv", ".tsv", ".tab"),
        ),
    }
)
"""Name → format, asked in this order. A new one is one file in this folder and one line here."""

ALIASES = MappingProxyType({"tsv": "csv", "jsonl": "ndjson", "yml": "yaml"})


def known_format(named: str) -> str:
    """Return the name of a format as the table has it.

    >>> known_format("TSV")
    'csv'
    """
    name = ALIASES.get(named.lower(), named.lower())
    if name not in FORMATS:
        raise unknown_name("format", named, [*FORMATS, *ALIASES])
    return name


def recognised(
    file: SourceFile, among: Iterable[str] = FORMATS, *, by_ending: bool = False
) -> str | None:
    """Return the first format that recognises a file, with an ending of its own where that counts.

    >>> from pathlib import Path
    >>> file = SourceFile(Path("x"), None, b"agent,task,score")
    >>> recognised(file), recognised(file, by_ending=True)
    ('csv', None)
    """
    for name in among:
        kind = FORMATS[name]
        fitting = not by_ending or not kind.endings or file.suffix in kind.endings
        if fitting and kind.recognises(file):
            return name
    return None


def unknown_format(file: SourceFile) -> InputError:
    """Build the error for a file that no format recognises.

    >>> from pathlib import Path
    >>> str(unknown_format(SourceFile(Path("x.bin"), None, bytes(2))))[:50]
    "Cannot tell the format of 'x.bin': it begins with "
    """
    return InputError(
        f"Cannot tell the format of {shorten(file.path, 200)}: it begins with "
        f"{shorten(repr(file.head[:16]))}. Known formats: {listed(FORMATS, limit=len(FORMATS))}."
    )
