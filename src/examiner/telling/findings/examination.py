"""What an examination found of one agent, task by task, and what a study of simulated agents did."""

from __future__ import annotations

from examiner.adaptive import Examination, ExaminationState, ExaminationStudy, TaskBank
from examiner.adaptive.anchoring import Anchor
from examiner.irt import IRTFit
from examiner.telling.finding import Block, Column, Finding, Name, Record, Table, Text
from examiner.wording import counted


def tell(
    bank: TaskBank, last: Examination, fit: IRTFit, *, outcome: str | None = None, seed: int = 0
) -> Finding:
    """Tell what an examination found; `outcome` says how it ended where no stop has ended it.

    >>> import numpy as np
    >>> from examiner.adaptive import examine
    >>> from examiner.irt import ItemParameters, known
    >>> fit = known(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> bank = TaskBank.of(fit)
    >>> *_, last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> tell(bank, last, fit).data["outcome"]
    'All tasks that could be answered were used up.'
    """
    found = _data(bank, last, fit, outcome)
    lead = (
        Name(found["agent"] or "The agent"),
        f": ability {found['ability']:.2f} ± {found['standard_error']:.2f} (95 %: {found['low']:.2f} to "
        f"{found['high']:.2f}) after {counted(found['tasks'], 'task')} of {found['bank_tasks']:,}; seed "
        f"{seed}",
    )
    blocks: list[Block] = [Text((found["outcome"],))]
    if found["scale"] == "agents" and found["ability_as_placed"] is not None:
        told = (
            f"On the fit's scale that is {found['ability_on_fit_scale']:.2f}. `examiner place` says "
            f"{found['ability_as_placed']:.2f} of these answers: it takes the fitted parameters as "
            f"exact, which after few agents draws abilities towards 0."
        )
        blocks.append(Text((told,)))
    if found["unanswered"]:
        blocks.append(Text(("Skipped: ", Name(", ".join(found["unanswered"])))))
    if found["probability_better"] is not None:
        chance = f" with a probability of {found['probability_better']:.3f}"
        blocks.append(Text(("Better than ", Name(str(found["better_than"])), chance)))
    columns = [Column("task", "name"), Column("value", "number"), Column("trials", "count")]
    numbers = ("expected", "ability", "error", "low", "high")
    columns += [Column(name, "number") for name in numbers]
    blocks.append(Table.of(found["steps"], columns, "Tasks given"))
    return Finding("examine", "An examination", lead, tuple(blocks), found)


def _data(bank: TaskBank, last: Examination, fit: IRTFit, outcome: str | None) -> Record:
    anchor = bank.calibration.anchor
    low, high = last.interval
    ended = outcome or "It was stopped by hand."
    return {
        "agent": last.agent,
        "rule": last.choosing.rule_name,
        "outcome": ended if last.ending is None else last.ending.value,
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
        "ability_as_placed": _as_placed(fit, last),
    }


def _as_placed(fit: IRTFit, last: Examination) -> float | None:
    """What `examiner place` says of the same answers: it takes the fit at its word."""
    if not last.steps:
        return None
    bank = TaskBank.of(fit, uncertainty="none")
    state = ExaminationState.start(bank)
    for answer in last.state.answers:
        state = state.after(bank, answer)
    return state.ability


def tell_study(bank: TaskBank, study: ExaminationStudy, *, seed: int = 0) -> Finding:
    """Tell how many tasks simulated agents needed, and how well they were known after each number."""
    needs = (
        Column("rule", "text"),
        Column("tasks", "number", "mean number given", "mean_tasks"),
        Column("median", "number", "of the tasks given", "median_tasks"),
        Column("most", "count", "tasks given to any agent", "most_tasks"),
        Column("cost", "number", "mean of the tasks given", "mean_cost"),
        Column("reached", "number", "share of the agents that ended as was asked for"),
        Column("rmse", "number", "root mean squared error of the ability"),
        Column("coverage", "number", "share of abilities inside their 95 % intervals"),
        Column(
            "of random", "number", "tasks, as a share of those in random order", "against_random"
        ),
    )
    accuracy = (
        Column("rule", "text"),
        Column("tasks", "count"),
        *(Column(name, "number") for name in ("rmse", "error", "coverage")),
    )
    found: Record = {
        "agents": study.agents,
        "needs": [row._asdict() for row in study.needs],
        "accuracy": [row._asdict() for row in study.accuracy],
    }
    blocks = (
        Table.of(found["needs"], needs, "Tasks needed"),
        Table.of(found["accuracy"], accuracy, "Accuracy"),
    )
    shape = f"{counted(study.agents, 'simulated agent')}, {counted(len(bank), 'task')}"
    about = (f"{shape}; seed {seed}",)
    return Finding("examine-study", "Simulated examinations", (), blocks, found, about=about)
