"""Tables as LaTeX, Markdown and CSV, and figures and tables from the command line."""

from __future__ import annotations

import csv
import io
import json
import warnings

import numpy as np
import pytest

import examiner as ex
from examiner.answers import Column, Table
from examiner.reporting import shown_table, table_text


def test_names_cannot_break_a_table():
    columns = Column("name", "name", "N", title="agent_1 & co"), Column("mean", "number", "Mean")
    names = ["50% of $x_1$ \\ {a}", "a|b\nc"]
    table = shown_table(Table.of(columns, {"name": names, "mean": [-1.25, None]}))
    latex = table_text(table, "latex")
    assert r"50\% of \$x\_1\$ \textbackslash{} \{a\} & $-$1.25 \\" in latex
    assert r"agent\_1 \& co & mean \\" in latex
    markdown = table_text(table, "markdown").splitlines()
    assert markdown[-1] == r"| a\|b c | – |"
    rows = list(csv.reader(io.StringIO(table_text(table, "csv"))))
    assert rows[1:] == [["50% of $x_1$ \\ {a}", "-1.25"], ["a|b\nc", ""]]
    odd = Table.of(columns[:1], {"name": ["[2pt] of \x1b[31m"]})
    odd = table_text(shown_table(odd), "latex")
    assert odd.splitlines()[4] == r"{[}2pt] of \textbackslash{}x1b{[}31m \\"


@pytest.fixture
def log(tmp_path):
    lines = ["agent,task,seed,frames,score"]
    for agent, top in (("fast", 2.0), ("slow", 1.0)):
        for task in ("pong", "alien"):
            for seed in range(3):
                lines += [
                    f"{agent},{task},{seed},{100 * step},{top * step / 20 + seed / 100}"
                    for step in range(1, 21)
                ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_table_of_report_points_has_mean_deviation_and_runs(log):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = ex.read(log)
    made = ex.scores.report_table(ex.scores.curves(results, points=[1000, 2000]))
    fast = made.agent_names.index("fast")
    np.testing.assert_allclose(made.mean[fast, 0], [1.01, 2.01])
    np.testing.assert_allclose(made.deviation[fast, 0], np.std([0, 0.01, 0.02], ddof=1))
    assert (made.runs == 3).all()


def test_curves_prints_its_tables_and_writes_its_figures(examiner, log, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--points", "1000,2000", "--normalise", "none", "--keep", "task:pong")
    done = examiner("curves", log, *options, "--to", "csv", "--figures", tmp_path / "figures")
    assert done.returncode == 0, done.stderr
    points = next(t for t in done.stdout.split("\n\n") if t.startswith("task,agent,point"))
    rows = list(csv.DictReader(io.StringIO(points)))
    assert (rows[0]["agent"], rows[0]["point"], rows[0]["runs"]) == ("fast", "1000.0", "3")
    assert float(rows[0]["mean"]) == pytest.approx(1.01)
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == ["curves-ranks.pdf", "learning-curves-tasks.pdf", "learning-curves.pdf"]
    told = examiner("curves", log, *options, "--threshold", "0.5", "--json")
    assert json.loads(told.stdout)["unit"] == "frames"
    both = examiner("curves", log, "--to", "csv", "--json")
    assert both.returncode == 2 and "exclude each other" in both.stderr


def test_difference_compares_named_agents_and_refuses_others(examiner, log):
    done = examiner("compare", log, "fast", "slow", "--to", "markdown", "--reps", "100")
    assert done.returncode == 0, done.stderr
    assert "| pong | 2.01 | 1.01 | 1.00 | 1 |" in done.stdout
    told = examiner("compare", log, "fast", "slow", "--level", "0.8", "--reps", "100").stdout
    assert ", 80 % interval" in told and "80 % intervals, of differences by Welch's t" in told
    wrong = examiner("compare", log, "fast", "slwo")
    assert wrong.returncode == 2 and "Did you mean 'slow'?" in wrong.stderr
    missing = examiner("compare", log)
    assert missing.returncode == 2 and "Missing argument" in missing.stderr


def test_learning_curves_of_a_report_meet_the_numbers_of_the_log(log):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drawn = ex.plots.learning_curves(ex.read(log).keeping("task:pong"), None).data
    assert drawn.agents == ("fast", "slow")
    np.testing.assert_allclose(drawn.value[:, -1], [2.01, 1.01])


def test_the_optimality_gap_of_raw_points_is_refused():
    raw = ex.Results.from_numpy([[0.2, 5000.0], [0.1, 100.0]])
    with pytest.raises(ex.InputError, match=r"these are raw points. Normalise them first"):
        ex.scores.intervals(raw, "optimality_gap", rng=0)


def test_warnings_point_at_the_line_of_the_caller(log):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ex.read(log)
    assert caught and {warning.filename for warning in caught} == {__file__}
