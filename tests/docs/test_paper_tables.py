"""Printed tables and counts of papers/000 and 002 come out of published data as their pages say."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from arena.runs import command

ROOT = Path(__file__).parents[2]
DEVIATIONS = ROOT.parent / "shared" / "facts" / "mnih2015_dqn_deviations.csv"
PAGE = ROOT / "docs" / "papers" / "000.md"

SCORES = ROOT.parent / "shared" / "data" / "ale_published_scores_2018.csv"
with_deviations = pytest.mark.skipif(
    not DEVIATIONS.exists(), reason="published deviations are not beside the checkout"
)


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "papers" / "tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@with_deviations
def test_seven_of_eight_groups_and_the_mean_within_groups_come_out(tables: ModuleType) -> None:
    rows = tables.experiment_one(tables.read_deviations(DEVIATIONS))
    assert [row.agrees for row in rows] == [True] * 6 + [False, True, True, False]
    assert abs(rows[6].mean - 0.38) < 0.01, "only the variance of the seventh group differs"


@with_deviations
def test_the_random_score_of_krull_is_the_one_that_gives_the_printed_row(
    tables: ModuleType,
) -> None:
    deviations = tables.read_deviations(DEVIATIONS)
    likely, bundled = (tables.experiment_one(deviations, score)[0] for score in (82.4, 92.4))
    assert likely.agrees and not bundled.agrees


@with_deviations
def test_the_page_has_the_numbers_of_its_command(
    tables: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    tables.main([str(DEVIATIONS)])
    printed = capsys.readouterr().out.splitlines()
    section = PAGE.read_text(encoding="utf-8").partition("## Tables II and III")[2]
    rows = re.findall(r"^\| .* \| ([\de., *-]+) \| ([\de., *-]+) \| .*\|$", section, re.MULTILINE)[
        :10
    ]
    shown = [theirs.replace("*", "").strip() for _, theirs in rows]
    assert shown == [line[16:31].strip() for line in printed]


@pytest.mark.skipif(not SCORES.exists(), reason="the published scores are not beside the checkout")
def test_forty_techniques_of_papers_002_are_distinct() -> None:
    described = command("describe", SCORES, "--distinct", "0.99", "--json")
    assert described.code == 0, described.err
    assert json.loads(described.out)["agents"] == 40
