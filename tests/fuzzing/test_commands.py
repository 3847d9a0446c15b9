"""Every command that reads a table, on tables and options at the edge of what makes sense."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from examiner.scores import NORMALISERS
from examiner.selection import METHODS
from fuzzing.attack import attacks, both, command

CELLS: dict[str, Sequence[str]] = {
    "binary": ("0", "1"),
    "whole": ("0", "1", "2", "3", "4"),
    "constant": ("1",),
    "sparse": ("", "", "", "", "1", "0", "2.5"),
    "denormal": ("5e-324", "1e-320", "0", "1e-310", "-5e-324", "3e-320"),
    "huge": ("1e308", "-1e308", "1.7e308", "0", "1", "1e300"),
    "mixed": ("0", "1", "1e308", "5e-324", "", "-1e308", "0.3"),
    "wild": ("NaN", "inf", "1e999", "x", "=1+1", "1,5", "9007199254740993", "-0", "", "7"),
    "missing": ("",),
}
ODD_NAMES = (
    *("=cmd|x", "\x1b[31mred", "a\tb", "é", "\u202eevil", "x" * 300, '"q"', "<script>", "[bold]"),
    *("%s", "{}", "a,b", "nan", "None", "-", "\u2028", "  ", "pong", "\U0001f600", "..", "\x9b31m"),
)
NUMBERS = ("0", "1", "0.5", "0.9", "0.5", "0.95", "nan", "inf", "1e308", "5e-324", "-1", "2")
OPTIONS: dict[str, Sequence[tuple[str, Sequence[str]]]] = {
    "describe": (),
    "convert": (
        ("--to", ("tidy", "wide", "py-irt", "rliable")),
        ("--success", NUMBERS),
        ("--for-spreadsheets", ()),
    ),
    "scores": (
        ("--aggregate", ("mean", "median", "iqm", "optimality_gap", "all")),
        ("--unit", ("runs", "tasks", "both")),
        ("--interval", ("rescaled", "percentile", "bca")),
        ("--level", NUMBERS),
        ("--posthoc", ("wilcoxon-holm", "nemenyi")),
        ("--success", (*NUMBERS, "reference", "random")),
        ("--success-share", NUMBERS),
    ),
    "cost": (
        ("--cost", ("score", "run+trial", "trial*score", "score*inf", "run*0", "trial*nan", "+*")),
        ("--coverage", NUMBERS),
        ("--level", NUMBERS),
        ("--to", ("latex", "markdown")),
    ),
    "fit": (
        ("--model", ("1pl", "rasch", "2pl", "3pl", "4pl", "beta", "normal")),
        ("--estimator", ("map", "ml")),
        ("--success", (*NUMBERS, "reference", "random")),
        ("--prior", ("slope=1,0.5", "slope=nan,1", "slope=1e308,5e-324", "intercept=0,inf")),
        ("--nodes", ("1", "3", "21", "0", "100000")),
        ("--bins", ("1", "3", "-1,0,1", "nan,1", "inf,1,2", "1e308,-1e308", "500")),
    ),
    "select": (
        ("--method", tuple(METHODS)),
        ("--floor", NUMBERS),
        ("--transform", ("none", "log")),
        ("--families", ("family",)),
        ("--cost", ("cost",)),
        ("--success", NUMBERS),
    ),
    "select --judge": (
        ("--floor", NUMBERS),
        ("--tolerance", NUMBERS),
        ("--folds", ("2", "3", "1")),
    ),
    "information": (
        ("--size", ("1", "2", "50")),
        ("--spread", NUMBERS),
        ("--correlated", ()),
        ("--exact", ()),
    ),
    "cluster": (
        ("--threshold", NUMBERS),
        ("--clusters", ("1", "2", "0")),
        ("--linkage", ("average", "complete", "single")),
    ),
    "curves": (("--points", ("1", "1,2", "nan", "inf", "1e308")), ("--last", ("1", "5"))),
    "audit": (("--success", NUMBERS), ("--groups", ("group", "nowhere", ""))),
    "report": (("--success", NUMBERS), ("--sections", ("ranking", "heatmap", "significance"))),
    "compare": (
        ("--level", NUMBERS),
        ("--to", ("latex", "markdown", "csv")),
    ),
    "fit --check": (("--model", ("1pl", "2pl", "beta", "normal")), ("--success", NUMBERS)),
    "distil": (("--folds", ("2", "3", "1")), ("--floor", NUMBERS), ("--success", NUMBERS)),
    "select --adds": (
        ("--set", ("n0", "n0,n2", "nowhere", "n1")),
        ("--cost", ("cost",)),
        ("--floor", NUMBERS),
    ),
}
ALWAYS: dict[str, tuple[str, ...]] = {
    "scores": ("--reps", "20"),
    "cost": ("--cost", "score*0.5", "--reps", "20"),
    "fit": ("--starts", "1"),
    "fit --check": ("--draws", "20", "--quick", "--starts", "1"),
    "select": ("--size", "2", "--no-proof"),
    "select --judge": (
        "--methods",
        "spread,random",
        "--sizes",
        "1-2",
        "--reps",
        "5",
        "--draws",
        "2",
    ),
    "information": ("--reps", "5"),
    "report": ("-o", "report.html"),
    "compare": ("n0", "n1", "--reps", "20"),
    "distil": ("--size", "2", "-o", "tiny.json"),
    "select --adds": ("n1", "--reps", "5"),
}
SHARED: Sequence[tuple[str, Sequence[str]]] = (
    ("--tasks", ("tasks.csv",)),
    ("--agents", ("agents.csv",)),
    ("--json", ()),
    ("--keep", ("agent:n*", "task:*", "task:n1", "agent:[", "x")),
    ("--reduce", ("all", "last:1", "final:10", "auc", "final:nan")),
    ("--measure", ("score", "run", "nowhere")),
)


def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)


def write_tables(folder: Path, rng: random.Random) -> None:
    kind = rng.choice([*CELLS, "binary", "whole", "binary", "whole", "float", "float", "float"])

    def cell(kind: str = kind) -> str:
        return repr(rng.gauss(0, 1)) if kind == "float" else rng.choice(CELLS[kind])

    odd = rng.random() < 0.3
    agents, tasks = (
        [f"{rng.choice(ODD_NAMES) if odd and rng.random() < 0.5 else 'n'}{n}" for n in range(most)]
        for most in (rng.choice([1, 2, 3, 5, 8, 12]), rng.choice([1, 2, 3, 5, 9, 13]))
    )
    if rng.random() < 0.3:
        rows = [["agent", *tasks], *([agent, *(cell() for _ in tasks)] for agent in agents)]
    else:
        runs = range(rng.choice([1, 1, 2, 3]))
        rows = [["agent", "task", "run", "score"]]
        rows += [[a, t, str(run), cell()] for a in agents for t in tasks for run in runs]
    write_rows(folder / "table.csv", rows)
    ends = ("float", "huge", "denormal", "whole", "sparse")
    about = [[t, cell(rng.choice(ends)), cell(rng.choice(ends)), cell("whole")] for t in tasks]
    write_rows(folder / "tasks.csv", [["task", "random", "reference", "cost"], *about])
    write_rows(
        folder / "agents.csv", [["agent", "family"], *([a, rng.choice("pq")] for a in agents)]
    )


def arguments(name: str, rng: random.Random) -> list[Any]:
    first, *mode = name.split()
    chosen: list[Any] = [first, "table.csv", *mode]
    if name == "convert":
        chosen.append(
            rng.choice(["o.csv", "o.parquet", "o.ndjson", "o.tsv.gz", "o.jsonl", "o.npz"])
        )
    chosen += ALWAYS.get(name, ())
    for odds, options in ((0.35, OPTIONS[name]), (0.15, SHARED)):
        for option, values in options:
            if rng.random() < odds:
                chosen += [option, rng.choice(values)] if values else [option]
    if name.split()[0] in ("scores", "fit", "convert", "select", "report") and rng.random() < 0.5:
        chosen += ["--normalise", rng.choice([*NORMALISERS, "auto", "none"])]
    return chosen


@both
@pytest.mark.parametrize("name", OPTIONS)
def test_commands_answer_or_refuse_in_a_sentence(name: str, long: bool, tmp_path: Path) -> None:
    few = {"report": 1, "select --judge": 2, "select": 3, "fit": 3}.get(name, 5)
    answered = 0
    for rng in attacks(name, long, few=few):
        write_tables(tmp_path, rng)
        answered += command(tmp_path, *arguments(name, rng)) == 0
    assert answered or not long  # a fuzzer that is always refused tries nothing


def test_the_tables_of_options_name_what_commands_have() -> None:
    from examiner.cli import COMMANDS

    others = {"datasets", "arena", "place", "examine", "typology"}
    attacked = {name.split()[0] for name in OPTIONS}
    assert attacked == set(COMMANDS) - others, "A new command is attacked too."
