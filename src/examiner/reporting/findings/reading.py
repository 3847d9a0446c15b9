"""What was read: source, counts, steps, scales, and everything a reader should doubt."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from examiner.messages import ExaminerWarning, counted
from examiner.reporting.finding import Block, Facts, Finding, Notes, shown_table
from examiner.reporting.prose import enumerated, named
from examiner.results import Description, Results, ScaleArrays

if TYPE_CHECKING:  # describing results needs neither
    from examiner.answers import Row
    from examiner.reporting.study import Study
    from examiner.scores import FirstLook, SimilarAgents

NEAR_IDENTICAL = 0.99
MOST_PAIRS = 200
FEWEST_COMMON_TASKS = 10


def render_description(results: Results, source: str = "SOURCE") -> Finding:
    """Show what a table of results holds, which commands it supports, and what looks wrong.

    >>> render_description(Results.from_numpy([[1.0, 2.0]])).data["missing_cells"]
    0
    """
    from examiner.scores import first_look

    answer, look = _description(results), first_look(results)
    later = " when analysed: a training log" if answer.training_log else ""
    facts = {
        "runs, trials per cell, at most": f"{answer.runs:,}, {answer.trials:,}",
        "cells without any result": f"{answer.missing_cells:,}",
        "tasks with a scale": f"{answer.tasks_with_scale:,}",
        **_interpretations(answer),
        "attributes of tasks": ", ".join(answer.task_attributes),
        "attributes of agents": ", ".join(answer.agent_attributes),
        "runs reduced by (--reduce)": f"{answer.reduction}{later}",
        **_splits(results),
        "agents": enumerated(results.agents),
        "tasks": enumerated(results.tasks),
    }
    blocks = (
        Facts(tuple((what, fact) for what, fact in facts.items() if fact)),
        _supported(look, source),
        _suspected(look),
        shown_table(answer.measure_ranges, caption="Measures"),
        shown_table(answer.plays, caption="Plays of agents, fewest first"),
    )
    beside = {name: table.records() for name, table in look.tables.items()}
    return Finding(blocks=blocks, answer=answer, beside=beside)


def _supported(look: FirstLook, source: str) -> Facts:
    """Which questions the results answer with which command, and what the others lack."""
    rows = sorted(look.supports, key=lambda row: not row.possible)
    pairs = [("What these results support", "examiner COMMAND")]
    for row in rows:
        answered = _command(row.call, source) if row.possible else f"no: {row.basis}"
        pairs.append((f"  {row.analysis}", answered))
    return Facts(tuple(pairs))


def _suspected(look: FirstLook) -> Facts | None:
    """What looks wrong, a line each."""
    if not len(look.suspicions):
        return None
    title = ("What looks wrong", f"{counted(len(look.suspicions), 'thing')} to check")
    return Facts((title, *((f"  {row.what}", row.where) for row in look.suspicions)))


COMMANDS = {
    "scores.rank": "scores",
    "irt.fit": "fit",
    "information.analyse": "information",
    "information.similarity": "cluster",
    "selection.select": "select",
    "scores.curves": "curves",
    "scores.pareto": "cost",
}
"""Verbs of Python → commands."""


def _command(call: str, source: str) -> str:
    """The command that answers as a call in Python does.

    >>> _command('ex.irt.fit(results, normalise="human", success=1.0)', "runs.csv")
    'fit runs.csv --normalise human --success 1.0'
    """
    tree = ast.parse(call, mode="eval").body
    assert isinstance(tree, ast.Call)
    command = COMMANDS[ast.unparse(tree.func).removeprefix("ex.")]
    named = {keyword.arg: keyword.value for keyword in tree.keywords}
    named |= dict(zip(("size" if command == "select" else "cost",), tree.args[1:], strict=False))
    options = (f" --{name} {ast.unparse(value).strip(chr(39))}" for name, value in named.items())
    return f"{command} {source}{''.join(options)}"


def _interpretations(answer: Description) -> dict[str, str]:
    """What each column is: keys, then what is measured, then the others."""
    columns: dict[str, list[str]] = {}
    for row in answer.column_meanings:
        columns.setdefault(row.interpretation, []).append(row.column)
    others = [name for kind in ("attribute", "left out") for name in columns.pop(kind, [])]
    keys = [
        kind for kind in ("agent", "task", "part of the task", "run", "trial") if kind in columns
    ]
    measured = [kind for kind in columns if kind not in keys]
    shown = {
        f"column of {', '.join(kinds)}": "; ".join(", ".join(columns[kind]) for kind in kinds)
        for kinds in (keys, measured)
        if kinds
    }
    return shown | {"other columns": ", ".join(others)}


def _splits(results: Results) -> dict[str, str]:
    """How many tasks are for tuning and for testing, where a column `split` tells."""
    if "split" not in results.attributes:
        return {}
    pairs = set(zip(results.task_codes.tolist(), results.column("split"), strict=True))
    names = sorted({str(split) for _, split in pairs if split is not None})
    counts = [sum(split == name for _, split in pairs) for name in names]
    counted_splits = ", ".join(
        f"{name} {count:,}" for name, count in zip(names, counts, strict=True)
    )
    return {"tasks by split (--keep split:…)": counted_splits} if counted_splits else {}


def _description(results: Results) -> Description:
    answer = results.describe()
    if answer.reduction or not answer.training_log:
        return replace(answer, reduction=answer.reduction or "all")
    from examiner.scores import default_reduction  # a package that only training logs need here

    return replace(answer, reduction=default_reduction(results))


def finding(study: Study) -> Finding:
    """Show what was read, and what a reader should doubt.

    >>> from examiner.reporting.study import Study
    >>> finding(Study.of(Results.from_numpy([[0.5, 1.0]]))).lead
    '1 agent on 2 tasks, 1 run of 1 trial each, no cell missing; no warnings.'
    """
    doubts = doubts_of(study)
    blocks = (Notes(doubts), _facts(study), _likeness(study))
    return Finding(lead=_lead(study, len(doubts)), blocks=blocks)


def _lead(study: Study, doubts: int) -> str:
    counts = study.counts
    missing = int(np.isnan(study.raw).sum())
    repeated = f"{counted(counts['runs'], 'run')} of {counted(counts['trials'], 'trial')}"
    if counts["runs"] > 1 or counts["trials"] > 1:
        repeated = f"up to {repeated}"
    gaps = f"{missing:,} of {study.raw.size:,} cells missing" if missing else "no cell missing"
    warned = counted(doubts, "warning") if doubts else "no warnings"
    shape = f"{counted(counts['agents'], 'agent')} on {counted(counts['tasks'], 'task')}"
    return f"{shape}, {repeated} each, {gaps}; {warned}."


def _facts(study: Study) -> Facts:
    counts, scales = study.counts, scales_of(study)
    provenance = study.results.provenance
    pairs = [
        ("Source", named(provenance.source)),
        ("Format", provenance.format),
        ("Agents × tasks", f"{counts['agents']:,} × {counts['tasks']:,}"),
        ("Runs × trials", f"{_most(counts['runs'])} × {_most(counts['trials'])}"),
        *(("Tasks by split", splits) for splits in _splits(study.results).values()),
        ("Rows", f"{counts['rows']:,}"),
        ("Missing cells", _missing(study)),
        ("Measures", enumerated(study.results.measures)),
        ("Measure reported", named(study.measure)),
        ("Numbers shown", study.unit),
    ]
    if len(study.results.scales):
        scaled = int((~np.isnan(scales.random) | ~np.isnan(scales.reference)).sum())
        sources = enumerated(scales.sources) or "source not given"
        tasks = counted(counts["tasks"], "task")
        pairs.append(("Scales", f"{scaled:,} of {tasks}, from {sources}"))
    steps = enumerate(provenance.steps, start=1)
    pairs.extend((f"Step {number}", step) for number, step in steps)
    return Facts(tuple(pairs))


def _most(count: int) -> str:
    return "1" if count == 1 else f"up to {count:,}"


def _missing(study: Study) -> str:
    missing, unscaled = np.isnan(study.raw), np.isnan(study.comparable)
    lost = int((unscaled & ~missing).sum())
    more = f", and {lost:,} more that could not be made comparable" if lost else ""
    return f"{int(missing.sum()):,} of {missing.size:,}{more}"


def _pairs(study: Study) -> SimilarAgents:
    """Pairs of agents that are nearly the same, by their standing among all agents.

    On raw or human-normalised scores the few tasks with huge scores make all agents look alike.
    """
    from examiner.scores import SimilarAgents, cell_means, concordance, near_identical

    by_names: dict[tuple[str, str], Row] = {}
    if len({row.tobytes() for row in study.raw}) < len(study.raw):
        # Above a limit of one there are only exact repeats, which may not vary at all.
        exact = near_identical(study.results, 1.0, study.measure).pairs
        by_names |= {(pair.a, pair.b): pair for pair in exact}
    if len(study.results.agents) > 2:
        standing = _standing(study)
        near = near_identical(standing, NEAR_IDENTICAL, study.measure).pairs
        # Over a handful of common tasks a high correlation is chance.
        fewest = min(FEWEST_COMMON_TASKS, len(study.results.tasks))
        # Alike at one level, too: the best and the worst may be better on the same tasks.
        row = dict(zip(standing.agents, cell_means(standing, study.measure), strict=True))
        by_names |= {
            (pair.a, pair.b): pair
            for pair in near
            if pair.tasks >= fewest and concordance(row[pair.a], row[pair.b]) > NEAR_IDENTICAL
        }
    pairs = [pair for pair in by_names.values() if pair.tasks]
    return SimilarAgents(
        a=[pair.a for pair in pairs],
        b=[pair.b for pair in pairs],
        correlation=[pair.correlation for pair in pairs],
        tasks=[pair.tasks for pair in pairs],
        exact=[pair.exact for pair in pairs],
    )


def _standing(study: Study) -> Results:
    """Each agent's standing among all agents, task by task."""
    if study.normaliser == "z-score":
        return study.scores
    from examiner.scores import normalise

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExaminerWarning)  # about a step that is taken only here
        return normalise(study.results, "z-score", study.measure)


def _comparisons(study: Study) -> float:
    """How many numbers the correlation of all agents reads: far more where each lacks other tasks."""
    agents, tasks = study.comparable.shape
    packed = np.packbits(np.isfinite(study.raw), axis=1)
    patterns = len({row.tobytes() for row in packed})
    # Agents that lack the same tasks share one fast matrix product; unlike ones take a copy each.
    copies = agents if patterns == 1 else 8 * patterns**2
    return float(tasks * agents * copies)


def _likeness(study: Study) -> Block:
    if len(study.results.agents) == 1:
        return "There is one agent only: it can be described, but not compared."
    if _comparisons(study) > 2e10:  # numbers read: some ten seconds
        return (
            "Near-identical agents were not looked for: there are too many pairs to compare here. "
            "`ex.scores.near_identical` takes as long as it needs."
        )
    pairs = _pairs(study)
    near = f"a correlation above {NEAR_IDENTICAL} of their standing among all agents, at one level"
    if not len(pairs):
        none = "No two agents are nearly identical: none repeats another, and no two have "
        return f"{none}{near}."
    more = f"; the first {MOST_PAIRS} are shown" if len(pairs) > MOST_PAIRS else ""
    caption = (
        f"{counted(len(pairs), 'pair')} of agents nearly identical: exact repeats, or {near}, over "
        f"{FEWEST_COMMON_TASKS} common tasks or all{more}. They are listed, never removed."
    )
    return shown_table(pairs.take(range(min(MOST_PAIRS, len(pairs)))), caption=caption)


def doubts_of(study: Study) -> list[str]:
    """Return all warnings about the results of a study, the gravest first.

    >>> from examiner.reporting.study import Study
    >>> from examiner.results import Results
    >>> doubts_of(Study.of(Results.from_numpy([[0.5, 1.0]])))
    []
    """
    scales = scales_of(study)
    tasks = np.array(study.results.tasks, dtype=object)
    unscaled = tasks[np.isnan(scales.random) & np.isnan(scales.reference)]
    noted_already = study.normaliser == "human"  # its own notes name the tasks it had no use of
    from examiner.scores import direction_notes

    doubts = [*study.weak_notes, *direction_notes(study.results)]
    if len(study.results.scales) and len(unscaled) and not noted_already:
        names = enumerated(list(unscaled))
        doubts.append(f"{counted(len(unscaled), 'task')} without a scale: {names}.")
    if scales.inverted and not noted_already:
        names = enumerated(scales.inverted)
        doubts.append(
            f"The reference is no better than random on {names}: do not trust those tasks."
        )
    empty = tasks[np.isnan(study.raw).all(axis=0)]
    if len(empty):
        doubts.append(f"No agent was observed on {enumerated(list(empty))}.")
    if study.normaliser is None and (scales.sign < 0).any():
        lower = enumerated(list(tasks[scales.sign < 0]))
        doubts.append(f"Lower is better on {lower}, but raw values are ranked from above.")
    return [*doubts, *study.scores.notes]


def scales_of(study: Study) -> ScaleArrays:
    """Return the scales of tasks for the measure reported: random and reference, else what there is."""
    results = study.results
    arrays = results.scales.aligned(
        results.task_names, study.measure, needs=("random", "reference")
    )
    if np.isnan(arrays.random).all():
        return results.scales.aligned(results.task_names, study.measure)
    return arrays
