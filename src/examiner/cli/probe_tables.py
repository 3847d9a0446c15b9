"""What `examiner probe` found, as tables and as JSON, with the paper's figures beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from examiner.arena.probe import RANDOM_EPISODES, Contrast, Probe, ProbedPlan, ProbedVariant
from examiner.cli.output import print_line, print_notes, print_table
from examiner.wording import counted

PAPER = "machado-2018-table1"
"""The data set whose columns stand beside ours."""
_PAPER_STICKY = 0.25

Published: TypeAlias = tuple[float, float]  # without and with sticky actions
Paper: TypeAlias = Mapping[tuple[str, str], Published]


def plan_content(found: ProbedPlan, sticky: float) -> dict[str, Any]:  # Any: JSON values
    """Return every contrast of a plan, the paper's figures beside, and what failed."""
    paper = _paper(sticky)
    return {
        "rows": [
            {**variant._asdict(), **_marked(asdict(contrast))}
            | {"paper": _beside(_published(paper, variant))}
            for variant, contrast in found.contrasts.items()
        ],
        "failed": [
            {
                **ProbedVariant.of_job(one.job)._asdict(),
                "seed": one.job.seed,
                "reason": one.reason,
            }
            for one in found.failed
        ],
    }


def print_plan(found: ProbedPlan, sticky: float) -> None:
    """Print a row for each agent and game, the paper's figures beside, and what failed."""
    paper, variants, rows = _paper(sticky), list(found.contrasts), []
    for variant, contrast in found.contrasts.items():
        beside = tuple(map(_number, _published(paper, variant) or ())) or (None, None)
        game = _game_shown(variant, variants)
        rows.append((variant.agent, game, *_cells(contrast), _runs(contrast), *beside))
    header = (
        "agent",
        "game",
        "ς = 0",
        f"ς = {sticky:g}",
        "loss",
        "runs",
        "paper, 0",
        "paper, 0.25",
    )
    print_table("Without and with sticky actions, 95 % intervals", header, rows, right=(5, 6, 7))
    _print_equal(list(found.contrasts.values()))
    print_notes(
        [
            f"{one.job.agent} on {_game_shown(ProbedVariant.of_job(one.job), variants)}, seed "
            f"{one.job.seed}, failed: {one.reason}"
            for one in found.failed
        ]
    )


def _game_shown(variant: ProbedVariant, variants: Sequence[ProbedVariant]) -> str:
    """The game, with its mode and difficulty where the game is played in several."""
    same_game = [one for one in variants if one.game == variant.game]
    parts = [
        f"{what} {getattr(variant, what)}"
        for what in ("mode", "difficulty")
        if len({getattr(one, what) for one in same_game}) > 1
    ]
    return ", ".join((variant.game, *parts))


def _runs(contrast: Contrast) -> str:
    """How many runs there are without and with sticky actions; one number where that is the same."""
    return " and ".join(
        dict.fromkeys(str(one.runs) for one in (contrast.deterministic, contrast.sticky))
    )


def probe_content(found: Probe) -> dict[str, Any]:  # Any: JSON values
    """Return all that was found, and the paper's figures where it has any."""
    more = {"kept_known": math.isfinite(found.kept), "paper": _beside(_published_for(found))}
    return _marked(asdict(found)) | more


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


def print_probe(found: Probe, length: str) -> None:
    """Print what sticky actions cost an agent whose runs have this length, and what replays gave."""
    published, sticky = _published_for(found), f"ς = {found.sticky_probability:g}"
    header: Sequence[str] = ("", "ς = 0", sticky, "loss")
    rows: list[tuple[str, ...]] = [
        (f"{found.agent}, {length}", *_cells(found.contrast)),
        (f"random play, {counted(RANDOM_EPISODES, 'episode')} a run", *_cells(found.random)),
    ]
    if published is not None:
        rows.append(
            (
                "the paper, 50 million frames",
                *map(_number, published),
                _number(published[0] - published[1]),
            )
        )
    title = f"{found.agent} on {found.game}, {counted(found.seeds, 'run')} each, 95 % intervals"
    print_table(title, header, rows)
    _print_equal([found.contrast, found.random])
    advantage = _shown(asdict(found.advantage), "")
    if math.isfinite(found.kept):
        print_line(
            f"Of its advantage over random play, {advantage} with ς = 0, {100 * found.kept:.0f} % is left "
            f"with {sticky}."
        )
    else:
        print_line(f"It has no clear advantage over random play to lose: {advantage} with ς = 0.")
    replay = found.replay
    print_line(
        f"Replaying its recorded actions without looking gave the same score in {replay.reproduced} of "
        f"{counted(replay.replays, 'replay')} with ς = 0; with {sticky} they gave "
        f"{_shown(asdict(replay.sticky), '')} instead of {_shown(asdict(replay.recorded), '')}."
    )


def _cells(contrast: Contrast) -> tuple[str, str, str]:
    parts = (contrast.deterministic, contrast.sticky, contrast.loss)
    return tuple(_shown(asdict(one)) for one in parts)  # type: ignore[return-value]


def _shown(estimate: Mapping[str, float], if_equal: str = " (equal)") -> str:
    if math.isnan(estimate["mean"]):
        return "–"
    if math.isnan(estimate["low"]):
        return _number(estimate["mean"])
    if _equal(estimate):
        return _number(estimate["mean"]) + if_equal
    return f"{_number(estimate['mean'])} ± {_number(estimate['high'] - estimate['mean'])}"


def _equal(estimate: Mapping[str, float]) -> bool:
    return estimate["runs"] > 1 and estimate["low"] == estimate["high"]


def _print_equal(contrasts: Sequence[Contrast]) -> None:
    alike = [
        one.runs
        for contrast in contrasts
        for one in (contrast.deterministic, contrast.sticky, contrast.loss)
        if _equal(asdict(one))
    ]
    if alike:
        print_line(f"(equal): {min(alike)} equal runs, no interval")


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _paper(sticky: float) -> Paper:
    """What the paper has, by agent and game: nothing but for its own probability."""
    from examiner.datasets import load

    if sticky != _PAPER_STICKY:
        return {}
    columns: Any = load(PAPER).columns  # type: ignore[union-attr]
    names = ("agent", "game", "deterministic_mean", "sticky_mean")
    rows = zip(*(columns[name] for name in names), strict=True)
    return {(agent, game): (plain, noisy) for agent, game, plain, noisy in rows}


def _published_for(found: Probe) -> Published | None:
    return _paper(found.sticky_probability).get((_paper_name(found.agent), found.game))


def _published(paper: Paper, variant: ProbedVariant) -> Published | None:
    """What the paper has for an agent and game, both as the paper played it: in the default variant."""
    from examiner.arena.environments.games import game_variant

    published = paper.get((_paper_name(variant.agent), variant.game))
    if published is None or variant.mode is None:
        return None
    return published if variant[2:] == game_variant(variant.game) else None


def _paper_name(agent: str) -> str:
    return {"sarsa": "sarsa_blob_prost"}.get(agent, agent.replace("-", "_"))


def _beside(published: Published | None) -> dict[str, float] | None:
    return published and {"deterministic": published[0], "sticky": published[1]}
