"""`examiner difference`: two agents, or one and several others, compared task by task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from examiner.cli.levels import LevelOptions, levelled_and_compared
from examiner.cli.options import (
    REPS,
    USUAL_REPS,
    ComparisonOptions,
    Seeded,
    SourceOptions,
    argument,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.messages import InputError, nearest
from examiner.reporting.findings import difference as findings
from examiner.scores import averaging_notes, compare
from examiner.scores.unit import score_unit

ComparedUnit = Literal["runs", "tasks"]


@dataclass(frozen=True, slots=True)
class DifferenceOptions:
    """Who is compared, and how surely."""

    agent: str = argument("A", "The agent that is compared.")
    other: str = argument("B", "The one it is compared with.")
    also: list[str] | None = option(
        None, "Another to compare it with; may be repeated, tests are corrected.", metavar="AGENT"
    )
    unit: ComparedUnit | None = option(
        None,
        "What would be another sample: runs or tasks [default: runs where every cell has several, else "
        "tasks].",
    )
    level: float = option(0.95, "Level of the intervals.")
    reps: int | None = option(None, f"{REPS} {USUAL_REPS}")


def difference(
    options: SourceOptions,
    who: DifferenceOptions,
    comparison: ComparisonOptions,
    levels: LevelOptions,
    told: Seeded,
) -> None:
    """Compare agents in pairs: difference, probability of improvement, a test, and every common task."""
    with progress_bar("reading") as progress:
        known = levelled_and_compared(results_from(options, progress), levels, comparison)
        results = known.results
        others = [who.other, *(who.also or ())]
        for name in (who.agent, *others):
            if name not in results.agents:
                hint = nearest(name, results.agents)
                raise InputError(
                    f"There is no agent {name!r}. {hint}See who is there with `examiner describe`."
                )
        if comparison.normalise is None:
            results = results.with_notes(*averaging_notes(results))
        how = {"rng": told.seed, "level": who.level, "reps": who.reps, "total": known.total}
        made = compare(results, who.agent, others, unit=who.unit, **how)  # type: ignore[arg-type]
    notes = tuple(dict.fromkeys((*results.notes, *made.all_notes)))
    beside = {"source": results.provenance.source, "seed": told.seed}
    finding, unit = findings.tell(made, seed=told.seed), score_unit(results)
    show(finding, made.schema, told, notes, score_unit=unit, **beside)
