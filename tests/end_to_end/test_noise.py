"""Noise: no command names an agent, task, cluster or group as different in more than 5 % of tables.

Agents are equal and tasks are equal. A command is run on several tables, what it claims is read from its
JSON, and the number of tables with a claim is compared with what 5 % of them allow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from examiner.cli import app

LEVEL = 0.05
Answer = Mapping[str, Any]  # Any: JSON values


@dataclass(frozen=True)
class Shape:
    """A table of equal agents on equal tasks."""

    agents: int
    tasks: int
    runs: int = 1
    trials: int = 1
    wins: bool = False

    def rows(self, rng: np.random.Generator) -> list[str]:
        """Return a tidy CSV, one line per trial; `price` is a cost that differs between agents."""
        price = rng.random(self.agents)
        lines = ["agent,task,run,trial,score,price"]
        for key in np.ndindex(self.agents, self.tasks, self.runs, self.trials):
            agent, task, run, trial = key
            value = int(rng.random() < 0.5) if self.wins else rng.normal()
            lines.append(f"a{agent:02},t{task:03},{run},{trial},{value},{price[agent]:.3f}")
        return lines

    def written(self, path: Path, seed: int) -> Path:
        path.write_text("\n".join(self.rows(np.random.default_rng([seed, self.tasks]))) + "\n")
        return path


@dataclass(frozen=True)
class Claim:
    """What a command may claim: its words after the table, and whether its answer claims anything."""

    words: tuple[str, ...]
    named: Callable[[Answer], bool]
    only: Callable[[Shape], bool] = lambda shape: True


def _significant_pair(answer: Answer) -> bool:
    return any(pair["p_adjusted"] <= LEVEL for pair in answer["pairs"])


def _fitted(answer: Answer) -> bool:
    named = any(row["tied_first"] for row in answer["agents"])
    named |= any(row["significance"] for row in answer["tasks"])
    return bool(answer["abilities_differ"] or answer["slopes_differ"] or named)


def _signs_of_slopes(answer: Answer) -> bool:
    """Whether a task is said to have a slope above or below 0, by its interval or for want of a flag."""
    said = [task for task in answer["tasks"] if "slope not significant" not in task["flags"]]
    known = [task for task in said if task["discrimination_low"] is not None]
    return any(task["discrimination_low"] > 0 or task["discrimination_high"] < 0 for task in known)


def _informative(answer: Answer) -> bool:
    beyond = [task.get("beyond_chance") for task in answer["tasks"]]
    return bool(answer["p_value"] <= LEVEL or any(beyond))


def _alike(answer: Answer) -> bool:
    flagged = [task.get("opposed") or task.get("deceptive") for task in answer["tasks"]]
    return bool(answer["clusters"] or any(flagged) or answer["possible_winners"])


def _better_than_random(answer: Answer) -> bool:
    low, random = answer["r2_low"], answer["random_r2"]
    return low is not None and random is not None and bool(low > max(random, 0.0))


def _p_value(answer: Answer, quantity: str) -> float:
    (row,) = (row for row in answer["quantities"] if row["quantity"] == quantity)
    return 1.0 if row["p_value"] is None else float(row["p_value"])


def _worth_its_cost(answer: Answer) -> bool:
    """Whether an agent is surely on the front but the cheapest: of equal agents, that one alone is."""
    _, *others = sorted(answer["agents"], key=lambda agent: agent["cost"])
    return any(agent["front_share"] >= 1 - LEVEL for agent in others)


def _wins(shape: Shape) -> bool:
    return shape.wins


CLAIMS: dict[str, Claim] = {
    "compare: p-value": Claim(
        ("compare", "TABLE", "a00", "a01"),
        lambda answer: answer["pairs"][0]["p_adjusted"] <= LEVEL,
    ),
    "compare: interval": Claim(
        ("compare", "TABLE", "a00", "a01"),
        lambda answer: (
            not answer["pairs"][0]["difference_low"] <= 0 <= answer["pairs"][0]["difference_high"]
        ),
    ),
    "fit": Claim(("fit", "TABLE"), _fitted, _wins),
    "fit: signs of slopes": Claim(("fit", "TABLE"), _signs_of_slopes, _wins),
    "audit": Claim(
        ("audit", "TABLE"), lambda answer: bool(answer["flagged"] or answer["groups"]), _wins
    ),
    "information": Claim(
        ("information", "TABLE", "--reps", "40"),
        _informative,
        lambda shape: shape.wins or shape.runs * shape.trials > 1,
    ),
    "cluster": Claim(("cluster", "TABLE"), _alike),
}
"""What takes a second at most."""

SLOW_CLAIMS: dict[str, Claim] = {
    "scores": Claim(("scores", "TABLE"), _significant_pair),
    "select": Claim(("select", "TABLE"), _better_than_random),
    "fit --check: one ability": Claim(
        ("fit", "TABLE", "--check"), lambda answer: not answer["one_ability"], _wins
    ),
    "fit --check: pairs of tasks": Claim(
        ("fit", "TABLE", "--check"), lambda answer: bool(answer["pairs"]), _wins
    ),
    "fit --check: agents": Claim(
        ("fit", "TABLE", "--check"),
        lambda answer: any(agent["unexpected"] for agent in answer["agents"]),
        _wins,
    ),
    "adds: bits": Claim(
        ("select", "TABLE", "--adds", "t000"),
        lambda answer: _p_value(answer, "bits added") <= LEVEL,
        lambda shape: shape.runs > 1,
    ),
    "adds: error": Claim(
        ("select", "TABLE", "--adds", "t000"),
        lambda answer: _p_value(answer, "error removed") <= LEVEL,
    ),
    "cost": Claim(("cost", "TABLE", "--cost", "price"), _worth_its_cost),
    "typology": Claim(
        ("typology", "KINDS", "--results", "TABLE"),
        lambda answer: answer["validation"]["p_value"] <= LEVEL,
    ),
}

SHAPES = (
    Shape(10, 40),
    Shape(10, 40, wins=True),
    Shape(12, 27, runs=5),
    Shape(12, 27, runs=5, wins=True),
    Shape(10, 20, trials=4),
    Shape(10, 20, trials=4, wins=True),
)


def answered(words: tuple[str, ...], table: Path) -> Answer:
    """Return the JSON of a command on a table, whose tasks are of kinds dealt out in turn."""
    kinds = table.with_name("kinds.csv")
    if "KINDS" in words:
        tasks = sorted({line.split(",")[1] for line in table.read_text().splitlines()[1:]})
        rows = [f"{task},{'uvwxyz'[number % 6]}" for number, task in enumerate(tasks)]
        kinds.write_text("\n".join(["task,kind", *rows]) + "\n")
    paths = {"TABLE": str(table), "KINDS": str(kinds)}
    done = CliRunner().invoke(app, [*(paths.get(word, word) for word in words), "--json"])
    assert done.exit_code == 0, (words, done.stderr, done.exception)
    told: Answer = json.loads(done.stdout)
    return told


def most_allowed(tables: int) -> int:
    """Return the number of tables with a claim that a command with 5 % exceeds once in a thousand."""
    return int(stats.binom.ppf(0.999, tables, LEVEL))


def check(name: str, claim: Claim, tables: int, folder: Path, shapes=SHAPES) -> None:
    fitting = [shape for shape in shapes if claim.only(shape)]
    named = []
    for seed in range(tables):
        shape = fitting[seed % len(fitting)]
        table = shape.written(folder / f"{seed}.csv", seed)
        if claim.named(answered(claim.words, table)):
            named.append((seed, shape))
    assert len(named) <= most_allowed(tables), (name, f"{len(named)} of {tables}", named)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_command_claims_nothing_in_small_tables_of_noise(name: str, tmp_path: Path) -> None:
    shapes = (Shape(8, 12, runs=3), Shape(8, 12, wins=True), Shape(8, 12, runs=3, wins=True))
    check(name, CLAIMS[name], 3, tmp_path, shapes)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_a_quick_command_claims_nothing_in_noise(name: str, tmp_path: Path) -> None:
    check(name, CLAIMS[name], 60, tmp_path)


@pytest.mark.slow
def test_commands_claim_nothing_in_larger_tables_of_noise(tmp_path: Path) -> None:
    shapes = (Shape(30, 100, wins=True), Shape(30, 100), Shape(30, 100, runs=3))
    for name, claim in CLAIMS.items():
        check(name, claim, 6, tmp_path, shapes)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW_CLAIMS)
def test_a_slow_command_claims_nothing_in_noise(name: str, tmp_path: Path) -> None:
    check(name, SLOW_CLAIMS[name], 24, tmp_path)


def _curves(seed: int, folder: Path) -> Path:
    rng = np.random.default_rng(seed)
    lines = ["agent,task,run,trial,frames,score"]
    for agent, task, run, trial in np.ndindex(5, 8, 4, 12):
        frames = 100 * (trial + 1)
        lines.append(f"a{agent},t{task},{run},{trial},{frames},{rng.normal():.4f}")
    path = folder / f"{seed}.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_learning_curves_of_noise_have_no_leader(tmp_path: Path) -> None:
    named = 0
    for seed in range(24):
        done = CliRunner().invoke(app, ["curves", str(_curves(seed, tmp_path))])
        assert done.exit_code == 0, done.stderr
        named += not done.stdout.startswith("No agent is")
    assert named <= most_allowed(24)


@pytest.mark.slow
def test_the_verdict_of_a_report_on_noise_names_nobody(tmp_path: Path) -> None:
    named = []
    for seed in range(12):
        shape = SHAPES[seed % len(SHAPES)]
        table, page = shape.written(tmp_path / f"{seed}.csv", seed), tmp_path / f"{seed}.json"
        done = CliRunner().invoke(app, ["report", str(table), "--output", str(page)])
        assert done.exit_code == 0, done.stderr
        sentences = json.loads(page.read_text())["verdict"]["sentences"]
        names = {f"a{number:02}" for number in range(shape.agents)}
        names |= {f"t{number:03}" for number in range(shape.tasks)}
        words = {word.strip(".,;:") for each in sentences for word in each["claim"].split()}
        named += [(seed, shape, sentences)] if names & words else []
    assert len(named) <= most_allowed(12), named
