"""Claims: where agents are identical, at most 5 % of tables make a command or a report name one as abler.

Tables of identical agents are drawn, with tasks of one difficulty and of many. They are fitted, scored and
reported, and one more agent of the same kind is placed and examined. Counted are agents beyond 1.96 errors,
and tables in which anything is named: an agent as ahead, a task as discriminating or as rewarding the weak.
`report` is all of its sections but the slowest; `information`, the one that names tasks as telling agents
apart, is asked of the first 60 tables with repeated runs. `together` is fit, place, examine and report.
Beside, the same of tables in which agents differ (abilities N(0, 1), slopes lognormal): there it should be
named.

Run: python benchmarks/noise.py [--sizes 12x15x4 23x40x1 45x41x1 23x49x25] [--tables 200] [--no-report]
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from typing import NamedTuple

import numpy as np

from examiner.adaptive import Stop, TaskBank, examine
from examiner.irt import IRTFit, ItemParameters, fit, indicators, place, simulate
from examiner.reporting import FINDINGS, Figure, Finding, Study
from examiner.reporting.findings import fit as fit_finding
from examiner.reporting.prose import plain_text
from examiner.results import ResponseMatrix, Results
from examiner.scores import significance
from examiner.selection import benchmark

KINDS = ("one difficulty", "many difficulties", "agents differ")
SLOW = ("selection", "information", "next_task")
"""Sections that take seconds: the first and the last are told by the same test as all others."""
MOST_INFORMED = 60
"""Tables of which bits are told, which takes longer than all the rest."""
CLAIMS = re.compile(
    r"ablest|comes first by ability|[1-9]\d* of \d+ tasks are shown to tell|discriminates? more than tasks"
    r"|rewards? the weak\.|the able do worse on|clear of all|the able are|most steeply|Abilities run"
    r"|: [1-9][\d,]* of [\d,]+ pairs do|leads? by|tie for the lead|\d comes first in|at or above every"
    r"|Profiles cross|is best, or|are best, or|spread most|tells most alone|once noise is taken off"
    r"|Against the rest|Dominated by nobody|is dominated by nobody|A new agent like these"
)
"""Words that a report says only where it names somebody, or something, as more than others."""


class Told(NamedTuple):
    """What was told of one table: the share of agents beyond 1.96 errors, and what named something."""

    beyond: float
    abilities: bool
    slopes: bool
    fit: bool
    place: bool
    examine: bool
    scores: bool
    select: bool
    information: bool
    report: bool
    together: bool
    seconds: float


def table(kind: str, size: tuple[int, int, int], rng: np.random.Generator) -> ResponseMatrix:
    """Draw the responses of agents, and of one more like them, who is last."""
    agents, tasks, trials = size
    differ = kind == "agents differ"
    slope = rng.lognormal(0.2, 0.35, tasks) if differ else np.zeros(tasks)
    intercept = np.zeros(tasks) if kind == "one difficulty" else rng.normal(0.0, 1.0, tasks)
    items = ItemParameters.of([f"task {n}" for n in range(tasks)], slope, intercept)
    return simulate(items, agents + 1, trials=trials, rng=rng)


def told(matrix: ResponseMatrix, rng: np.random.Generator, *, report: bool, bits: bool) -> Told:
    """Fit all agents but the last, place and examine that one, and report."""
    began = time.process_time()
    last = len(matrix.agents) - 1
    known, new = matrix.take(list(range(last))), matrix.take([last])
    made = fit(known)
    beyond = float((np.abs(made.abilities.ability) > 1.96 * made.abilities.error).mean())
    named = fits(made)
    placed = places(made, new)
    examined = examines(made, new, rng)
    reported = reports(known, bits=bits) if report else (False,) * 4
    assert made.evidence is not None
    seen = made.evidence.abilities_differ, made.evidence.slopes_differ
    commands = named, placed, examined, *reported
    # the commands on scores and sets have tests of their own, and are counted by themselves
    together = named or placed or examined or reported[-1]
    return Told(beyond, *seen, *commands, together, time.process_time() - began)


def fits(made: IRTFit) -> bool:
    """Whether `examiner fit` names an agent or a task."""
    data = fit_finding.render_fit(made, indicators(made)).data
    return any(row["tied_first"] for row in data["agents"]) or any(
        row["significance"] for row in data["tasks"]
    )


def places(made: IRTFit, new: ResponseMatrix) -> bool:
    """Whether `examiner place` ranks an agent above or below others, and does not call that chance."""
    placements = place(new, made)
    (found,) = placements
    warned = any("a rank among them is chance" in note for note in placements.notes)
    return not warned and (found.rank_low > 1 or found.rank_high < found.ranked_among)


def examines(made: IRTFit, new: ResponseMatrix, rng: np.random.Generator) -> bool:
    """Whether `examiner examine --better-than` finds the agent better than another, or worse."""
    bank = TaskBank.of(made)
    stop = Stop(most=10, better_than=made.abilities.agents[0])
    last = examine(bank, new, stop=stop, agent=new.agents[0], rng=rng)
    chance = last.probability_better
    sure = chance is not None and not 0.05 <= chance <= 0.95
    return sure and (made.evidence is None or made.evidence.abilities_differ)


def reports(matrix: ResponseMatrix, *, bits: bool) -> tuple[bool, bool, bool, bool]:
    """Whether `scores`, `select`, `information` and a section of `examiner report` name anything."""
    won, tried = matrix.successes.astype(int), int(matrix.trials.max())
    runs = (np.arange(tried) < won[:, :, None]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = Results.from_numpy(runs if tried > 1 else runs[:, :, 0])
        study = Study.of(results)
        scored = significance(results, normalise=None).p_value <= 0.05
        chosen = not any("not shown to differ" in note for note in benchmark(results).notes)
        informed = bits and tried > 1 and claims(FINDINGS["information"](study))
        sections = any(claims(FINDINGS[name](study)) for name in FINDINGS if name not in SLOW)
        return scored, chosen, informed, sections or informed or not study.not_shown


def claims(told: Finding) -> bool:
    """Whether a lead, a paragraph or a caption names an agent as ahead or a task as telling."""
    texts = [block for block in told.blocks if isinstance(block, str)]
    captions = [block.caption for block in told.blocks if isinstance(block, Figure)]
    sentences = map(plain_text, (told.lead, *texts, *captions))
    return told.applies and any(map(CLAIMS.search, sentences))


def main() -> None:
    """Print, for each size and kind of table, the share of tables with its standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", default=["12x15x4", "23x40x1", "45x41x1", "23x49x25"])
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--no-report", action="store_true")
    given = parser.parse_args()
    print("table".ljust(32), *(name.rjust(13) for name in Told._fields))
    for name in given.sizes:
        agents, tasks, trials = (int(part) for part in name.split("x"))
        for kind in given.kinds:
            rngs = np.random.default_rng([agents, tasks, trials, KINDS.index(kind)]).spawn(
                given.tables
            )
            size = agents, tasks, trials
            found = np.array(
                [
                    told(
                        table(kind, size, rng),
                        rng,
                        report=not given.no_report,
                        bits=number < MOST_INFORMED,
                    )
                    for number, rng in enumerate(rngs)
                ],
                dtype=float,
            )
            error = found.std(axis=0) / np.sqrt(len(found))
            row = zip(found.mean(axis=0), error, strict=True)
            print(
                f"{name} {kind}".ljust(32),
                *(f"{mean:.3f} ±{off:.3f}".rjust(13) for mean, off in row),
                flush=True,
            )


if __name__ == "__main__":
    main()
