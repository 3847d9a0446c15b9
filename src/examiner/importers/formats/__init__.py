"""One file per format; `FORMATS` lists them, the most particular first."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from examiner.importers.files import UNPACKED_FREELY_BYTES, SourceFile
from examiner.importers.formats import (
    arrays,
    cleanrl,
    described,
    dopamine,
    every_eval_ever,
    gvgai,
    helm,
    inspect_ai,
    json_text,
    ledger,
    lm_eval,
    markdown,
    parquet,
    py_irt,
    sb3,
    separated,
    swe_bench,
    wandb,
)
from examiner.importers.log_results import reading_of
from examiner.importers.logs import EvaluationLog
from examiner.importers.options import ReadOptions
from examiner.importers.readings import Reading
from examiner.importers.text import refuse_merge_markers
from examiner.messages import InputError, listed, shorten, unknown_name

ReadOne = Callable[[SourceFile, ReadOptions], Reading]
ReadMany = Callable[[Sequence[SourceFile], ReadOptions], list[Reading]]
ReadLogs = Callable[[SourceFile, ReadOptions], list[EvaluationLog]]


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

    def read_one(self, file: SourceFile, options: ReadOptions) -> Reading:
        """Read one file.

        >>> from pathlib import Path
        >>> file = SourceFile(Path("x"), None, b"mcts,aliens,0,1,80.0,476", whole=True)
        >>> FORMATS["gvgai-trials"].read_one(file, ReadOptions()).results.tasks
        ('aliens.0',)
        """
        try:
            if self.read is not None:
                return self.read(file, options)
            if self.logs is not None:
                return self.reading_of(self.logs(file, options), options)
            assert self.read_many is not None
            return self.read_many([file], options)[0]
        except InputError:
            # An unresolved git merge is refused as such, whatever else it makes of a file.
            if file.head and b"\0" not in file.head:
                small = file.whole or file.path.stat().st_size <= UNPACKED_FREELY_BYTES
                refuse_merge_markers(file.contents() if small else file.head, file.path)
            raise

    def reading_of(self, logs: Sequence[EvaluationLog], options: ReadOptions) -> Reading:
        """Put logs of this format together.

        >>> FORMATS["lm-eval"].reading_of([], ReadOptions())
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
            "rliable arrays [runs, tasks], npz or JSON", arrays.recognises, arrays.read
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
            arrays.recognises_npy,
            arrays.read_npy,
            training=True,
        ),
        "json": Format(
            "JSON lists of records, or of curves (xs, ys)",
            json_text.recognises,
            json_text.read,
            endings=(".json",),
        ),
        "yaml": Format(
            "YAML, as JSON of the same content",
            json_text.recognises_yaml,
            json_text.read_yaml,
        ),
        "markdown": Format("tables on Markdown pages", markdown.recognises, markdown.read),
        "wandb": Format("charts exported from Weights & Biases, CSV", wandb.recognises, wandb.read),
        "ndjson": Format(
            "JSON lines, one record a line",
            json_text.recognises_lines,
            json_text.read_lines,
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
