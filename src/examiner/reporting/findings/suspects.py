"""The audit: tasks flagged for review, with why, and groups that correlate beyond ability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.irt import FLAGS, KINDS, Audit
from examiner.messages import InputError, counted, listed
from examiner.reporting.figures import chart
from examiner.reporting.figures.stretch import stretch_for
from examiner.reporting.finding import Figure, Finding, Notes, shown_table
from examiner.reporting.prose import enumerated, labels
from examiner.reporting.study import Study


def finding(study: Study) -> Finding:
    """List the flagged tasks, with a figure of how all of them discriminate."""
    audited = study.audited
    if isinstance(audited, str):
        raise InputError(audited)
    chosen = study.success is not None or study.share is not None
    shown = render_audit(audited, successes=chosen or study.results.is_binary(study.measure))
    notes = _by_one_test(study, audited)
    if len(audited.tasks) < len(study.results.tasks):
        notes.append(f"{study.sample[1]} `examiner audit` uses all results.")
    return replace(shown, blocks=(*shown.blocks, Notes(notes)))


def _by_one_test(study: Study, audited: Audit) -> list[str]:
    """Which tasks have negative discrimination by the fit of the report or by the audit, not by both."""
    if study.made_fit is None or study.not_shown:
        return []
    by_fit, by_audit = study.weak_tasks, audited.of_kind("negative")
    what = "finds significantly negative discrimination on"
    notes = []
    if unseen := [task for task in by_fit if task not in audited.tasks]:
        notes.append(f"The fit {what} {listed(unseen)}, which the audited sample does not contain.")
    if fit_only := [t for t in by_fit if t in audited.tasks and t not in by_audit]:
        notes.append(
            f"The fit {what} {listed(fit_only)}; the audit, which compares each task with the other "
            f"tasks, does not."
        )
    if audit_only := [task for task in by_audit if task not in by_fit]:
        notes.append(
            f"The audit, which compares each task with the other tasks, {what} {listed(audit_only)}; the "
            f"fit does not."
        )
    return notes


def render_audit(audited: Audit, *, successes: bool = True) -> Finding:
    """Show the flagged tasks, the groups, and what was tested.

    >>> from examiner.irt import audit
    >>> from examiner.results import Results
    >>> render_audit(audit(Results.from_numpy(np.triu(np.ones((6, 6)))), rng=0)).data["flagged"][0]["task"]
    'task 6'
    """
    tables = audited.tables
    columns = ["task", "flags", "rank", "solved", "correlation", "expected_correlation"]
    columns += ["related_tasks", "notable_agents"]
    columns += ["text"] if "text" in tables["flagged"].columns else []
    groups = "Groups that correlate beyond ability: a shared environment, or a second ability"
    first = list(audited.flagged.task[:3])
    names = f"First: {enumerated(first)}. " if first else ""
    return Finding(
        lead=(
            f"{audited.headline} {names}Each flag is tested at 5 % over all tasks; tasks solved by no "
            f"agent or by every agent are counted."
        ),
        blocks=(
            shown_table(tables["flagged"], columns, "Flagged tasks, the most serious first"),
            shown_table(tables["groups"], caption=groups),
            shown_table(
                tables["constant"], caption=f"Constant among the best {audited.top} agents"
            ),
            _figure(audited, successes),
            _meanings(audited),
            Notes(audited.notes),
        ),
        about=f"{counted(audited.agents, 'agent')} × {counted(len(audited.tasks), 'task')}",
        answer=audited,
    )


def _meanings(audited: Audit) -> str:
    meanings = [
        f"{FLAGS[kind]}: {KINDS[kind]}"
        for kind in KINDS
        if audited.of_kind(kind) and FLAGS[kind] != KINDS[kind]
    ]
    meaning = f"{'; '.join(meanings)}. " if meanings else ""
    return f"{meaning}Tested: {audited.tested}."


def _figure(audited: Audit, successes: bool) -> Figure | None:
    """Discrimination over how many solve a task, flagged ones marked, and what is expected."""
    tasks = audited.tasks.take(
        np.flatnonzero(
            np.isfinite(audited.tasks.correlation) & np.isfinite(audited.tasks.expected_correlation)
        )
    )
    if len(tasks) < 5:
        return None
    share, usual = tasks.share, tasks.expected_correlation
    axis, order = stretch_for(share), np.argsort(share, kind="stable")
    along, names = axis.positions(share), labels(tasks.task, 60)
    traces = [chart.line(along[order], usual[order], "expected", chart.MEAN)]
    hover = "%{customdata[0]}: %{y:.2f} at %{customdata[1]:.2f}"
    for name, chosen, symbol, colour in (
        ("other tasks", ~tasks.flagged, "circle", chart.DOTS),
        ("flagged", tasks.flagged, "x", chart.MEAN),
    ):
        rows = np.flatnonzero(chosen)
        if len(rows):
            ends = along[rows], tasks.correlation[rows]
            points = chart.dots(*ends, name, colour, hover, symbol=symbol)
            points["customdata"] = [[names[row], share[row]] for row in rows]
            traces.append(points | chart.linked("tasks", [tasks.task[row] for row in rows]))
    x = axis.axis("share solved" if successes else "mean score", share, room=0.12)
    return Figure(
        key="suspects",
        data={
            "tasks": tasks.task,
            "share": share,
            "correlation": tasks.correlation,
            "usual": usual,
            "suspect": tasks.flagged,
            "successes": successes,
        },
        drawing=chart.figure(traces, 310, x, chart.axis("correlation with the others")),
        caption="Correlation of tasks with the others, by how well agents do on them.",
        description="Dots of tasks: correlation with the other tasks over the share that solves them.",
        legend="The line is expected if all tasks had the same discrimination; crosses are flagged.",
        narrowest=420,
    )
