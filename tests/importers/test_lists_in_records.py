"""A list in a record is a curve where the measure or the time is one, and an attribute otherwise."""

import json
from pathlib import Path

import pytest

import examiner as ex

EVALUATIONS = [
    {"env_step": step, "rew": 10.0 * step + seed, "rew_interval": [0.5, 9.5], "agent": agent}
    for agent, seed in (("npg", 0), ("sac", 5))
    for step in (0, 100, 200, 300)
]


def write(folder: Path, records: list[dict[str, object]], name: str = "results.json") -> Path:
    path = folder / "Ant-v4" / name
    path.parent.mkdir(exist_ok=True)
    lines = "\n".join(map(json.dumps, records))
    path.write_text(lines if name.endswith("jsonl") else json.dumps(records))
    return path


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_an_interval_beside_a_score_makes_no_second_run(tmp_path: Path, name: str):
    path = write(tmp_path, EVALUATIONS, name)
    with pytest.warns(match="Nested values are left out: 'rew_interval'"):
        results = ex.read(path, path="{task}/", measure="rew")
    assert (len(results), results.agents, results.tasks) == (8, ("npg", "sac"), ("Ant-v4",))
    assert set(results.column("run")) == {0}
    assert results.measure().tolist() == [record["rew"] for record in EVALUATIONS]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_a_curve_is_unfolded_whatever_the_lists_beside_it(tmp_path: Path, name: str):
    records = [
        {"method": "a", "task": "t", "seed": seed, "xs": [0, 5, 10], "ys": [1, 2, 4], "ci": [0, 9]}
        for seed in (0, 1)
    ]
    results = ex.read(write(tmp_path, records, name))
    assert results.measure().tolist() == [1, 2, 4] * 2
    assert results.column("steps") == [0, 5, 10] * 2
    assert "ci" not in results.attributes


@pytest.mark.filterwarnings("ignore")
def test_a_list_in_some_records_only_is_left_out(tmp_path: Path):
    records = [
        {"agent": "a", "task": "t", "score": 1.0, "tags": "easy"},
        {"agent": "b", "task": "t", "score": 2.0, "tags": ["easy", "short"]},
    ]
    results = ex.read(write(tmp_path, records))
    assert (len(results), results.measure().tolist()) == (2, [1.0, 2.0])


@pytest.mark.filterwarnings("ignore")
def test_lists_with_lengths_of_episodes_are_episodes(tmp_path: Path):
    records = [
        {
            "method": "a",
            "task": "t",
            "seed": 0,
            "xs": [90, 130],
            "length": [90, 40],
            "reward": [1, 3],
        }
    ]
    results = ex.read(write(tmp_path, records))
    assert (results.measures, results.measure().tolist()) == (("reward",), [1.0, 3.0])
    assert "checkpoint" not in results.attributes


def test_a_curve_with_more_points_than_times_is_refused(tmp_path: Path):
    records = [{"method": "a", "task": "t", "xs": [0, 5], "ys": [1, 2, 3]}]
    with pytest.raises(ex.InputError, match="Record 1 has 3 points in 'ys' and 2 in 'xs'"):
        ex.read(write(tmp_path, records))
