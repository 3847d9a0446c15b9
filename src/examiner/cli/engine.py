"""Where a fit computes: `--engine`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from examiner.cli.options import ComparisonOptions, SourceOptions, option, success_of
from examiner.cli.output import ProgressCallback
from examiner.datasets import DATASETS
from examiner.engines import check_memory, engine_for
from examiner.messages import InputError, listed
from examiner.validation import scheme_of
from examiner.workers import available_gigabytes

if TYPE_CHECKING:
    from examiner.engines import ParquetSource

MEMORY = 2.0
"""GB that passes over shards use where they are free: more brings little."""
_NOT_IN_SHARDS = (
    *("format", "tasks_are", "path", "time", "item", "items", "scales", "tasks", "agents"),
    *("keep", "drop", "reduce"),
)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Where responses are stored and computed on."""

    section: ClassVar[str] = "Engine"
    engine: Literal["auto", "memory", "shards", "gpu", "ray"] = option(
        "auto",
        "auto: shards for Parquet at a URL or larger than memory, else memory; gpu and ray need extras.",
    )
    cache: Path | None = option(
        None,
        "Folder for decoded shards, which later fits reuse.",
        metavar="FOLDER",
        writes="answer",
    )
    address: str | None = option(
        None,
        "Address of a Ray cluster, for --engine ray [default: this machine].",
        metavar="ADDRESS",
    )


def chosen_engine(options: SourceOptions, where: EngineOptions) -> str:
    """Return the engine: the one that was named, or the one that suits the size of the table.

    >>> chosen_engine(SourceOptions("atari-dqn-family"), EngineOptions())
    'memory'
    """
    if options.memory is not None:
        check_memory(options.memory)
    if where.engine != "auto":
        return where.engine
    if options.source in DATASETS:
        return "memory"
    measure = None if options.measure is None else options.measure[0]
    return engine_for(options.source, measure, options.memory)


def shards_from(
    engine: str,
    options: SourceOptions,
    comparison: ComparisonOptions,
    where: EngineOptions,
    progress: ProgressCallback,
) -> ParquetSource:
    """Return a source of Parquet shards, read as they are."""
    from examiner import engines

    changing = [f"--{name.replace('_', '-')}" for name in _NOT_IN_SHARDS if getattr(options, name)]
    changing += ["--normalise"] if comparison.normalise not in (None, "auto", "none") else []
    changing += ["--success-share"] if comparison.success_share is not None else []
    success = success_of(comparison.success)
    if changing or isinstance(success, str):
        here = "use" if scheme_of(options.source) is None else "download them for"
        raise InputError(
            f"Shards are fitted as they are written, and "
            f"{listed(changing or ['--success ' + str(success)])} "
            f"would change them. Write them so beforehand (`examiner convert`), or {here} "
            f"`--engine memory`."
        )
    asked_of_both: _Asked = {
        "memory": options.memory or min(MEMORY, 0.5 * available_gigabytes()),
        "cache": where.cache,
        "measure": None if options.measure is None else options.measure[0],
        "success": success,
        "progress": progress,
    }
    if engine == "ray":
        return engines.ray(options.source, address=where.address, **asked_of_both)
    return engines.sharded(options.source, **asked_of_both)


class _Asked(TypedDict):
    memory: float
    cache: Path | None
    measure: str | None
    success: float | None
    progress: ProgressCallback
