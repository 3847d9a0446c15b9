"""What is played: a plan before and after it is run, and what sticky actions cost an agent."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from examiner.arena import FailedJob, FrameBudget, Job, Plan, Repair, RunOutcome, frame_budgets
from examiner.arena.contrast import Contrast, ProbedPlan, ProbedVariant
from examiner.arena.environments.games import game_variant
from examiner.arena.play.means import RunsMean
from examiner.arena.probe import RANDOM_EPISODES, Probe
from examiner.arena.protocol import REFERENCE, deviations
from examiner.datasets import load
from examiner.messages import counted, listed
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Name
from examiner.reporting.table import Column, Piece, Record, Table

PAPER = "machado-2018-table1"
"""The data set whose columns stand beside ours."""
PAPER_STICKY = 0.25
FAILURES_SHOWN = 20

Published: TypeAlias = tuple[float, float, float, float]
"""Means without and with sticky actions, then their deviations over trials."""


def tell_plan(plan: Plan) -> Finding:
    """Show what a plan would play, how it deviates from the reference protocol, and how many frames.

    >>> from examiner.arena.plans import plan_from_toml
    >>> plan = plan_from_toml('games = ["freeway"]\\n[[agents]]\\nentry = "random"', name="mine")
    >>> tell_plan(plan).data["jobs"]
    1
    """
    jobs, apart, budgets = plan.jobs(), deviations(plan.protocol), frame_budgets(plan)
    splits = {job.game: plan.split(job.game) for job in jobs}
    tuning = [game for game, split in splits.items() if split == "train"]
    variants = {(job.game, job.mode, job.difficulty) for job in jobs}
    about = (
        f"{counted(len(jobs), 'job')}: {counted(len(plan.agents), 'agent')} × "
        f"{counted(len(variants), 'variant')} of {counted(len(splits), 'game')} × "
        f"{counted(len(plan.seeds), 'seed')}"
    )
    tuned = f"Games for tuning: {listed(tuning)}; all others are for testing"
    none_tuned = "No game is for tuning: all are for testing"
    columns = (
        Column("setting", "text"),
        Column("here", "text", key="value"),
        Column("there", "text", key="reference"),
        Column("", "text", key="free"),
        Column("meaning", "text"),
    )
    rows = [
        {
            "setting": each.setting,
            "value": _setting(each.value),
            "reference": _setting(each.reference),
            "free": "free" if each.free else "deviates",
            "meaning": each.meaning,
        }
        for each in apart
    ]
    blocks: list[Piece] = [
        Text(tuned if tuning else none_tuned),
        Text(f"Protocol: {plan.protocol.name or 'your own'} ({plan.protocol.hash})"),
        Table.of(rows, columns, f"How it deviates from {REFERENCE}")
        if apart
        else Text(f"It is {REFERENCE} in every setting."),
        _frames(budgets),
        Text(
            "How long it takes depends on the machine and on what agents do as they learn: a run shows "
            "its speed and the time left."
        ),
    ]
    data = {
        "name": plan.name,
        "jobs": len(jobs),
        "agents": [agent.name for agent in plan.agents],
        "games": splits,
        "seeds": list(plan.seeds),
        "protocol": plan.protocol.to_dict(),
        "protocol_name": plan.protocol.name,
        "protocol_hash": plan.protocol.hash,
        "deviations": [asdict(each) for each in apart],
        "frame_budgets": [budget._asdict() for budget in budgets],
    }
    return Finding(blocks=tuple(blocks), data=data, about=about)


def _frames(budgets: Sequence[FrameBudget]) -> Table:
    """The most frames that each agent plays, of training and of evaluation."""
    columns = (
        Column("agent", "name"),
        Column("jobs", "count"),
        Column("training frames, at most", "count", "of all its jobs", key="training_frames"),
        Column("evaluation frames, at most", "count", "of all its jobs", key="evaluation_frames"),
    )
    rows = [budget._asdict() | {"agent": Name(budget.agent)} for budget in budgets]
    return Table.of(
        rows, columns, "Frames to play; a dash means that the length of episodes is not limited"
    )


def _setting(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def tell_run(outcome: RunOutcome, exported: Path | None) -> Finding:
    """Tell how many jobs of a plan are done, where their episodes are, and which failed."""
    done = outcome.done_before + outcome.done
    before = f" ({outcome.done_before:,} before)" if outcome.done_before else ""
    lead = (
        f"{done:,} of {counted(outcome.jobs, 'job')} done{before}; played "
        f"{counted(outcome.episodes, 'episode')}, {counted(outcome.frames, 'frame')} in "
        f"{outcome.seconds:,.1f} s"
    )
    lines = [f"Ledger: {outcome.ledger}"]
    if exported is not None:
        lines.append(f"Episodes: {exported}   (examiner report {exported})")
    lines += [
        f"failed: {each.job.agent} on {each.job.game}, seed {each.job.seed}: {each.reason}"
        for each in outcome.failed[:FAILURES_SHOWN]
    ]
    if len(outcome.failed) > FAILURES_SHOWN:
        lines.append(f"… and {len(outcome.failed) - FAILURES_SHOWN:,} more: all are in --json")
    names = ("agent", "game", "mode", "difficulty", "seed")
    data = {
        "ledger": str(outcome.ledger),
        "episodes_file": None if exported is None else str(exported),
        "jobs": outcome.jobs,
        "done": done,
        "done_before": outcome.done_before,
        "failed": [
            {name: getattr(each.job, name) for name in names} | {"reason": each.reason}
            for each in outcome.failed
        ],
        "episodes": outcome.episodes,
        "frames": outcome.frames,
        "seconds": outcome.seconds,
    }
    return Finding("run", "A run", lead, tuple(Text((Name(line),)) for line in lines), data)


def tell_repair(found: Repair) -> Finding:
    """Tell what was saved of a damaged ledger, what was lost, and how the run goes on."""
    lost = f", {counted(found.lost, 'episode')} lost" if found.lost else ""
    lead = f"{counted(found.saved, 'episode')} saved{lost}; {counted(found.jobs, 'job')} kept"
    lines = [f"Ledger: {found.ledger}"]
    if found.open_jobs:
        lines.append(f"To be played on: {counted(found.open_jobs, 'job')}")
    lines.append(f"Go on with: examiner arena run PLAN --output {found.ledger.parent}")
    data = asdict(found) | {"ledger": str(found.ledger)}
    return Finding("repair", "A repair", lead, tuple(Text((Name(line),)) for line in lines), data)


def tell_probe(found: Probe, length: str) -> Finding:
    """Tell what sticky actions cost an agent whose runs have this length, and what replays gave."""
    paper = _paper(found.sticky_probability).get((_paper_name(found.agent), found.game))
    sticky = f"ς = {found.sticky_probability:g}"
    columns = (
        Column("", "name"),
        Column("ς = 0", "text", key="deterministic"),
        Column(sticky, "text", key="sticky"),
        Column("loss", "text"),
    )
    random = f"random play, {counted(RANDOM_EPISODES, 'episode')} a run"
    rows = [
        {"": f"{found.agent}, {length}"} | _cells(found.contrast),
        {"": random} | _cells(found.random),
    ]
    if paper is not None:
        plain, noisy, *_ = paper
        numbers = {"deterministic": plain, "sticky": noisy, "loss": plain - noisy}
        published = {name: _number(value) for name, value in numbers.items()}
        rows.append({"": "the paper, 50 million frames"} | published)
    title = f"{found.agent} on {found.game}, {counted(found.seeds, 'run')} each, 95 % intervals"
    advantage = _estimate(asdict(found.advantage), "")
    told = f"It has no clear advantage over random play to lose: {advantage} with ς = 0."
    if math.isfinite(found.kept):
        left = f"{100 * found.kept:.0f} % is left with {sticky}."
        told = f"Of its advantage over random play, {advantage} with ς = 0, {left}"
    replay = found.replay
    recorded, noisy_replay = (
        _estimate(asdict(part), "") for part in (replay.recorded, replay.sticky)
    )
    replayed = (
        f"Replaying its recorded actions without looking gave the same score in {replay.reproduced} of "
        f"{counted(replay.replays, 'replay')} with ς = 0; with {sticky} they gave {noisy_replay} instead "
        f"of {recorded}."
    )
    table = Table.of(rows, columns, title)
    sentences = [*_equal_runs([found.contrast, found.random]), told, replayed]
    known = {"kept_known": math.isfinite(found.kept), "paper": _beside(paper)}
    data = _marked(asdict(found)) | known
    blocks = (table, *(Text(sentence) for sentence in sentences))
    return Finding(blocks=blocks, data=data)


def failed_variants(failed: Sequence[FailedJob]) -> list[tuple[FailedJob, ProbedVariant]]:
    """Return the jobs that failed, each with its variant of a game; a probe plays no others."""
    return [(each, ProbedVariant.of_job(each.job)) for each in failed if isinstance(each.job, Job)]


def tell_probed_plan(found: ProbedPlan, sticky: float) -> Finding:
    """Tell a row for each agent and game, the paper's figures beside, and what failed."""
    paper, variants = _paper(sticky), list(found.contrasts)
    data, rows = [], []
    for variant, contrast in found.contrasts.items():
        published = _published(paper, variant)
        marked = _marked(asdict(contrast)) | {"paper": _beside(published)}
        data.append({**variant._asdict(), **marked})
        beside = dict(zip(("before", "after"), _with_deviations(published), strict=False))
        rows.append(
            {"agent": variant.agent, "game": shown_game(variant, variants), "runs": _runs(contrast)}
            | {"before": None, "after": None}
            | _cells(contrast)
            | beside
        )
    columns = (
        Column("agent", "name"),
        Column("game", "name"),
        Column("ς = 0", "text", key="deterministic"),
        Column(f"ς = {sticky:g}", "text", key="sticky"),
        Column("left", "text"),
        Column("runs", "text"),
        Column("paper, 0", "text", key="before"),
        Column("paper, 0.25", "text", key="after"),
    )
    failed = [
        {**variant._asdict(), "seed": each.job.seed, "reason": each.reason}
        for each, variant in failed_variants(found.failed)
    ]
    table = Table.of(
        rows, columns, "Without and with sticky actions, 95 % intervals (the paper: deviations)"
    )
    alike = (Text(told) for told in _equal_runs(list(found.contrasts.values())))
    content = {"rows": data, "failed": failed}
    return Finding(blocks=(table, *alike), data=content)


def shown_game(variant: ProbedVariant, variants: Sequence[ProbedVariant]) -> str:
    """The game, with its mode and difficulty where the game is played in several."""
    same_game = [each for each in variants if each.game == variant.game]
    parts = [
        f"{what} {getattr(variant, what)}"
        for what in ("mode", "difficulty")
        if len({getattr(each, what) for each in same_game}) > 1
    ]
    return ", ".join((variant.game, *parts))


def _runs(contrast: Contrast) -> str:
    """How many runs there are without and with sticky actions; one number where that is the same."""
    return " and ".join(
        dict.fromkeys(str(each.runs) for each in (contrast.deterministic, contrast.sticky))
    )


def _marked(content: dict[str, Any]) -> dict[str, Any]:  # Any: JSON values
    """Of runs that are all equal no interval can be had: null, with a flag beside."""
    if "mean" in content:
        equal = _equal(content)
        ends = {"low": None, "high": None} if equal else {}
        return content | ends | {"equal_runs": equal}
    return {
        name: _marked(value) if isinstance(value, dict) else value
        for name, value in content.items()
    }


def _cells(contrast: Contrast) -> dict[str, Any]:  # Any: texts
    cells = {name: _estimate(estimate) for name, estimate in asdict(contrast).items()}
    return cells | {"left": _share(contrast.left)}


def _share(left: RunsMean) -> str:
    if math.isnan(left.mean):
        return "–"
    if math.isnan(left.low):
        return f"{left.mean:.0%}"
    return f"{left.mean:.0%} ({left.low:.0%} to {left.high:.0%})"


def _with_deviations(published: Published | None) -> list[str]:
    if published is None:
        return []
    return [
        f"{_number(mean)} ({_number(deviation)})"
        for mean, deviation in zip(published[:2], published[2:], strict=True)
    ]


def _estimate(estimate: Mapping[str, float], if_equal: str = " (equal)") -> str:
    if math.isnan(estimate["mean"]):
        return "–"
    if math.isnan(estimate["low"]):
        return _number(estimate["mean"])
    if _equal(estimate):
        return _number(estimate["mean"]) + if_equal
    return f"{_number(estimate['mean'])} ± {_number(estimate['high'] - estimate['mean'])}"


def _equal(estimate: Mapping[str, float]) -> bool:
    return estimate["runs"] > 1 and estimate["low"] == estimate["high"]


def _equal_runs(contrasts: Sequence[Contrast]) -> list[str]:
    estimates = (estimate for contrast in contrasts for estimate in asdict(contrast).values())
    alike = [estimate["runs"] for estimate in estimates if _equal(estimate)]
    return [f"(equal): {min(alike)} equal runs, no interval"] if alike else []


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _paper(sticky: float) -> Mapping[tuple[str, str], Published]:
    """What the paper has, by agent and game: nothing but for its own probability."""
    if sticky != PAPER_STICKY:
        return {}
    columns: Any = load(PAPER).columns  # type: ignore[union-attr]
    names = ("deterministic_mean", "sticky_mean", "deterministic_sd", "sticky_sd")
    figures = zip(*(columns[name] for name in names), strict=True)
    return dict(zip(zip(columns["agent"], columns["game"], strict=True), figures, strict=True))


def _published(
    paper: Mapping[tuple[str, str], Published], variant: ProbedVariant
) -> Published | None:
    """What the paper has for an agent and game, both as the paper played it: in the default variant."""
    published = paper.get((_paper_name(variant.agent), variant.game))
    if published is None or variant.mode is None:
        return None
    return published if variant[2:] == game_variant(variant.game) else None


def _paper_name(agent: str) -> str:
    return {"sarsa": "sarsa_blob_prost"}.get(agent, agent.replace("-", "_"))


def _beside(published: Published | None) -> Record | None:
    names = ("deterministic", "sticky", "deterministic_sd", "sticky_sd")
    return published and dict(zip(names, published, strict=True))
