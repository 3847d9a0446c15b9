"""`examiner examine`: ask an agent the next best task until enough is known of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from examiner.cli.answering import (
    Answering,
    ByHandError,
    TypedAnswers,
    played_live,
)
from examiner.cli.examine_options import ChoosingOptions, OracleOptions, StopOptions
from examiner.cli.examine_setup import bank_from, choosing_from, stop_from
from examiner.cli.options import JsonFlag, SeedOption
from examiner.cli.output import print_json, print_line, print_notes, print_table, printable
from examiner.cli.progress import progress_bar
from examiner.cli.source import results_from
from examiner.wording import InputError, counted

if TYPE_CHECKING:
    from examiner.adaptive import Examination, ExaminationStudy, Stop, TaskBank
    from examiner.irt import IRTFit

_ROWS_SHOWN = 60


def examine(
    options: OracleOptions,
    choosing: ChoosingOptions,
    stopping: StopOptions,
    fit: Annotated[
        Path | None,
        typer.Option("--fit", metavar="FILE", help="A fit stored by `examiner fit -o`."),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME|MODULE:FACTORY",
            help="Agent of the oracle; or with --protocol one to play live.",
        ),
    ] = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Answers are typed at the terminal.")
    ] = False,
    simulate: Annotated[
        int | None,
        typer.Option("--simulate", metavar="N", help="Study N simulated agents instead."),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", metavar="NAME", help="Play --agent live under this protocol."),
    ] = None,
    environment: Annotated[
        str, typer.Option("--environment", help="Where games are played live.")
    ] = "ale",
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Store the examination after every answer."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="FILE", help="Go on with a stored examination."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonFlag = False,
) -> None:
    """Ask an agent the next best task, again and again, until its ability is known well enough."""
    from examiner.adaptive import answers_from
    from examiner.stored import open_fit

    if fit is None:
        raise InputError(
            "Nothing is known of the tasks. Name a fit stored by `examiner fit … -o fit.json` with "
            "`--fit fit.json`."
        )
    known = open_fit(fit)
    ways = [bool(options.source), interactive, simulate is not None, protocol is not None]
    if sum(ways) != 1:
        raise InputError(
            "Say who answers, in one way: --oracle RESULTS --agent NAME, --interactive, "
            "--agent MODULE:FACTORY --protocol NAME, or --simulate N."
        )
    if simulate is not None and (save is not None or resume is not None):
        raise InputError(
            "--save and --resume are for one examination. Leave them out of --simulate."
        )
    results = None
    if options.source:
        with progress_bar("reading") as progress:
            # The recipe of the fit says how training logs are reduced.
            results = results_from(options, progress, reduce_training_logs=False)
    bank = bank_from(known, choosing, options, results)
    ends = stop_from(stopping, bank, resume is not None)
    if simulate is not None:
        _study(bank, choosing, ends, simulate, seed, json)
        return
    notes: tuple[str, ...] = ()
    if results is not None:
        table = answers_from(results, known, agent)
        answer: Answering = table
        agent, notes = table.agent, (*results.notes, *table.notes)
    elif protocol is not None:
        answer = _live(known, agent, protocol, choosing, environment, seed)
    else:
        answer = TypedAnswers(known.items.response)
    last = _examined(
        bank,
        answer,
        agent or "",
        choosing,
        ends,
        (save, resume),
        seed,
        results is None and not json,
    )
    ended = getattr(answer, "ended", None)
    content = examination_content(bank, last) | {
        **({} if last.ending is not None or ended is None else {"outcome": ended}),
        **_beside_place(known, last),
        "fit": str(fit),
        "seed": seed,
        "warnings": [*bank.calibration.notes, *notes],
    }
    if json:
        print_json("examiner.examine/1", content)
        return
    _print(content)
    print_notes(content["warnings"])


def examination_content(bank: TaskBank, last: Examination) -> dict[str, Any]:  # Any: JSON values
    """Return everything `examine` says of one agent, as JSON values.

    >>> from examiner.adaptive import TaskBank
    >>> from examiner.adaptive import examine as examined
    >>> from examiner.irt import ItemParameters
    >>> bank = TaskBank.of(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> *_, last = examined(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> examination_content(bank, last)["outcome"]
    'All tasks that could be answered were used up.'
    """
    from examiner.adaptive.calibration import Anchor

    anchor = bank.calibration.anchor
    low, high = last.interval
    return {
        "agent": last.agent,
        "rule": last.choosing.rule_name,
        "outcome": "It was stopped by hand." if last.ending is None else last.ending.value,
        "ended": None if last.ending is None else last.ending.name.lower().replace("_", " "),
        "tasks": len(last.steps),
        "bank_tasks": len(bank),
        "cost": last.state.cost,
        "ability": last.ability,
        "standard_error": last.error,
        "low": low,
        "high": high,
        "posterior_sd": last.state.deviation,
        "ability_on_fit_scale": anchor.to_fit(last.ability),
        "scale": "agents" if anchor != Anchor() else "fit",
        "better_than": last.stop.better_than,
        "probability_better": last.probability_better,
        "steps": [step.to_dict() for step in last.steps],
        "unanswered": list(last.state.aside),
        "uncertainty": bank.calibration.uncertainty,
    }


def _beside_place(known: IRTFit, last: Examination) -> dict[str, Any]:  # Any: JSON values
    """What `examiner place` says of the same answers: it takes the fit at its word."""
    from examiner.adaptive import ExaminationState, TaskBank

    if not last.steps:
        return {"ability_as_placed": None}
    at_its_word = TaskBank.of(known, uncertainty="none")
    state = ExaminationState.start(at_its_word)
    for answer in last.state.answers:
        state = state.after(at_its_word, answer)
    return {"ability_as_placed": state.ability}


def study_content(study: ExaminationStudy) -> dict[str, Any]:  # Any: JSON values
    """Return a study of simulated agents as JSON values."""
    return {
        "agents": study.agents,
        "needs": [row._asdict() for row in study.needs],
        "accuracy": [row._asdict() for row in study.accuracy],
    }


def _examined(
    bank: TaskBank,
    answer: Answering,
    agent: str,
    options: ChoosingOptions,
    stop: Stop | None,
    files: tuple[Path | None, Path | None],
    seed: int,
    shown: bool,
) -> Examination:
    from examiner.adaptive import Examination
    from examiner.adaptive import examine as examined
    from examiner.stored import examination_content
    from examiner.stored import save as store

    save, resume = files
    rng = np.random.default_rng(seed)
    before = None if resume is None else Examination.from_dict(examination_content(resume), bank)
    chosen = choosing_from(bank, options, stop, rng)
    last = before
    try:
        for last in examined(
            bank, answer, rng=rng, choosing=chosen, stop=stop, agent=agent, resume=before
        ):
            if save is not None or resume is not None:
                store(last, save or resume or Path())
            if shown and last.steps:
                step = last.steps[-1]
                print_notes(
                    [f"{len(last.steps)}. {step.task}: {step.ability:.2f} ± {step.error:.2f}"]
                )
    except ByHandError as stopped:
        if last is not None and set(stopped.skipped) - set(last.state.aside):
            last = replace(last, state=last.state.without(*stopped.skipped))
            if save is not None or resume is not None:
                store(last, save or resume or Path())
    if last is None:
        raise InputError("No task was answered, so that nothing is known. Answer at least one.")
    return last


def _live(
    known: IRTFit,
    agent: str | None,
    protocol: str,
    options: ChoosingOptions,
    environment: str,
    seed: int,
) -> Answering:
    from examiner.arena import protocol as named_protocol

    if agent is None:
        raise InputError("Say who plays: --agent MODULE:FACTORY, or a built-in agent's name.")
    return played_live(
        known,
        agent,
        named_protocol(protocol),
        episodes=options.trials,
        environment=environment,
        seed=seed,
    )


def _study(
    bank: TaskBank, options: ChoosingOptions, stop: Stop | None, agents: int, seed: int, json: bool
) -> None:
    from examiner.adaptive import study as examination_study

    rng = np.random.default_rng(seed)
    chosen = choosing_from(bank, options, stop, rng)
    with progress_bar("examining simulated agents") as progress:
        study = examination_study(
            bank, rng=rng, stop=stop, rules=[chosen], agents=agents, progress=progress
        )
    content = study_content(study) | {"seed": seed, "warnings": list(bank.calibration.notes)}
    if json:
        print_json("examiner.examine-study/1", content)
        return
    print_line(f"{counted(agents, 'simulated agent')}, {counted(len(bank), 'task')}; seed {seed}")
    for title, rows in (("Tasks needed", study.needs), ("Accuracy", study.accuracy)):
        header = list(rows[0]._fields)
        print_table(f"\n{title}", header, [list(row) for row in rows], right=range(1, len(header)))
    print_notes(content["warnings"])


def _print(content: dict[str, Any]) -> None:  # Any: JSON values
    who = printable(content["agent"] or "The agent")
    print_line(
        f"{who}: ability {content['ability']:.2f} ± {content['standard_error']:.2f} (95 %: "
        f"{content['low']:.2f} to {content['high']:.2f}) after {counted(content['tasks'], 'task')} of "
        f"{content['bank_tasks']:,}; seed {content['seed']}"
    )
    print_line(content["outcome"])
    if content["scale"] == "agents" and content["ability_as_placed"] is not None:
        print_line(
            f"On the fit's scale that is {content['ability_on_fit_scale']:.2f}. `examiner place` says "
            f"{content['ability_as_placed']:.2f} of these answers: it takes the fitted parameters as "
            f"exact, which after few agents draws abilities towards 0."
        )
    if content["unanswered"]:
        print_line(printable(f"Skipped: {', '.join(content['unanswered'])}", 1_000))
    if content["probability_better"] is not None:
        print_line(
            f"Better than {printable(content['better_than'])} with a probability of "
            f"{content['probability_better']:.3f}"
        )
    header = ["task", "value", "trials", "expected", "ability", "error", "low", "high"]
    rows = [[step[name] for name in header] for step in content["steps"][-_ROWS_SHOWN:]]
    print_table("\nTasks given", header, rows, right=range(1, len(header)))
