"""`examiner audit` tells what `irt.audit` does; `fit` and the report tell it too."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

import examiner as ex


def planted(tmp_path):
    rng = np.random.default_rng(0)
    able, hard = rng.normal(0, 1.5, 60), rng.normal(0, 1, 30)
    table = (rng.random((60, 30)) < 1 / (1 + np.exp(hard - able[:, None]))).astype(float)
    table[:, 4] = 1 - table[:, 4]
    table[:, 9] = 0
    table[np.argsort(able), 17] = np.arange(60) % 2
    table[:, 20] = able > 0  # a healthy task that divides the able from others
    path = tmp_path / "table.csv"
    ex.write(ex.Results.from_numpy(table), path)
    return path


def test_the_command_tells_what_python_does_as_json_csv_and_figures(examiner, tmp_path) -> None:
    path = planted(tmp_path)
    done = examiner("audit", path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    own = ex.irt.audit(ex.read(path), rng=0)
    assert told["schema"] == "examiner.audit/1"
    assert told["flagged"] == json.loads(own.to_json())["flagged"]
    assert told["flagged"][0]["task"] == "task 5" and told["flagged"][0]["notable_agents"]
    rows = list(csv.DictReader(io.StringIO(examiner("audit", path, "--to", "csv").stdout)))
    assert rows[0]["task"] == "task 5" and "weak agents solve it" in rows[0]["reasons"]
    drawn = examiner("audit", path, "--figures", tmp_path / "f", "--figures-as", "svg", "--json")
    assert json.loads(drawn.stdout)["figures"] and (tmp_path / "f" / "suspects.svg").exists()
    people = examiner("audit", path).stdout
    assert "negative discrimination" in people and "solved by no agent" in people


def test_fit_lists_suspects_and_no_healthy_task_that_separates(examiner, tmp_path) -> None:
    done = examiner("fit", planted(tmp_path))
    assert done.returncode == 0, done.stderr
    listed = done.stdout.split("Flagged tasks")[1].split("Tasks, the most")[0]
    assert "task 5" in listed and "task 18" in listed and "flat" in listed
    assert "task 21" not in listed


def test_the_report_has_a_section_of_them_and_a_figure(tmp_path) -> None:
    results = ex.read(planted(tmp_path))
    section = ex.report(results, sections=["suspects"]).to_dict()["sections"][0]
    assert "are flagged" in section["finding"]
    assert ex.plots.suspects(results).data.suspect.sum() >= 2
