"""`examiner information`: how much each task reveals about which agent is playing (bits)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from examiner.cli.options import REPS, Seeded, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.information import USUAL_SIZE, ChannelModel, Noise, analyse, single_successes
from examiner.irt import IRTFit, ability_information
from examiner.irt import fit as fit_irt
from examiner.messages import InputError, shorten
from examiner.reporting import TaskPrices, render_ability_information, render_information
from examiner.results import Results
from examiner.scores import responses


@dataclass(frozen=True, slots=True)
class InformationOptions:
    """What counts as noise, and how the set of tasks is searched."""

    size: int | None = option(
        None, "Number of tasks to select [default: 10, or all if there are fewer]."
    )
    noise: Literal["trial", "mean"] = option(
        "trial", "Standard deviation of one trial, or error of the mean."
    )
    deviations: str = option(
        "own", "own, pooled, or a share of the task's spread between agents.", metavar="WHOSE"
    )
    spread: Literal["sum", "quadrature"] = option(
        "sum", "How the deviations of two agents are combined."
    )
    literal_wins: bool = option(
        False, "Model wins by mean and deviation, as printed in the paper.", "--literal-wins"
    )
    correlated: bool = option(False, "Use the correlation between measures.", "--correlated")
    exact: bool = option(
        False, "Exact mutual information instead of the paper's equation 3.", "--exact"
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


def information(options: SourceOptions, how: InformationOptions, printing: Seeded) -> None:
    """Show how much each task, and the best few together, reveal about which agent is playing (bits)."""
    with progress_bar("reading") as progress:
        results = results_from(options, progress)
        fit = _fit(results) if _about_ability(results, how) else None
        if fit is not None:
            prices = None if how.cost is None else TaskPrices.of(results, how.cost)
            _tell_ability(results, fit, how, printing, prices)
            return
        model = ChannelModel(
            Noise(how.noise, _deviations(how.deviations), literal_wins=how.literal_wins),
            how.correlated,
            how.spread,
            how.exact,
        )
        analysis = analyse(
            results,
            options.measure,
            rng=printing.seed,
            size=how.size,
            search=how.search,
            model=model,
            cost=how.cost,
            reps=how.reps,
            progress=progress,
        )
    show(render_information(analysis), printing, read=results)


def _about_ability(results: Results, how: InformationOptions) -> bool:
    """Whether cells are single trials of 0 or 1, and nothing was said of how agents vary."""
    usual = InformationOptions()
    chosen = (how.noise, how.deviations, how.spread, how.literal_wins, how.exact)
    silent = chosen == (
        usual.noise,
        usual.deviations,
        usual.spread,
        usual.literal_wins,
        usual.exact,
    )
    return silent and len(results.measures) == 1 and single_successes(results)


def _fit(results: Results) -> IRTFit | None:
    try:
        return fit_irt(responses(results), "2pl")
    except InputError:  # too few agents or tasks: bits as they are, and a note
        return None


def _tell_ability(
    results: Results,
    fit: IRTFit,
    how: InformationOptions,
    printing: Seeded,
    prices: TaskPrices | None,
) -> None:
    size = min(USUAL_SIZE, len(fit.items)) if how.size is None else how.size
    bits = ability_information(fit, rng=printing.seed, size=size)
    evidence = fit.evidence
    alike = evidence is not None and not evidence.abilities_differ
    not_shown = evidence.sentences()[0] if evidence is not None and alike else ""
    finding = render_ability_information(bits, prices, seed=printing.seed, not_shown=not_shown)
    notes = (*fit.notes, *(prices.notes if prices else ()))
    p_value = None if evidence is None else evidence.abilities.p_value
    show(
        finding,
        printing,
        "information",
        read=results,
        notes=notes,
        model=fit.model,
        p_value=p_value,
    )


def _deviations(text: str) -> Any:  # Any: a name or a number, checked by Noise
    complaint = (
        f"The deviations are {shorten(text)}. Choose 'own', 'pooled', or a number above 0: a share of the "
        f"task's spread between agents."
    )
    return text if text in ("own", "pooled") else parsed(float, text, complaint)
