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
from examiner.importers.evaluations.subsets import inspect_sample_ids, lm_eval_samples
from examiner.messages import InputError
from examiner.reporting.findings import tiny as findings
from examiner.reporting.terminal import print_line
from examiner.results import Results
from examiner.results.storage import write_text
from examiner.scores.unit import value_unit
from examiner.storage import save


@dataclass(frozen=True, slots=True)
class DistilOptions:
    """How large the tiny version is, and where it goes."""

    size: int = option(100, "Tasks of the tiny version.")
    folds: str | None = option(
        None,
        FOLDS,
        metavar="loo|K",
    )
    output: Path = option(
        Path("tiny.json"), "Where it is stored.", *OUTPUT, metavar="FILE", writes="answer"
    )
    lm_eval: Path | None = option(
        None, "Write the JSON that `lm_eval --samples` takes, too.", metavar="FILE", writes="answer"
    )
    inspect: Path | None = option(
        None,
        "Write the ids that inspect_ai's `sample_id` takes, too.",
        metavar="FILE",
        writes="answer",
    )


def distil(
    options: SourceOptions,
    choice: SelectionOptions,
    levels: LevelOptions,
    how: DistilOptions,
    told: Seeded,
) -> None:
    """Make a tiny version of a benchmark: chosen tasks, what predicts the whole, and its record."""
    if choice.choose_on is not None:
        raise InputError("A tiny version is chosen on all agents. Leave out `--choose-on`.")
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        material = material_of(results, choice, levels)
        if how.size >= len(material.tasks):
            raise InputError(
                f"A tiny version of {how.size:,} tasks is no smaller than the benchmark, which has "
                f"{len(material.tasks):,}. Give a smaller `--size`."
            )
        tiny = selection.distil(
            material,
            how.size,
            rng=told.seed,
            holdout=selection.Holdout(folds_named(how.folds)),
            **judging(choice.workers, progress),
        )
        lists = _lists(results, how, tiny)
    stored = {"stored": str(save(tiny, how.output))}
    for path, content in lists:
        write_text(path, json.dumps(content) + "\n")
    finding = findings.tell(tiny, seed=told.seed)
    beside = {"score_unit": value_unit(tiny.recipe), "seed": told.seed, **stored}
    show(finding, "examiner.distil/1", told, tiny.notes, **beside)
    if told.for_people:
        print_line(f"Stored: {stored['stored']}")


def _lists(
    results: Results, how: DistilOptions, tiny: selection.Selection
) -> list[tuple[Path, object]]:
    """What other tools take; made before anything is written."""
    made: list[tuple[Path, object]] = []
    if how.lm_eval is not None:
        made.append((how.lm_eval, lm_eval_samples(results, tiny.tasks)))
    if how.inspect is not None:
        made.append((how.inspect, inspect_sample_ids(results, tiny.tasks)))
    return made
