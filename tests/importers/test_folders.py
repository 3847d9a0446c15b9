"""Folders and patterns read as one table; names come from paths; nothing is lost without a word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import examiner as ex
from examiner.importers.paths import natural_order
from examiner.importers.templates import PathTemplate
from importers.example_files import EXAMPLES, MONITOR, write_example

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


def grid(folder: Path, text: str = "task,score\npong,{run}\nalien,2\n") -> Path:
    for agent in ("dqn", "ppo"):
        for run in (1, 2, 10):
            place = folder / agent / f"seed_{run}"
            place.mkdir(parents=True)
            (place / "scores.csv").write_text(text.format(run=run, agent=agent))
    return folder


def test_a_folder_is_one_table_with_names_from_its_path(tmp_path: Path):
    results = ex.read(grid(tmp_path), path="{agent}/seed_{run}/")
    assert results.agents == ("dqn", "ppo")
    assert results.tasks == ("alien", "pong")
    assert list(dict.fromkeys(results.column("run"))) == [1, 2, 10]
    assert len(results) == 12


def test_a_pattern_is_one_table(tmp_path: Path):
    results = ex.read(str(grid(tmp_path) / "dqn" / "seed_*" / "*.csv"), path="seed_{run}/{agent}")
    assert results.agents == ("scores",)
    assert sorted(set(results.column("run"))) == [1, 2, 10]


def test_reading_at_once_equals_reading_one_by_one(tmp_path: Path):
    grid(tmp_path)
    together = ex.read(tmp_path, path="{agent}/seed_{run}/")
    # a quoted name makes every file be read by itself
    for path in tmp_path.rglob("*.csv"):
        path.write_text(path.read_text().replace("pong", '"pong"'))
    assert ex.read(tmp_path, path="{agent}/seed_{run}/") == together


def test_repeats_are_numbered_within_each_file(tmp_path: Path):
    grid(tmp_path, "task,score\npong,1\npong,2\n")
    results = ex.read(tmp_path, path="{agent}/seed_{run}/")
    assert set(results.column("trial")) == {0, 1}


@pytest.mark.parametrize("text", ["agent,task,score\na,t,1\n", 'agent,task,score\n"a",t,1\n'])
def test_the_same_key_from_two_files_names_both(text: str, tmp_path: Path):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(text)
    with pytest.raises(
        ex.InputError, match=r"one\.csv' and .*two\.csv' hold results of the same key"
    ):
        ex.read(tmp_path)


def test_different_formats_become_one_table(tmp_path: Path):
    (tmp_path / "a.csv").write_text("agent,task,score\ndqn,pong,1\n")
    (tmp_path / "b.jsonl").write_text('{"agent": "ppo", "task": "pong", "score": 2, "win": 1}\n')
    results = ex.read(tmp_path)
    assert results.agents == ("dqn", "ppo")
    assert results.provenance.format == "tidy csv, tidy ndjson"


def test_files_that_are_not_results_are_counted(tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "README.md").write_text("Hello, world")
    (tmp_path / "config.json").write_text('{"lr": 0.1}')
    (tmp_path / ".hidden.csv").write_text("x")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04\x95")
    with pytest.warns(ex.ExaminerWarning, match=r"3 files were skipped that are not results"):
        ex.read(tmp_path, path="{agent}/seed_{run}/")


def test_files_unlike_the_template_are_counted(tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "stray.csv").write_text("task,score\nx,1\n")
    with pytest.warns(
        ex.ExaminerWarning, match=r"1 file was skipped .* not like the path template"
    ):
        ex.read(tmp_path, path="{agent}/seed_{run}/")


def test_a_template_like_no_path_shows_one(tmp_path: Path):
    with pytest.raises(
        ex.InputError, match=r"is like none of the 6 files .* first is 'dqn/seed_1/scor"
    ):
        ex.read(grid(tmp_path), path="{agent}/{task}_{run}_x/")


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("runs/", "has no names"),
        ("{agent", "has no names"),
        ("{}/", "A name is a word"),
        ("{agent}{run}/", "nothing between them"),
        ("{agent}/{agent}/", "twice"),
        ("{score}/", "which is measured"),
    ],
)
def test_a_template_that_cannot_work_is_refused(template: str, message: str, tmp_path: Path):
    with pytest.raises(ex.InputError, match=message):
        ex.read(grid(tmp_path), path=template)


def test_a_path_that_contradicts_a_column_is_refused(tmp_path: Path):
    grid(tmp_path, "agent,task,score\nother,pong,1\n")
    with pytest.raises(
        ex.InputError, match=r"path or an option says that the agent is 'dqn', and the column"
    ):
        ex.read(tmp_path, path="{agent}/seed_{run}/")


def test_a_broken_file_in_a_folder_is_skipped_with_the_reason_or_refused(tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "ppo" / "seed_2" / "scores.csv").write_text("task,score\npong,x\n")
    reason = r"ppo/seed_2/scores\.csv', line 2: .*'x', not a number"
    with pytest.raises(ex.InputError, match=reason):
        ex.read(tmp_path, path="{agent}/seed_{run}/", strict=True)
    with pytest.warns(
        ex.ExaminerWarning, match=r"1 file could not be read and was skipped .*" + reason
    ):
        results = ex.read(tmp_path, path="{agent}/seed_{run}/")
    assert len(results) == 10


@pytest.mark.parametrize("content", [b"", b"a\0b\0c"])
def test_a_table_that_is_empty_or_binary_is_named(content: bytes, tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "broken.csv").write_bytes(content)
    with pytest.raises(ex.InputError, match=r"broken\.csv"):
        ex.read(tmp_path, path="{agent}/seed_{run}/", strict=True)
    with pytest.warns(ex.ExaminerWarning, match=r"1 file was skipped that is .*broken\.csv"):
        assert len(ex.read(tmp_path, path="{agent}/seed_{run}/")) == 12


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_without_permission_is_named(tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "dqn" / "seed_1" / "scores.csv").chmod(0)
    with pytest.raises(ex.InputError, match=r"no permission"):
        ex.read(tmp_path, strict=True)


def test_training_logs_and_finished_results_are_not_mixed(tmp_path: Path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "monitor.csv").write_text(MONITOR)
    (tmp_path / "final.csv").write_text("agent,task,score\na,t,1\n")
    with pytest.raises(ex.InputError, match=r"holds training logs .* and finished results"):
        ex.read(tmp_path)


def test_an_empty_folder_and_an_empty_pattern_say_so(tmp_path: Path):
    with pytest.raises(ex.InputError, match=r"There are no files in"):
        ex.read(tmp_path)
    with pytest.raises(ex.InputError, match=r"No file is like"):
        ex.read(tmp_path / "*.csv")


def test_a_folder_without_results_names_the_known_formats(tmp_path: Path):
    (tmp_path / "README.rst").write_text("Hello")
    with pytest.raises(ex.InputError, match=r"None of the 1 file .* Known formats: 'parquet'"):
        ex.read(tmp_path)


def test_a_file_named_like_a_pattern_is_a_file(tmp_path: Path):
    for name in ("a[1].csv", "b*.csv"):
        (tmp_path / name).write_text("agent,task,score\na,t,1\n")
        assert len(ex.read(tmp_path / name)) == 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_reads_from_a_folder_as_alone(name: str, tmp_path: Path):
    path = write_example(tmp_path, name)
    assert ex.read(tmp_path, format=name) == ex.read(path, format=name)


def test_a_folder_that_holds_itself_ends(tmp_path: Path):
    grid(tmp_path)
    (tmp_path / "dqn" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(ex.read(tmp_path, path="{agent}/seed_{run}/")) == 12


def test_progress_is_told(tmp_path: Path):
    told = []
    grid(tmp_path)
    ex.read(tmp_path, path="{agent}/seed_{run}/", progress=lambda *said: told.append(said))
    assert told[-1] == ("reading csv", 6, 6)
    assert all(done <= total for _, done, total in told)


def test_a_single_file_takes_names_from_the_end_of_its_path(tmp_path: Path):
    path = grid(tmp_path) / "dqn" / "seed_2" / "scores.csv"
    results = ex.read(path, path="{agent}/seed_{run}/")
    assert (results.agents, results.column("run")) == (("dqn",), [2, 2])


def test_wide_tables_in_folders_get_their_run_from_the_path(tmp_path: Path):
    for run in (1, 2):
        (tmp_path / f"seed{run}.csv").write_text("agent,pong,alien\ndqn,1,2\n")
    results = ex.read(tmp_path, path="seed{run}")
    assert results.counts()["runs"] == 2


def test_paths_are_ordered_as_people_do():
    names = [Path(name) for name in ("r10", "r9", "r09", "a/2", "a/10", "a1/3")]
    assert [path.as_posix() for path in sorted(names, key=natural_order)] == [
        "a/2", "a/10", "a1/3", "r09", "r9", "r10",
    ]  # fmt: skip


def test_templates_part_at_the_last_separator():
    assert PathTemplate.of("{task}_{run}/").match(Path("space_invaders_3/x.csv")) == {
        "task": "space_invaders",
        "run": "3",
    }
    assert PathTemplate.of("{agent}/").match(Path("x.csv")) is None
