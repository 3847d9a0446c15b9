"""Every figure and table of the papers is made, or skipped with a reason."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

import examiner as ex
from examiner.reporting import Plot

ROOT = Path(__file__).parents[2]
BESIDE = ROOT.parent / "shared"
CLONE = Path(os.environ.get("AI_BENCHMARK_ANALYSIS") or BESIDE / "AI_benchmark_analysis")
SCORES = BESIDE / "data" / "ale_published_scores_2018.csv"
QUICK = ("000-1", "002-1-left", "002-1-right", "003-2", "003-4", "003-5", "003-6")


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs" / "papers" / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_bundled_is_drawn_and_the_rest_names_what_it_needs(make: ModuleType) -> None:
    lacking = [name for name in make.FIGURES if name[:5] in ("002-4", "002-5", "002-6", "003-3")]
    figures = dict(make.drawn(None, [*QUICK, *lacking]))
    assert all(isinstance(figures[name], Plot) for name in QUICK)
    for name in lacking:
        assert "may be read but not redistributed" in figures[name]
    assert figures["000-1"].data.outcomes[3] == "31 groups"
    assert figures["003-6"].data.tasks == ("centipede", "tennis", "venture", "video_pinball")


def test_figures_of_one_paper_are_written_and_the_skipped_said(
    make: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make.main(["--only", "003-3", "--output", str(tmp_path)])
    make.main(["--only", "000-1", "--output", str(tmp_path), "--format", "html"])
    assert (tmp_path / "000-1.html").exists()
    assert (
        "003-3: skipped, needs AI_benchmark_analysis/data/ALE_data.csv" in capsys.readouterr().out
    )


def test_every_figure_named_on_a_page_can_be_made(make: ModuleType) -> None:
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "papers").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"--only ([\w-]+)", page)}
    every = (*make.FIGURES, *make.TABLES)
    assert named and not [name for name in named if not any(key.startswith(name) for key in every)]


BUNDLED_TABLES = ("001-table-1", "003-table-1-actions", "004-table-1", "004-table-2")


@pytest.mark.parametrize("name", BUNDLED_TABLES)
def test_every_printed_number_stands_next_to_ours_on_its_page(make: ModuleType, name: str) -> None:
    if name.startswith("003"):
        pytest.importorskip("ale_py")
    ((_, table),) = make.drawn(None, [name])
    assert page_of(make, name) == table.markdown


@pytest.mark.skipif(not SCORES.exists(), reason="the published scores are not beside the checkout")
def test_printed_parameters_stand_next_to_those_with_priors(make: ModuleType) -> None:
    ((_, table),) = make.drawn(SCORES.parent, ["003-table-1"])
    assert page_of(make, "003-table-1") == table.markdown
    page = (ROOT / "docs/papers/003.md").read_text(encoding="utf-8")
    inside = [row[-1] for row in table.rows]
    difficulties, slopes = (
        sum(word in cell for cell in inside) for word in ("difficulty", "discrimination")
    )
    assert f"Of 41 games {difficulties} printed difficulties and {slopes} printed discr" in page
    assert inside.count("no variance") == 8


def test_tables_hold_every_number_that_is_printed(make: ModuleType) -> None:
    rows = {name: page_of(make, name).splitlines()[2:] for name in make.TABLES}
    assert {name: len(lines) for name, lines in rows.items()} == {
        "001-table-1": 30,
        "003-table-1-actions": 49,
        "003-table-1": 49,
        "004-table-1": 27 + 3,
        "004-table-2": 40,
    }
    printed = ex.load("atari-irt-2017-table1").columns
    for game, difficulty, line in zip(
        printed["game"], printed["difficulty"], rows["003-table-1"], strict=True
    ):
        shown = "–" if difficulty is None else f"{difficulty:.2f}".replace("-", "−")
        assert line.startswith(f"| {game} | {shown} |")


def page_of(make: ModuleType, name: str) -> str:
    page = ROOT / "docs" / "papers" / f"{name[:3]}.md"
    return str(make.printed_on_page(name, page.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.skipif(not SCORES.exists(), reason="the published scores are not beside the checkout")
def test_all_figures_are_drawn_where_the_data_are(make: ModuleType, tmp_path: Path) -> None:
    (tmp_path / SCORES.name).symlink_to(SCORES)
    if CLONE.exists():
        (tmp_path / "AI_benchmark_analysis").symlink_to(CLONE)
    figures = dict(make.drawn(tmp_path, list(make.FIGURES)))
    skipped = {name: why for name, why in figures.items() if isinstance(why, str)}
    assert all("AI_benchmark_analysis" in why for why in skipped.values())
    assert not (CLONE.exists() and skipped)
    assert len(figures["003-3"].data.agents) == 40


@pytest.mark.skipif(not SCORES.exists(), reason="the published scores are not beside the checkout")
def test_a_clone_of_the_authors_repository_gives_the_scores_of_atari(
    make: ModuleType, tmp_path: Path
) -> None:
    table = make.atari_scores(SCORES.parent)
    columns = table.to_polars().pivot(on="agent", index="task", values="score").rename({"task": ""})
    names = {agent: agent.replace(".", "-") for agent in table.agents}
    text = columns.rename(names).write_csv().replace("'", "’")
    folder = tmp_path / "AI_benchmark_analysis" / "data"
    folder.mkdir(parents=True)
    both = f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> e0d4fc4\n"
    (folder / "ALE_data.csv").write_text(both, encoding="cp1252")
    read = make.atari_scores(tmp_path)
    assert set(read.agents) == set(table.agents) and set(read.tasks) == set(table.tasks)
    assert ex.responses(read).to_numpy().sum() == pytest.approx(
        ex.responses(table).to_numpy().sum()
    )
