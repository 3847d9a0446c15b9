"""`examiner examine`: ask an agent the next best task until enough is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from examiner.adaptive import Examination, Stop, TaskBank, answers_from
from examiner.adaptive import examine as examined
from examiner.adaptive import study as examination_study
from examiner.cli.examination import (
    Answering,
    ByHandError,
    ChoosingOptions,
    StopOptions,
    TypedAnswers,
    bank_from,
    choosing_from,
    played_live,
    stop_from,
)
from examiner.cli.options import OUTPUT, Seeded, SourceOptions, option
from examiner.cli.output import print_notes, progress_bar, show
from examiner.cli.source import results_from
from examiner.irt import IRTFit
from examiner.stored import examination_content, open_fit
from examiner.stored import save as store
from examiner.telling.findings import newcomers as findings
from examiner.wording import InputError


@dataclass(frozen=True, slots=True)
class OracleOptions(SourceOptions):
    """The results that answer, with the options of any results."""

    source: str = option(
        "",
        "Results that answer for the agent: a file, folder, pattern or bundled data set.",
        "--oracle",
        metavar="SOURCE",
        show_default=False,
    )


@dataclass(frozen=True, slots=True)
class ExamineOptions:
    """Who is examined, on what, and where it is stored."""

    fit: Path | None = option(None, "A fit stored by `examiner fit -o`.", metavar="FILE")
    agent: str | None = option(
        None,
        "Agent of the oracle; or with --protocol one to play live.",
        metavar="NAME|MODULE:FACTORY",
    )
    interactive: bool = option(False, "Answers are typed at the terminal.", "--interactive")
    simulate: int | None = option(None, "Study N simulated agents instead.", metavar="N")
    protocol: str | None = option(None, "Play --agent live under this protocol.", metavar="NAME")
    environment: str = option("ale", "Where games are played live.")
    output: Path | None = option(
        None, "Store the examination after every answer.", *OUTPUT, metavar="FILE"
    )
    resume: Path | None = option(None, "Go on with a stored examination.", metavar="FILE")


def examine(
    options: OracleOptions,
    choosing: ChoosingOptions,
    stopping: StopOptions,
    who: ExamineOptions,
    told: Seeded,
) -> None:
    """Ask an agent the next best task, again and again, until its ability is known well enough."""
    if who.fit is None:
        raise InputError(
            "Nothing is known of the tasks. Name a fit stored by `examiner fit … -o fit.json` with "
            "`--fit fit.json`."
        )
    fit = open_fit(who.fit)
    simulated, live = who.simulate is not None, who.protocol is not None
    if sum((bool(options.source), who.interactive, simulated, live)) != 1:
        raise InputError(
            "Say who answers, in one way: --oracle RESULTS --agent NAME, --interactive, "
            "--agent MODULE:FACTORY --protocol NAME, or --simulate N."
        )
    if simulated and (who.output is not None or who.resume is not None):
        raise InputError(
            "--output and --resume are for one examination. Leave them out of --simulate."
        )
    results = None
    if options.source:
        with progress_bar("reading") as progress:
            # The recipe of the fit says how training logs are reduced.
            results = results_from(options, progress, reduce_training_logs=False)
    bank = bank_from(fit, choosing, options.tasks, results)
    stop = stop_from(stopping, bank, who.resume is not None)
    if who.simulate is not None:
        _study(bank, choosing, stop, who.simulate, told)
        return
    notes: tuple[str, ...] = ()
    answer: Answering
    if results is not None:
        answer = table = answers_from(results, fit, who.agent)
        who, notes = replace(who, agent=table.agent), (*results.notes, *table.notes)
    elif live:
        answer = _live(fit, who, choosing.trials, told.seed)
    else:
        answer = TypedAnswers(fit.items.response)
    shown = results is None and not told.json
    last = _examined(bank, answer, choosing, stop, who, told.seed, shown)
    outcome = getattr(answer, "ended", None)
    finding = findings.tell_examination(bank, last, fit, outcome=outcome, seed=told.seed)
    beside = {"fit": str(who.fit), "seed": told.seed}
    told_notes = (*bank.calibration.notes, *notes)
    show(finding, "examiner.examine/1", told.json, told_notes, **beside)


def _examined(
    bank: TaskBank,
    answer: Answering,
    options: ChoosingOptions,
    stop: Stop | None,
    who: ExamineOptions,
    seed: int,
    shown: bool,
) -> Examination:
    rng = np.random.default_rng(seed)
    last = None
    if who.resume is not None:
        last = Examination.from_dict(examination_content(who.resume), bank)
    target = who.output or who.resume
    chosen = choosing_from(bank, options, stop, rng)
    steps = examined(
        bank, answer, rng=rng, choosing=chosen, stop=stop, agent=who.agent or "", resume=last
    )
    try:
        for last in steps:
            if target is not None:
                store(last, target)
            if shown and last.steps:
                step = last.steps[-1]
                print_notes(
                    [f"{len(last.steps)}. {step.task}: {step.ability:.2f} ± {step.error:.2f}"]
                )
    except ByHandError as stopped:
        if last is not None and set(stopped.skipped) - set(last.state.aside):
            last = replace(last, state=last.state.without(*stopped.skipped))
            if target is not None:
                store(last, target)
    if last is None:
        raise InputError("No task was answered, so that nothing is known. Answer at least one.")
    return last


def _live(fit: IRTFit, who: ExamineOptions, episodes: int, seed: int) -> Answering:
    from examiner.arena import protocol as named_protocol  # only live play needs the arena

    if who.agent is None:
        raise InputError("Say who plays: --agent MODULE:FACTORY, or a built-in agent's name.")
    protocol = named_protocol(who.protocol or "")
    how = {"episodes": episodes, "seed": seed}
    return played_live(fit, who.agent, protocol, environment=who.environment, **how)


def _study(
    bank: TaskBank, options: ChoosingOptions, stop: Stop | None, agents: int, told: Seeded
) -> None:
    rng = np.random.default_rng(told.seed)
    chosen = choosing_from(bank, options, stop, rng)
    with progress_bar("examining simulated agents") as progress:
        study = examination_study(
            bank, rng=rng, stop=stop, rules=[chosen], agents=agents, progress=progress
        )
    finding = findings.tell_study(bank, study, seed=told.seed)
    notes = bank.calibration.notes
    show(finding, "examiner.examine-study/1", told.json, notes, seed=told.seed)
