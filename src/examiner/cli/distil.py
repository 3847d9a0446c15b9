"""`examiner distil`: a tiny version of a benchmark, with its record on held-out agents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from examiner import selection
from examiner.cli.levels import LevelOptions
from examiner.cli.options import OUTPUT, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.select import (
    FOLDS,
    SelectionOptions,
    folds_named,
    judging,
    material_of,
)
from examiner.cli.source import results_from
from examiner.importers import inspect_sample_ids, lm_eval_samples
from examiner.messages import InputError
from examiner.reporting import print_line, render_tiny
from examiner.results import Results, write_text
from examiner.scores import value_unit
from examiner.storage import save


@dataclass(frozen=True, slots=True)
class DistilOptions:
    """The size of the tiny version, and where it is stored."""

    size: int = option(100, "Number of tasks of the tiny version.")
    folds: str | None = option(None, FOLDS, metavar="loo|K")
    output: Path = option(
        Path("tiny.json"), "File to store it in.", *OUTPUT, metavar="FILE", writes="answer"
    )
    lm_eval: Path | None = option(
        None, "Also write the JSON for `lm_eval --samples`.", metavar="FILE", writes="answer"
    )
    inspect: Path | None = option(
        None,
        "Also write the ids for inspect_ai's `sample_id`.",
        metavar="FILE",
        writes="answer",
    )


def distil(
    options: SourceOptions,
    distil_options: DistilOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Make a tiny version of a benchmark: selected tasks, a predictor of the whole, its validation."""
    if choice.choose_on is not None:
        raise InputError("A tiny version is selected on all agents. Leave out `--choose-on`.")
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        material = material_of(results, choice, levels)
        if distil_options.size >= len(material.tasks):
            raise InputError(
                f"A tiny version of {distil_options.size:,} tasks is no smaller than the benchmark, which "
                f"has {len(material.tasks):,}. Give a smaller `--size`."
            )
        tiny = selection.distil(
            material,
            distil_options.size,
            rng=printing.seed,
            holdout=selection.Holdout(folds_named(distil_options.folds)),
            **judging(choice.workers, progress),
        )
        lists = _lists(results, distil_options, tiny)
    stored = str(save(tiny, distil_options.output))
    for path, content in lists:
        write_text(path, json.dumps(content) + "\n")
    unit = value_unit(tiny.recipe)
    show(render_tiny(tiny), printing, read=results, score_unit=unit, stored=stored)
    if printing.for_people:
        print_line(f"Stored: {stored}")


def _lists(
    results: Results, distil_options: DistilOptions, tiny: selection.Selection
) -> list[tuple[Path, object]]:
    """What other tools take; made before anything is written."""
    lists: list[tuple[Path, object]] = []
    if distil_options.lm_eval is not None:
        lists.append((distil_options.lm_eval, lm_eval_samples(results, tiny.chosen.tasks)))
    if distil_options.inspect is not None:
        lists.append((distil_options.inspect, inspect_sample_ids(results, tiny.chosen.tasks)))
    return lists
