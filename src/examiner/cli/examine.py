"""`examiner examine`: give an agent the best next task until its ability is precise enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from examiner import adaptive
from examiner.cli.fitting import response_unit
from examiner.cli.options import (
    OUTPUT,
    TYPOLOGY,
    UPDATED,
    Seeded,
    SourceOptions,
    find_modules_here,
    option,
    other_source,
)
from examiner.cli.output import print_notes, progress_bar, show
from examiner.cli.source import classification_from, results_from
from examiner.cli.typed_answers import Answering, ByHandError, TypedAnswers
from examiner.cli.values import parsed
from examiner.importers import read_tasks
from examiner.irt import IRTFit
from examiner.messages import InputError, listed, shorten
from examiner.reporting import render_examination, render_examination_study
from examiner.results import Results, matched
from examiner.scores import task_costs
from examiner.storage import examination_content, open_fit
from examiner.storage import save as store
from examiner.typology import kinds as task_kinds


@dataclass(frozen=True)
class OracleOptions(SourceOptions):
    """The results that answer for the agent, and how they are read."""

    source: str = other_source("--oracle", "Results that answer for the agent")
    agent: str | None = option(  # `--agent` is the agent that is examined
        None,
        "Column of a plain table that names the agent; or =NAME if all rows are of one agent.",
        "--agent-column",
        metavar="COLUMN|=NAME",
    )


@dataclass(frozen=True)
class ExamineOptions:
    """Which agent is examined, on which tasks, and where the examination is stored."""

    fit: Path | None = option(None, "A fit stored by `examiner fit -o`.", metavar="FILE")
    examinee: str | None = option(
        None,
        "Agent of the oracle, or the agent that plays live with --protocol.",
        "--agent",
        metavar="NAME|MODULE:FACTORY",
    )
    interactive: bool = option(False, "Type the answers at the terminal.")
    simulate: int | None = option(None, "Examine N simulated agents instead.", metavar="N")
    protocol: str | None = option(None, "Play --agent live under this protocol.", metavar="NAME")
    environment: str = option("ale", "Environment of live play.")
    output: Path | None = option(
        None, "Store the examination after every answer.", *OUTPUT, metavar="FILE", writes="answer"
    )
    resume: Path | None = option(
        None, "Continue a stored examination.", metavar="FILE", reads=UPDATED
    )


@dataclass(frozen=True)
class ChoosingOptions:
    """How the next task is chosen."""

    section: ClassVar[str] = "Choosing tasks"
    rule: str = option("information", f"Rule: {', '.join(adaptive.RULES)}.", metavar="NAME")
    among: int = option(1, "Choose at random among the N best tasks.", metavar="N")
    exposure: float | None = option(
        None, "Maximum share of agents that get the same task.", metavar="SHARE"
    )
    cost: str | None = option(
        None,
        "Cost of a task: a column of the oracle's results, or a table of tasks.",
        metavar="COLUMN|FILE",
    )
    balance: str | None = option(
        None, "Balance groups of tasks: a column of --tasks.", metavar="COLUMN"
    )
    typology: str | None = option(None, f"Balance kinds of task. {TYPOLOGY}", metavar="NAME|FILE")
    trials: int = option(1, "Number of trials per task.", min=1)
    uncertainty: Literal["all", "none"] = option("all", "Errors of the fit that are included.")


@dataclass(frozen=True)
class StopOptions:
    """When the examination stops: arguments of `Stop`."""

    section: ClassVar[str] = "Stopping"
    error: float | None = option(
        None, "Stop at this standard error of the ability.", "--standard-error"
    )
    budget: float | None = option(None, "Maximum total cost.")
    most: int | None = option(None, "Maximum number of tasks.", metavar="N")
    least: int = option(1, "Minimum number of tasks.", metavar="N")
    better_than: str | None = option(
        None, "Stop when it is clear whether the agent is better.", metavar="AGENT|ABILITY"
    )
    certainty: float = option(0.95, "Probability at which that is clear.")


def examine(
    options: OracleOptions,
    who: ExamineOptions,
    choosing: ChoosingOptions,
    stopping: StopOptions,
    printing: Seeded,
) -> None:
    """Give an agent the best next task until its ability is known precisely enough."""
    if who.fit is None:
        raise InputError(
            "A stored fit is needed. Name one stored by `examiner fit … -o fit.json` with "
            "`--fit fit.json`."
        )
    fit = open_fit(who.fit)
    simulated, live = who.simulate is not None, who.protocol is not None
    if sum((bool(options.source), who.interactive, simulated, live)) != 1:
        raise InputError(
            "Choose one way to answer: --oracle RESULTS --agent NAME, --interactive, "
            "--agent MODULE:FACTORY --protocol NAME, or --simulate N."
        )
    results = None
    if options.source:
        with progress_bar("reading") as progress:
            # The recipe of the fit says how training logs are reduced.
            results = results_from(options, progress, reduce_training_logs=False)
    bank = _bank(fit, choosing, options.tasks, results)
    stop = _stop(stopping, bank, who.resume is not None)
    if who.simulate is not None:
        _study(bank, choosing, stop, who.simulate, printing)
        return
    notes: tuple[str, ...] = ()
    answer: Answering
    if results is not None:
        answer = table = adaptive.answers_from(results, fit, who.examinee)
        who, notes = replace(who, examinee=table.agent), (*results.notes, *table.notes)
    elif live:
        answer = _live(fit, who, choosing.trials, printing.seed)
    else:
        answer = TypedAnswers(fit.items.response)
    shown = results is None and not printing.json
    last = _examined(bank, answer, choosing, stop, who, printing.seed, shown)
    outcome = getattr(answer, "ended", None)
    finding = render_examination(bank, last, fit, outcome=outcome, seed=printing.seed)
    unit, all_notes = response_unit(fit), (*bank.notes, *notes)
    show(finding, printing, "examine", notes=all_notes, score_unit=unit, fit=str(who.fit))


def _examined(
    bank: adaptive.TaskBank,
    answer: Answering,
    options: ChoosingOptions,
    stop: adaptive.Stop | None,
    who: ExamineOptions,
    seed: int,
    shown: bool,
) -> adaptive.Examination:
    rng = np.random.default_rng(seed)
    last = None
    if who.resume is not None:
        last = adaptive.Examination.from_dict(examination_content(who.resume), bank)
    target = who.output or who.resume
    chosen = _choosing(bank, options, stop, rng)

    def keep(now: adaptive.Examination) -> None:
        nonlocal last
        last = now
        if target is not None:
            store(now, target)
        if shown and now.steps:
            step = now.steps[-1]
            estimate = f"{step.ability:.2f} ± {step.ability_error:.2f}"
            print_notes([f"{len(now.steps)}. {step.task}: {estimate}"])

    try:
        last = adaptive.examine(
            bank,
            answer,
            rng=rng,
            choosing=chosen,
            stop=stop,
            agent=who.examinee or "",
            resume=last,
            after_each=keep,
        )
    except ByHandError as stopped:
        if last is None:
            raise InputError(
                "No task was answered, so the ability is unknown. Answer at least one task."
            ) from None
        last = replace(last, skipped=tuple(dict.fromkeys((*last.skipped, *stopped.skipped))))
    if target is not None:
        store(last, target)
    return last


def _live(fit: IRTFit, who: ExamineOptions, episodes: int, seed: int) -> Answering:
    """Answers from live play: each task is a game, and its evaluation, if there is one, is the answer."""
    from examiner.arena import Job, protocol, results_of  # only live play needs the arena

    if who.examinee is None:
        raise InputError(
            "Name the agent that plays: `--agent MODULE:FACTORY`, or the name of a built-in agent."
        )
    rules = protocol(who.protocol or "")
    if rules.evaluation_episodes:
        rules = replace(rules, evaluation_episodes=episodes)
    find_modules_here(who.examinee)
    environment = who.environment
    job = Job(
        who.examinee,
        who.examinee,
        environment=environment,
        seed=seed,
        protocol=rules,
        episodes=episodes,
    )
    measure = (fit.recipe and fit.recipe.measure) or "score"
    return adaptive.answers_played(lambda task: results_of(replace(job, game=task), measure), fit)


def _study(
    bank: adaptive.TaskBank,
    options: ChoosingOptions,
    stop: adaptive.Stop | None,
    agents: int,
    printing: Seeded,
) -> None:
    rng = np.random.default_rng(printing.seed)
    chosen = _choosing(bank, options, stop, rng)
    with progress_bar("examining simulated agents") as progress:
        study = adaptive.study(
            bank, rng=rng, stop=stop, rules=[chosen], agents=agents, progress=progress
        )
    finding = render_examination_study(bank, study, seed=printing.seed)
    show(finding, printing, "examine-study", notes=bank.notes)


def _bank(
    fit: IRTFit, chosen: ChoosingOptions, tasks: str | None, results: Results | None
) -> adaptive.TaskBank:
    """Return the fit's tasks with their costs and groups; `tasks` is the table of `--tasks`."""
    names = fit.items.tasks
    return adaptive.TaskBank.of(
        fit,
        costs=None if chosen.cost is None else _costs(names, chosen.cost, results),
        groups=_groups(names, chosen, tasks),
        trials=chosen.trials,
        uncertainty=chosen.uncertainty,
    )


def _costs(tasks: tuple[str, ...], named: str, results: Results | None) -> dict[str, float]:
    if Path(named).is_file():
        values = read_tasks(named).attributes.numbers(tasks, "cost")
        costs = dict(zip(tasks, values.tolist(), strict=True))
    elif results is not None:
        read = dict(zip(results.tasks, task_costs(results, named).tolist(), strict=True))
        costs = _by_any_name(tasks, read, np.nan)
    else:
        raise InputError(f"Cannot find the costs {shorten(named)}: no such file. Check the path.")
    return {task: cost for task, cost in costs.items() if np.isfinite(cost)}


def _groups(
    tasks: tuple[str, ...], chosen: ChoosingOptions, table: str | None
) -> dict[str, str] | None:
    if chosen.balance is not None:
        about = None if table is None else read_tasks(table).attributes
        if about is None or chosen.balance not in about.columns:
            raise InputError(
                f"The table of `--tasks` has no column {shorten(chosen.balance)} to balance. Name one that "
                f"it has, or a classification with `--typology`."
            )
        values = about.aligned(tasks, chosen.balance)
        return {task: str(value) for task, value in zip(tasks, values, strict=True)}
    if chosen.typology is None:
        return None
    kinds = task_kinds(classification_from(chosen.typology), rng=np.random.default_rng(0))
    names = {
        task: ", ".join(value for _, value in group.features)
        for group in kinds.members
        for task in group.tasks
    }
    return _by_any_name(tasks, names, "of no known kind")


def _by_any_name(tasks: Sequence[str], values: Mapping[str, Any], default: Any) -> dict[str, Any]:
    """Return a value of each task, found by its name or that of its game."""
    known = tuple(values)
    return {
        task: default if row is None else values[known[row]]
        for task, row in zip(tasks, matched(tasks, known), strict=True)
    }


def _choosing(
    bank: adaptive.TaskBank,
    options: ChoosingOptions,
    stop: adaptive.Stop | None,
    rng: np.random.Generator,
) -> adaptive.Choosing:
    """Return how tasks are chosen; limits on exposure are found by simulation."""
    balance = None if bank.groups is None else adaptive.balance_of(bank)
    chosen = adaptive.Choosing(options.rule, options.among, balance=balance)
    if options.exposure is None:
        return chosen
    limits = adaptive.exposure(bank, options.exposure, rng=rng, choosing=chosen, stop=stop)
    return adaptive.Choosing(options.rule, options.among, limits.open_shares, balance)


def _stop(options: StopOptions, bank: adaptive.TaskBank, resumed: bool) -> adaptive.Stop | None:
    """When to stop; None keeps the limits of a stored examination."""
    if (options.error, options.budget, options.most, options.better_than) == (None,) * 4:
        return None if resumed else adaptive.Stop.usual(bank, options.least)
    better: str | float | None = options.better_than
    if options.better_than is not None and better not in bank.landmarks:
        advice = f"The fit has {listed(bank.landmarks)}. Name one of them, or give an ability."
        complaint = f"Unknown agent {shorten(better)}. {advice}"
        better = parsed(float, options.better_than, complaint)
    return adaptive.Stop(**vars(options) | {"better_than": better}).checked(bank)
