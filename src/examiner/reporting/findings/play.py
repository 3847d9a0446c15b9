"""Plans and what was played: a plan before and after its run, and what sticky actions cost an agent."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Scalar, StoredAnswer, Table, count, name, number, text
from examiner.arena import (
    RANDOM_EPISODES,
    REFERENCE,
    Flavour,
    Flavours,
    GvgaiPlan,
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
from examiner.reporting.finding import Block, Finding, Notes, ShownTable, finding_of, shown_table
from examiner.reporting.prose import named
from examiner.validation import Floats

PAPER = "machado-2018-table1"
"""The data set whose columns are shown next to our own."""


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
    jobs, differences, budgets = plan.jobs(), deviations(plan.protocol), frame_budgets(plan)
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
            "deviations": DeviationTable(
                setting=[part.setting for part in differences],
                value=[_setting(part.value) for part in differences],
                reference=[_setting(part.reference) for part in differences],
                kind=["free" if part.free else "deviates" for part in differences],
                meaning=[part.meaning for part in differences],
                caption=f"Deviations from {REFERENCE}",
            ),
            "frame_budgets": FrameBudgetTable(
                agent=[budget.agent for budget in budgets],
                jobs=[budget.jobs for budget in budgets],
                training=[_millions(budget.training_frames) for budget in budgets],
                evaluation=[_millions(budget.evaluation_frames) for budget in budgets],
                caption="Frames to play; a dash means that nothing limits them",
            ),
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


def _setting(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _millions(frames: float) -> float:
    return frames / 1e6 if math.isfinite(frames) else math.nan


def render_gvgai_plan(plan: GvgaiPlan) -> Finding:
    """Show what a plan would play in a checkout of GVGAI, under which rules, and how long at most."""
    jobs, rules = plan.jobs(), plan.rules
    games = list(dict.fromkeys(job.game for job in jobs))
    levels = {(job.game, job.level) for job in jobs}
    headline = (
        f"{counted(len(jobs), 'play')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len(levels), 'level')} of {counted(len(games), 'game')} × "
        f"{counted(len(plan.seeds), 'seed')}."
    )
    hours = len(jobs) * rules.cpu_seconds / 3600
    busy = "A budget of milliseconds allows fewer model calls on a busy machine: use idle cores."
    answer = StoredAnswer(
        "examiner.plan/1",
        headline,
        {},
        {
            "jobs": Scalar(len(jobs), "Plays of the plan"),
            "rules": Scalar(rules.name, "Rules"),
            "max_ticks": Scalar(rules.max_ticks, "Ticks of a play, at most"),
            "cpu_seconds": Scalar(rules.cpu_seconds, "Processor time of a play, at most", "s"),
            "core_hours": Scalar(hours, "Processor time of all plays, at most", "core-hours"),
        },
        () if rules.milliseconds is None else (busy,),
        {
            "name": plan.name,
            "agents": [agent.name for agent in plan.agents],
            "games": games,
            "seeds": list(plan.seeds),
            "protocol": rules.to_dict(),
            "protocol_hash": rules.hash,
        },
    )
    return finding_of(answer)


def render_flavours(answer: Flavours) -> Finding:
    """Show what agents lose in flavours of games in which they were not trained, and the failed jobs."""
    columns = ["agent", "game", "trained_in", "evaluated_in", "score", "native"]
    columns += ["gap", "gap_low", "gap_high", "random", "kept"]
    episodes = ""
    if answer.episodes is not None:
        episodes = f"{counted(answer.episodes, 'episode')} per run; "
    gaps = shown_table(answer.gaps, columns, f"{episodes}{answer.gaps.caption}")
    return _shown(answer, gaps, _failures(answer))


def render_run(outcome: RunOutcome) -> Finding:
    """Show how many jobs of a plan are done, where their episodes are stored, and which jobs failed.

    >>> from pathlib import Path
    >>> from examiner.reporting.prose import plain_text
    >>> outcome = RunOutcome(Path("pilot/ledger.sqlite"), None, 4, 4, 1, 30, 9_000, 2.5, {})
    >>> [plain_text(block) for block in render_run(outcome).blocks]
    ['Ledger: pilot/ledger.sqlite']
    """
    file = outcome.episodes_file
    episodes = "" if file is None else f"Episodes: {named(str(file))}   (examiner report {file})"
    return _shown(outcome, f"Ledger: {named(str(outcome.ledger))}", episodes, _failures(outcome))


def render_repair(repair: Repair) -> Finding:
    """Show what was saved of a damaged ledger, what was lost, and how to continue the run.

    >>> from pathlib import Path
    >>> render_repair(Repair(Path("pilot-repaired/ledger.sqlite"), 346, 54, 4, 1, 2)).data["lost"]
    54
    """
    folder = named(str(repair.ledger.parent))
    return _shown(
        repair,
        f"Ledger: {named(str(repair.ledger))}",
        f"Continue with: examiner arena run PLAN --output {folder}",
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
        f"Scores without and with sticky actions (ς = {probe.settings['sticky_probability']:g}), "
        f"{counted(probe.settings['seeds'], 'run')} of {length} each, 95 % intervals; random play: "
        f"{counted(RANDOM_EPISODES, 'episode')} per run"
    )
    finding = _shown(probe, shown_table(probe.scores, columns, caption), replays)
    return _with_published(finding, probe.scores, probe.settings["sticky_probability"])


def render_probed_plan(answer: ProbedPlan) -> Finding:
    """Show scores without and with sticky actions of every agent and game, the paper's, and failures."""
    flavour = [] if answer.contrasts.flavour is None else ["flavour"]
    columns = ["agent", "game", *flavour, "deterministic", "sticky", *_estimates("left")]
    columns.append("deterministic_runs")
    if not np.array_equal(answer.contrasts.deterministic_runs, answer.contrasts.sticky_runs):
        columns.append("sticky_runs")
    finding = _shown(answer, shown_table(answer.contrasts, columns), _failures(answer))
    return _with_published(finding, answer.contrasts, answer.sticky_probability)


def _estimates(column: str) -> list[str]:
    return [column, f"{column}_low", f"{column}_high"]


def _shown(answer: Answer, *blocks: Block | None) -> Finding:
    """A finding of an answer: its headline, these blocks and its notes."""
    return Finding(answer.kind, blocks=(*blocks, Notes(answer.all_notes, "Note")), answer=answer)


def _failures(answer: RunOutcome | ProbedPlan | Flavours) -> ShownTable:
    return shown_table(answer.failed, caption="Failed jobs")


def _with_published(
    finding: Finding, contrasts: StickyContrasts, sticky_probability: float | None
) -> Finding:
    """The finding with the scores that the paper prints for the same agents and games, if any."""
    published = _published(contrasts, sticky_probability)
    beside = finding.beside | {"published": published.records()}
    return replace(finding, blocks=(*finding.blocks, shown_table(published)), beside=beside)


def _published(contrasts: StickyContrasts, sticky_probability: float | None) -> PublishedScores:
    """The paper's rows for agents and games as the paper played them: in the default flavour."""
    paper = _paper() if sticky_probability == 0.25 else {}
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
