"""What a command writes never destroys what it reads."""

import os
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from examiner.cli import COMMANDS, app
from examiner.cli.parsing import groups_of

TABLE = "agent,task,score\n" + "".join(
    f"{agent},{task},{(row * 7 + column * 3) % 5 > 1:d}\n"
    for row, agent in enumerate("abcd")
    for column, task in enumerate("tuv")
)
PLAN = 'agents = ["random"]\ngames = ["pong"]\n'

# Each command with an output option: its arguments, with IN for what is read and OUT for what is written.
WRITING = {
    "convert": [["IN", "OUT", "--keep", "agent:a"], ["IN", "OUT", "--append"]],
    "fit": [["IN", "-o", "OUT"], ["IN", "--cache", "OUT"]],
    "report": [["IN", "-o", "OUT"], ["atari-dqn-family", "--typology", "IN", "-o", "OUT"]],
    "select": [["IN", "-o", "OUT"], ["atari-dqn-family", "--tasks", "IN", "-o", "OUT"]],
    "distil": [
        ["IN", "--size", "1", "-o", "OUT"],
        ["IN", "--size", "1", "--lm-eval", "OUT"],
        ["IN", "--size", "1", "--inspect", "OUT"],
    ],
    "examine": [
        ["--fit", "IN", "--interactive", "-o", "OUT"],
        ["--fit", "fit.json", "--oracle", "IN", "-o", "OUT"],
    ],
    "arena run": [["IN", "-o", "OUT"]],
    "arena flavours": [["IN", "-o", "OUT"]],
    "arena probe": [["PLAN", "-o", "OUT"]],
    "arena design": [["IN", "-o", "OUT"]],
}
NOTHING_READ = {"arena profile"}


def writing_options(command: str) -> list[str]:
    module = import_module(f"examiner.cli.{command.replace(' ', '.')}")
    function = getattr(module, command.split()[-1])
    return [
        each.name
        for group in groups_of(function).values()
        for each in fields(group)
        if each.metadata.get("writes") in ("answer", "results")
    ]


def commands_with_an_output() -> set[str]:
    context = click.Context(app)
    arena = app.get_command(context, "arena")
    assert isinstance(arena, click.Group)
    commands = {name: app.get_command(context, name) for name in COMMANDS if name != "arena"} | {
        f"arena {name}": arena.get_command(context, name) for name in arena.list_commands(context)
    }
    return {
        name
        for name, command in commands.items()
        for parameter in command.params  # type: ignore[union-attr]
        if {"--output", "--cache"} & set(parameter.opts) or parameter.metavar == "TARGET"
    }


def test_every_command_with_an_output_says_so_and_is_tried_here() -> None:
    assert commands_with_an_output() == set(WRITING) | NOTHING_READ
    assert all(writing_options(command) for command in commands_with_an_output())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("k.json").write_text(TABLE)
    return tmp_path


def other_names(path: Path) -> dict[str, str]:
    Path("link.json").symlink_to(path.name)
    os.link(path, "hard.json")
    return {
        "same": path.name,
        "absolute": str(path.absolute()),
        "relative": f"../{path.parent.name}/{path.name}",
        "symbolic link": "link.json",
        "hard link": "hard.json",
    }


@pytest.mark.parametrize(
    ("command", "arguments"),
    [(command, each) for command, several in WRITING.items() for each in several],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_an_output_that_is_read_is_refused_and_nothing_changes(
    command: str, arguments: list[str], folder: Path
) -> None:
    read = "plan.toml" if "PLAN" in arguments else "k.json"
    source = folder / read
    source.write_text(TABLE)
    names = other_names(source)
    before = sorted(folder.iterdir())
    for name in names.values():
        words = [read if w in ("IN", "PLAN") else name if w == "OUT" else w for w in arguments]
        answer = CliRunner().invoke(app, [*command.split(), *words])
        assert answer.exit_code == 2, (words, answer.output)
        assert "is read and would be overwritten" in answer.output, (words, answer.output)
    assert source.read_text() == TABLE
    assert sorted(folder.iterdir()) == before


def test_a_bundled_plan_is_played_into_a_folder_of_its_name(folder: Path) -> None:
    words = ["arena", "run", "gvgai-planners", "-o", "gvgai-planners", "--checkout", "nowhere"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2 and "no GVGAI checkout in 'nowhere'" in answer.output


@pytest.mark.parametrize("source", ["logs", "logs/*.csv", "logs/**/*.csv", "./logs/"])
def test_a_table_is_not_written_among_the_files_it_is_read_from(source: str, folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs/a.csv").write_text(TABLE)
    for target in ("logs/all.csv", str(folder / "logs/all.csv")):
        answer = CliRunner().invoke(app, ["convert", source, target])
        assert answer.exit_code == 2
        assert "Choose a path elsewhere" in answer.output
    overwriting = CliRunner().invoke(app, ["fit", source, "-o", "logs/a.csv"])
    assert overwriting.exit_code == 2
    assert list(Path("logs").iterdir()) == [Path("logs/a.csv")]
    assert Path("logs/a.csv").read_text() == TABLE


def test_answers_may_be_stored_and_replaced_in_the_folder_that_is_read(folder: Path) -> None:
    (folder / "logs").mkdir()
    (folder / "logs/a.csv").write_text(TABLE)
    for _ in range(2):
        answer = CliRunner().invoke(app, ["fit", "logs", "-o", "logs/fit.json"])
        assert answer.exit_code == 0, answer.output


def test_two_outputs_need_two_names(folder: Path) -> None:
    words = ["distil", "k.json", "--size", "1", "-o", "tiny.json", "--lm-eval", "./tiny.json"]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2
    assert "written twice" in answer.output


def test_a_bundled_data_set_is_not_the_folder_of_its_name(folder: Path) -> None:
    (folder / "atari-dqn-family").mkdir()
    answer = CliRunner().invoke(app, ["convert", "atari-dqn-family", "atari-dqn-family/x.csv"])
    assert answer.exit_code == 0, answer.output
