"""Learning curves are a function of the score, over the runs that exist at each time."""

from __future__ import annotations

import json
import re
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import trim_mean

import examiner as ex
from examiner.cli import main
from examiner.scores import on_range_of_log


def log(tops, tasks=1, seeds=5, points=11, scale=None, ends=None):
    """Checkpoints every 100 steps; `tops` of agents, `scale` of tasks, `ends` of some runs."""
    rng = np.random.default_rng(3)
    rows = []
    for agent, top in tops.items():
        for task in range(tasks):
            factor = 1.0 if scale is None else scale[task]
            for seed in range(seeds):
                noise = rng.normal(size=points)
                for point in range(points):
                    if point * 100 <= (ends or {}).get((agent, task, seed), np.inf):
                        score = factor * (top * point / (points - 1) + noise[point])
                        rows.append((agent, f"t{task}", seed, point * 100, score))
    return pd.DataFrame(rows, columns=["agent", "task", "seed", "step", "score"])


def read(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        return ex.read(frame)


def over_time(frame, tmp_path, capsys, monkeypatch, *options):
    """What `examiner curves --json` says of curves over time, and what it prints for people."""
    frame.to_csv(tmp_path / "log.csv", index=False)
    printed = []
    for more in (("--json",), ()):
        arguments = ["examiner", "curves", str(tmp_path / "log.csv"), *options, *more]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        printed.append(capsys.readouterr().out)
    made = json.loads(printed[0])["over_time"]
    lines = [
        {
            "agent": row["agent"],
            "all_runs": row["all_runs"],
            **{
                key: [point[key] for point in made["curves"] if point["agent"] == row["agent"]]
                for key in ("time", "value", "value_low", "value_high", "runs")
            },
        }
        for row in made["agents"]
    ]
    unit = made["columns"]["curves"]["columns"]["value"]["unit"]
    return {"times": lines[0]["time"], "lines": lines, "unit": unit}, printed[1]


def test_the_curve_of_one_task_is_the_mean_of_raw_scores_at_each_time(
    tmp_path, capsys, monkeypatch
):
    frame = log({"a": 600.0, "b": 1000.0})
    made, _ = over_time(frame, tmp_path, capsys, monkeypatch)
    expected = frame.groupby(["agent", "step"])["score"].mean().unstack()
    assert made["times"] == expected.columns.tolist()
    for line in made["lines"]:
        np.testing.assert_allclose(line["value"], expected.loc[line["agent"]])
        assert line["runs"] == [5] * 11
    assert made["unit"] == "score as it was read"


def test_tasks_with_ranges_alike_are_averaged_raw(tmp_path, capsys, monkeypatch):
    frame = log({"a": 600.0, "b": 1000.0}, tasks=4)
    made, text = over_time(frame, tmp_path, capsys, monkeypatch)
    expected = frame.groupby(["agent", "step"])["score"].mean()
    for line in made["lines"]:
        np.testing.assert_allclose(line["value"], expected.loc[line["agent"]])
    assert re.search(r"b +1,?000 +1,?000 +20 +20", text), "the end, its time and its runs"


def test_a_raw_score_has_one_value_for_all_agents_where_ranges_differ(
    tmp_path, capsys, monkeypatch
):
    frame = log({"a": 600.0, "b": 1000.0, "c": 30.0}, tasks=3, scale=[1.0, 50.0, 0.01])
    low = frame.groupby("task")["score"].transform("min")
    high = frame.groupby("task")["score"].transform("max")
    frame["scaled"] = (frame["score"] - low) / (high - low)
    made, _ = over_time(frame.drop(columns="scaled"), tmp_path, capsys, monkeypatch)
    expected = frame.groupby(["agent", "step"])["scaled"].mean()
    for line in made["lines"]:
        np.testing.assert_allclose(line["value"], expected.loc[line["agent"]])
    assert (
        "between the lowest (0) and the highest (1) of the whole log on each task" in made["unit"]
    )


def test_the_scale_of_curves_never_puts_a_lower_score_above_a_higher_one():
    results = read(log({"a": 600.0, "b": 1000.0}, tasks=2, scale=[1.0, 1000.0]))
    scaled = on_range_of_log(results).log.measure()
    for task in range(2):
        rows = results.task_codes == task
        order = np.argsort(results.measure()[rows])
        assert (np.diff(scaled[rows][order]) >= 0).all()


def test_an_agent_reaches_nothing_at_the_first_step_that_it_has_not_scored(
    tmp_path, capsys, monkeypatch
):
    frame = log({"a": 600.0, "b": 1000.0}, tasks=2)
    made, text = over_time(frame, tmp_path, capsys, monkeypatch, "--threshold", "300")
    first = {line["agent"]: np.argmax(np.array(line["value"]) >= 300) for line in made["lines"]}
    assert first["a"] in (5, 6) and first["b"] in (3, 4)
    assert "steps to 300" in text


def test_two_crashed_runs_of_sixty_neither_cut_a_curve_nor_are_hidden(
    tmp_path, capsys, monkeypatch
):
    ends = {("b", 4, 1): 100, ("b", 7, 0): 0}
    frame = log({"a": 1.0, "b": 20.0}, tasks=20, seeds=3, ends=ends)
    made, text = over_time(frame, tmp_path, capsys, monkeypatch)
    (line,) = (line for line in made["lines"] if line["agent"] == "b")
    assert line["runs"] == [60, 59] + [58] * 9 and line["all_runs"] == 60
    assert re.search(r"b +\S+ +1,?000 +58 +60", text)
    # Every task weighs the same: uneven runs are weighed by those that their task has.
    at_end = frame[(frame["agent"] == "b") & (frame["step"] == 1000)]
    assert abs(line["value"][-1] - trim_mean(at_end["score"], 0.25)) < 0.2
    assert line["value_low"][-1] < line["value"][-1] < line["value_high"][-1]


def test_a_curve_of_single_runs_goes_on_where_some_of_them_end():
    ends = {("a", task, 0): 100 for task in range(2)}
    results = read(log({"a": 10.0}, tasks=30, seeds=1, ends=ends))
    made = ex.scores.efficiency(results, "mean", rng=0, reps=50)
    assert made.frames[-1] == 1000 and made.runs[0].tolist() == [30, 30] + [28] * 9


def test_bands_at_a_time_are_those_of_the_runs_that_exist_then():
    ends = {("a", 0, 0): 300, ("a", 2, 4): 500}
    frame = log({"a": 10.0, "b": 5.0}, tasks=3, ends=ends)
    made = ex.scores.efficiency(read(frame), "mean", rng=0, reps=200)
    ended = [(agent, f"t{task}", seed) for agent, task, seed in ends]
    keys = frame[["agent", "task", "seed"]].apply(tuple, axis=1)
    whole = ex.scores.efficiency(read(frame[~keys.isin(ended)]), "mean", rng=0, reps=200)
    for part in ("value", "low", "high"):
        np.testing.assert_allclose(getattr(made, part)[:, -1], getattr(whole, part)[:, -1])


def test_panels_of_tasks_draw_the_mean_of_raw_scores_that_exist():
    ends = {("a", 0, 0): 300, ("b", 1, 2): 500}
    frame = log({"a": 600.0, "b": 1000.0}, tasks=2, scale=[1.0, 1000.0], ends=ends)
    frame = frame.drop(index=[14, 40])  # evaluations that are missing
    made = ex.scores.task_curves(read(frame))
    grouped = frame.groupby(["agent", "task", "step"])["score"]
    for agent, name in enumerate(made.agent_names):
        for task, of in enumerate(made.task_names):
            np.testing.assert_allclose(made.mean[agent, task], grouped.mean()[name, of])
            assert made.runs[agent, task].tolist() == grouped.size()[name, of].tolist()


def test_agents_logged_at_other_intervals_keep_their_own_times_in_panels():
    frame = log({"a": 600.0, "b": 1000.0})
    frame = frame[(frame["agent"] == "a") | (frame["step"] % 200 == 0)]
    made = ex.scores.task_curves(read(frame))
    grouped = frame.groupby(["agent", "step"])["score"].mean()
    for agent, name in enumerate(made.agent_names):
        known = ~np.isnan(made.mean[agent, 0])
        assert made.times[0, known].tolist() == grouped[name].index.tolist()
        np.testing.assert_allclose(made.mean[agent, 0, known], grouped[name])


def test_the_end_of_an_agent_that_all_stopped_early_is_its_own_and_its_time_is_shown(
    tmp_path, capsys, monkeypatch
):
    ends = {("b", 0, seed): 400 for seed in range(5)}
    frame = log({"a": 600.0, "b": 1000.0}, ends=ends)
    _, text = over_time(frame, tmp_path, capsys, monkeypatch)
    assert re.search(r"b +\S+ +400 +5 +5", text) and re.search(r"a +\S+ +1,?000 +5 +5", text)
