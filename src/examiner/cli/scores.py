"""`examiner scores`: aggregates, comparisons and ranks, each with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from examiner.cli.fitting import recipe_of
from examiner.cli.levels import LevelOptions, levelled_and_compared
from examiner.cli.options import (
    LEVEL,
    REPS,
    TUNED_ON,
    USUAL_REPS,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import fit, indicators, qualified
from examiner.messages import counted, listed
from examiner.reporting import Finding, render_ranking, shown_table
from examiner.results import Results
from examiner.scores import AGGREGATES, Interval, PostHoc, Unit, attempts, rank, score_unit


@dataclass(frozen=True, slots=True)
class ScoresOptions:
    """What is aggregated, and how it is resampled and tested."""

    aggregate: list[str] | None = option(
        None,
        f"{', '.join(AGGREGATES)} or all; may be repeated, the first ranks [default: mean].",
        metavar="NAME",
    )
    unit: Unit | None = option(
        None,
        "What is resampled: runs, tasks or both [default: runs if every cell has several, else tasks].",
    )
    group: str | None = option(
        None,
        "Column of groups of tasks (repository, passage, game) that are drawn as a whole; none takes tasks "
        "as independent [default: groups that are found are announced].",
        metavar="COLUMN",
    )
    interval: Interval = option(
        "studentised", "studentised keeps its level with few runs; percentile as in rliable."
    )
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")
    level: float = option(0.95, LEVEL)
    posthoc: PostHoc = option(
        "t-holm", "Test of pairs: of means (t), signed ranks (wilcoxon) or mean ranks."
    )
    attempts: bool = option(
        False,
        "Report several attempts at each task instead: pass@k, pass^k, flips, noise.",
        "--attempts",
    )
    qualify: str | None = option(
        None,
        "Rank only agents that reach a limit of an indicator of `fit`: 'generality >= 3'.",
        metavar="CONDITION",
    )
    tuned_on: list[str] | None = option(None, TUNED_ON, "--tuned-on", metavar="PATTERN")


def scores(
    options: SourceOptions,
    how: ScoresOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    printing: Seeded,
) -> None:
    """Aggregate and rank agents with intervals, compare them, and show where the uncertainty comes from."""
    with progress_bar("reading") as progress:
        read = results_from(options, tuned_on=how.tuned_on)
        if how.qualify is not None:
            read = _qualified(read, how.qualify, comparison, printing.seed)
        prepared = levelled_and_compared(read, levels, comparison)
        results = prepared.results
        if how.attempts:
            tried = attempts(results, level=how.level, total=prepared.total, group=how.group)
            tables = (shown_table(tried.passed), shown_table(tried.agents))
            finding = Finding(lead=tried.headline, blocks=tables, answer=tried)
            show(finding, printing, read=results, score_unit=score_unit(results))
            return
        ranking = rank(
            results,
            how.aggregate or ("mean",),
            rng=printing.seed,
            reps=how.reps,
            unit=how.unit,
            group=how.group,
            interval=how.interval,
            level=how.level,
            posthoc=how.posthoc,
            total=prepared.total,
            progress=progress,
        )
    finding = render_ranking(ranking, seed=printing.seed)
    unit, steps = score_unit(results), list(results.provenance.steps)
    show(finding, printing, "scores", read=results, score_unit=unit, steps=steps)


def _qualified(
    results: Results, condition: str, comparison: ComparisonOptions, seed: int
) -> Results:
    """The results of agents that reach a limit of an indicator, with a note that names the others."""
    fitted = fit(results, recipe=recipe_of(comparison), rng=seed)
    agents = qualified(indicators(fitted), condition)
    others = [agent for agent in results.agents if agent not in agents]
    if not others:
        return results
    kept = np.isin(np.array(results.agents, dtype=object), agents)
    note = f"{counted(len(others), 'agent')} without {condition} excluded: {listed(others)}."
    return results.where(kept[results.agent_codes]).with_notes(note)
