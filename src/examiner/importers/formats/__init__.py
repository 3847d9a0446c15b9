"""One file per format; `FORMATS` lists them, the most particular first."""

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import NamedTuple

from examiner.importers.files import SourceFile
from examiner.importers.formats import (
    cleanrl,
    dopamine,
    gvgai_executor,
    gvgai_stdout,
    gvgai_trials,
    ledger,
    ndjson,
    parquet,
    py_irt,
    rliable,
    sb3_evaluations,
    sb3_monitor,
    separated,
)
from examiner.importers.readings import Part
from examiner.importers.tables import TableOptions
from examiner.results import Results


class Format(NamedTuple):
    """How a kind of file is recognised by its first bytes, and how it is read.

    In a folder, only files with one of the `endings` are taken, where there are any. `training` says
    that it holds the episodes of agents while they learnt; `leads` that results beside it are made
    from it; `read_many` reads many files at once, where that is more than reading each.
    """

    recognises: Callable[[SourceFile], bool]
    read: Callable[[SourceFile, TableOptions], Results]
    description: str
    endings: tuple[str, ...] = ()
    training: bool = False
    leads: bool = False
    read_many: Callable[[Sequence[SourceFile], TableOptions], list[Part]] | None = None


FORMATS = MappingProxyType(
    {
        "parquet": Format(parquet.recognises, parquet.read, "Parquet, tidy or wide"),
        "ledger": Format(ledger.recognises, ledger.read, "ledgers of `examiner run`", leads=True),
        "ledger-training": Format(
            ledger.recognises_nothing,
            ledger.read_training,
            "the training episodes of such a ledger",
        ),
        "cleanrl": Format(
            cleanrl.recognises,
            cleanrl.read,
            "CleanRL run folders (TensorBoard event files)",
            training=True,
            read_many=cleanrl.read_many,
        ),
        "sb3-monitor": Format(
            sb3_monitor.recognises,
            sb3_monitor.read,
            "Stable-Baselines3 Monitor logs, a folder a run",
            training=True,
            read_many=sb3_monitor.read_many,
        ),
        "sb3-evaluations": Format(
            sb3_evaluations.recognises,
            sb3_evaluations.read,
            "Stable-Baselines3 evaluations.npz",
            training=True,
        ),
        "dopamine": Format(
            dopamine.recognises, dopamine.read, "Dopamine baselines, JSON", training=True
        ),
        "rliable": Format(
            rliable.recognises, rliable.read, "rliable arrays [runs, tasks], npz or JSON"
        ),
        "py-irt": Format(py_irt.recognises, py_irt.read, "py-irt responses, JSON lines"),
        "gvgai-stdout": Format(
            gvgai_stdout.recognises, gvgai_stdout.read, "what the GVGAI framework prints"
        ),
        "gvgai-trials": Format(
            gvgai_trials.recognises, gvgai_trials.read, "GVGAI trials, CSV without a header"
        ),
        "gvgai-executor": Format(
            gvgai_executor.recognises, gvgai_executor.read, "GVGAI executor lines"
        ),
        "ndjson": Format(
            ndjson.recognises,
            ndjson.read,
            "JSON lines, one record a line",
            endings=(".ndjson", ".jsonl"),
        ),
        "csv": Format(
            separated.recognises,
            separated.read,
            "CSV, TSV and other separated text",
            endings=(".csv", ".tsv", ".tab"),
            read_many=separated.read_many,
        ),
    }
)
"""Name → format, asked in this order. A new one is one file in this folder and one line here."""
