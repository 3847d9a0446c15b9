"""`examiner cluster`: which tasks are alike, and how much of a benchmark is one thing."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.options import JsonFlag, SeedOption, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.wording import InputError, counted, shorten

if TYPE_CHECKING:
    from examiner.information import LikenessAnalysis

_NAMES_SHOWN = 8


class Correlation(StrEnum):
    """How tasks are correlated."""

    pearson = "pearson"
    spearman = "spearman"


class Linkage(StrEnum):
    """How the distance of two clusters is taken."""

    average = "average"
    complete = "complete"
    single = "single"


def cluster(
    options: SourceOptions,
    correlation: Annotated[
        Correlation, typer.Option("--correlation", help="Of values or of ranks.")
    ] = Correlation.pearson,
    linkage: Annotated[
        Linkage, typer.Option("--linkage", help="How the distance of two clusters is taken.")
    ] = Linkage.average,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Join clusters up to this distance, 1 − r.")
    ] = 0.8,
    clusters: Annotated[
        str | None,
        typer.Option("--clusters", help="So many clusters, or 'auto', instead of the threshold."),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--size", help="Tasks an agent may be crowned on [default: 10]."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Gather tasks that are alike, and tell who could be crowned by a choice of tasks."""
    from examiner.information import likeness

    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        found = likeness(
            results,
            rng=np.random.default_rng(seed),
            method=correlation.value,
            linkage=linkage.value,
            threshold=threshold,
            number=_number(clusters),
            size=size,
            progress=progress,
        )
    content = cluster_content(found) | {
        "correlation": correlation.value,
        "linkage": linkage.value,
        "threshold": threshold if clusters is None else None,
        "seed": seed,
        "warnings": [*results.notes, *found.notes],
    }
    if json:
        print_json("examiner.cluster/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def cluster_content(found: LikenessAnalysis) -> dict[str, Any]:  # Any: JSON values
    """Return everything `cluster` says, as JSON values.

    >>> from examiner.information import likeness
    >>> from examiner.results import Results
    >>> results = Results.from_numpy([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0]], tasks="tu")
    >>> content = cluster_content(likeness(results, rng=np.random.default_rng(0)))
    >>> content["clusters"], content["crownable_agents"]
    ([['t', 'u']], 1)
    """
    main, factor, crowning = found.main, found.factor, found.crowning
    estimates = {
        name: getattr(factor, name)
        for name in ("mean_task_correlation", "mean_agent_correlation", "first_factor_share")
    }
    return {
        "clusters": [list(names) for names in main.clusters],
        "order": [main.tasks[place] for place in main.order],
        **{name: estimate.value for name, estimate in estimates.items()},
        "crownable_agents": crowning.crownable,
        "intervals": {name: [one.low, one.high] for name, one in estimates.items()},
        "first_factor_share_by_chance": factor.first_factor_by_chance,
        "suggested_clusters": main.suggested,
        "silhouette": main.silhouette,
        "by_measure": {
            name: [list(names) for names in one.clusters] for name, one in found.clusters.items()
        },
        "opposed": list(found.opposed.opposed),
        "deceptive": [] if found.deceptive is None else list(found.deceptive.deceptive),
        "crownable_on_the_same_trials": int(crowning.wins.sum()),
        "crownable_by_factors": int(crowning.by_factors.sum()),
        "crownable_on_held_out_trials": None
        if crowning.held_out is None
        else int(crowning.held_out.sum()),
        "crowns": [_crown(found, place) for place in range(len(crowning.agents))],
        "agents": len(crowning.agents),
        "measure": main.measure,
    }


def _crown(found: LikenessAnalysis, place: int) -> dict[str, Any]:  # Any: JSON values
    crowning = found.crowning
    return {
        "agent": crowning.agents[place],
        "tasks": list(crowning.tasks[place]),
        "lead": float(crowning.lead[place]),
        "wins": bool(crowning.wins[place]),
        "by_factors": bool(crowning.by_factors[place]),
        "held_out": None if crowning.held_out is None else bool(crowning.held_out[place]),
    }


def _number(text: str | None) -> Any:  # Any: a number, 'auto' or None, checked by the room
    if text is None or text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise InputError(
            f"The number of clusters is {shorten(text)}. Give 1 or more, or 'auto'."
        ) from None


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    rows = [
        [
            place + 1,
            len(names),
            ", ".join(names[:_NAMES_SHOWN]) + (", …" if names[_NAMES_SHOWN:] else ""),
        ]
        for place, names in enumerate(content["clusters"])
        if len(names) > 1
    ]
    print_table(f"Clusters by {content['measure']}", ["", "tasks", "names"], rows, right=[0, 1])
    alone = sum(len(names) == 1 for names in content["clusters"])
    print_line(
        f"{counted(alone, 'task')} alone; the silhouette suggests {content['suggested_clusters']}."
    )
    facts = [
        [name.replace("_", " "), content[name], *content["intervals"][name]]
        for name in content["intervals"]
    ]
    print_table("\nOne factor?", ["", "value", "low", "high"], facts, right=[1, 2, 3])
    held = content["crownable_on_held_out_trials"] is not None
    print_line(
        f"\n{content['crownable_agents']:,} of {counted(content['agents'], 'agent')} can be made to win "
        f"by a choice of tasks{', judged on held-out trials' if held else ''}; seed {content['seed']}."
    )
    for what in ("opposed", "deceptive"):
        names = content[what]
        print_line(f"{what.capitalize()} tasks: {', '.join(names[:_NAMES_SHOWN]) or 'none'}")
