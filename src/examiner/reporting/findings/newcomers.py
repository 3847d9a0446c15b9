"""New agents without fitting again: placed on a fit or by a few tasks, examined, or added to the fit."""

from __future__ import annotations

from math import isfinite

from examiner.adaptive import Examination, ExaminationStudy, TaskBank
from examiner.irt import Grown, IRTFit, Placements, no_rank
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, shown_table
from examiner.reporting.prose import named
from examiner.selection import SetPlacement

OBSERVED = "ran every task: its value is observed, not predicted."
CALIBRATED = (
    "is one of the agents these tasks were selected on: it is ranked among the others, and its interval "
    "may be too narrow."
)
BEYOND = "lies beyond the calibration set: its interval is widened."


def render_placements(fit: IRTFit, placements: Placements) -> Finding:
    """Show the abilities and ranks of agents on a fit, and their predicted means over all of its tasks.

    >>> from examiner.irt import ItemParameters, known, place
    >>> from examiner.results import ResponseMatrix
    >>> fit = known(ItemParameters.of(["t", "u"], [1.0, 1.0], [0.0, 0.0]))
    >>> new = ResponseMatrix.from_array([[1]], ["mine"], ["t"])
    >>> render_placements(fit, place(new, fit)).data["predictions"][0]["task"]
    'u'
    """
    placed = ["agent", "tasks", "ability", "ability_low", "ability_high", "rank"]
    placed += ["rank_low", "rank_high", "ranked_among", "generality"]
    means = ["agent", "mean", "predicted_mean", "predicted_mean_low", "predicted_mean_high"]
    # tasks that all agents solve, or none, count too
    alike = sum(1 for task in fit.dropped if isfinite(task.value))
    over = f"Over all {counted(len(fit.items) + alike, 'task')} of the fit"
    flags = [f"{named(row.agent)}: {flag}" for row in placements for flag in row.flags]
    unexpected = [
        f"{named(row.agent)} on {named(row.task)}: {row.result:.3g}, expected {row.expected:.3g} "
        f"(p = {row.probability:.3g})"
        for row in placements.unexpected
    ]
    tasks = counted(len(fit.items), "task")
    return Finding(
        blocks=(
            shown_table(placements.agents, placed, "Placed"),
            shown_table(
                placements.agents,
                means,
                f"{over}, {alike} with one result for all" if alike else over,
            ),
            Notes(flags, "Note"),
            Notes(unexpected, "Unexpected"),
        ),
        about=f"{fit.model} of {counted(len(fit.abilities.agents), 'agent')} × {tasks}",
        answer=placements,
    )


def render_set_placement(answer: SetPlacement) -> Finding:
    """Show what a few tasks predict of agents over all tasks, and the results that do not fit.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import place, select
    >>> results = Results.from_numpy(np.random.default_rng(0).normal(size=(8, 6)))
    >>> placed = place(results, select(results, 2, "spread", rng=0))
    >>> render_set_placement(placed).data["agents"][0]["observed"]
    True
    """
    columns = ["agent", "predicted", "predicted_low", "predicted_high", "best_rank", "worst_rank"]
    remarks = []
    for agent in answer.agents:
        if agent.observed or agent.calibrated:
            remarks.append(f"{named(agent.agent)} {OBSERVED if agent.observed else CALIBRATED}")
        if agent.beyond:
            remarks.append(f"{named(agent.agent)} {BEYOND}")
        if agent.missing:
            remarks.append(f"{named(agent.agent)} has no result on {', '.join(agent.missing)}")
    unexpected = [
        f"{named(row.agent)} on {named(row.task)}, {abs(row.deviations):.1f} standard deviations "
        f"{'above' if row.deviations > 0 else 'below'} the prediction from the other tasks"
        for row in answer.unexpected
    ]
    return Finding(
        blocks=(
            shown_table(answer.agents, [*columns, "among"], "Placed"),
            (
                f"Predicted is the {answer.target} the agent would get if all tasks were run. Low and "
                f"high are the bounds of its {100 * answer.level:.0f} % interval, and the ranks are those "
                f"of the bounds."
            ),
            *remarks,
            Notes(unexpected, "Unexpected"),
        ),
        about=(
            f"{answer.target} of {counted(answer.tasks, 'task')}, predicted from {len(answer.selected)}: "
            f"{', '.join(answer.selected)}"
        ),
        answer=answer,
    )


def render_examination(
    bank: TaskBank, last: Examination, fit: IRTFit, *, outcome: str | None = None, seed: int = 0
) -> Finding:
    """Show an examination; `outcome` says how it ended where no stop has ended it.

    >>> import numpy as np
    >>> from examiner.adaptive import examine
    >>> from examiner.irt import ItemParameters, known
    >>> fit = known(ItemParameters.of(["pong", "qbert"], slope=[2, 1], difficulty=[0, 1]))
    >>> bank = TaskBank.of(fit)
    >>> last = examine(bank, {"pong": 1, "qbert": 0}.get, rng=np.random.default_rng(0))
    >>> render_examination(bank, last, fit).data["outcome"]
    'All tasks that could be answered were used up.'
    """
    ended = outcome or "It was stopped by hand."
    sentence = ended if last.ending is None else last.ending.value
    low, high = last.interval
    alike = fit.evidence is not None and not fit.evidence.abilities_differ
    better = ""
    if last.probability_better is not None:
        other = named(str(last.stop.better_than))
        better = f"Better than {other} with a probability of {last.probability_better:.3f}"
    columns = ["task", "value", "trials", "expected", "ability", "ability_error"]
    columns += ["ability_low", "ability_high"]
    return Finding(
        lead=(
            f"{named(last.agent or 'The agent')}: ability {last.ability:.2f} ± {last.error:.2f} (95 %: "
            f"{low:.2f} to {high:.2f}) after {counted(len(last.steps), 'task')} of {len(bank):,}; seed "
            f"{seed}"
        ),
        blocks=(
            sentence,
            no_rank(fit.evidence) if fit.evidence is not None and alike else "",
            f"Skipped: {', '.join(last.skipped)}" if last.skipped else "",
            better,
            shown_table(last.tables["steps"], columns, "Tasks given"),
        ),
        beside={"outcome": sentence, "bank_tasks": len(bank), "uncertainty": bank.uncertainty},
        answer=last,
    )


def render_examination_study(bank: TaskBank, study: ExaminationStudy, *, seed: int = 0) -> Finding:
    """Show how many tasks simulated agents needed, and the accuracy after each number of tasks."""
    shape = f"{counted(study.agents, 'simulated agent')}, {counted(len(bank), 'task')}"
    return Finding(
        blocks=(
            shown_table(study.tables["needs"], caption="Tasks needed"),
            shown_table(study.tables["accuracy"], caption="Accuracy"),
        ),
        about=f"{shape}; seed {seed}",
        answer=study,
    )


def render_growth(grown: Grown) -> Finding:
    """Show what was added to a fit: new agents and tasks, and the old tasks that moved.

    >>> import numpy as np
    >>> from examiner.irt import ItemParameters, grow, known
    >>> from examiner.results import ResponseMatrix
    >>> fit = known(ItemParameters.of(["t"], [1.0], [0.0]))
    >>> finding = render_growth(grow(fit, ResponseMatrix.from_array([[1]], ["new"], ["t"])))
    >>> finding.lead
    '1 agent was placed, and 0 tasks were calibrated.'
    """
    kept = (
        f"{counted(grown.known_agents, 'agent')} of the fit keep their ability: what they did on old tasks "
        f"is not counted again. Fit all again to count it."
    )
    known = (
        "±: tasks taken as known; `examiner place` also counts what is not known of them, and says a "
        "little more."
    )
    captions = {
        "moved": "Tasks that moved",
        "tasks": "New tasks",
        "agents": "New agents, the highest ability first",
        "excluded_tasks": "Not calibrated",
    }
    return Finding(
        blocks=(
            grown.drift.sentence(),
            kept if grown.known_agents else "",
            *(shown_table(grown.tables[key], caption=caption) for key, caption in captions.items()),
            known if grown.agents else "",
        ),
        answer=grown,
    )
