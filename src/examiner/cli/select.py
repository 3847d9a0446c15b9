"""`examiner select`: which few tasks to run, with proof that they are enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.judging import Folds, expected_seconds, folds_of_proof, judging
from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import ProgressCallback, progress_bar
from examiner.cli.selecting import SelectionOptions, agents_named, material_from
from examiner.wording import InputError

if TYPE_CHECKING:
    from examiner.selection import Benchmark, Comparison, Selection

SIZE = 5
NO_PROOF = "none"
HINT = "`--method regression` takes less; `--no-proof` only chooses."
GAINS = {
    "error of the aggregate removed": "by how much the task, beside those above it, lowers the error of "
    "predicting left-out agents",
    "bits": "what the task, beside those above it, tells about which agent is playing",
    "mean log information": "by how much the task, beside those above it, raises the logarithm of the "
    "precision (Fisher information) of abilities, on average over agents",
    "slope at the abilities": "how steeply success on the task rises with ability where the agents are",
    "tasks it stands for": "how many tasks this one stands for",
    "nearness to an even step": "how near the task's difficulty is to its step on an even ladder",
    "lot drawn": "the lot drawn",
}
"""What the gains of methods mean, by their unit."""
FIGURES = {
    "r2": ("R²", "of the predicted aggregate; 1 is perfect"),
    "r2_remainder": ("R² of remainder", "of the mean of the tasks not chosen"),
    "relative_error": ("error", "mean absolute, as a share of the aggregate"),
    "kendall": ("Kendall", "agreement of orders, from -1 to 1"),
    "top1": ("top 1", "how often the best agent was found"),
    "coverage": ("coverage", "share inside their 90 % intervals"),
    "minimum_detectable_difference": ("smallest difference", "that is ordered right 9 times of 10"),
    "optimistic_r2": ("optimistic R²", "on the same agents that chose: too good"),
}
"""The figures of the proof, with their names for people and what they are."""


def select(
    options: SourceOptions,
    choice: SelectionOptions,
    size: Annotated[
        int | None,
        typer.Option("--size", help="Tasks to choose [default: 5, or what the budget buys]."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option("--budget", help="Most that the set may cost, instead of a size."),
    ] = None,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help="best_of, or one method (see `compare`)."),
    ] = "best_of",
    proof: Annotated[
        bool,
        typer.Option("--proof/--no-proof", help="Judge the choice on held-out agents, or not."),
    ] = True,
    folds: Annotated[
        str | None,
        typer.Option(
            "--folds",
            metavar="loo|K",
            help="Folds of the proof [default: loo, or 10 with over 100 agents or 5,000 results].",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Store tasks, predictor and recipe as JSON."
        ),
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Choose a few tasks that tell what all of them would, and judge the choice on held-out agents."""
    if size is not None and budget is not None:
        raise InputError("Both a size and a budget are given. Give one of the two.")
    with progress_bar("reading") as progress:
        material = material_from(options, choice, budget, progress)
        wanted = None if budget is not None else SIZE if size is None else size
        content, chosen = _answer(
            material, choice, wanted, method, folds if proof else NO_PROOF, seed, progress
        )
    if output is not None:
        from examiner.stored import save

        content["stored"] = str(save(chosen, output))
    if json:
        print_json("examiner.select/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def _answer(
    material: Benchmark,
    choice: SelectionOptions,
    size: int | None,
    method: str,
    folds: str | None,
    seed: int,
    progress: ProgressCallback,
) -> tuple[dict[str, Any], Selection]:  # Any: JSON values
    from examiner.selection import Holdout, choose, reasons, with_predictor
    from examiner.selection import compare as compare_selections

    rng = np.random.default_rng(seed)
    named = agents_named(choice.choose_on, material.agents)
    own = material if named is None else material.on_agents(named)
    how = None if folds == NO_PROOF else folds_of_proof(folds, material)
    judged: dict[str, Any] = {}  # Any: options of `compare_selections`
    if how is not None:
        if named is not None:
            how = Folds(1, 0)
        seconds = expected_seconds(material, _likely_size(material, size), how, [method])
        judged = judging(choice.workers, seconds, HINT, progress)
    selection = choose(own, size, method, rng=rng)
    comparison = None
    if how is not None:
        comparison = compare_selections(
            material,
            [len(selection)],
            [method],
            rng=rng,
            holdout=Holdout(how.folds, named, repeats=how.repeats),
            **judged,
        )
    chosen = with_predictor(own, selection, rng=rng, proof=comparison)
    told = reasons(own, chosen)
    notes = [] if how is None or how.note is None else [how.note]
    return _content(material, method, chosen, comparison, told, notes) | {"seed": seed}, chosen


def _likely_size(material: Benchmark, size: int | None) -> int:
    """How many tasks will be chosen: with a budget, as many as have the mean cost."""
    if size is not None:
        return size
    assert material.terms.budget is not None
    return 1 + int(min(material.terms.budget / material.terms.cost.mean(), len(material.tasks) - 1))


def _content(
    material: Benchmark,
    method: str,
    chosen: Selection,
    comparison: Comparison | None,
    told: tuple[Any, ...],  # Any: reasons, named tuples
    notes: list[str],
) -> dict[str, Any]:  # Any: JSON values
    selection = chosen.chosen
    name = "best_of" if method.replace("-", "_") == "best_of" else selection.method
    row = random = None
    if comparison is not None:
        row, random = (comparison.row(one, comparison.sizes[-1]) for one in (name, "random"))
    terms = material.terms
    notes = [*selection.notes, *notes, *(() if comparison is None else comparison.notes)]
    return {
        "method": name,
        "took": selection.method,
        "tasks": list(selection.tasks),
        "gain": selection.gain.tolist(),
        "unit": selection.unit,
        "cost": selection.cost,
        "cost_of_all": float(terms.cost.sum()) if terms.priced else float(len(material.tasks)),
        "priced": terms.priced,
        "budget": terms.budget,
        "target": material.target,
        "agents": len(material.agents),
        "of_tasks": len(material.tasks),
        "why": [
            one._asdict() | {"alike": [{"task": task, "correlation": r} for task, r in one.alike]}
            for one in told
        ],
        "folds": None if comparison is None else comparison.folds,
        "quality": None if row is None else row.to_dict(),
        "random": None if random is None else random.to_dict(),
        "rank_changes": None
        if comparison is None
        else {
            agent: {"full": full, "few": few}
            for agent, (full, few) in comparison.rank_changes(name, comparison.sizes[-1]).items()
        },
        "stability": None
        if comparison is None
        else [one._asdict() for one in comparison.stability if one.method == selection.method],
        "answer": None if comparison is None else comparison.answer,
        "input": chosen.fingerprint,
        "warnings": list(dict.fromkeys(notes)),
    }


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    took = "" if content["took"] == content["method"] else f" (took {content['took']})"
    print_line(
        f"{len(content['tasks'])} of {content['of_tasks']} tasks by {content['method']}{took}, "
        f"{content['agents']} agents, {content['target']}; seed {content['seed']}, input {content['input']}"
    )
    _print_chosen(content)
    if content["quality"] is not None:
        _print_proof(content)
        print_line("\n" + printable(content["answer"], 2_000))
    if "stored" in content:
        print_line(f"Stored: {content['stored']}")


def _print_chosen(content: dict[str, Any]) -> None:  # Any: JSON values
    priced = content["priced"]
    header = [
        "task",
        *(["cost"] if priced else []),
        "gain",
        "weight",
        "correlation",
        "most like it",
    ]
    rows = [
        [
            one["task"],
            *([one["cost"]] if priced else []),
            *(one["gain"], one["weight"], one["correlation"]),
            ", ".join(other["task"] for other in one["alike"]),
        ]
        for one in content["why"]
    ]
    print_table("\nChosen", header, rows, right=range(1, len(header) - 1))
    print_line(f"gain: {GAINS.get(content['unit'], content['unit'])}")
    print_line(f"weight, correlation: in predicting the {content['target']}, and with it")
    if priced:
        budget = "" if content["budget"] is None else f" of a budget of {content['budget']:,.6g}"
        print_line(
            f"Cost: {content['cost']:,.6g}{budget}; all tasks cost {content['cost_of_all']:,.6g}"
        )


def _print_proof(content: dict[str, Any]) -> None:  # Any: JSON values
    rows = [
        [label, content["quality"][name], content["random"][name], meaning]
        for name, (label, meaning) in FIGURES.items()
    ]
    title = f"\nOn held-out agents ({content['folds']})"
    print_table(title, ["", "chosen", "random", ""], rows, right=(1, 2))
