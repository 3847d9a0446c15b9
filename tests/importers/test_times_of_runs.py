"""Times of runs: a log is read as it was made whatever the order of its rows, or it is refused."""

from __future__ import annotations

import json
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.importers.training_log import (
    FINAL,
    READ,
    REFUSED,
    as_csv,
    as_folder,
    as_ndjson,
    as_parquet,
    by_task,
    log,
    score,
)

import examiner as ex
from examiner.cli import main

LAYOUTS = {
    "csv": (as_csv, None),
    "ndjson": (as_ndjson, None),
    "parquet": (as_parquet, None),
    "a file for each run": (as_folder, "{agent}/{task}/{seed}.csv"),
    "a file for each agent": (by_task, "{agent}.csv"),
}


def read(source, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        return ex.read(source, **options)


def means(results):
    """The mean of each agent over its tasks, each the mean of its runs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        matrix = ex.responses(ex.reduce(results)).to_numpy()
    return dict(zip(results.agents, matrix.mean(axis=1), strict=True))


def columns(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def run_command(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["examiner", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", READ)
def test_a_log_is_read_with_its_final_scores(change, layout, tmp_path):
    write, path = LAYOUTS[layout]
    results = read(write(READ[change](log()), tmp_path / "log"), path=path)
    assert results.counts()["runs"] == 3
    assert means(results) == pytest.approx(FINAL, abs=2), "the last evaluation of each whole run"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("change", REFUSED)
def test_a_log_that_fits_no_run_is_refused_with_its_row(change, layout, tmp_path):
    write, path = LAYOUTS[layout]
    source = write(REFUSED[change](log()), tmp_path / "log")
    with pytest.raises(
        ex.InputError, match=r"'step' .*(?:cannot be used as|alternating) time"
    ) as refused:
        read(source, path=path)
    assert "--time " in str(refused.value)
    assert "row" in str(refused.value) or "line" in str(refused.value)


@pytest.mark.parametrize("change", READ)
def test_commands_print_the_final_scores_of_a_log(change, tmp_path, capsys, monkeypatch):
    source = as_csv(READ[change](log()), tmp_path / "log.csv")
    code, out, _ = run_command(capsys, monkeypatch, "scores", source, "--json", "--reps", "50")
    assert code == 0
    found = {row["agent"]: row["mean"] for row in json.loads(out)["agents"]}
    assert found == pytest.approx(FINAL, abs=2)


@pytest.mark.parametrize("change", ["a gap", "shuffled", "a column episode", "crashed runs"])
def test_curves_and_reports_of_a_log_name_the_agent_that_ends_higher(
    change, tmp_path, capsys, monkeypatch
):
    source = as_csv(READ[change](log()), tmp_path / "log.csv")
    code, out, _ = run_command(capsys, monkeypatch, "curves", source, "--json")
    assert code == 0
    at_end = {
        row["agent"]: row["rank"]
        for row in json.loads(out)["agents"]
        if row["summary"] == "training at 1,000,000"
    }
    assert at_end == {"late": 1.0, "early": 2.0}
    if change != "shuffled":  # one report is enough: they take a second
        return
    code, out, _ = run_command(capsys, monkeypatch, "report", source, "--json")
    sections = {section["key"]: section for section in json.loads(out)["sections"]}
    assert code == 0
    assert sections["learning"]["finding"].startswith("late has the best mean at the end")
    leader = "late has the best mean, and is significantly better than early"
    assert sections["ranking"]["finding"].startswith(leader)


@pytest.mark.parametrize("change", REFUSED)
@pytest.mark.parametrize("command", ["scores", "curves", "report"])
def test_commands_end_with_2_where_a_log_fits_no_run(
    change, command, tmp_path, capsys, monkeypatch
):
    source = as_csv(REFUSED[change](log()), tmp_path / "log.csv")
    monkeypatch.chdir(tmp_path)
    code, out, err = run_command(capsys, monkeypatch, command, source)
    assert code == 2 and not out
    assert "cannot be used as time" in err or "alternating times" in err
    assert "--time " in err
    assert sorted(Path.cwd().iterdir()) == [source], "nothing is half written"


def test_the_refusal_names_the_run_and_both_rows():
    rows = log()
    twice = [*rows[:31], rows[30] | {"score": 7.0}, *rows[31:]]
    with pytest.raises(
        ex.InputError,
        match=r"run of agent 'late', task 'a', seed '1', it has the value 450,000 twice, with different "
        r"values of 'score', in rows 31 and 32",
    ):
        read(columns(twice))


def test_rows_after_a_restart_replace_earlier_ones_of_their_time_and_it_is_noted():
    again = [row | {"score": -5.0} for row in log()[:5]]
    results = read(columns([*again, *log()]))
    assert results.counts()["runs"] == 3
    assert results.measure().min() == 0.0 and len(results) == len(log())
    assert any(
        "1 run falls back to an earlier 'step', such as that of agent 'late', task 'a', seed '0' in row 6, "
        "as after a restart: the later rows replace 5 earlier rows of the same run and 'step'"
        in note
        for note in results.notes
    )


def test_two_whole_logs_of_one_run_are_read_where_time_is_named():
    rows = log() + [row | {"score": row["score"] + 5} for row in log()]
    with pytest.raises(ex.InputError, match=r"later rows replace earlier ones, add `--time step`"):
        read(columns(rows))
    labelled = [row | {"kind": "train" if n < len(log()) else "test"} for n, row in enumerate(rows)]
    with pytest.raises(ex.InputError, match=r"different values of 'kind'"):
        read(columns(labelled), time="step")
    results = read(columns(rows), time="step")
    assert results.counts()["runs"] == 3
    assert means(results) == pytest.approx({agent: end + 5 for agent, end in FINAL.items()})


def test_values_that_rise_and_fall_in_turn_are_read_as_one_log_where_time_is_named():
    rows = REFUSED["two logs at alternating times, sorted"](log())
    with pytest.raises(
        ex.InputError,
        match=r"'score' rises and falls in turn along 'step' from rows 1 and 13 on, as in two logs at "
        r"alternating times.*'run'.*`--time step`",
    ):
        read(columns(rows))
    assert read(columns(rows), time="step").counts()["runs"] == 3


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_noise_is_no_mixture_of_two_logs(seed):
    noise = np.random.default_rng(seed).normal(size=252)
    rows = [row | {"score": value} for row, value in zip(log(), noise.tolist(), strict=True)]
    assert read(columns(rows)).counts()["runs"] == 3


@pytest.mark.parametrize("order", ["stacked", "side by side", "mixed"])
def test_a_column_that_tells_rows_of_one_time_apart_is_named_and_may_make_tasks(order):
    pairs = [
        (row | {"metric": "return"}, row | {"metric": "success", "score": 0.5}) for row in log()
    ]
    rows = [row for pair in pairs for row in pair]
    if order == "stacked":
        rows = [first for first, _ in pairs] + [second for _, second in pairs]
    elif order == "mixed":
        random.Random(0).shuffle(rows)
    with pytest.raises(ex.InputError, match=r"different values of 'metric'.*--item task,metric"):
        read(columns(rows))
    both = read(columns(rows), item=("task", "metric"))
    assert len(both.tasks) == 4 and both.counts()["runs"] == 3
    assert means(both) == pytest.approx({agent: (end + 0.5) / 2 for agent, end in FINAL.items()})


def test_a_named_time_sorts_rows_that_are_not_evenly_spaced():
    table = {
        "agent": ["a"] * 5,
        "task": ["t"] * 5,
        "seed": [0] * 5,
        "global_step": [900, 10, 57, 300, 81],
        "score": [5.0, 1.0, 2.0, 4.0, 3.0],
    }
    with pytest.raises(ex.InputError, match="not evenly spaced and falls from 900 to 10"):
        read(table)
    reduced = ex.reduce(read(table, time="global_step"), "last:1 checkpoints")
    assert reduced.measure().tolist() == [5.0]


def test_evaluations_of_several_episodes_are_averaged_and_it_is_said():
    rows = [
        {"agent": agent, "task": "t", "seed": seed, "step": step, "score": step / 1000 + episode}
        for agent in ("a", "b")
        for seed in range(2)
        for step in range(0, 50_000, 10_000)
        for episode in range(5)
    ]
    results = read(columns(rows))
    assert any("several rows at one 'step'" in note for note in results.notes)
    assert means(results) == {"a": 42.0, "b": 42.0}
    numbered = read(columns([row | {"trial": n % 5} for n, row in enumerate(rows)]))
    assert means(numbered) == {"a": 42.0, "b": 42.0}


def test_thousands_of_rows_with_lengths_are_episodes():
    rng = np.random.default_rng(0)
    rows = []
    for agent, top in (("a", 10.0), ("b", 20.0)):
        length = rng.integers(50, 400, 1500)
        for step, steps in zip(np.cumsum(length).tolist(), length.tolist(), strict=True):
            rows.append(
                {"agent": agent, "task": "t", "seed": 0, "global_step": step, "length": steps,
                 "score": top + rng.normal()}
            )  # fmt: skip
    results = read(columns(rows))
    last = {a: np.mean([r["score"] for r in rows if r["agent"] == a][-100:]) for a in ("a", "b")}
    assert means(results) == pytest.approx(last)


def test_episodes_of_one_length_that_state_it_are_episodes():
    rows = [
        {"agent": "a", "task": "t", "seed": 0, "step": 1000 * (n + 1), "length": 1000, "score": n}
        for n in range(300)
    ]
    assert means(read(columns(rows))) == {"a": np.mean(range(200, 300))}


def test_a_few_rows_at_odd_times_are_refused_until_somebody_says_what_they_are():
    rng = np.random.default_rng(0)
    rows = [
        {"agent": agent, "task": "t", "seed": seed, "step": int(step), "score": float(step)}
        for agent in ("a", "b")
        for seed in range(2)
        for step in np.cumsum(rng.integers(1, 1000, 30))
    ]
    results = read(columns(rows))
    with pytest.raises(ex.InputError, match=r"episodes or evaluations.*last:1 checkpoints"):
        means(results)
    assert ex.reduce(results, "last:1 checkpoints").measure()[0] == rows[29]["score"]
    assert ex.reduce(results, "last:100").measure()[0] == np.mean([r["score"] for r in rows[:30]])


def test_runs_without_a_name_are_recognised_or_refused():
    rows = log()
    bare = [{key: value for key, value in row.items() if key != "seed"} for row in rows]
    stacked = read(columns(bare))
    assert stacked.counts()["runs"] == 3 and means(stacked) == pytest.approx(FINAL)
    reverse = read(columns(bare[::-1]))
    assert reverse.counts()["runs"] == 3 and means(reverse) == pytest.approx(FINAL)
    by_time = sorted(bare, key=lambda row: row["step"])
    assert means(read(columns(by_time))) == pytest.approx(FINAL)
    one = [row for row, named in zip(bare, rows, strict=True) if named["seed"] == 1]
    backwards = read(columns(one[::-1]))
    assert backwards.counts()["runs"] == 1 and means(backwards) == pytest.approx(FINAL)
    copied = read(columns([*one, one[3]]))
    assert copied.counts()["runs"] == 1 and means(copied) == pytest.approx(FINAL)
    moved = [*bare[:5], *bare[6:30], bare[5], *bare[30:]]
    with pytest.raises(ex.InputError, match="no column names runs"):
        read(columns(moved))


def test_a_log_written_and_read_again_is_the_same_log(tmp_path):
    results = read(columns(log()))
    ex.write(results, tmp_path / "again.csv")
    assert means(read(tmp_path / "again.csv")) == pytest.approx(FINAL)


@pytest.mark.parametrize("length", [1, 2])
def test_a_run_of_few_rows_in_a_folder_of_records_hides_no_times(length, tmp_path):
    for agent in FINAL:
        for seed in range(3):
            rows = [
                {"task": row["task"], "step": row["step"], "score": row["score"]}
                for row in log()
                if row["agent"] == agent and row["seed"] == seed and row["task"] == "a"
            ]
            as_ndjson(rows[:length] if (agent, seed) == ("late", 1) else rows,
                      tmp_path / f"{agent}_{seed}.ndjson")  # fmt: skip
    results = read(tmp_path, path="{agent}_{seed}.ndjson")
    assert means(results) == pytest.approx(FINAL, abs=1)
    assert ex.scores.curves(results).unit == "steps"


@given(
    st.sampled_from(["drop", "copy", "move"]),
    st.integers(0, 251),
    st.integers(0, 251),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_one_row_changes_an_aggregate_by_no_more_than_its_weight(change, place, to, named):
    rows = log() if named else [{k: v for k, v in row.items() if k != "seed"} for row in log()]
    before = means(read(columns(rows)))
    changed = list(rows)
    row = changed.pop(place)
    if change != "drop":
        changed.insert(to, row)
    if change == "copy":
        changed.insert(place, row)
    try:
        after = means(read(columns(changed)))
    except ex.InputError as refused:
        assert not named and "cannot be used as time" in str(refused)
        return
    weight = 1 / 6  # one of three runs on one of two tasks
    for agent in FINAL:
        # The last evaluation of a run gives way to the one before it.
        most = abs(score(agent, 1_000_000, 0) - score(agent, 950_000, 0))
        assert abs(after[agent] - before[agent]) <= weight * most + 1e-9
    assert change == "drop" or after == pytest.approx(before)


@given(st.permutations(range(42)))
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_changes_no_final_score(order):
    rows = [row for row in log() if row["task"] == "a" and row["seed"] == 0]
    assert means(read(columns([rows[n] for n in order]))) == {"late": 1000.0, "early": 600.0}
