"""Odd tables end with an answer or with one sentence, never with a traceback or a warning."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.validation import from_record, to_record

ODD = {
    "all alike": np.ones((6, 5)),
    "one task differs": np.column_stack([np.arange(6.0), np.ones((6, 4))]),
    "one agent differs": np.vstack([np.zeros((5, 5)), np.ones((1, 5))]),
    "twin tasks": np.repeat(np.random.default_rng(0).normal(size=(7, 2)), 3, axis=1),
    "twin agents": np.repeat(np.random.default_rng(0).normal(size=(3, 6)), 3, axis=0),
    "huge and tiny": np.random.default_rng(0).normal(size=(7, 5)) * [1e-9, 1e9, 1.0, 1e5, 1e-5],
    "wins": (np.random.default_rng(0).random((8, 6)) < 0.5).astype(float),
    "two tasks": np.random.default_rng(0).normal(size=(5, 2)),
    "four agents": np.random.default_rng(0).normal(size=(4, 6)),
}

SLOW = ("wins", "one agent differs", "twin tasks")
"""Odd in ways that the quick ones are too: ties, one agent that decides all, columns of equal rank."""


@pytest.mark.parametrize(
    ("name", "target"),
    [
        *((name, "mean") for name in ODD if name not in SLOW),
        *(pytest.param(name, "mean", marks=pytest.mark.slow) for name in SLOW),
        pytest.param("wins", "rank-points", marks=pytest.mark.slow),
    ],
)
def test_odd_tables_are_compared_all_the_same(name: str, target: str) -> None:
    values = ODD[name]
    size = min(2, values.shape[1] - 1)
    assert len(run_all(ex.Results.from_numpy(values), size, target)) == size


def run_all(results: ex.Results, size: int, target: str) -> tuple[str, ...]:
    rng = np.random.default_rng(0)
    material = ex.selection.benchmark(results, target=target)
    found = ex.selection.judge(
        material,
        sorted({1, size}),
        rng=rng,
        holdout=ex.selection.Holdout(draws=3, reps=3, inner=3),
    )
    chosen = ex.selection.choose(material, size, rng=rng, inner=3)
    kept = ex.selection.with_predictor(material, chosen, judgement=found, rng=rng)
    assert len(ex.selection.place(results, kept).agents) == len(results.agents)
    for row in found.methods:
        assert not row.r2 > 1 + 1e-9
        assert row.mae >= 0 or np.isnan(row.mae)
    assert len(set(chosen.tasks)) == size
    assert from_record(ex.selection.Selection, to_record(kept)).tasks.task == chosen.tasks
    return chosen.tasks


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.integers(4, 7),
    st.integers(2, 5),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([1.0, 2.0, 1e6]),
)
def test_random_tables_with_gaps_and_ties_are_compared_or_refused(
    agents: int, tasks: int, seed: int, gaps: float, grain: float
) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(agents, tasks)) * grain)
    values[rng.random(values.shape) < gaps] = np.nan
    if not (np.isfinite(values).any(axis=1).all() and np.isfinite(values).any(axis=0).all()):
        return
    try:
        run_all(ex.Results.from_numpy(values), 1, "mean")
    except ex.InputError as problem:  # only gaps are a reason to refuse
        assert gaps
        assert re.search("were observed on at least|has no result on any", str(problem))
