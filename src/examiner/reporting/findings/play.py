"""Plans and what was played: a plan before and after its run, and what sticky actions cost an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, StoredAnswer, Table, count, name, number, text
from examiner.arena import (
    RANDOM_EPISODES,
    REFERENCE,
    Deviation,
    Flavour,
    FrameBudget,
    Plan,
    Probe,
    ProbedPlan,
    Repair,
    RunOutcome,
    StickyContrasts,
    deviations,
    frame_budgets,
    game_variant,
)
from examiner.datasets import load
from examiner.messages import counted
from examiner.reporting.finding import Finding, Piece, Text, noted, shown_table
from examiner.reporting.prose import Name, Sentence
from examiner.reporting.renderers import finding_of
from examiner.validation import Floats

PAPER = "machado-2018-table1"
"""The data set whose columns are shown next to our own."""
PAPER_STICKY = 0.25


class DeviationTable(Table):
    """Settings of a protocol that differ from the reference."""

    setting: tuple[str, ...] = name("Setting")
    value: tuple[str, ...] = text("Value")
    reference: tuple[str, ...] = text("Reference")
    kind: tuple[str, ...] = text("A free setting is left to the agent by the reference")
    meaning: tuple[str, ...] = text("Meaning")


class FrameBudgetTable(Table):
    """The most frames that each agent plays; NaN where nothing limits them."""

    agent: tuple[str, ...] = name("Agent")
    jobs: NDArray[np.int64] = count("Jobs")
    training: Floats = number("Training frames of all its jobs, at most", unit="million frames")
    evaluation: Floats = number("Evaluation frames of all its jobs, at most", unit="million frames")


class PublishedScores(Table):
    """Scores that Machado et al. (2018), Table 1, print for the same agents and games."""

    agent: tuple[str, ...] = name("Agent")
    game: tuple[str, ...] = name("Game")
    deterministic: Floats = number("Mean score without sticky actions", unit="score")
    deterministic_sd: Floats = number("Standard deviation over trials", unit="score", title="SD")
    sticky: Floats = number("Mean score with sticky actions", unit="score")
    sticky_sd: Floats = number("Standard deviation over trials", unit="score", title="SD")


class GameSplits(Table):
    """The games of a plan, and what they are used for."""

    game: tuple[str, ...] = name("Game")
    split: tuple[str, ...] = text("train: settings may be tuned on it; test: they may not")


def render_plan(plan: Plan) -> Finding:
    """Show what a plan would play, how it deviates from the reference protocol, and how many frames.

    >>> from examiner.arena import plan_from_toml
    >>> plan = plan_from_toml('games = ["freeway"]\\n[[agents]]\\nentry = "random"', name="mine")
    >>> render_plan(plan).data["games"]
    [{'game': 'freeway', 'split': 'train'}]
    """
    jobs, differences = plan.jobs(), deviations(plan.protocol)
    splits = {job.game: plan.split(job.game) for job in jobs}
    variants = {(job.game, job.mode, job.difficulty) for job in jobs}
    headline = (
        f"{counted(len(jobs), 'job')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len(variants), 'variant')} of {counted(len(splits), 'game')} × "
        f"{_seed_counts(plan)}."
    )
    protocol = plan.protocol.name or "your own"
    answer = StoredAnswer(
        "examiner.plan/1",
        headline,
        {
            "deviations": _deviation_table(differences),
            "frame_budgets": _frame_budget_table(frame_budgets(plan)),
            "games": GameSplits(game=tuple(splits), split=tuple(splits.values())),
        },
        {
            "jobs": Scalar(len(jobs), "Jobs of the plan"),
            "protocol": Scalar(protocol, "Protocol"),
            "deviating_settings": Scalar(
                len(differences), f"Settings that differ from the protocol {REFERENCE}"
            ),
            "tuning_games": Scalar(
                sum(split == "train" for split in splits.values()),
                "Games on which settings may be tuned; all others are for testing",
            ),
        },
        stored_settings={
            "name": plan.name,
            "seeds": {agent.name: list(plan.seeds_of(agent)) for agent in plan.agents},
            "protocol": plan.protocol.to_dict(),
            "protocol_hash": plan.protocol.hash,
            "reference": REFERENCE,
        },
    )
    return finding_of(answer)


def _seed_counts(plan: Plan) -> str:
    """How many seeds agents have: one number, or from the fewest to the most."""
    counts = sorted({len(plan.seeds_of(agent)) for agent in plan.agents})
    return f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else counted(counts[0], "seed")


def _deviation_table(differences: Sequence[Deviation]) -> DeviationTable:
    return DeviationTable(
        setting=[part.setting for part in differences],
        value=[_setting(part.value) for part in differences],
        reference=[_setting(part.reference) for part in differences],
        kind=["free" if part.free else "deviates" for part in differences],
        meaning=[part.meaning for part in differences],
        caption=f"Deviations from {REFERENCE}",
    )


def _setting(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _frame_budget_table(budgets: Sequence[FrameBudget]) -> FrameBudgetTable:
    return FrameBudgetTable(
        agent=[budget.agent for budget in budgets],
        jobs=[budget.jobs for budget in budgets],
        training=[_millions(budget.training_frames) for budget in budgets],
        evaluation=[_millions(budget.evaluation_frames) for budget in budgets],
        caption="Frames to play; a dash means that nothing limits them",
    )


def _millions(frames: int | None) -> float:
    return float("nan") if frames is None else frames / 1e6


def render_run(outcome: RunOutcome) -> Finding:
    """Show how many jobs of a plan are done, where their episodes are stored, and which jobs failed.

    >>> from pathlib import Path
    >>> outcome = RunOutcome(Path("pilot/ledger.sqlite"), 4, 1, 3, (), 30, 9_000, 2.5)
    >>> [block.prose for block in render_run(outcome).blocks]
    [('Ledger: ', Name(text='pilot/ledger.sqlite'))]
    """
    blocks: list[Piece] = [Text(("Ledger: ", Name(str(outcome.ledger))))]
    if outcome.episodes_file is not None:
        file = str(outcome.episodes_file)
        blocks.append(Text(("Episodes: ", Sentence(f"{file}   (examiner report {file})"))))
    return _shown(outcome, blocks, _failures(outcome))


def render_repair(repair: Repair) -> Finding:
    """Show what was saved of a damaged ledger, what was lost, and how to continue the run.

    >>> from pathlib import Path
    >>> render_repair(Repair(Path("pilot-repaired/ledger.sqlite"), 346, 54, 4, 1, 2)).data["lost"]
    54
    """
    folder = Name(str(repair.ledger.parent))
    return _shown(
        repair,
        [
            Text(("Ledger: ", Name(str(repair.ledger)))),
            Text(("Continue with: examiner arena run PLAN --output ", folder)),
        ],
    )


def render_probe(probe: Probe) -> Finding:
    """Show what sticky actions cost an agent, and whether replaying its actions gives its score."""
    replayed = probe.replayed.score
    replays = (
        f"Replaying its recorded actions without observations gave exactly the recorded score in "
        f"{probe.reproduced:,} of {counted(probe.replays, 'replay')} without sticky actions. With them, "
        f"replays scored {replayed[2]:.4g} on average instead of {replayed[0]:.4g}."
    )
    columns = ["agent", "deterministic", "sticky", *_estimates("loss")]
    frames, episodes = probe.settings["frames"], probe.settings["episodes"]
    length = counted(frames, "frame") if frames else counted(episodes, "episode")
    caption = (
        f"Scores without and with sticky actions (ς = {probe.sticky_probability:g}), "
        f"{counted(probe.settings['seeds'], 'run')} of {length} each, 95 % intervals; random play: "
        f"{counted(RANDOM_EPISODES, 'episode')} per run"
    )
    blocks = [shown_table(probe.scores, columns, caption), Text(replays)]
    return _with_published(_shown(probe, blocks), probe.scores, probe.sticky_probability)


def render_probed_plan(answer: ProbedPlan) -> Finding:
    """Show scores without and with sticky actions of every agent and game, the paper's, and failures."""
    flavour = [] if answer.contrasts.flavour is None else ["flavour"]
    columns = ["agent", "game", *flavour, "deterministic", "sticky", *_estimates("left")]
    columns.append("deterministic_runs")
    if not np.array_equal(answer.contrasts.deterministic_runs, answer.contrasts.sticky_runs):
        columns.append("sticky_runs")
    table = shown_table(answer.contrasts, columns)
    finding = _shown(answer, [table], _failures(answer))
    return _with_published(finding, answer.contrasts, answer.sticky_probability)


def _estimates(column: str) -> list[str]:
    return [column, f"{column}_low", f"{column}_high"]


def _shown(answer: Answer, *blocks: Sequence[Piece]) -> Finding:
    """A finding of an answer: its headline, these blocks and its notes."""
    shown = [block for group in blocks for block in group]
    return Finding(
        answer.kind,
        lead=(Sentence(answer.headline),),
        blocks=(*shown, *noted(answer.all_notes, "Note")),
        answer=answer,
    )


def _failures(answer: RunOutcome | ProbedPlan) -> list[Piece]:
    return [shown_table(answer.failed, caption="Failed jobs")] if answer.failures else []


def _with_published(
    finding: Finding, contrasts: StickyContrasts, sticky_probability: float | None
) -> Finding:
    """The finding with the scores that the paper prints for the same agents and games, if any."""
    published = _published(contrasts, sticky_probability)
    beside = finding.beside | {"published": published.records()}
    blocks = (shown_table(published),) if len(published) else ()
    return replace(finding, blocks=(*finding.blocks, *blocks), beside=beside)


def _published(contrasts: StickyContrasts, sticky_probability: float | None) -> PublishedScores:
    """The paper's rows for agents and games as the paper played them: in the default flavour."""
    paper = _paper() if sticky_probability == PAPER_STICKY else {}
    rows = []
    for row in contrasts:
        scores = paper.get((_paper_name(row.agent), row.game))
        flavour = row.get("flavour", "")
        if scores and (not flavour or flavour == Flavour(*game_variant(row.game)).short):
            rows.append((row.agent, row.game, *scores))
    columns: dict[str, Any] = {  # Any: cells of the printed table
        column: [row[at] for row in rows] for at, column in enumerate(PublishedScores.declared)
    }
    return PublishedScores(
        **columns,
        caption="Machado et al. (2018), Table 1: 50 million frames per run",
    )


def _paper() -> dict[tuple[Any, Any], tuple[Any, ...]]:  # Any: cells of the printed table
    """Means and standard deviations without and with sticky actions, by agent and game."""
    columns = load(PAPER).to_dict()  # type: ignore[union-attr]
    names = ("deterministic_mean", "deterministic_sd", "sticky_mean", "sticky_sd")
    keys = zip(columns["agent"], columns["game"], strict=True)
    return dict(zip(keys, zip(*(columns[name] for name in names), strict=True), strict=True))


def _paper_name(agent: str) -> str:
    return {"sarsa": "sarsa_blob_prost"}.get(agent, agent.replace("-", "_"))
