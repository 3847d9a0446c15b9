"""Where a fit computes: `--engine`, and what the command line says before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, TypedDict

from examiner.cli.options import ComparisonOptions, SourceOptions, option, success_of
from examiner.cli.output import ProgressCallback
from examiner.datasets import DATASETS
from examiner.engines.pace import check_memory
from examiner.messages import InputError, listed
from examiner.validation import scheme_of

if TYPE_CHECKING:
    from examiner.irt.estimation.parts import PartedSource

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
    memory: float = option(2.0, "Memory that shards may use, in GB.", metavar="GB")
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


def chosen_engine(options: SourceOptions, where: EngineOptions) -> tuple[str, str | None]:
    """Return the engine, and a sentence on what to expect where that is long.

    >>> chosen_engine(SourceOptions("atari-dqn-family"), EngineOptions())
    ('memory', None)
    """
    check_memory(where.memory)
    if where.engine not in ("auto", "shards"):
        return where.engine, None
    if options.source in DATASETS:
        return "memory" if where.engine == "auto" else where.engine, None
    from examiner.engines.estimate import engine_for, estimate, size_of_shards

    measure = None if options.measure is None else options.measure[0]
    if where.engine == "shards" and scheme_of(options.source) is None:
        size = size_of_shards(options.source, measure)
        return "shards", estimate(size, "shards", where.memory).sentence(size)
    return engine_for(options.source, measure)


def shards_from(
    engine: str,
    options: SourceOptions,
    comparison: ComparisonOptions,
    where: EngineOptions,
    progress: ProgressCallback,
) -> PartedSource:
    """Return a source of Parquet shards, read as they are."""
    from examiner import engines

    asked = [f"--{name.replace('_', '-')}" for name in _NOT_IN_SHARDS if getattr(options, name)]
    asked += ["--normalise"] if comparison.normalise not in (None, "auto", "none") else []
    asked += ["--success-share"] if comparison.success_share is not None else []
    success = success_of(comparison.success)
    if asked or isinstance(success, str):
        here = "use" if scheme_of(options.source) is None else "download them for"
        raise InputError(
            f"Shards are fitted as they are written, and {listed(asked or ['--success ' + str(success)])} "
            f"would change them. Write them so beforehand (`examiner convert`), or {here} "
            f"`--engine memory`."
        )
    asked_of_both: _Asked = {
        "memory": where.memory,
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
