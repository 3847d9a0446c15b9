"""Every bundled data set × the default of every command: an answer, or one sentence that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from end_to_end.running import DATA_COMMANDS, checked, run, words_of
from examiner.cli import COMMANDS
from examiner.datasets import DATASETS, load
from examiner.results import Results

WITHOUT_DATA = {"arena", "examine"}
"""Commands that play games or ask questions: what they need is no data set."""
QUICK = {
    ("report", "atari-arena"),
    ("report", "machado-2018-table1"),
    ("fit", "atari-dqn-family"),
    *((command, "atari-flavours") for command in ("describe", "convert", "datasets", "cost")),
    *((command, "atari-dqn-family") for command in ("describe", "curves", "compare", "place")),
    *(("datasets", name) for name in DATASETS),
}
"""Those that take a few seconds together; all others are slow."""


def quickly(command: str, dataset: str) -> object:
    marks = () if (command, dataset) in QUICK else pytest.mark.slow
    return pytest.param(command, dataset, marks=marks)


def names_in(dataset: str) -> tuple[list[str], list[str]]:
    data = load(dataset)
    if isinstance(data, Results):
        return list(data.agents), list(data.task_names)
    return ["nobody"], ["nothing"]


def test_every_command_takes_a_data_set_or_is_known_to_need_something_else() -> None:
    assert set(COMMANDS) - {command.split()[0] for command in DATA_COMMANDS} == WITHOUT_DATA


@pytest.mark.parametrize(
    ("command", "dataset"),
    [quickly(command, dataset) for dataset in DATASETS for command in DATA_COMMANDS],
)
def test_the_default_of_a_command_answers_or_says_in_a_sentence_why_not(
    command: str, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = words_of(command, dataset, *names_in(dataset))
    content = checked(run(*words, "--json"), tmp_path, as_json=True)
    applies = isinstance(load(dataset), Results) and command != "place"
    if command == "report" and applies:
        assert content is not None and content["sections"]


@pytest.mark.slow
@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("command", DATA_COMMANDS)
def test_people_get_an_answer_where_programs_do(
    command: str, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = words_of(command, dataset, *names_in(dataset))
    done = run(*words)
    checked(done, tmp_path, as_json=False)
    if command == "report" and done.exit_code == 0:
        assert "unexpected error" not in (tmp_path / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("dataset", DATASETS)
def test_agents_are_placed_on_the_fit_of_their_own_data_set(
    dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fitted = run("fit", dataset, "-o", "fit.json", "--json")
    if checked(fitted, tmp_path, as_json=True) is None:
        return
    placed = checked(run("place", dataset, "--fit", "fit.json", "--json"), tmp_path, as_json=True)
    assert placed is not None and placed["agents"]
