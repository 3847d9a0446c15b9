"""`examiner select`: which few tasks to run, with proof that they are enough."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import ProgressCallback, progress_bar
from examiner.cli.selecting import SelectionOptions, agents_named, judging, material_from
from examiner.results import InputError

if TYPE_CHECKING:
    from examiner.selection import ChosenSet, Comparison, Material

SIZE = 5


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
        content, chosen = _answer(material, choice, wanted, method, proof, seed, progress)
    if output is not None:
        from examiner.records import write_selection

        content["stored"] = str(write_selection(chosen, output))
    if json:
        print_json("examiner.select/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def _answer(
    material: Material,
    choice: SelectionOptions,
    size: int | None,
    method: str,
    proof: bool,
    seed: int,
    progress: ProgressCallback,
) -> tuple[dict[str, Any], ChosenSet]:  # Any: JSON values
    from examiner.selection import chosen_set, compare_selections, on_agents, reasons
    from examiner.selection import select as choose

    rng = np.random.default_rng(seed)
    named = agents_named(choice.choose_on, material.agents)
    own = material if named is None else on_agents(material, named)
    selection = choose(own, size, method, rng=rng)
    comparison = None
    if proof:
        comparison = compare_selections(
            material,
            [len(selection)],
            [method],
            rng=rng,
            choose_on=named,
            **judging(choice.workers, material, len(material.agents), len(selection), progress),
        )
    chosen = chosen_set(own, selection, comparison, rng=rng)
    told = reasons(own, selection, chosen.predictor)
    return _content(material, method, chosen, comparison, told) | {"seed": seed}, chosen


def _content(
    material: Material,
    method: str,
    chosen: ChosenSet,
    comparison: Comparison | None,
    told: tuple[Any, ...],  # Any: reasons, named tuples
) -> dict[str, Any]:  # Any: JSON values
    selection = chosen.selection
    name = "best_of" if method.replace("-", "_") == "best_of" else selection.method
    row = random = None
    if comparison is not None:
        row, random = (comparison.row(one, comparison.sizes[-1]) for one in (name, "random"))
    notes = [*selection.notes, *(() if comparison is None else comparison.notes)]
    return {
        "method": name,
        "took": selection.method,
        "tasks": list(selection.tasks),
        "gain": selection.gain.tolist(),
        "unit": selection.unit,
        "cost": selection.cost,
        "target": material.target,
        "agents": len(material.agents),
        "of_tasks": len(material.tasks),
        "why": [
            one._asdict() | {"alike": [{"task": task, "correlation": r} for task, r in one.alike]}
            for one in told
        ],
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
    header = ["task", content["unit"], "weight", "correlation", "most like it"]
    rows = [
        [
            one["task"],
            one["gain"],
            one["weight"],
            one["correlation"],
            ", ".join(other["task"] for other in one["alike"]),
        ]
        for one in content["why"]
    ]
    print_table("\nChosen", header, rows, right=range(1, 4))
    if content["quality"] is not None:
        names = ["r2", "r2_remainder", "relative_error", "kendall", "top1", "coverage"]
        names += ["minimum_detectable_difference", "optimistic_r2"]
        rows = [
            [label, *(content[key][name] for name in names)]
            for label, key in (("chosen", "quality"), ("random", "random"))
        ]
        print_table("\nOn held-out agents", ["", *names], rows, right=range(1, len(names) + 1))
        print_line(printable(f"\n{content['answer']}".strip(), 2_000))
    if "stored" in content:
        print_line(f"Stored: {content['stored']}")
