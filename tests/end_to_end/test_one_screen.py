"""Every command × bundled data sets: the default answer fits a screen, and no name is broken inside."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from end_to_end.running import DATA_COMMANDS, run, words_of
from examiner.datasets import DATASETS, load
from examiner.results import Results

WIDTH, HEIGHT = 80, 40
QUICK = {
    *((command, "atari-dqn-family") for command in DATA_COMMANDS if "--" not in command),
    *((command, "swebench-verified") for command in ("describe", "scores", "compare", "fit")),
    *((command, "gvgai-plays") for command in ("describe", "scores", "fit", "audit")),
    ("typology", "atari-typology"),
    ("datasets", "atari-arena"),
    ("curves", "atari-arena"),
} - {("report", "atari-dqn-family")}
"""Those that take a few seconds together; all others are slow."""


def given_names(dataset: str) -> tuple[list[str], list[str]]:
    data = load(dataset)
    if isinstance(data, Results):
        return list(data.agents), list(data.tasks)
    return ["nobody"], ["nothing"]


def broken_names(lines: list[str], names: set[str]) -> list[str]:
    """Tokens that are the beginning of a name and no name, or names that end on the next line."""
    beginnings = {name[:end] for name in names for end in range(8, len(name))} - names
    tokens = {token.strip(",.;:()'\"`") for line in lines for token in line.split()}
    parts = {token for token in tokens & beginnings if "_" in token or "-" in token}
    across = {
        one.split()[-1] + other.split()[0]
        for one, other in pairwise(lines)
        if one.split() and other.split()
    }
    return sorted({*parts, *((across - tokens) & names)})


@pytest.mark.parametrize(
    ("command", "dataset"),
    [
        pytest.param(
            command,
            dataset,
            marks=() if (command, dataset) in QUICK else pytest.mark.slow,
        )
        for dataset in DATASETS
        for command in DATA_COMMANDS
    ],
)
def test_the_default_answer_fits_a_screen(
    command: str, dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    agents, tasks = given_names(dataset)
    done = run(*words_of(command, dataset, agents, [task.split(".")[0] for task in tasks]))
    if done.exit_code == 2 or command == "report":  # a sentence; a page and where it is
        return
    assert done.exit_code == 0, done.stderr
    lines = [*done.stdout.splitlines(), *done.stderr.splitlines()]
    assert len(lines) <= HEIGHT, "\n".join(lines)
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    assert not broken_names(lines, {*agents, *tasks})
    notes = [line for line in lines if line.startswith("note: ")]
    assert len(notes) <= 6


@pytest.mark.parametrize("command", ["scores", "fit", "describe"])
def test_all_shows_every_agent_and_every_note(command: str) -> None:
    results = load("swebench-verified")
    assert isinstance(results, Results)
    short, whole = run(command, "swebench-verified"), run(command, "swebench-verified", "--all")
    assert all(agent in whole.stdout for agent in results.agents)
    assert not all(agent in short.stdout for agent in results.agents)
    assert "--all" in short.stdout and "--all" not in whole.stdout + whole.stderr


def test_notes_of_a_data_set_are_shown_where_it_is_described_and_in_json() -> None:
    note = "Each agent has one attempt per task"
    assert note in run("describe", "swebench-verified").stderr
    assert note not in run("compare", "swebench-verified", *NAMED).stderr
    assert note in run("compare", "swebench-verified", *NAMED, "--json").stdout


NAMED = ("20251127_openhands_claude-opus-4-5", "20250807_openhands_gpt5")
