"""What was asked for (`item`, `measure`) is honoured by every format alike, alone and in folders."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import examiner as ex
from examiner.importers import FORMATS
from importers.example_files import EXAMPLES, write_example

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")

WITHOUT_EXAMPLE = {"cleanrl", "ledger", "ledger-training"}
"""Event files need another package to be written; ledgers are played in the tests of the arena."""


def leveled(folder: Path, name: str) -> Path:
    """The example of a format in a folder whose name says the level."""
    (folder / "level_7").mkdir(parents=True, exist_ok=True)
    return write_example(folder / "level_7", name)


def test_every_format_has_an_example() -> None:
    missing = set(FORMATS) - WITHOUT_EXAMPLE - set(EXAMPLES)
    assert not missing, f"Add an example of {missing} to EXAMPLES, beside those of other formats."
    assert set(EXAMPLES) <= set(FORMATS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_items_that_are_not_asked_for_fold_into_trials(name: str, tmp_path: Path) -> None:
    path = write_example(tmp_path, name)
    whole, folded = ex.read(path), ex.read(path, item=())
    assert folded.item == ()
    assert len(folded) == len(whole)
    assert folded.tasks == tuple(dict.fromkeys(whole.task_names))
    assert set(whole.item) <= set(folded.attributes)
    assert ex.read(tmp_path, item=(), format=name) == folded


@pytest.mark.parametrize("name", EXAMPLES)
def test_items_that_are_asked_for_are_kept(name: str, tmp_path: Path) -> None:
    path = leveled(tmp_path, name)
    if name in ("csv", "gvgai-stdout", "gvgai-trials", "gvgai-executor"):  # levels of their own
        results = ex.read(path, item=("level",))
        assert results.item == ("level",)
        assert results == ex.read(path)
        return
    results = ex.read(path, path="level_{level}/", item=("level",))
    assert results.item == ("level",)
    assert {item[1] for item in results.items} == {7}
    in_folder = ex.read(tmp_path, path="level_{level}/", item=("level",), format=name)
    assert in_folder == results


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_unknown_item_is_refused_with_the_columns_there_are(name: str, tmp_path: Path) -> None:
    path = write_example(tmp_path, name)
    for source in (path, tmp_path):
        with pytest.raises(
            ex.InputError, match=r"There is no column 'shape'; found '.*'trial'"
        ) as told:
            ex.read(source, item=("shape",), format=name)
        assert path.name in str(told.value)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_measures_asked_for_are_the_measures(name: str, tmp_path: Path) -> None:
    path = write_example(tmp_path, name)
    whole = ex.read(path)
    chosen = ex.read(path, measure=whole.measures[-1])
    assert chosen.measures == whole.measures[-1:]
    assert ex.read(tmp_path, measure=whole.measures[-1], format=name) == chosen
    with pytest.raises(ex.InputError, match=r"There is no column 'pride'; found '"):
        ex.read(path, measure="pride")


@pytest.mark.parametrize("word", ["agent", "run", "trial", "score"])
def test_a_column_cannot_be_an_item_and_something_else(word: str) -> None:
    table = {"agent": ["a"], "task": ["t"], "score": [1.0], "level": [0]}
    with pytest.raises(ex.InputError, match=rf"The column '{word}' is named twice"):
        ex.read(table, item=(word,))


def test_a_file_for_each_level_folds_into_one_table(tmp_path: Path) -> None:
    for level in (0, 1):
        for name, data in (("trials.csv", f"mcts,aliens,{level},1,80,476\n"),):
            (tmp_path / f"{level}").mkdir()
            (tmp_path / f"{level}" / name).write_text(data)
    results = ex.read(tmp_path, item=())
    assert (results.tasks, results.column("trial")) == (("aliens",), [0, 1])


def test_files_without_a_level_fold_beside_files_with_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("agent,task,level,score\na,t,0,1\na,t,1,2\n")
    (tmp_path / "b.csv").write_text("agent,task,score\nb,t,1\n")
    assert ex.read(tmp_path, item=()).tasks == ("t",)


def test_the_task_may_be_called_as_its_column_is(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("agent,game,level,score\na,t,0,1\na,t,1,2\n")
    assert ex.read(path, item=("game",)) == ex.read(path, item=())
    path.write_text("game,a,b\nt,1,2\nu,3,4\n")
    assert ex.read(path, item=("game",)) == ex.read(path)


def test_a_wide_table_has_the_items_its_path_names_and_no_others(tmp_path: Path) -> None:
    for level in (0, 1):
        (tmp_path / f"level_{level}.csv").write_text("agent,pong,go\ndqn,1,2\n")
    results = ex.read(tmp_path, path="level_{level}", item=("level",))
    assert results.tasks == ("go.0", "go.1", "pong.0", "pong.1")
    with pytest.raises(ex.InputError, match=r"A wide table has no item columns, and 'mode'"):
        ex.read(tmp_path, path="level_{level}", item=("level", "mode"))


def test_what_was_asked_for_stands_in_the_steps(tmp_path: Path) -> None:
    pl.DataFrame({"agent": ["a"], "task": ["t"], "level": [1], "score": [1.0]}).write_parquet(
        tmp_path / "x.parquet"
    )
    for source in (tmp_path, tmp_path / "x.parquet"):
        (step,) = ex.read(source, item=()).provenance.steps
        assert step == "items made of task; level folded into the trials of a run"
