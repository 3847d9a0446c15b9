"""`examiner information`: how many bits tasks tell about which agent is playing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from examiner.cli.options import REPS, Seeded, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.information import ChannelModel, Noise, analyse, best_set, single_successes
from examiner.information.analysis import USUAL_SIZE
from examiner.irt import IRTFit, ability_information
from examiner.irt import fit as fit_irt
from examiner.messages import InputError, shorten
from examiner.reporting import ability_bits
from examiner.reporting.findings import information as findings
from examiner.reporting.per_cost import TaskPrices
from examiner.results import Results
from examiner.scores import responses


@dataclass(frozen=True, slots=True)
class InformationOptions:
    """What counts as noise, and how the set of tasks is sought."""

    size: int | None = option(None, "Tasks to choose [default: 10, or all where there are fewer].")
    noise: Literal["trial", "mean"] = option(
        "trial", "Deviation of one trial, or error of the mean."
    )
    deviations: str = option(
        "own", "own, pooled, or a share of the task's spread between agents.", metavar="WHOSE"
    )
    spread: Literal["sum", "quadrature"] = option(
        "sum", "How the deviations of two agents are added."
    )
    literal_wins: bool = option(
        False, "Wins by their mean and deviation, as the paper prints it.", "--literal-wins"
    )
    correlated: bool = option(False, "Take measures with their correlation.", "--correlated")
    exact: bool = option(False, "Mutual information instead of the paper's equation 3.", "--exact")
    search: Literal["greedy", "swap", "optimum"] = option(
        "greedy", "Improve the greedy set by swaps, or try every set."
    )
    cost: str | None = option(
        None,
        "What attempts cost: a column; tasks that tell most for it come first.",
        metavar="COLUMN",
    )
    reps: int = option(100, REPS, min=0)


def information(options: SourceOptions, how: InformationOptions, told: Seeded) -> None:
    """Tell how many bits each task, and a few chosen ones, tell about which agent is playing."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        prices = _prices(results, how)
        fit = _fit(results) if _about_ability(results, how) else None
        if fit is not None:
            _tell_ability(results, fit, how, told, prices)
            return
        found = analyse(
            results,
            options.measure,
            rng=np.random.default_rng(told.seed),
            size=how.size,
            model=ChannelModel(
                Noise(how.noise, _deviations(how.deviations), literal_wins=how.literal_wins),
                how.correlated,
                how.spread,
                how.exact,
            ),
            reps=how.reps,
            progress=progress,
        )
        improved = None
        if how.search != "greedy":
            improved = best_set(
                found.channels,
                len(found.chosen.tasks),
                how.search,
                progress=progress,
            )
    show(
        findings.tell(found, improved, prices=prices, seed=told.seed),
        "examiner.information/1",
        told,
        (*results.notes, *found.notes, *(prices.notes if prices else ())),
        noise=how.noise,
        deviations=how.deviations,
        spread=how.spread,
        literal_wins=how.literal_wins,
        exact=how.exact,
        reps=how.reps,
        seed=told.seed,
    )


def _about_ability(results: Results, how: InformationOptions) -> bool:
    """Whether cells are single trials of 0 or 1, and nothing was said of how agents vary."""
    usual = InformationOptions()
    asked = (how.noise, how.deviations, how.spread, how.literal_wins, how.exact)
    silent = asked == (usual.noise, usual.deviations, usual.spread, usual.literal_wins, usual.exact)
    return silent and len(results.measures) == 1 and single_successes(results)


def _fit(results: Results) -> IRTFit | None:
    try:
        return fit_irt(responses(results), "2pl")
    except InputError:  # too few agents or tasks: bits as they are, and a note
        return None


def _prices(results: Results, how: InformationOptions) -> TaskPrices | None:
    """What one trial costs, or all of a run where bits are those of their mean."""
    if how.cost is None:
        return None
    return TaskPrices.of(results, how.cost, "run" if how.noise == "mean" else "attempt")


def _tell_ability(
    results: Results,
    fit: IRTFit,
    how: InformationOptions,
    told: Seeded,
    prices: TaskPrices | None,
) -> None:
    size = min(USUAL_SIZE, len(fit.items)) if how.size is None else how.size
    found = ability_information(fit, rng=told.seed, size=size)
    evidence = fit.evidence
    alike = evidence is not None and not evidence.abilities_differ
    not_shown = evidence.sentences()[0] if evidence is not None and alike else ""
    finding = ability_bits.tell(found, prices, seed=told.seed, not_shown=not_shown)
    notes = (*results.notes, *fit.notes, *(prices.notes if prices else ()))
    p_value = None if evidence is None else evidence.abilities.p_value
    show(
        finding,
        "examiner.information/1",
        told,
        notes,
        model=fit.model,
        p_value=p_value,
        seed=told.seed,
    )


def _deviations(text: str) -> Any:  # Any: a name or a number, checked by Noise
    complaint = (
        f"The deviations are {shorten(text)}. Say 'own', 'pooled', or a number above 0: a share of the "
        f"task's spread between agents."
    )
    return text if text in ("own", "pooled") else parsed(float, text, complaint)
