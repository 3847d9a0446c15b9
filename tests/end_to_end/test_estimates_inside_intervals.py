"""Every estimate lies inside its own interval, in what every command and the report say as JSON.

Triples of estimate, low and high are found by the names of their keys, so that a new output is looked at
without a new test. An interval whose estimate cannot be found fails: name its estimate in `ESTIMATES`.
"""

from __future__ import annotations

import csv
import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.cli import app

ESTIMATES = (
    "centre",
    *(
        "behind the first by",
        "success",
        "value",
        "difference",
        "probability",
        "corrected_bits",
        "expected",
        "ability",
        "generality",
    ),
    *("predicted", "share", "r2", "R²", "remainder", "rank", "mean", "score", "cost", "error"),
    *(
        "reduction",
        "median",
        "pearson",
        "correlation",
        "bits",
        "estimate",
        "effect",
        "slope",
        "level",
        "difficulty",
    ),
)
"""What an interval called `low` and `high` may be of, the first that is there."""
NO_INTERVALS = ("infit", "outfit")
"""Between their ends lies what chance gives, and not the estimate."""


class Triple(NamedTuple):
    """An estimate with the ends of its interval, and where it was found."""

    where: str
    estimate: float
    low: float
    high: float


def triples(told: Any, where: str = "") -> Iterator[Triple]:  # Any: JSON values
    """Yield every estimate that has an interval, anywhere in what was told."""
    if isinstance(told, dict):
        if told.get("kind") == "table":
            for row in told["rows"]:
                named = dict(zip(_with_owners(told["columns"]), row, strict=True))
                yield from triples(named, f"{where} (table)")
        for key in told:
            if key == "low" or key.endswith("_low"):
                yield from _of_key(told, key.removesuffix("low").removesuffix("_"), where)
        for key, value in told.items():
            yield from triples(value, f"{where}/{key}")
    elif isinstance(told, list):
        for value in told:
            yield from triples(value, f"{where}[]")


def _with_owners(titles: list[str]) -> list[str]:
    """Titles of bounds with the estimate that they follow: a table may have several."""
    owner, names = "", []
    for title in titles:
        owner = owner if title in ("low", "high", "±") else title
        names.append(f"{owner}_{title}" if title in ("low", "high", "±") and owner else title)
    return names


def _of_key(told: dict[str, Any], name: str, where: str) -> Iterator[Triple]:
    ends = ("low", "high") if not name else (f"{name}_low", f"{name}_high")
    if name in NO_INTERVALS or ends[1] not in told or "colour" in told:  # the ends of colours
        return
    named = [name] if name else [key for key in ESTIMATES if key in told]
    assert named and named[0] in told, f"{where}: no estimate of {ends} among {sorted(told)}"
    parts = [_flat(told[key]) for key in (named[0], *ends)]
    assert len({len(part) for part in parts}) == 1, (
        f"{where}: {named[0]} and its ends differ in shape"
    )
    for estimate, low, high in zip(*parts, strict=True):
        if not any(math.isnan(part) for part in (estimate, low, high)):
            yield Triple(f"{where}/{named[0]}", estimate, low, high)


def _flat(values: Any) -> list[float]:  # Any: a number, or lists of them
    if isinstance(values, list):
        return [number for value in values for number in _flat(value)]
    if isinstance(values, dict):  # an estimate that says more: its value
        return _flat(values.get("value"))
    return [float(values) if isinstance(values, (int, float)) else math.nan]


def outside(told: Any) -> list[Triple]:
    """The estimates that are not inside their interval, but for the last digits."""
    found = []
    for each in triples(told):
        slack = 1e-9 * max(abs(each.low), abs(each.high), 1e-300)
        if not each.low - slack <= each.estimate <= each.high + slack:
            found.append(each)
    return found


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.lognormal(sigma=1.5, size=shape),
    "binary": lambda rng, shape: (rng.random(shape) < rng.random((shape[0], 1, 1, 1))).astype(
        float
    ),
    "ties": lambda rng, shape: rng.integers(0, 3, size=shape).astype(float),
    "shares": lambda rng, shape: rng.beta(0.5, 0.5, size=shape),
}


@st.composite
def tables(draw: st.DrawFn) -> np.ndarray:
    """Scores of agents on tasks, [agents, tasks, runs, trials], with gaps, constants and an outlier."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    shape = tuple(draw(st.integers(*ends)) for ends in ((2, 10), (2, 9), (1, 4), (1, 3)))
    values = KINDS[draw(st.sampled_from(sorted(KINDS)))](rng, shape)
    if draw(st.booleans()):
        values[:, rng.integers(shape[1])] = values.flat[0]  # a task on which all are alike
    if draw(st.booleans()):
        values[rng.integers(shape[0])] = values.flat[0]  # an agent that never varies
    if draw(st.booleans()):
        values = np.where(rng.random(shape) < 0.15, np.nan, values)
    if draw(st.booleans()):
        values[tuple(rng.integers(end) for end in shape)] = 40.0
    return values


def written(values: np.ndarray, path: Path) -> Path:
    """Write a tidy table with what each trial cost."""
    rng = np.random.default_rng(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["agent", "task", "run", "trial", "score", "seconds"])
        for place in np.argwhere(np.isfinite(values)):
            agent, task, run, trial = place.tolist()
            score, seconds = float(values[tuple(place)]), float(rng.lognormal())
            table.writerow([f"a{agent}", f"t{task}", run, trial, score, seconds])
    return path


QUICK = {
    "scores": ["scores", "FILE", "--reps", "100"],
    "scores of other tasks": [
        "scores",
        "FILE",
        "--aggregate",
        "all",
        "--unit",
        "tasks",
        "--reps",
        "100",
    ],
    "percentiles": ["scores", "FILE", "--interval", "percentile", "--reps", "100"],
    "compare": ["compare", "FILE", "a0", "a1", "--reps", "100"],
    "compare over tasks": ["compare", "FILE", "a0", "a1", "--unit", "tasks", "--reps", "100"],
    "cost": ["cost", "FILE", "--reps", "100"],
    "cluster": ["cluster", "FILE"],
    "audit": ["audit", "FILE"],
}
SLOW = {
    "information": ["information", "FILE", "--reps", "50"],
    "fit": ["fit", "FILE", "--model", "normal", "-o", "FIT"],
    "place": ["place", "FILE", "--fit", "FIT"],
    "fit of successes": ["fit", "FILE", "--success", "0.5"],
    "fit --check": ["fit", "FILE", "--check", "--success", "0.5"],
    "select": ["select", "FILE", "--size", "1"],
    "distil": ["distil", "FILE", "--size", "1", "-o", "TINY"],
    "judge": ["select", "FILE", "--judge", "--sizes", "1", "--folds", "3", "--reps", "50"],
    "adds": ["select", "FILE", "--adds", "t0", "--reps", "50"],
    "curves": ["curves", "FILE"],
}


def answers(commands: dict[str, list[str]], values: np.ndarray, folder: Path) -> dict[str, Any]:
    """What commands say of a table as JSON; those that refuse it say nothing."""
    path, told = written(values, folder / "table.csv"), {}
    for name, words in commands.items():
        stored = {"FIT": str(folder / "fit.json"), "TINY": str(folder / "tiny.json")}
        files = {"FILE": str(path), **stored}
        command = [files.get(word, word) for word in words]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            done = CliRunner().invoke(app, [*command, "--json"])
        assert done.exit_code in (0, 2), (name, done.output, done.exception)
        if done.exit_code == 0:
            told[name] = json.loads(done.stdout)
    return told


EASY = settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    phases=(Phase.generate,),  # to shrink takes minutes
)


@settings(EASY, max_examples=5)
@given(values=tables())
def test_commands_on_scores_give_estimates_inside_their_intervals(values, tmp_path_factory):
    told = answers(QUICK, values, tmp_path_factory.mktemp("quick"))
    assert not {name: outside(each) for name, each in told.items() if outside(each)}


@pytest.mark.slow
@settings(EASY, max_examples=150)
@given(values=tables())
def test_commands_on_many_tables_give_estimates_inside_their_intervals(values, tmp_path_factory):
    told = answers(QUICK, values, tmp_path_factory.mktemp("many"))
    assert not {name: outside(each) for name, each in told.items() if outside(each)}


@pytest.mark.slow
@settings(EASY, max_examples=6)
@given(values=tables())
def test_commands_that_fit_and_choose_give_estimates_inside_their_intervals(
    values, tmp_path_factory
):
    told = answers(SLOW, values, tmp_path_factory.mktemp("slow"))
    assert not {name: outside(each) for name, each in told.items() if outside(each)}


SECTIONS = [
    "ranking",
    "intervals",
    "significance",
    "rank_probabilities",
    "profiles",
    "decision",
    "cost",
]


def report_of(values: np.ndarray, folder: Path, sections: list[str] | None) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = ex.read(written(values, folder / "table.csv"))
        return ex.report(results, None, sections=sections).to_dict()


@settings(EASY, max_examples=4)
@given(values=tables())
def test_a_report_draws_and_prints_estimates_inside_their_intervals(values, tmp_path_factory):
    assert not outside(report_of(values, tmp_path_factory.mktemp("report"), SECTIONS))


@pytest.mark.slow
@settings(EASY, max_examples=12)
@given(values=tables())
def test_a_whole_report_draws_and_prints_estimates_inside_their_intervals(values, tmp_path_factory):
    assert not outside(report_of(values, tmp_path_factory.mktemp("whole"), None))


def test_an_estimate_outside_its_interval_is_found_wherever_it_is():
    inside = {"value": 1.0, "low": 0.5, "high": 1.5}
    table = {"kind": "table", "columns": ["value", "low", "high"]}
    for told in (
        {"rows": [inside, inside | {"high": 0.9}]},
        {"cost": 2.0, "cost_low": 2.1, "cost_high": 3.0},
        {"figure": {"value": [[1.0, 2.0]], "low": [[0.0, 2.5]], "high": [[3.0, 3.0]]}},
        table | {"rows": [[1.0, 0.0, 2.0], [3.0, 0.0, 2.0]]},
    ):
        assert len(outside(told)) == 1
    with pytest.raises(AssertionError, match="no estimate of"):
        outside({"unheard_of": 1.0, "low": 0.0, "high": 2.0})
