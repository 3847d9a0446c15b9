"""Performance profiles and sample-efficiency curves."""

import numpy as np
import pytest

import examiner as ex


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_bands_of_one_run_a_cell_are_missing_and_said() -> None:
    table = ex.Results.from_numpy(rng().normal(size=(2, 6)))
    made = ex.scores.profiles(table, rng=rng(), unit="runs")
    assert np.isnan(made.low).all()
    assert any("one run in every cell" in note for note in made.notes)


def test_thresholds_default_to_quantiles_of_all_scores() -> None:
    scores = rng().normal(size=(2, 6, 3))
    made = ex.scores.profiles(ex.Results.from_numpy(scores), rng=rng(), reps=20)
    assert made.thresholds[0] == scores.min()
    assert made.thresholds[-1] == scores.max()
    assert made.share[:, -1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([np.nan],), "Thresholds must be finite"),
        (([],), "Thresholds must be finite"),
        ((None, "tasks"), "Unknown kind of profile 'tasks'"),
    ],
)
def test_bad_profiles_are_refused(arguments: tuple[object, ...], said: str) -> None:
    with pytest.raises(ex.InputError, match=said):
        ex.scores.profiles(ex.Results.from_numpy(np.ones((1, 2, 2))), *arguments, rng=rng())


def test_profiles_have_no_bca_bands() -> None:
    with pytest.raises(ex.InputError, match="no 'bca' bands"):
        ex.scores.profiles(ex.Results.from_numpy(np.ones((1, 2, 5))), rng=rng(), interval="bca")


def log(agents: int = 2, tasks: int = 3, runs: int = 4, points: int = 10) -> ex.Results:
    """Agents that learn at their own pace, with noise."""
    noise = rng()
    rows = [
        (f"a{a}", f"t{t}", r, p, 1000 * (p + 1), (a + 1) * p / points + noise.normal() / 10)
        for a in range(agents)
        for t in range(tasks)
        for r in range(runs)
        for p in range(points)
    ]
    names = ("agent", "task", "run", "trial", "frames", "score")
    return ex.Results.from_dict(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def test_the_curve_at_a_point_is_the_aggregate_of_the_runs_then() -> None:
    results = log()
    frames = np.array(results.column("frames"))
    made = ex.scores.efficiency(results, "iqm", [1000, 4000, 10000], rng=rng(), reps=200)
    first = results.where(frames == 1000)
    expected = ex.scores.intervals(first, "iqm", rng=rng(), reps=20)
    np.testing.assert_allclose(made.value[:, 0], expected.value[:, 0])
    # At 4000 frames a run counts with the mean of its episodes since 1000.
    window = results.where((frames > 1000) & (frames <= 4000))
    expected = ex.scores.intervals(window, "iqm", rng=rng(), reps=20)
    np.testing.assert_allclose(made.value[:, 1], expected.value[:, 0])
    assert (made.low < made.value).all()
    assert (made.value < made.high).all()


def test_points_default_to_what_every_run_covers() -> None:
    made = ex.scores.efficiency(log(), rng=rng(), reps=20)
    assert (made.frames[0], made.frames[-1]) == (1000, 10000)
    assert np.isfinite(made.value).all()


def test_points_that_a_run_does_not_reach_have_no_value() -> None:
    made = ex.scores.efficiency(log(), "mean", [500, 1000, 20000], rng=rng(), reps=20)
    assert np.isnan(made.value[:, 0]).all()
    assert np.isfinite(made.value[:, 1]).all()
    assert np.isnan(made.value[:, 2]).all()


def test_curves_without_frames_are_refused() -> None:
    with pytest.raises(ex.InputError, match="need a column 'frames'"):
        ex.scores.efficiency(ex.Results.from_numpy(np.ones((1, 2, 3))), rng=rng())


def test_runs_that_never_overlap_are_refused() -> None:
    table = {
        "agent": ["a", "a"],
        "task": ["t", "u"],
        "run": [0, 0],
        "trial": [0, 0],
        "frames": [100, 900],
        "score": [1.0, 2.0],
    }
    with pytest.raises(ex.InputError, match="No number of frames is covered"):
        ex.scores.efficiency(ex.Results.from_dict(table), rng=rng())


def curve_table(runs: dict[tuple[str, int], list[tuple[float, float]]]) -> ex.Results:
    """Agents' runs on one task, each as its (time, score) points."""
    rows = [
        (agent, "t", run, trial, time, score)
        for (agent, run), points in runs.items()
        for trial, (time, score) in enumerate(points)
    ]
    names = ("agent", "task", "run", "trial", "steps", "score")
    return ex.Results.from_dict(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def line(step: float, end: float, slope: float) -> list[tuple[float, float]]:
    times = np.arange(step, end + step / 2, step)
    return [(float(time), slope * float(time)) for time in times]


def test_agents_logged_at_different_intervals_meet_at_common_times() -> None:
    table = curve_table({("often", 0): line(1, 100, 1.0), ("seldom", 0): line(25, 100, 1.0)})
    made = ex.scores.efficiency(table, "mean", [50, 100], rng=rng(), last=1)
    assert made.time_unit == "steps"
    np.testing.assert_allclose(made.value, [[50, 100], [50, 100]])


def test_two_runs_with_one_point_do_not_silence_the_others() -> None:
    runs = {("a", run): line(1, 100, 1.0) for run in range(8)}
    runs |= {("a", run): [(1.0, 0.0)] for run in (8, 9)}
    made = ex.scores.efficiency(curve_table(runs), "mean", rng=rng(), last=1)
    assert np.isfinite(made.value).all()
    assert made.runs[0, 0] == 10 and made.runs[0, -1] == 8 and made.all_runs[0] == 10
    assert any("2 of 10 runs end before 100 steps, the first at 1" in note for note in made.notes)


def test_an_agent_with_no_common_time_is_named() -> None:
    early, late = [(1.0, 1.0), (2.0, 1.0)], [(90.0, 1.0), (100.0, 1.0)]
    table = curve_table({("a", 0): line(1, 100, 1.0), ("b", 0): early, ("b", 1): late})
    apart = table.to_polars().with_columns(run=0)  # the same run, in two tasks
    apart = apart.with_columns(
        task=np.where((apart["agent"] == "b") & (apart["steps"] > 50), "u", "t")
    )
    made = ex.scores.efficiency(ex.Results.from_frame(apart), "mean", rng=rng(), normalise=None)
    assert np.isnan(made.value[1]).all()
    assert any("covered by runs on most of their tasks: 'b'" in note for note in made.notes)


def test_the_time_to_a_threshold_is_the_first_at_which_the_curve_is_there() -> None:
    runs = {("fast", run): line(10, 100, 2.0 + 0.2 * run) for run in range(4)}
    runs |= {("slow", run): line(10, 100, 0.5 + 0.1 * run) for run in range(4)}
    points = np.arange(10.0, 101.0, 10.0)
    made = ex.scores.efficiency(curve_table(runs), "mean", points, rng=rng(), last=1)
    found = made.reached(100.0)
    assert found.at[0] == 50.0 and np.isnan(found.at[1])
    assert found.earliest[0] <= found.at[0] <= found.latest[0]
