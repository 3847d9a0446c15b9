"""Fits on torch's devices equal fits in memory; on its CPU here, which computes as a GPU does."""

from __future__ import annotations

import builtins
import gc
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from engines.like_fits import MATRIX, TASKS, assert_same_fit, holed
from engines.test_shard_errors import assert_errors_of
from examiner.engines.gpu import Device
from examiner.irt import ResponseSource

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("model", ["2pl", "1pl", "3pl"])
def test_a_fit_on_a_device_equals_the_fit_in_memory(missing: float, model: str) -> None:
    matrix = holed(MATRIX, missing) if missing else MATRIX
    here = ex.irt.fit(matrix, model, starts=1, errors=False)
    there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), model, starts=1)
    assert_same_fit(there, here, 1e-5)
    assert_errors_of(matrix, there, 1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_errors_of_very_many_tasks_are_had_by_directions_and_blocks(
    missing: float, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("examiner.irt.errors.information.MOST_TOGETHER", 10)
    matrix = holed(MATRIX, missing) if missing else MATRIX
    there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), model, starts=1)
    assert there.errors is not None and "16 directions" in there.errors.method
    assert_errors_of(matrix, there, 1e-4)


def test_draws_from_a_device_spread_as_errors_say() -> None:
    fit = ex.irt.fit(ex.engines.gpu(MATRIX, device="cpu"), starts=1)
    drawn = fit.draws(80, rng=1)
    intercepts = np.array([items.intercept for items in drawn.items])
    assert fit.errors is not None and drawn.agents == fit.abilities.agents
    np.testing.assert_allclose(intercepts.std(axis=0), fit.errors.intercept, rtol=0.3)
    assert (drawn.ability.std(axis=0) / fit.abilities.error).mean() == pytest.approx(1.0, abs=0.1)


def test_errors_that_a_device_has_no_memory_for_are_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Device, "free_gigabytes", lambda _: 1e-4)
    fit = ex.irt.fit(ex.engines.gpu(MATRIX, device="cpu"), starts=1)
    assert fit.errors is None
    assert fit.notes[-1] == "Standard errors of tasks need 0.3 GB of memory, and 0.0001 are given."


@pytest.mark.parametrize("response", ["binomial", "beta-binomial"])
def test_several_trials_are_fitted_alike(response: str) -> None:
    rng = np.random.default_rng(5)
    won = rng.binomial(4, np.clip(MATRIX.to_numpy(), 0.2, 0.8))
    matrix = ex.ResponseMatrix.from_counts(won, 4, MATRIX.agents, MATRIX.tasks)
    here = ex.irt.fit(matrix, response=response, starts=1, errors=False)  # type: ignore[arg-type]
    source = ex.engines.gpu(matrix, response=response, device="cpu")  # type: ignore[arg-type]
    there = ex.irt.fit(source, starts=1)
    assert_same_fit(there, here, 1e-5)
    assert_errors_of(matrix, there, 1e-5)


def test_scores_between_0_and_1_are_fitted_alike() -> None:
    rng = np.random.default_rng(6)
    scores = np.clip(0.5 + 0.2 * rng.normal(size=(80, 1)) + 0.2 * rng.normal(size=(80, 8)), 0, 1)
    matrix = ex.ResponseMatrix.from_array(scores)
    here = ex.irt.fit(matrix, "beta", starts=1, errors=False)
    there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), "beta", starts=1)
    assert_same_fit(there, here, 1e-5)
    assert_errors_of(matrix, there, 1e-5)


def test_single_precision_stays_within_a_hundred_thousandth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ResponseSource, "kind", np.float32)
    monkeypatch.setattr("examiner.irt.errors.information._SMALL", 0)
    for matrix in (MATRIX, holed(MATRIX, 0.6)):
        here = ex.irt.fit(matrix, starts=1, errors=False)
        there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), starts=1)
        assert_errors_of(matrix, there, 1e-4)
        np.testing.assert_allclose(there.items.slope, here.items.slope, atol=1e-5)
        np.testing.assert_allclose(there.items.intercept, here.items.intercept, atol=1e-5)
        assert there.log_likelihood == pytest.approx(here.log_likelihood, rel=1e-8)


def test_what_cannot_be_fitted_is_set_aside_there_too() -> None:
    values = MATRIX.to_numpy().copy()
    values[:, 4], values[7], values[9], values[7, 4] = 1.0, np.nan, np.nan, 1.0
    matrix = ex.ResponseMatrix.from_array(values, MATRIX.agents, MATRIX.tasks)
    here = ex.irt.fit(matrix, starts=1, errors=False)
    there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), starts=1)
    assert there.dropped == here.dropped
    assert there.left_out == here.left_out
    assert_same_fit(there, here, 1e-5)


def test_large_tables_are_sent_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Device.__module__], "_PIECE", 64 * len(TASKS))
    sent = Device("cpu").array(MATRIX.successes, np.uint8)
    np.testing.assert_array_equal(sent.numpy(), MATRIX.successes)


def test_no_gpu_and_no_torch_are_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ex.InputError, match="There is no GPU that torch can use"):
        ex.engines.gpu(MATRIX)
    with pytest.raises(ex.InputError, match=r"torch cannot compute on 'nowhere': .*Give 'cuda'"):
        ex.engines.gpu(MATRIX, device="nowhere")
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name == "torch":
            raise ImportError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ex.InputError, match=r"need torch, which is not installed"):
        ex.engines.gpu(MATRIX)


@pytest.mark.parametrize("missing", [0.0, 0.6])
def test_data_in_single_precision_give_the_parameters_of_double(
    missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = holed(MATRIX, missing) if missing else MATRIX
    here = ex.irt.fit(matrix, starts=1, errors=False)
    monkeypatch.setattr(ResponseSource, "kind", np.float32)
    there = ex.irt.fit(ex.engines.gpu(matrix, device="cpu"), starts=1, errors=False)
    for name in ("slope", "intercept"):
        np.testing.assert_allclose(
            getattr(there.items, name), getattr(here.items, name), rtol=0, atol=2e-6
        )
    np.testing.assert_allclose(there.log_likelihood, here.log_likelihood, rtol=1e-9)


@pytest.mark.parametrize("model", ["2pl", "3pl"])
def test_a_source_that_nobody_holds_gives_its_memory_back_at_once(model: str) -> None:
    source = ex.engines.gpu(MATRIX, device="cpu")
    fit = ex.irt.fit(source, model, starts=1)
    assert fit.errors is not None
    gone = weakref.ref(source)
    gc.collect()
    gc.disable()
    try:
        del source, fit
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("model", ["3pl", "4pl"])
def test_of_few_agents_guessing_is_held_wherever_responses_lie(model: str, tmp_path: Path) -> None:
    few = MATRIX.take(range(60))
    few.save(tmp_path / "shard.parquet")
    here = ex.irt.fit(few, model, starts=1, errors=False)
    for source in (ex.engines.gpu(few, device="cpu"), ex.engines.sharded(tmp_path)):
        there = ex.irt.fit(source, model, starts=1, errors=False)
        assert there.parameters == here.parameters
        np.testing.assert_allclose(there.items.guessing, here.items.guessing, atol=1e-5)
