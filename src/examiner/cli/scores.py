"""`examiner scores`: aggregates, comparisons and ranks, each with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.cli.options import (
    GROUP,
    LEVEL,
    REPS,
    TUNED_ON,
    USUAL_REPS,
    LevelOptions,
    ScaledOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import levelled_and_compared, recipe_of, results_from
from examiner.irt import fit, indicators, qualified
from examiner.messages import counted, listed
from examiner.reporting import Finding, render_ranking, shown_table
from examiner.results import Results
from examiner.scores import AGGREGATES, Interval, PostHoc, Unit, attempts, rank, score_unit


@dataclass(frozen=True)
class RankOptions:
    """What is aggregated, and how it is resampled and tested: arguments of `rank`."""

    aggregates: tuple[str, ...] = option(
        (),
        f"{', '.join(AGGREGATES)} or all; may be repeated, the first ranks [default: mean].",
        "--aggregate",
        metavar="NAME",
    )
    unit: Unit | None = option(
        None,
        "What is resampled: runs, tasks or both [default: runs if every cell has several, else tasks].",
    )
    group: str | None = option(None, GROUP, metavar="COLUMN")
    interval: Interval = option(
        "studentised",
        "studentised has its stated level even with few runs; percentile as in rliable.",
    )
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")
    level: float = option(0.95, LEVEL)
    posthoc: PostHoc = option(
        "t-holm", "Test of pairs: of means (t), signed ranks (wilcoxon) or mean ranks."
    )


@dataclass(frozen=True)
class ScoresOptions:
    """Which agents and tasks are ranked, or what is reported instead."""

    attempts: bool = option(
        False, "Report several attempts at each task instead: pass@k, pass^k, flips, noise."
    )
    qualify: str | None = option(
        None,
        "Rank only agents that reach a limit of an indicator of `fit`: 'generality >= 3'.",
        metavar="CONDITION",
    )
    tuned_on: tuple[str, ...] = option((), TUNED_ON, metavar="PATTERN")


def scores(
    options: SourceOptions,
    ranking: RankOptions,
    which: ScoresOptions,
    comparison: ScaledOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Aggregate and rank agents with intervals, compare them, and show where the uncertainty comes from."""
    with progress_bar("reading") as progress:
        read = results_from(options, tuned_on=which.tuned_on)
        if which.qualify is not None:
            read = _qualified(read, which.qualify, comparison, printing.seed)
        results, total = levelled_and_compared(read, levels, comparison)
        if which.attempts:
            tried = attempts(results, level=ranking.level, total=total, group=ranking.group)
            tables = (shown_table(tried.passed), shown_table(tried.agents))
            finding = Finding(blocks=tables, answer=tried)
            show(finding, printing, read=results, score_unit=score_unit(results))
            return
        answer = rank(
            results,
            normalise=None,
            rng=printing.seed,
            total=total,
            progress=progress,
            **vars(ranking) | {"aggregates": ranking.aggregates or ("mean",)},
        )
    finding = render_ranking(answer, seed=printing.seed)
    unit, steps = score_unit(results), list(results.provenance.steps)
    show(finding, printing, "scores", read=results, score_unit=unit, steps=steps)


def _qualified(results: Results, condition: str, comparison: ScaledOptions, seed: int) -> Results:
    """The results of agents that reach a limit of an indicator, with a note that names the others."""
    fitted = fit(results, recipe=recipe_of(comparison), rng=seed)
    agents = qualified(indicators(fitted), condition)
    others = [agent for agent in results.agents if agent not in agents]
    if not others:
        return results
    kept = np.isin(np.array(results.agents, dtype=object), agents)
    note = f"{counted(len(others), 'agent')} without {condition} excluded: {listed(others)}."
    return results.where(kept[results.agent_codes]).with_notes(note)
