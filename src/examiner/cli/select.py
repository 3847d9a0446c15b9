"""`examiner select`: which few tasks to run, with proof that they are enough."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examiner.cli.options import OUTPUT, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.selection import (
    SelectionOptions,
    agents_named,
    folds_named,
    judging,
    material_from,
)
from examiner.selection import (
    METHODS,
    Benchmark,
    Folds,
    Holdout,
    choose,
    expected_seconds,
    folds_of_proof,
    reasons,
    with_predictor,
)
from examiner.selection import compare as compare_selections
from examiner.stored import save
from examiner.telling.findings import selection as findings
from examiner.telling.terminal import print_line
from examiner.wording import InputError

SIZE = 5
HINT = "`--method regression` takes less; `--no-proof` only chooses."


@dataclass(frozen=True, slots=True)
class SelectOptions:
    """How many tasks are chosen, how, and how the choice is judged."""

    size: int | None = option(None, "Tasks to choose [default: 5, or what the budget buys].")
    budget: float | None = option(None, "Most that the set may cost, instead of a size.")
    method: str = option(
        "best_of", f"best_of, or one method: {', '.join(METHODS)}.", metavar="NAME"
    )
    proof: bool = option(True, "Judge the choice on held-out agents, or not.", "--proof/--no-proof")
    folds: str | None = option(
        None,
        "Folds of the proof [default: loo, or 10 with over 100 agents or 5,000 results].",
        metavar="loo|K",
    )
    output: Path | None = option(
        None, "Store tasks, predictor and recipe as JSON.", *OUTPUT, metavar="FILE"
    )


def select(
    options: SourceOptions, choice: SelectionOptions, how: SelectOptions, told: Seeded
) -> None:
    """Choose a few tasks that tell what all of them would, and judge the choice on held-out agents."""
    if how.size is not None and how.budget is not None:
        raise InputError("Both a size and a budget are given. Give one of the two.")
    with progress_bar("reading") as progress:
        material = material_from(options, choice, how.budget, progress)
        named = agents_named(choice.choose_on, material.agents)
        own = material if named is None else material.on_agents(named)
        rng = np.random.default_rng(told.seed)
        folds = _folds(material, how, named)
        size = None if how.budget is not None else SIZE if how.size is None else how.size
        judged = {}
        if folds is not None:
            seconds = expected_seconds(material, size, folds, [how.method])
            judged = judging(choice.workers, seconds, HINT, progress)
        tasks = choose(own, size, how.method, rng=rng)
        comparison = None
        if folds is not None:
            comparison = compare_selections(
                material,
                [len(tasks)],
                [how.method],
                rng=rng,
                holdout=Holdout(folds.folds, named, repeats=folds.repeats),
                **judged,
            )
        chosen = with_predictor(own, tasks, rng=rng, proof=comparison)
        why = reasons(own, chosen)
    stored = {} if how.output is None else {"stored": str(save(chosen, how.output))}
    notes = [*chosen.notes, *([folds.note] if folds and folds.note else [])]
    notes += () if comparison is None else comparison.notes
    finding = findings.tell(material, chosen, why, comparison, method=how.method, seed=told.seed)
    show(
        finding,
        "examiner.select/1",
        told.json,
        tuple(dict.fromkeys(notes)),
        seed=told.seed,
        **stored,
    )
    if stored and not told.json:
        print_line(f"Stored: {stored['stored']}")


def _folds(material: Benchmark, how: SelectOptions, named: tuple[str, ...] | None) -> Folds | None:
    """In which folds the choice is proved; none where no proof is asked for."""
    if not how.proof:
        return None
    given = folds_of_proof(material) if how.folds is None else folds_named(how.folds)
    return given if named is None else Folds(1, 0)
