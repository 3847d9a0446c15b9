"""New agents, known without fitting again: placed on a fit or by a few tasks, or examined task by task."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from examiner.adaptive import Examination, ExaminationStudy, TaskBank
from examiner.irt import IRTFit, Placement
from examiner.irt.place import no_rank
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, Text
from examiner.reporting.prose import Name, Prose
from examiner.reporting.renderers import shown_table
from examiner.reporting.table import Column, Piece, Record, Table, records
from examiner.selection import SetPlacement

OBSERVED = " ran every task: its value is observed, not predicted."
CALIBRATED = (
    " is one of the agents these tasks were selected on: it is ranked among the others, and its interval "
    "may be too narrow."
)
BEYOND = " lies beyond the calibration set: its interval is widened."


def tell(fit: IRTFit, found: Sequence[Placement]) -> Finding:
    """Tell where agents stand on a fit, and what to expect of them on all of its tasks.

    >>> from examiner.irt import ItemParameters, known, place
    >>> from examiner.results import ResponseMatrix
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0]))
    >>> new = ResponseMatrix.from_array([[1]], ["mine"], ["t"])
    >>> tell(fit, place(new, fit)).data["agents"][0]["predictions"][0]["task"]
    'u'
    """
    agents = [_agent(each) for each in found]
    tasks = counted(len(fit.items), "task")
    rows = [
        agent
        | {
            "placed": "{value} ({low}–{high} of {among})".format(**agent["rank"]),
            "expected": agent["predicted"]["value"],
            # what was observed has no interval of a prediction
            "least": agent["predicted"]["low"] if agent["predictions"] else None,
            "most": agent["predicted"]["high"] if agent["predictions"] else None,
        }
        for agent in sorted(agents, key=_by_ability)
    ]
    placed = (
        Column("agent", "name"),
        Column("tasks", "count"),
        Column("ability", "number"),
        Column("low", "number", key="ability_low"),
        Column("high", "number", key="ability_high"),
        Column("rank", "text", key="placed"),
        Column(
            "generality",
            "number",
            "1 / variance within bins of difficulty, high where an agent is good up to its ability and "
            "fails beyond",
        ),
    )
    everywhere = (
        Column("agent", "name"),
        Column("mean so far", "number", key="mean"),
        Column("predicted mean", "number", key="expected"),
        Column("low", "number", key="least"),
        Column("high", "number", key="most"),
    )
    blocks: list[Piece] = [
        Table.of(rows, placed, "Placed"),
        Table.of(rows, everywhere, _over_all(fit)),
        Text("low and high are the ends of 95 % intervals, and so are the two ranks in"),
        Text("brackets; the interval of ability counts the errors of the tasks."),
    ]
    unexpected: list[Prose] = []
    for each in found:
        for odd in each.unexpected:
            told = f"{odd.result:.3g}, expected {odd.expected:.3g} (chance {odd.chance:.3g})"
            unexpected.append(_odd(each.agent, odd.task, f": {told}"))
    flags = [(Name(each.agent), ": ", Name(flag)) for each in found for flag in each.flags]
    blocks += [*noted_as("Note", flags), *noted_as("Unexpected", unexpected)]
    about = f"{fit.model} of {counted(len(fit.abilities.agents), 'agent')} × {tasks}"
    data = {"model": fit.model, "tasks": len(fit.items), "agents": agents}
    return Finding(lead=_highest(rows), blocks=tuple(blocks), data=data, about=about)


def _highest(rows: Sequence[Record]) -> Prose:
    """The ability of the agent, or of the highest of several."""
    first = rows[0]
    if not isfinite(first["ability"]):
        return ""
    ability = f"{first['ability']:.2f} (95 % interval {first['ability_low']:.2f} to "
    of = "" if len(rows) == 1 else f", the highest of {len(rows):,} placed agents"
    return (Name(first["agent"]), f" has ability {ability}{first['ability_high']:.2f}){of}.")


def _by_ability(agent: Record) -> tuple[bool, float]:
    """The best first, those without an ability last."""
    ability = agent["ability"]
    return not isfinite(ability), -ability


def _over_all(fit: IRTFit) -> str:
    """Say which tasks a mean is over: tasks that all agents solve, or none, count too."""
    alike = sum(1 for task in fit.dropped if isfinite(task.value))
    whole = counted(len(fit.items) + alike, "task")
    return f"Over all {whole} of the fit" + (f", {alike} with one result for all" if alike else "")


def _odd(agent: str, task: str, told: str) -> Prose:
    return (Name(agent), " on ", Name(task), told)


def noted_as(title: str, items: Sequence[Prose]) -> tuple[Notes, ...]:
    """Return notes under a title, nothing where there are none.

    >>> noted_as("Unexpected", [])
    ()
    """
    return (Notes(title, tuple(items)),) if items else ()


def _agent(found: Placement) -> Record:
    rank, predicted = found.rank, found.predicted
    return {
        "agent": found.agent,
        "tasks": found.tasks,
        "mean": found.mean,
        "ability": found.ability,
        "ability_se": found.error,
        "posterior_sd": found.deviation,
        "ability_low": found.low,
        "ability_high": found.high,
        "regularity": found.regularity,
        "generality": found.generality,
        "slope": found.slope,
        "rank": {"value": rank.rank, "low": rank.low, "high": rank.high, "among": rank.among},
        "predicted": found.benchmark._asdict(),
        "predictions": records(
            task=predicted.tasks,
            expected=predicted.expected,
            low=predicted.low,
            high=predicted.high,
        ),
        "unexpected": [odd._asdict() for odd in found.unexpected],
        "flags": list(found.flags),
    }


def render_set(answer: SetPlacement) -> Finding:
    """Show what a few tasks predict of agents over all tasks, and the results that do not fit.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import place, select
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> render_set(place(results, select(results, 2, "spread", rng=0))).data["agents"][0]["observed"]
    True
    """
    columns = ["agent", "predicted", "predicted_low", "predicted_high", "best_rank", "worst_rank"]
    level = f"{100 * answer.level:.0f} %"
    blocks: list[Piece] = [
        shown_table(answer.agents, [*columns, "among"], "Placed"),
        Text(
            f"Predicted is the {answer.target} the agent would get if all tasks were run. Low and"
        ),
        Text(
            f"high are the bounds of its {level} interval, and the ranks are those of the bounds."
        ),
    ]
    for agent in answer.agents:
        if agent.observed:
            blocks.append(Text((Name(agent.agent), OBSERVED)))
        elif agent.calibrated:
            blocks.append(Text((Name(agent.agent), CALIBRATED)))
        if agent.beyond:
            blocks.append(Text((Name(agent.agent), BEYOND)))
        if agent.missing:
            missing = Name(", ".join(agent.missing))
            blocks.append(Text((Name(agent.agent), " has no result on ", missing)))
    blocks += noted_as(
        "Unexpected",
        [
            _odd(
                row.agent,
                row.task,
                f", {abs(row.deviations):.1f} standard deviations "
                f"{'above' if row.deviations > 0 else 'below'} the prediction from the other tasks",
            )
            for row in answer.unexpected
        ],
    )
    start = f"{answer.target} of {counted(answer.tasks, 'task')}, predicted from "
    about = (f"{start}{len(answer.selected)}: ", Name(", ".join(answer.selected)))
    return Finding(
        lead=(Name(answer.headline),),
        blocks=tuple(blocks),
        data=answer.to_dict(),
        about=about,
        answer=answer,
    )


def tell_examination(
    bank: TaskBank, last: Examination, fit: IRTFit, *, outcome: str | None = None, seed: int = 0
) -> Finding:
    """Tell what an examination found; `outcome` says how it ended where no stop has ended it.

    >>> import numpy as np
    >>> from examiner.adaptive import examine
    >>> from examiner.irt import ItemParameters, known
    >>> fit = known(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> bank = TaskBank.of(fit)
    >>> *_, last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> tell_examination(bank, last, fit).data["outcome"]
    'All tasks that could be answered were used up.'
    """
    found = _examined(bank, last, fit, outcome)
    lead = (
        Name(found["agent"] or "The agent"),
        f": ability {found['ability']:.2f} ± {found['standard_error']:.2f} (95 %: {found['low']:.2f} to "
        f"{found['high']:.2f}) after {counted(found['tasks'], 'task')} of {found['bank_tasks']:,}; seed "
        f"{seed}",
    )
    blocks: list[Piece] = [Text((found["outcome"],))]
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        blocks.append(Text(no_rank(fit.evidence)))
    if found["unanswered"]:
        blocks.append(Text(("Skipped: ", Name(", ".join(found["unanswered"])))))
    if found["probability_better"] is not None:
        chance = f" with a probability of {found['probability_better']:.3f}"
        blocks.append(Text(("Better than ", Name(str(found["better_than"])), chance)))
    columns = [Column("task", "name"), Column("value", "number"), Column("trials", "count")]
    numbers = ("expected", "ability", "error", "low", "high")
    columns += [Column(name, "number") for name in numbers]
    blocks.append(Table.of(found["steps"], columns, "Tasks given"))
    return Finding(lead=lead, blocks=tuple(blocks), data=found)


def _examined(bank: TaskBank, last: Examination, fit: IRTFit, outcome: str | None) -> Record:
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
        "better_than": last.stop.better_than,
        "probability_better": last.probability_better,
        "steps": [step.to_dict() for step in last.steps],
        "unanswered": list(last.state.aside),
        "uncertainty": bank.uncertainty,
    }


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
    about = f"{shape}; seed {seed}"
    return Finding(blocks=blocks, data=found, about=about)
