"""Every number of the printed tables of papers/001, 003 and 004 next to ours.

`make.py` writes these tables next to its figures; the pages show them, and tests compare both. A table that
needs scores which are not bundled raises `LackingError`, as figures do.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

import examiner as ex
from examiner.results import atari_game

Rows = list[tuple[str, ...]]


class PrintedTable(NamedTuple):
    """A table of a paper, cell by cell, with what we get."""

    header: tuple[str, ...]
    rows: Rows

    @property
    def markdown(self) -> str:
        """The table as the pages show it."""
        rows = (self.header, ("---",) * len(self.header), *self.rows)
        return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def number(value: float, digits: int = 2) -> str:
    """A number with a proper minus sign."""
    return f"{value:,.{digits}f}".replace("-", "−")


# papers/001, Table 1

RUNS_OF_THE_PAPER = {"brute": 24, "sarsa-blob-prost": 24, "dqn": 5}


def scores_with_and_without_sticky_actions() -> PrintedTable:
    """papers/001, Table 1: means and deviations over runs, 50 million frames theirs, one million ours."""
    printed = ex.load("machado-2018-table1").columns
    ours = {
        kind: _means_of_runs(ex.load(f"atari-table1{suffix}"))
        for kind, suffix in (("deterministic", "-deterministic"), ("sticky", ""))
    }
    rows: Rows = []
    for place, game in enumerate(printed["game"]):
        agent = printed["agent"][place].replace("_", "-")
        for kind, stickiness in (("deterministic", "0"), ("sticky", "0.25")):
            mean, deviation = (printed[f"{kind}_{part}"][place] for part in ("mean", "sd"))
            runs = ours[kind][agent, game]
            error = np.hypot(
                deviation / np.sqrt(RUNS_OF_THE_PAPER[agent]),
                np.std(runs, ddof=1) / np.sqrt(len(runs)),
            )
            rows.append(
                (
                    *(agent, game.replace("_", " "), stickiness),
                    _with_deviation(mean, deviation),
                    f"{_with_deviation(np.mean(runs), np.std(runs, ddof=1))}, {len(runs)} runs",
                    "yes" if abs(np.mean(runs) - mean) <= 2 * error else "no, fewer frames",
                )
            )
    rows.sort(key=lambda row: list(RUNS_OF_THE_PAPER).index(row[0]))
    return PrintedTable(
        ("agent", "game", "ς", "printed", "here", "within two standard errors"), rows
    )


def _with_deviation(mean: float, deviation: float) -> str:
    digits = 1 if abs(mean) < 50 else 0
    return f"{number(mean, digits)} ({number(deviation, digits)})"


def _means_of_runs(results: ex.Results) -> dict[tuple[str, str], list[float]]:
    """The mean of the last hundred episodes of each run, by agent and game."""
    episodes: dict[tuple[str, str, int], list[float]] = {}
    columns = [results.column(name) for name in ("agent", "task", "run")]
    for agent, task, run, score in zip(*columns, results.measure(), strict=True):
        episodes.setdefault((agent, task, run), []).append(score)
    means: dict[tuple[str, str], list[float]] = {}
    for (agent, task, _), scores in episodes.items():
        means.setdefault((agent, task), []).append(float(np.mean(scores[-100:])))
    return means


# papers/003, Table 1


def actions_of_games() -> PrintedTable:
    """papers/003, Table 1, the actions of each game: printed, and the minimal action set of ale-py."""
    printed = ex.load("atari-irt-2017-table1").columns
    protocol = ex.arena.protocol("machado-2018", action_set="minimal")
    rows: Rows = []
    for game, actions in zip(printed["game"], printed["actions"], strict=True):
        job = ex.arena.Job("random", "random", game=game, protocol=protocol)
        ours = len(ex.arena.Playing(job).environment.action_names)
        rows.append((game, str(actions), str(ours), "yes" if ours == actions else "no"))
    return PrintedTable(("game", "actions, printed", "here", "agree"), rows)


def parameters_of_games(fit: ex.irt.IRTFit) -> PrintedTable:
    """papers/003, Table 1, the parameters: printed, and a fit with priors of the same 40 × 41 successes."""
    printed = ex.load("atari-irt-2017-table1").columns
    tasks = {atari_game(row.task): row for row in fit.tasks}
    rows: Rows = []
    columns = (printed[name] for name in ("game", "difficulty", "discrimination"))
    for game, difficulty, slope in zip(*columns, strict=True):
        if difficulty is None:
            ours = "–" if game not in tasks else "fitted"
            rows.append((game, "–", ours, "–", ours, "no variance"))
            continue
        row = tasks[game]
        agree = [
            row.difficulty_low <= difficulty <= row.difficulty_high,
            row.discrimination_low <= slope <= row.discrimination_high,
        ]
        rows.append(
            (
                *(game, number(difficulty)),
                _interval(row.difficulty, row.difficulty_low, row.difficulty_high),
                number(slope),
                _interval(row.discrimination, row.discrimination_low, row.discrimination_high),
                " and ".join(np.array(["difficulty", "discrimination"])[agree]) or "neither",
            )
        )
    header = ("game", "difficulty, printed", "here", "discrimination, printed", "here")
    return PrintedTable((*header, "printed inside our interval"), rows)


def _interval(value: float, low: float, high: float) -> str:
    return f"{number(value)} ({_end(low)} to {_end(high)})"


def _end(value: float) -> str:
    return number(value) if np.isfinite(value) else "no end"


# papers/004, Tables I and II

PLAYS_PER_GAME = {
    **{"jaydee": 1202.7, "MH2015": 4184.9, "mrtndwrd": 1029.8, "CatLinux": 1588.8},
    **{"ICELab": 857.8, "thorbjrn": 1358.4, "TomVodo": 1030.0, "sampleRHEA": 1447.9},
    **{"NovelTS": 1307.3, "evolutionStrategies": 1390.7, "simulatedAnnealing": 1361.8},
    **{"adrienctx": 1117.6, "sampleMCTS": 1184.1, "SJA862": 2416.2, "greedySearch": 1421.4},
    **{"AtheneAI": 731.0, "muzzle": 1414.5, "YBCriber": 1037.6, "NovTea": 1296.2},
    **{"MaastCTS2": 1364.3, "Return42": 1261.7, "aStar": 1226.2, "SJA86": 1130.8},
    **{"bladerunner": 994.1, "TeamTopbug": 1243.7, "Number27": 1183.1, "hillClimber": 1514.1},
}
"""papers/004, Table I: plays per game of each agent."""
SAME_AGENTS = {
    "MH2015": "MH2015",
    "CatLinux": "CatLinux",
    "sampleRHEA": "RHEA",
    "sampleMCTS": "MCTS",
}
"""Agents of Table I that `gvgai-plays` has too, under its names."""


def plays_of_agents() -> PrintedTable:
    """papers/004, Table I: plays per game of each agent, and those of the same agents that are bundled."""
    plays = ex.load("gvgai-plays")
    counts = Counter(plays.column("agent"))
    rows: Rows = [
        (
            agent,
            number(printed, 1),
            f"{counts[SAME_AGENTS[agent]]} plays in all" if agent in SAME_AGENTS else "not played",
        )
        for agent, printed in PLAYS_PER_GAME.items()
    ]
    values = list(PLAYS_PER_GAME.values())
    rows += [
        ("Minimum", "731.0", f"{number(min(values), 1)} of the rows"),
        ("Average", "1,368.6", f"{number(float(np.mean(values)), 1)} of the rows"),
        ("Maximum", "4,184.9", f"{number(max(values), 1)} of the rows"),
    ]
    return PrintedTable(("agent", "plays per game, printed", "here"), rows)


def bits_of_games() -> PrintedTable:
    """papers/004, Table II: bits of the printed games, and those that nine controllers give them here."""
    printed = ex.load("gvgai-information-2019").columns
    games = ex.load("gvgai-planners").with_items()
    model = ex.information.ChannelModel(ex.information.Noise(literal_wins=True))
    rows: Rows = []
    for what, measures in (("win", ["win"]), ("score", ["score"]), ("combined", ["win", "score"])):
        tasks = ex.information.gain(ex.information.channels(games, measures, model)).tasks
        bits = {row.task: row.bits for row in tasks}
        order = sorted(bits, key=lambda game: -bits[game])
        for game, theirs in zip(printed[f"{what}_game"], printed[f"{what}_bits"], strict=True):
            ours = (
                f"{number(bits[game])}, place {order.index(game) + 1}"
                if game in bits
                else "not listed"
            )
            rows.append((what, game, number(theirs, 8), ours))
    both = ["win", "score"]
    greedy = zip(printed["greedy_game"], printed["greedy_cumulative_bits"], strict=True)
    chosen: list[str] = []
    for game, theirs in greedy:
        chosen += [game] if game in games.tasks else []
        channels = ex.information.channels(games, both, model)
        ours = number(ex.information.gain(channels, chosen).bits)
        rows.append(("greedy set", game, number(theirs, 8), f"{ours} together"))
    return PrintedTable(("column", "game", "bits, printed", "here, of at most 3.17"), rows)
