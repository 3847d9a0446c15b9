"""From the options of `examiner examine` to a bank, a way of choosing and a stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from examiner.cli.examine_options import ChoosingOptions, OracleOptions, StopOptions
from examiner.cli.source import classification_from
from examiner.results import Results, atari_game
from examiner.wording import InputError, listed, shorten

if TYPE_CHECKING:
    from examiner.adaptive import Choosing, Stop, TaskBank
    from examiner.irt import IRTFit


def bank_from(
    known: IRTFit, chosen: ChoosingOptions, options: OracleOptions, results: Results | None
) -> TaskBank:
    """Return the fit's tasks with their costs and groups."""
    from examiner.adaptive import TaskBank

    return TaskBank.of(
        known,
        costs=None if chosen.costs is None else _costs(known.items.tasks, chosen.costs, results),
        groups=None
        if chosen.balance is None
        else _groups(known.items.tasks, chosen.balance, options),
        trials=chosen.trials,
        uncertainty=chosen.uncertainty,  # type: ignore[arg-type]  # checked there
    )


def _costs(tasks: tuple[str, ...], named: str, results: Results | None) -> dict[str, float]:
    from examiner.importers import read_tasks
    from examiner.selection.constraints import task_costs

    if Path(named).is_file():
        values = read_tasks(named).attributes.numbers(tasks, "cost")
        found = dict(zip(tasks, values.tolist(), strict=True))
    elif results is not None:
        costs = task_costs(results, named)
        assert costs is not None, "a column was named"
        found = dict(zip(results.tasks, costs.tolist(), strict=True))
        found |= {atari_game(task) or task: cost for task, cost in found.items()}
        found = {
            task: found.get(task, found.get(atari_game(task) or task, np.nan)) for task in tasks
        }
    else:
        raise InputError(f"Cannot find the costs {shorten(named)}: there is no such file.")
    return {task: cost for task, cost in found.items() if np.isfinite(cost)}


def _groups(tasks: tuple[str, ...], named: str, options: OracleOptions) -> dict[str, str]:
    from examiner.importers import read_tasks
    from examiner.typology import kinds as task_kinds

    if options.tasks is not None:
        about = read_tasks(options.tasks).attributes
        if named in about.columns:
            values = about.aligned(tasks, named)
            return {task: str(value) for task, value in zip(tasks, values, strict=True)}
    kinds = task_kinds(classification_from(named), rng=np.random.default_rng(0))
    found = {
        task: ", ".join(value for _, value in group.features)
        for group in kinds.groups
        for task in group.tasks
    }
    found |= {atari_game(task) or task: kind for task, kind in found.items()}
    return {
        task: found.get(task, found.get(atari_game(task) or task, "of no known kind"))
        for task in tasks
    }


def choosing_from(
    bank: TaskBank, options: ChoosingOptions, stop: Stop | None, rng: np.random.Generator
) -> Choosing:
    """Return how tasks are chosen; limits on exposure are found by simulation."""
    from examiner.adaptive import Choosing, balance_of
    from examiner.adaptive import exposure as exposure_shares

    chosen = Choosing(
        options.rule,
        options.among,
        balance=None if bank.groups is None else balance_of(bank),
    )
    if options.exposure is None:
        return chosen
    shares = exposure_shares(bank, options.exposure, rng=rng, choosing=chosen, stop=stop)
    return Choosing(options.rule, options.among, shares, chosen.balance)


def stop_from(options: StopOptions, bank: TaskBank, resumed: bool) -> Stop | None:
    """Return when to stop; None goes on with what a stored examination says."""
    from examiner.adaptive import Stop

    given = (options.standard_error, options.budget, options.most, options.better_than)
    if all(one is None for one in given):
        if resumed:
            return None
        # As precise as is usual, or as the fit's own agents allow.
        return Stop(error=max(0.3, round(1.25 * bank.least_error, 2)), least=options.least)
    better: str | float | None = options.better_than
    if better is not None and better not in bank.landmarks:
        try:
            better = float(better)
        except ValueError:
            raise InputError(
                f"Unknown agent {shorten(better)}. The fit has {listed(bank.landmarks)}. Name one of "
                f"them, or give an ability."
            ) from None
    return Stop(
        options.standard_error,
        options.budget,
        options.most,
        options.least,
        better,
        options.certainty,
    ).checked(bank)
