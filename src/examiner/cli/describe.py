"""`examiner describe`: what is in a table of results, before anything is made of it."""

from __future__ import annotations

from typing import Any

from examiner.cli.options import JsonFlag, SourceOptions
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.results import Results
from examiner.wording import counted

_NAMES_SHOWN = 12


def describe(options: SourceOptions, json: JsonFlag = False) -> None:
    """Say what a table of results holds: agents, tasks, runs, trials, measures, what is missing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
        content = description(results)
    if json:
        print_json("examiner.describe/1", content)
        return
    agents, tasks = counted(content["agents"], "agent"), counted(content["tasks"], "task")
    print_line(
        f"{printable(results.provenance.source, 200)} ({results.provenance.format}): "
        f"{agents} × {tasks}, {counted(content['rows'], 'row')}"
    )
    print_table("", ["", ""], _facts(content), right=[1])
    header = ("measure", "observed", "least", "mean", "median", "most")
    rows = [[row[key] for key in header] for row in content["measure_ranges"]]
    print_table("\nMeasures", header, rows, right=range(1, len(header)))
    print_line(f"\nAgents: {_first(results.agents)}\nTasks:  {_first(results.tasks)}")
    print_notes(results.notes)


def description(results: Results) -> dict[str, Any]:  # Any: JSON values
    """Return everything `describe` says, as JSON values, with how runs would be reduced.

    >>> description(Results.from_numpy([[1.0, 2.0]]))["missing_cells"]
    0
    """
    from examiner.scores import default_reduction

    content = results.describe().to_dict()
    return content | {"reduction": content["reduction"] or default_reduction(results)}


def _facts(content: dict[str, Any]) -> list[list[object]]:  # Any: JSON values
    return [
        ["runs in a cell, at most", content["runs"]],
        ["trials in a cell, at most", content["trials"]],
        ["cells without any result", content["missing_cells"]],
        ["tasks with a scale", content["tasks_with_scale"]],
        ["other columns", ", ".join(content["attributes"]) or "none"],
        ["known of tasks", ", ".join(content["task_attributes"]) or "nothing"],
        ["known of agents", ", ".join(content["agent_attributes"]) or "nothing"],
        ["runs reduced by (--reduce)", _reduction(content)],
    ]


def _reduction(content: dict[str, Any]) -> str:  # Any: JSON values
    later = " when analysed: a training log" if content["training_log"] else ""
    return f"{content['reduction']}{later}"


def _first(names: tuple[str, ...]) -> str:
    shown = ", ".join(printable(name) for name in names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return shown + (f" and {rest:,} more" if rest > 0 else "")
