"""`examiner arena run --repair`: a damaged ledger ends with status 2, and its intact part is saved."""

import json
import shutil
from pathlib import Path

import pytest

from arena.runs import rows
from cli.test_run_command import PLAN, run

PLAIN = PLAN.partition("[[agents]]\nname")[0].replace("episodes = 3", "episodes = 90")


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a plan was run to its end."""
    folder = tmp_path_factory.mktemp("repair") / "pilot"
    folder.with_suffix(".toml").write_text(PLAIN)
    done = run("arena", "run", folder.with_suffix(".toml"), "-o", folder, "--workers", 1)
    assert done.code == 0, done.err
    return folder


def damaged(pilot: Path, folder: Path) -> Path:
    shutil.copytree(pilot, folder)
    ledger = folder / "ledger.sqlite"
    data = bytearray(ledger.read_bytes())
    at = data.rfind(b"training")
    data[at + 12] ^= 4
    ledger.write_bytes(data)
    return ledger


def test_every_command_refuses_a_damaged_ledger_and_says_how_to_repair_it(
    pilot: Path, tmp_path: Path
) -> None:
    ledger = damaged(pilot, tmp_path / "pilot")
    plan = pilot.with_suffix(".toml")
    for words in (
        ("describe", ledger),
        ("scores", ledger),
        ("arena", "run", plan, "-o", ledger.parent),
    ):
        done = run(*words)
        assert done.code == 2 and done.err.count("\n") == 1 and done.out == ""
        assert "is damaged" in done.err and "`examiner arena run --repair" in done.err


def test_a_repaired_ledger_is_gone_on_with(pilot: Path, tmp_path: Path) -> None:
    ledger = damaged(pilot, tmp_path / "pilot")
    before = ledger.read_bytes()
    done = run("arena", "run", "--repair", tmp_path / "pilot", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["schema"] == "examiner.repair/1"
    assert told["saved"] + told["lost"] == 180 and 90 <= told["saved"] < 180
    assert told["ledger"] == str(tmp_path / "pilot-repaired" / "ledger.sqlite")
    assert ledger.read_bytes() == before
    plan = pilot.with_suffix(".toml")
    done = run("arena", "run", plan, "-o", tmp_path / "pilot-repaired", "--json")
    assert json.loads(done.out)["episodes"] == told["lost"]
    assert rows(tmp_path / "pilot-repaired" / "ledger.sqlite") == rows(pilot / "ledger.sqlite")


def test_a_repair_is_told_in_words_and_refused_in_words(pilot: Path, tmp_path: Path) -> None:
    damaged(pilot, tmp_path / "pilot")
    done = run(
        "arena", "run", "--repair", tmp_path / "pilot" / "ledger.sqlite", "-o", tmp_path / "new"
    )
    assert "episodes were saved and " in done.out and " lost; 2 jobs were kept" in done.out
    assert "Continue with: examiner arena run PLAN --output" in done.out
    done = run("arena", "run", "--repair", tmp_path / "pilot", "-o", tmp_path / "new")
    assert done.code == 2 and "nothing is overwritten" in done.err
    done = run("arena", "run", "--repair", pilot)
    assert done.code == 2 and "is whole: there is nothing to repair" in done.err
    done = run("arena", "run", "--repair", tmp_path / "nowhere")
    assert done.code == 2 and "no such file" in done.err
    done = run("arena", "run", "plan.toml", "--repair", pilot)
    assert (
        done.code == 2 and "`PLAN` has no effect with `--repair`, which plays nothing" in done.err
    )
    done = run("arena", "run")
    assert done.code == 2 and "No plan is named. Name one: `examiner arena run PLAN`." in done.err
