"""Options for the IRT model that is fitted, and for what it is computed on."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar, Literal

from examiner.cli.options import ComparisonOptions, SourceOptions, option
from examiner.cli.output import ProgressCallback
from examiner.cli.values import parsed
from examiner.datasets import DATASETS
from examiner.engines import ParquetSource, check_memory, engine_for, ray, sharded
from examiner.irt import MODELS, SCORES, IRTFit
from examiner.messages import InputError, listed, shorten
from examiner.scores import response_unit as unit_of_responses
from examiner.validation import scheme_of
from examiner.workers import available_gigabytes

Prior = tuple[float, float]
"""Mean and standard deviation."""


def _priors(texts: tuple[str, ...]) -> dict[str, Prior] | Literal["fixed"] | None:
    """Read each PARAMETER=MEAN,SD, or `fixed` alone."""
    if texts == ("fixed",):
        return "fixed"
    priors = {}
    for text in texts:
        name, _, numbers = text.partition("=")
        mean, _, sd = numbers.partition(",")
        complaint = (
            f"The prior {shorten(text)} is not understood. Write PARAMETER=MEAN,SD: slope=1,0.5; "
            f"or fixed alone."
        )
        priors[name.strip()] = parsed(float, mean, complaint), parsed(float, sd, complaint)
    return priors or None


@dataclass(frozen=True)
class ModelOptions:
    """Which model is fitted, and how: arguments of `fit`."""

    model: str = option(
        "2pl",
        f"{', '.join(MODELS)}: normal for scores, beta for scores in [0, 1], the others for successes.",
        metavar="NAME",
    )
    estimator: Literal["map", "ml"] = option("map", "map: weak priors; ml: maximum likelihood.")
    priors: dict[str, Prior] | Literal["fixed"] | None = option(
        (),
        "A prior for map, for example slope=1,0.5; may be repeated. `fixed`: slopes N(1, 1).",
        "--prior",
        metavar="PARAMETER=MEAN,SD",
        parse=_priors,
    )
    response: Literal["binomial", "beta-binomial"] | None = option(
        None, "Distribution of several trials per cell [default: beta-binomial]."
    )
    landmark: float | None = option(
        None,
        "Score at which the model normal measures difficulty [default: the human or random score of "
        "--normalise, or 0].",
    )
    starts: int | None = option(None, "Number of random starts [default: depends on the size].")
    nodes: int | None = option(
        None, "Number of Gauss–Hermite nodes [default: a grid that depends on the tasks]."
    )


def response_unit(fit: IRTFit) -> str:
    """Return the unit of the responses of a fit.

    >>> from examiner.irt import ItemParameters, known
    >>> response_unit(known(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0])))
    'share of successes'
    """
    if fit.recipe is not None:
        return unit_of_responses(fit.recipe)
    return "scores as they were given" if fit.items.response in SCORES else "share of successes"


@dataclass(frozen=True)
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
    measure = options.measure[0] if options.measure else None
    return engine_for(options.source, measure, options.memory)


def shards_from(
    engine: str,
    options: SourceOptions,
    comparison: ComparisonOptions,
    model: ModelOptions,
    where: EngineOptions,
    progress: ProgressCallback,
) -> ParquetSource:
    """Return a source of Parquet shards, read without changes."""
    kept = ("source", "measure", "memory", "strict")
    changing = [
        (each.metadata["names"] or [f"--{each.name.replace('_', '-')}"])[0]
        for each in fields(options)
        if each.name not in kept and getattr(options, each.name) != each.default
    ]
    changing += ["--normalise"] if comparison.normalise not in (None, "auto", "none") else []
    changing += ["--success-share"] if comparison.share is not None else []
    if isinstance(comparison.success, str):
        changing.append(f"--success {comparison.success}")
    if changing:
        here = "use" if scheme_of(options.source) is None else "download them for"
        raise InputError(
            f"Shards are fitted without changes, and {listed(changing)} would change them. Apply that "
            f"beforehand with `examiner convert`, or {here} `--engine memory`."
        )
    source = ray if engine == "ray" else sharded
    cluster = {"address": where.address} if engine == "ray" else {}
    return source(
        options.source,
        # passes over shards gain little from more than 2 GB
        memory=options.memory or min(2.0, 0.5 * available_gigabytes()),
        cache=where.cache,
        measure=options.measure[0] if options.measure else None,
        success=comparison.success,
        response=model.response,
        progress=progress,
        **cluster,
    )
