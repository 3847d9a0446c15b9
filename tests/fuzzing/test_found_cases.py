"""What attacks have found, each once: what ended in a traceback, a hang or a wrong number."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import polars as pl
import pytest

import examiner as ex
from examiner.arena import plan_from_toml
from fuzzing.attack import command, survives
from fuzzing.test_readers import ledger

RANDOM = '\n[[agents]]\nentry = "random"\n'
PLANS = {
    "a number of 5,000 digits": f'games = ["pong"]\nseeds = {"9" * 5000}{RANDOM}',
    "a hexadecimal number of 100,000 digits": f'games = ["pong"]\nseeds = 0x{"f" * 100_000}{RANDOM}',
    "900 nested arrays": f"games = {'[' * 900}{']' * 900}{RANDOM}",
    "900 nested arrays under a key nobody knows": f"x = {'[' * 900}{']' * 900}{RANDOM}",
    "900 nested settings": f'games = ["pong"]{RANDOM}settings = {{ x = {"[" * 900}{"]" * 900} }}\n',
    "400 nested tables": f"protocol = {'{a = ' * 400}1{'}' * 400}{RANDOM}",
    "a key of 200,000 parts": f"{'a.' * 200_000}a = 1{RANDOM}",
    "a table of 200,000 parts": f"[{'a.' * 200_000}a]\n",
}


@pytest.mark.parametrize("name", PLANS)
def test_plans_that_asked_too_much_are_refused(name: str) -> None:
    assert survives(lambda: plan_from_toml(PLANS[name])) is None


def test_a_plan_of_thousands_of_agents_is_read_in_the_time_of_one_look_at_each() -> None:
    agents = "".join(f'[[agents]]\nentry = "random"\nname = "r{n}"\n' for n in range(2000))
    plan = survives(lambda: plan_from_toml(f'games = ["pong"]\nepisodes = 1\n{agents}'))
    assert plan is not None and len(plan.agents) == 2000  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", [pl.Binary, pl.Duration, pl.List(pl.Int64)])
@pytest.mark.parametrize("column", ["agent", "run", "level", "note"])
def test_columns_that_are_neither_text_nor_number_are_left_out(
    kind, column, tmp_path: Path
) -> None:
    columns = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1.0, 2.0]}
    odd = pl.Series(column, [[1], [2]] if kind == pl.List(pl.Int64) else [1, 2])
    if kind == pl.Binary:
        odd = pl.Series(column, [b"\xff", b"a"])
    frame = pl.DataFrame(columns).with_columns(odd if kind != pl.Duration else odd.cast(kind))
    frame.write_parquet(tmp_path / "x.parquet")
    results = survives(lambda: ex.read(tmp_path / "x.parquet"))
    assert (results is None) == (column == "agent")


@pytest.mark.parametrize("cell", ["5e-324", "1e-320", "1e308"])
def test_reports_of_scores_at_the_edge_are_written(cell: str, tmp_path: Path) -> None:
    rows = [f"a{a},t{t},{cell if (a + t) % 2 else 0}" for a in range(3) for t in range(3)]
    (tmp_path / "t.csv").write_text("\n".join(["agent,task,score", *rows]) + "\n")
    said = (
        "report",
        "t.csv",
        "--normalise",
        "none",
        "--sections",
        "ranking,heatmap",
        "-o",
        "r.html",
    )
    assert command(tmp_path, *said) == 0


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".ndjson"])
@pytest.mark.parametrize("name", ["describe", "scores", "fit", "information", "cluster", "report"])
def test_a_table_without_any_score_is_refused_or_described(name, ending, tmp_path: Path) -> None:
    cells = {"agent": ["a", "b"] * 2, "task": ["s", "s", "t", "t"], "score": [None] * 4}
    frame = pl.DataFrame(cells, schema_overrides={"score": pl.Float64})
    path = tmp_path / f"t{ending}"
    {".csv": frame.write_csv, ".parquet": frame.write_parquet, ".ndjson": frame.write_ndjson}[
        ending
    ](path)
    command(tmp_path, name, path.name)


@pytest.mark.parametrize("name", ["describe", "scores", "fit", "information", "cluster", "report"])
def test_a_table_of_our_own_without_any_score_is_refused_or_described(name, tmp_path: Path) -> None:
    results = ex.Results.from_numpy([[1.0, 2.0], [3.0, 4.0]])
    results.with_measure("score", results.measure() * float("nan"), "lost").save(
        tmp_path / "t.parquet"
    )
    command(tmp_path, name, "t.parquet")


def test_a_name_stored_with_a_selection_does_not_steer_the_terminal(tmp_path: Path) -> None:
    results = ex.load("atari-dqn-family")
    path = ex.save(ex.selection.select(results, 3, "spread", rng=0), tmp_path / "few.json")
    stored = json.loads(path.read_text(encoding="utf-8"))
    text = json.dumps(stored).replace('"dqn"', json.dumps("d\x1b[31mqn"))
    path.write_text(text)
    command(tmp_path, "place", "atari-dqn-family", "--with", "few.json")


@pytest.mark.parametrize("prior", [(1e308, 5e-324), (0.0, 1e-200), (1e200, 1.0), (1.0, 1e300)])
def test_priors_out_of_all_proportion_are_refused(prior: tuple[float, float]) -> None:
    assert survives(lambda: ex.irt.NormalPrior(*prior)) is None


@pytest.mark.parametrize("change", ["UPDATE jobs SET agent", "UPDATE ledger SET value"])
def test_a_ledger_whose_text_is_none_is_refused(change: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(ledger(tmp_path))
    database = sqlite3.connect(path)
    database.execute(f"{change} = CAST(x'ff41' AS TEXT)")
    database.commit()
    database.close()
    assert survives(lambda: ex.read(path)) is None


def test_records_nested_without_end_are_refused(tmp_path: Path) -> None:
    deep: object = []
    for _ in range(400):
        deep = [deep]
    for schema in ("examiner.irt-fit/4", "examiner.chosen/3"):
        document = {"schema": schema, "items": deep, "tasks": deep, "recipe": deep}
        (tmp_path / "x.json").write_text(json.dumps(document))
        assert survives(lambda: ex.load_saved(tmp_path / "x.json")) is None
