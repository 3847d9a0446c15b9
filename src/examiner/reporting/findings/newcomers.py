"""New agents, known without fitting again: placed on a fit or by a few tasks, or examined task by task."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from examiner.adaptive import Examination, ExaminationStudy, TaskBank
from examiner.irt import IRTFit, Placements, no_rank
from examiner.messages import counted
from examiner.reporting.finding import Finding, Notes, Piece, Text, shown_table
from examiner.reporting.prose import Name, Prose, Sentence
from examiner.selection import SetPlacement

OBSERVED = " ran every task: its value is observed, not predicted."
CALIBRATED = (
    " is one of the agents these tasks were selected on: it is ranked among the others, and its interval "
    "may be too narrow."
)
BEYOND = " lies beyond the calibration set: its interval is widened."


def render_placements(fit: IRTFit, found: Placements) -> Finding:
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
    blocks: list[Piece] = [
        shown_table(found.agents, placed, "Placed"),
        shown_table(found.agents, means, _over_all(fit)),
    ]
    unexpected = [
        _odd(
            row.agent,
            row.task,
            f": {row.result:.3g}, expected {row.expected:.3g} (p = {row.probability:.3g})",
        )
        for row in found.unexpected
    ]
    flags = [(Name(agent.agent), ": ", Sentence(flag)) for agent in found for flag in agent.flags]
    blocks += [*noted_as("Note", flags), *noted_as("Unexpected", unexpected)]
    tasks = counted(len(fit.items), "task")
    about = f"{fit.model} of {counted(len(fit.abilities.agents), 'agent')} × {tasks}"
    return Finding(
        lead=(Sentence(found.headline),),
        blocks=tuple(blocks),
        about=about,
        answer=found,
    )


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
            missing = Sentence(", ".join(agent.missing))
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
    about = (f"{start}{len(answer.selected)}: ", Sentence(", ".join(answer.selected)))
    return Finding(
        lead=(Sentence(answer.headline),),
        blocks=tuple(blocks),
        about=about,
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
    lead = (
        Name(last.agent or "The agent"),
        f": ability {last.ability:.2f} ± {last.error:.2f} (95 %: {low:.2f} to "
        f"{high:.2f}) after {counted(len(last.steps), 'task')} of {len(bank):,}; seed {seed}",
    )
    blocks: list[Piece] = [Text((sentence,))]
    if fit.evidence is not None and not fit.evidence.abilities_differ:
        blocks.append(Text(no_rank(fit.evidence)))
    if last.state.aside:
        blocks.append(Text(("Skipped: ", Sentence(", ".join(last.state.aside)))))
    if last.probability_better is not None:
        chance = f" with a probability of {last.probability_better:.3f}"
        blocks.append(Text(("Better than ", Name(str(last.stop.better_than)), chance)))
    columns = ["task", "value", "trials", "expected", "ability", "ability_error"]
    columns += ["ability_low", "ability_high"]
    blocks.append(shown_table(last.tables["steps"], columns, "Tasks given"))
    more = {"outcome": sentence, "bank_tasks": len(bank), "uncertainty": bank.uncertainty}
    return Finding(lead=lead, blocks=tuple(blocks), beside=more, answer=last)


def render_examination_study(bank: TaskBank, study: ExaminationStudy, *, seed: int = 0) -> Finding:
    """Show how many tasks simulated agents needed, and the accuracy after each number of tasks."""
    shape = f"{counted(study.agents, 'simulated agent')}, {counted(len(bank), 'task')}"
    blocks = (
        shown_table(study.tables["needs"], caption="Tasks needed"),
        shown_table(study.tables["accuracy"], caption="Accuracy"),
    )
    return Finding(
        lead=study.headline,
        blocks=blocks,
        about=f"{shape}; seed {seed}",
        answer=study,
    )
