"""`examiner distil`: a tiny version of a benchmark, with its record on held-out agents."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from examiner import selection
from examiner.cli.material import (
    FOLDS,
    SelectionOptions,
    folds_named,
    holdout_of,
    judging,
    material_of,
)
from examiner.cli.options import OUTPUT, LevelOptions, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.importers import inspect_sample_ids, lm_eval_samples
from examiner.reporting import print_line, render_selection
from examiner.results import write_text
from examiner.scores import value_unit
from examiner.storage import save


@dataclass(frozen=True)
class DistilOptions:
    """The size of the tiny version, and where it is stored."""

    size: int = option(100, "Number of tasks of the tiny version.")
    folds: Literal["loo"] | int | None = option(None, FOLDS, metavar="loo|K", parse=folds_named)
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
    how: DistilOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Make a tiny version of a benchmark: selected tasks, a predictor of the whole, its validation."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        material = material_of(results, choice, levels)
        tiny = selection.distil(
            material,
            how.size,
            rng=printing.seed,
            holdout=holdout_of(how.folds, choice, material),
            map=judging(choice, progress),
        )
        # Lists of tasks for other tools are computed before anything is written.
        lists: list[tuple[Path, object]] = []
        if how.lm_eval is not None:
            lists.append((how.lm_eval, lm_eval_samples(results, tiny.chosen.tasks)))
        if how.inspect is not None:
            lists.append((how.inspect, inspect_sample_ids(results, tiny.chosen.tasks)))
    stored = str(save(tiny, how.output))
    for path, content in lists:
        write_text(path, json.dumps(content) + "\n")
    unit = value_unit(tiny.recipe)
    show(render_selection(tiny), printing, read=results, score_unit=unit, stored=stored)
    if printing.for_people:
        print_line(f"Stored: {stored}")
