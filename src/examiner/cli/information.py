"""`examiner information`: how much each task reveals about which agent is playing (bits)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from examiner.cli.options import REPS, Seeded, SourceOptions, option
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.cli.values import number_or
from examiner.information import USUAL_SIZE, ChannelModel, Noise, analyse, single_successes
from examiner.irt import IRTFit, ability_information
from examiner.irt import fit as fit_irt
from examiner.messages import InputError
from examiner.reporting import render_ability_information, render_information, with_costs
from examiner.results import Results
from examiner.scores import responses, task_cost_notes


@dataclass(frozen=True)
class NoiseOptions:
    """What counts as noise, and how bits are computed from it."""

    noise: Literal["trial", "mean"] = option(
        "trial", "Standard deviation of one trial, or error of the mean."
    )
    deviations: float | Literal["own", "pooled"] = option(
        "own",
        "own, pooled, or a share of the task's spread between agents.",
        metavar="WHOSE",
        parse=number_or(
            *("own", "pooled"),
            complaint="The deviations are {}. Choose 'own', 'pooled', or a number above 0: a share of the "
            "task's spread between agents.",
        ),
    )
    spread: Literal["sum", "quadrature"] = option(
        "sum", "How the deviations of two agents are combined."
    )
    literal_wins: bool = option(False, "Model wins by mean and deviation, as printed in the paper.")
    correlated: bool = option(False, "Use the correlation between measures.")
    exact: bool = option(False, "Exact mutual information instead of the paper's equation 3.")


@dataclass(frozen=True)
class SearchOptions:
    """How the set of tasks is searched: arguments of `analyse`."""

    size: int | None = option(
        None, "Number of tasks to select [default: 10, or all if there are fewer]."
    )
    search: Literal["greedy", "swap", "optimum"] = option(
        "greedy", "greedy, improved by swaps, or every set."
    )
    cost: str | None = option(
        None,
        "Cost of an attempt: a column; tasks are then ranked by bits per cost.",
        metavar="COLUMN",
    )
    reps: int = option(100, REPS, min=0)


def information(
    options: SourceOptions, assumed: NoiseOptions, searching: SearchOptions, printing: Seeded
) -> None:
    """Show how much each task, and the best few together, reveal about which agent is playing (bits)."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        # Single trials say nothing about noise: unless it is stated, bits are about ability.
        unstated = replace(assumed, correlated=False) == NoiseOptions()
        if unstated and len(results.measures) == 1 and single_successes(results):
            fit = _fit(results)
            if fit is not None:
                _show_ability(results, fit, searching, printing)
                return
        noise = Noise(assumed.noise, assumed.deviations, literal_wins=assumed.literal_wins)
        analysis = analyse(
            results,
            options.measure or None,
            rng=printing.seed,
            model=ChannelModel(noise, assumed.correlated, assumed.spread, assumed.exact),
            progress=progress,
            **vars(searching),
        )
    show(render_information(analysis), printing, read=results)


def _fit(results: Results) -> IRTFit | None:
    try:
        return fit_irt(responses(results), "2pl")
    except InputError:  # too few agents or tasks: bits as they are, and a note
        return None


def _show_ability(
    results: Results, fit: IRTFit, searching: SearchOptions, printing: Seeded
) -> None:
    size = min(USUAL_SIZE, len(fit.items)) if searching.size is None else searching.size
    bits = ability_information(fit, rng=printing.seed, size=size)
    notes = fit.notes
    if searching.cost is not None:
        bits = with_costs(bits, results, searching.cost)
        notes = (*notes, *task_cost_notes(results, searching.cost, per="attempt"))
    evidence = fit.evidence
    alike = evidence is not None and not evidence.abilities_differ
    not_shown = evidence.sentences()[0] if evidence is not None and alike else ""
    show(
        render_ability_information(bits, seed=printing.seed, not_shown=not_shown),
        printing,
        "information",
        read=results,
        notes=notes,
        model=fit.model,
        p_value=None if evidence is None else evidence.abilities.p_value,
    )
