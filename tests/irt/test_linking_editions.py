"""Linking two editions by shared tasks: known transformations, noise, and warnings."""

from __future__ import annotations

import numpy as np
import pytest

import examiner as ex
from examiner.irt import Abilities, ItemParameters, link
from examiner.irt import known as known_fit

METHODS = ("stocking-lord", "haebara", "mean-sigma", "mean-mean")


def edition(count: int = 12, seed: int = 0) -> ItemParameters:
    rng = np.random.default_rng(seed)
    return ItemParameters.of(
        [f"t{n}" for n in range(count)],
        np.exp(rng.normal(0.2, 0.3, count)),
        difficulty=rng.normal(size=count),
        guessing=rng.uniform(0, 0.2, count),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1.6, -0.7), (0.6, 1.2)])
def test_a_known_transformation_is_found_exactly(method, scale, shift) -> None:
    first = edition()
    second = first.rescaled(shift, scale)  # θ = shift + scale θ'
    made = link(known_fit(first), known_fit(second), method)
    assert (made.scale, made.shift) == pytest.approx((scale, shift), abs=1e-5)
    moved = made.items(second)
    np.testing.assert_allclose(moved.slope, first.slope, rtol=1e-4)
    np.testing.assert_allclose(moved.difficulty, first.difficulty, atol=1e-4)
    assert made.drift.max() < 1e-5 and made.notes == ()


@pytest.mark.parametrize("method", METHODS)
def test_there_and_back_is_the_identity(method) -> None:
    first = edition()
    rng = np.random.default_rng(1)
    second = ItemParameters.of(
        first.tasks,
        first.slope * np.exp(rng.normal(0, 0.1, 12)),
        first.intercept + rng.normal(0, 0.1, 12),
    ).rescaled(0.4, 1.3)
    there = link(known_fit(first), known_fit(second), method)
    back = link(known_fit(second), known_fit(first), method)
    loose = 1e-6 if method.startswith("mean") else 0.02  # both are symmetric, but on two grids
    assert there.scale * back.scale == pytest.approx(1.0, abs=loose)
    assert back.shift == pytest.approx(-there.shift / there.scale, abs=loose)


@pytest.mark.parametrize("method", METHODS)
def test_jackknife_errors_are_of_the_size_of_what_noise_does(method) -> None:
    first, made = edition(20, seed=3), []
    for seed in range(40 if method.startswith("mean") else 8):
        rng = np.random.default_rng(seed)
        noisy = ItemParameters.of(
            first.tasks,
            first.slope * np.exp(rng.normal(0, 0.1, 20)),
            first.intercept + rng.normal(0, 0.15, 20),
            guessing=first.guessing,
        ).rescaled(0.5, 1.4)
        made.append(link(known_fit(first), known_fit(noisy), method))
    shifts = np.array([one.shift for one in made])
    assert shifts.mean() == pytest.approx(0.5, abs=0.08)
    typical = np.median([one.shift_error for one in made])
    assert 0.3 < typical / np.sqrt(np.mean((shifts - 0.5) ** 2)) < 3


def test_only_shared_tasks_link_and_abilities_carry_the_links_error() -> None:
    first, second = edition(10), edition(10, seed=5)
    names = [f"t{n}" for n in range(5)] + [f"new {n}" for n in range(5)]
    second = ItemParameters.of(
        names,
        np.r_[first.slope[:5], second.slope[5:]],
        np.r_[first.intercept[:5], second.intercept[5:]],
        guessing=np.r_[first.guessing[:5], second.guessing[5:]],
    )
    made = link(known_fit(first), known_fit(second))
    assert made.shared == tuple(f"t{n}" for n in range(5))
    assert (made.scale, made.shift) == pytest.approx((1.0, 0.0), abs=1e-5)
    known = Abilities(("a",), np.array([0.5]), np.array([0.3]), "EAP")
    placed = made.abilities(known)
    assert placed.error[0] >= 0.3 - 1e-6 and "linked by stocking-lord" in placed.method


def test_few_shared_tasks_opposite_signs_and_drift_are_warned_of() -> None:
    first = ItemParameters.of(list("abcdef"), np.ones(6), difficulty=np.linspace(-2, 2, 6))
    slope = np.array([1.0, 1.0, 1.0, 1.0, -1.0, 0.05])
    second = ItemParameters.of(list("abcdef"), slope, first.intercept)
    made = link(known_fit(first), known_fit(second), "haebara")
    said = " ".join(made.notes)
    assert (
        "opposite signs of discrimination in the two editions, excluded from the link: 'e'" in said
    )
    assert "hardly any discrimination in one of the editions" in said and "'f'" in said
    assert "depends on 4 shared tasks" in said
    moved = ItemParameters.of(
        list("abcdefgh"), np.full(8, 1.5), difficulty=np.r_[np.linspace(-2, 2, 7), 2.5]
    )
    still = ItemParameters.of(
        list("abcdefgh"), np.full(8, 1.5), difficulty=np.r_[np.linspace(-2, 2, 7), -1.5]
    )
    drifted = link(known_fit(still), known_fit(moved), "haebara")
    assert int(np.argmax(drifted.drift)) == 7
    assert any("differ between the editions even after linking: 'h'" in w for w in drifted.notes)


def test_what_cannot_be_linked_is_said() -> None:
    one = known_fit(ItemParameters.of(["a", "b"], [1.0, 1.0], [0.0, 1.0]))
    with pytest.raises(ex.InputError, match="share no task"):
        link(one, known_fit(ItemParameters.of(["c"], [1.0], [0.0])))
    with pytest.raises(ex.InputError, match="1 task of 1 shared task can link"):
        link(one, known_fit(ItemParameters.of(["a"], [1.0], [0.0])))
    with pytest.raises(ex.InputError, match="Unknown method of linking 'equate'"):
        link(one, one, "equate")  # type: ignore[arg-type]


def editions(seed: int, agents: int = 23, tasks: int = 30) -> tuple[ex.irt.IRTFit, ex.irt.IRTFit]:
    """Fits of the same tasks to two samples of one population: truly, scale is 1 and shift 0."""
    rng = np.random.default_rng(seed)
    names = [f"task {number}" for number in range(tasks)]
    slopes, difficulties = np.exp(rng.normal(0.2, 0.35, tasks)), rng.normal(size=tasks)
    trials = np.full((agents, tasks), 5)
    made = []
    for _ in range(2):
        ability = rng.normal(size=(agents, 1))
        won = rng.binomial(5, 1 / (1 + np.exp(-slopes * (ability - difficulties))))
        matrix = ex.ResponseMatrix.from_counts(won, trials, tasks=names)
        made.append(ex.irt.fit(matrix, starts=1, response="binomial"))
    return made[0], made[1]


def test_errors_of_a_link_know_how_few_agents_each_edition_had() -> None:
    """Means of two samples of 23 agents differ by √(2/23) = 0.29, however many tasks are shared.

    Leaving out shared tasks in turn says nothing of it: all tasks of an edition move together.
    """
    made = ex.irt.link(*editions(1), "mean-mean")
    assert 0.75 * np.sqrt(2 / 23) < made.shift_error < 1.5 * np.sqrt(2 / 23)
    assert abs(made.shift) < 4 * made.shift_error
    assert abs(made.scale - 1) < 4 * made.scale_error


@pytest.mark.slow
def test_intervals_of_links_cover() -> None:
    """60 pairs of editions: at least 52 of each (the chance of fewer is below 1 % at 95 %)."""
    held = np.array(
        [
            (
                abs(made.shift) < 1.96 * made.shift_error,
                abs(made.scale - 1) < 1.96 * made.scale_error,
            )
            for made in (ex.irt.link(*editions(seed)) for seed in range(100, 160))
        ]
    )
    assert (held.sum(axis=0) >= 52).all()
