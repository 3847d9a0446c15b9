"""The audit: tasks flagged for review, with why, and groups that correlate beyond ability."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt import FLAGS, KINDS, Audit
from examiner.messages import counted, listed
from examiner.reporting.figures import chart
from examiner.reporting.figures.chart import Floats
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import (
    Figure,
    Finding,
    NothingToTellError,
    Piece,
    Text,
    noted,
    shown_table,
)
from examiner.reporting.prose import enumerated, labels
from examiner.reporting.study import Study

FEWEST_DRAWN = 5
LABEL_LIMIT = 60


def finding(study: Study) -> Finding:
    """List the flagged tasks, with a figure of how all of them discriminate."""
    found = study.audited
    if isinstance(found, str):
        raise NothingToTellError(found)
    chosen = study.success is not None or study.share is not None
    successes = chosen or study.results.is_binary(study.measure)
    shown = render_audit(found, successes=successes)
    sampled = len(found.tasks) < len(study.results.tasks)
    notes = [f"{study.sample[1]} `examiner audit` uses all results."] if sampled else []
    return replace(shown, blocks=(*shown.blocks, *noted([*_by_one_test(study, found), *notes])))


def _by_one_test(study: Study, found: Audit) -> list[str]:
    """Which tasks have negative discrimination by the fit of the report or by the audit, not by both."""
    if study.made_fit is None or study.not_shown:
        return []
    by_fit = study.weak_tasks
    by_audit = found.of_kind("negative")
    unseen = [task for task in by_fit if task not in found.tasks]
    fit_only = [task for task in by_fit if task in found.tasks and task not in by_audit]
    audit_only = [task for task in by_audit if task not in by_fit]
    audit_test = "the audit, which compares each task with the other tasks,"
    notes = []
    if unseen:
        notes.append(
            f"The fit finds significantly negative discrimination on {listed(unseen)}, which the audited "
            f"sample does not contain."
        )
    if fit_only:
        notes.append(
            f"The fit finds significantly negative discrimination on {listed(fit_only)}; "
            f"{audit_test} does not."
        )
    if audit_only:
        notes.append(
            f"T{audit_test[1:]} finds significantly negative discrimination on "
            f"{listed(audit_only)}; the fit does not."
        )
    return notes


def render_audit(found: Audit, *, successes: bool = True) -> Finding:
    """Show the flagged tasks, the groups, and what was tested.

    >>> from examiner.irt import audit
    >>> from examiner.results import Results
    >>> render_audit(audit(Results.from_numpy(np.triu(np.ones((6, 6)))), rng=0)).data["flagged"][0]["task"]
    'task 6'
    """
    tables = found.tables
    flagged, groups, constant = tables["flagged"], tables["groups"], tables["constant"]
    columns = [
        "task",
        "flags",
        "rank",
        "solved",
        "correlation",
        "expected_correlation",
        "related_tasks",
    ]
    columns += ["notable_agents"]
    columns += ["text"] if "text" in flagged.columns else []
    blocks: list[Piece] = []
    if len(flagged):
        blocks.append(shown_table(flagged, columns, "Flagged tasks, the most serious first"))
    if len(groups):
        caption = "Groups that correlate beyond ability: a shared environment, or a second ability"
        blocks.append(shown_table(groups, caption=caption))
    if len(constant):
        caption = f"Constant among the best {found.top} agents"
        blocks.append(shown_table(constant, caption=caption))
    blocks += _figure(found, successes)
    blocks.append(Text(_meanings(found)))
    first = list(found.flagged.task[:3])
    return Finding(
        lead=(f"{found.headline} First: ", *enumerated(first), ".") if first else found.headline,
        blocks=(*blocks, *noted(found.notes)),
        about=f"{counted(len(found.names), 'agent')} × {counted(len(found.tasks), 'task')}",
        answer=found,
    )


def _meanings(found: Audit) -> str:
    meanings = [
        f"{FLAGS[kind]}: {KINDS[kind]}"
        for kind in KINDS
        if found.of_kind(kind) and FLAGS[kind] != KINDS[kind]
    ]
    rate = (
        "Each flag is tested at 5 % over all tasks; tasks solved by no agent or by every agent are "
        "counted."
    )
    meaning = f"{'; '.join(meanings)}. " if meanings else ""
    return f"{meaning}{rate} Tested: {found.scalars['tested'].value}."


class DiscriminationData(NamedTuple):
    """Share solved, or mean, of each task and its correlation with the others; which are suspects."""

    tasks: tuple[str, ...]
    share: Floats
    correlation: Floats
    usual: Floats
    suspect: NDArray[np.bool_]
    successes: bool = True


def draw(data: DiscriminationData) -> chart.Drawing:
    """Draw discrimination over how many solve a task, suspects marked, and what is usual.

    >>> one = np.array([0.5, 0.6])
    >>> made = DiscriminationData(("t", "u"), one, one, one, np.array([True, False]))
    >>> [trace["name"] for trace in draw(made)["data"]]
    ['expected', 'other tasks', 'flagged']
    """
    order = np.argsort(data.share, kind="stable")
    axis = stretch_for(data.share)
    along = axis.positions(data.share)
    traces = [chart.line(along[order], data.usual[order], "expected", chart.MEAN)]
    names = labels(data.tasks, LABEL_LIMIT)
    hover = "%{customdata[0]}: %{y:.2f} at %{customdata[1]:.2f}"
    marked = (("other tasks", ~data.suspect, "circle"), ("flagged", data.suspect, "x"))
    for name, where, symbol in marked:
        rows = np.flatnonzero(where)
        told = [[names[row], data.share[row]] for row in rows]
        colour = chart.DOTS if symbol == "circle" else chart.MEAN
        if not len(rows):
            continue
        ends = along[rows], data.correlation[rows]
        points = chart.dots(*ends, name, colour, hover, symbol=symbol, customdata=told)
        traces.append(points | chart.linked("tasks", [data.tasks[row] for row in rows]))
    title = "share solved" if data.successes else "mean score"
    x, y = axis.axis(title, data.share, room=0.12), chart.axis("correlation with the others")
    return chart.figure(traces, 310, x, y)


def _figure(found: Audit, successes: bool) -> list[Piece]:
    tasks = found.tasks
    known = np.flatnonzero(np.isfinite(tasks.correlation) & np.isfinite(tasks.expected_correlation))
    if len(known) < FEWEST_DRAWN:
        return []
    drawn = DiscriminationData(
        tuple(tasks.task[task] for task in known),
        tasks.share[known],
        tasks.correlation[known],
        tasks.expected_correlation[known],
        tasks.flagged[known],
        successes=successes,
    )
    return [
        Figure(
            key="suspects",
            drawn=drawn,
            drawing=draw(drawn),
            caption="Correlation of tasks with the others, by how well agents do on them.",
            description="Dots of tasks: correlation with the other tasks over the share that solves them.",
            legend="The line is expected if all tasks had the same discrimination; crosses are flagged.",
            narrowest=420,
        )
    ]
