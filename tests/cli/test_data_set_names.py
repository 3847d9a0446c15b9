"""A bare name that is a bundled data set means it everywhere; a folder of that name is `./NAME`."""

import json
import warnings
from pathlib import Path

import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app
from examiner.datasets import DATASETS
from examiner.importers import bundled_data_sets

TABLE = "agent,task,score\na,t,1\nb,t,0\n"


@pytest.fixture
def namesakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in DATASETS:
        Path(name).mkdir()
        (Path(name) / "mine.csv").write_text(TABLE)
    return tmp_path


def test_names_are_those_of_the_data_sets() -> None:
    assert set(bundled_data_sets()) == set(DATASETS)


def test_a_bare_name_is_the_data_set_and_a_note_says_how_to_read_the_folder(
    namesakes: Path,
) -> None:
    bare = CliRunner().invoke(app, ["describe", "atari-dqn-family", "--json"])
    told = json.loads(bare.stdout)
    assert told["agents"] == 7
    assert any("'./atari-dqn-family'" in note for note in told["notes"])
    folder = CliRunner().invoke(app, ["describe", "./atari-dqn-family", "--json"])
    assert "bundled" not in folder.output.replace("./atari-dqn-family", "")


@pytest.mark.parametrize(
    "words",
    [
        ["scores", "atari-dqn-family", "--scales", "atari-human-random", "--reps", "10"],
        ["typology", "atari-typology"],
        ["typology", "atari-typology", "--results", "atari-dqn-family"],
    ],
    ids=["scales", "classification", "other source"],
)
def test_scales_and_classifications_follow_the_same_rule(words: list[str], namesakes: Path) -> None:
    answer = CliRunner().invoke(app, [*words, "--all"])
    assert answer.exit_code == 0, answer.output
    for name in words:
        if name in DATASETS:
            assert f"'./{name}'" in answer.stderr


def test_read_reads_the_path_and_says_that_a_data_set_has_its_name(namesakes: Path) -> None:
    with pytest.warns(ex.ExaminerWarning, match=r"ex\.load\('gvgai-plays'\)"):
        results = ex.read("gvgai-plays")
    assert results.agents == ("a", "b")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ex.read("./gvgai-plays/mine.csv")


@pytest.mark.parametrize(
    "words",
    [
        ["describe", "gvgai-planner"],
        ["convert", "gvgai-planner", "x.csv"],
        ["scores", "gvgai-planner"],
        ["fit", "gvgai-planner"],
        ["report", "gvgai-planner"],
        ["datasets", "gvgai-planner"],
        ["compare", "gvgai-planner", "a", "b"],
        ["select", "gvgai-planner"],
    ],
    ids=lambda words: words[0],
)
def test_a_misspelt_data_set_gets_a_suggestion(words: list[str]) -> None:
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2
    assert "Did you mean 'gvgai-planners'?" in answer.output


def test_misspelt_scales_and_classifications_get_a_suggestion() -> None:
    scales = CliRunner().invoke(app, ["scores", "gvgai-plays", "--scales", "atari-human-randm"])
    assert "Did you mean 'atari-human-random'?" in scales.output
    typology = CliRunner().invoke(app, ["typology", "atari-typolgy"])
    assert "Did you mean 'atari-typology'?" in typology.output


def test_load_and_read_suggest_names_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for function in (ex.load, ex.read):
        with pytest.raises(ex.InputError, match="Did you mean 'gvgai-planners'"):
            function("gvgai-planner")
    with pytest.raises(ex.InputError, match=r"ex\.load\('gvgai-planners'\)"):
        ex.read("gvgai-planners")
