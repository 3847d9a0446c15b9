"""Plays in a tiny framework of our own: it has the classes of GVGAI, and agents that go wrong on demand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from arena.gvgai_games import GAMES, copy_of_framework
from arena.runs import states
from examiner import Results, read, responses
from examiner.arena import GvgaiAgent, GvgaiPlan, GvgaiRules, RunOutcome, repair, run
from examiner.arena.gvgai.checkout import built, checkout
from examiner.messages import ExaminerWarning, InputError

RULES = GvgaiRules(model_calls=50, cpu_seconds=0.5)

pytestmark = pytest.mark.skipif(
    shutil.which("javac") is None, reason="these plays need a JDK: there is no javac on the PATH"
)


def plan(
    framework: Path, *entries: str, games: tuple[str, ...] = ("aliens",), **more: object
) -> GvgaiPlan:
    agents = tuple(GvgaiAgent(entry, entry.rpartition("$")[2]) for entry in entries)
    settings: dict[str, object] = {"levels": (0,), "rules": RULES}
    return GvgaiPlan(agents, games, checkout=framework, **(settings | more))  # type: ignore[arg-type]


def misbehaving(*names: str) -> tuple[str, ...]:
    return tuple(f"misbehaving.Agent${name}" for name in names)


def played(outcome: RunOutcome) -> Results:
    return read(outcome.ledger)


def by_agent(results: Results, column: str) -> dict[str, object]:
    frame = results.to_polars()
    return dict(zip(frame["agent"].to_list(), frame[column].to_list(), strict=True))


@pytest.mark.slow
def test_plays_with_the_same_seeds_are_the_same_in_any_order_and_process(
    framework: Path, tmp_path: Path
) -> None:
    entries = ("simpleRandom", *misbehaving("Searches"))
    columns = ("agent", "task", "level", "win", "score", "ticks", "model_calls")
    tables = []
    for order, workers in ((entries, 1), (entries[::-1], 2)):
        games = tuple(GAMES) if workers == 1 else tuple(GAMES)[::-1]
        work = plan(framework, *order, games=games, levels="all", seeds=(0, 1))
        outcome = run(work, tmp_path / str(workers), workers=workers)
        assert outcome.done == 16 and not outcome.failed
        tables.append(sorted(map(tuple, played(outcome).to_polars().select(columns).rows())))
    assert tables[0] == tables[1]
    assert len({row[4] for row in tables[0]}) > 8  # seeds, games and levels give other plays


def test_whatever_goes_wrong_in_a_play_becomes_its_status_and_others_go_on(
    framework: Path, tmp_path: Path
) -> None:
    names = (
        *("Crashes", "CannotBegin", "Exits", "Hangs", "OnlyLooks", "Overspends", "NeverStops"),
    )
    outcome = run(plan(framework, "doNothing", *misbehaving(*names)), tmp_path)
    assert outcome.done == 8 and not outcome.failed
    results = played(outcome)
    assert by_agent(results, "status") == {
        "doNothing": "finished",
        "Crashes": "crashed",
        "CannotBegin": "crashed",
        "Exits": "exited",
        "Hangs": "hung",
        "OnlyLooks": "finished",
        "Overspends": "disqualified",
        "NeverStops": "capped",
    }
    reasons = by_agent(results, "reason")
    assert "IllegalStateException: no plan" in str(reasons["Crashes"])
    assert "not today" in str(reasons["CannotBegin"])
    scores, wins = by_agent(results, "score"), by_agent(results, "win")
    assert {name for name, score in scores.items() if score is None} == {
        *("Crashes", "CannotBegin", "Exits", "Hangs", "Overspends")
    }
    assert wins["doNothing"] == 0.0 and wins["OnlyLooks"] == 1.0
    assert scores["NeverStops"] is not None and by_agent(results, "truncated")["NeverStops"]
    assert results.measures == ("win", "score") and results.item == ("level",)
    assert any(
        "1 capped, 2 crashed, 1 disqualified, 1 exited, 1 hung, of 8" in note
        for note in results.provenance.notes
    )


def test_nothing_is_lost_when_a_java_process_dies(
    framework: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALTS_ONCE", str(tmp_path / "halted"))
    work = plan(framework, "simpleRandom", *misbehaving("Halts"))
    outcome = run(work, tmp_path / "once")
    assert outcome.done == 2 and (tmp_path / "halted").exists()
    assert by_agent(played(outcome), "status") == {
        "simpleRandom": "finished",
        "Halts": "finished",
    }
    again = run(work, tmp_path / "once")
    assert again.done_before == 2 and again.episodes == 0


@pytest.mark.slow
def test_a_play_that_always_ends_its_process_fails_with_the_reason(
    framework: Path, tmp_path: Path
) -> None:
    outcome = run(plan(framework, *misbehaving("Halts"), "doNothing"), tmp_path)
    assert outcome.done == 1
    assert [each.reason for each in outcome.failed] == [
        "its process ended with exit code 3, 3 times in a row"
    ]
    assert [state for state, _ in states(outcome.ledger)] == ["failed", "done"]


@pytest.mark.slow
def test_a_budget_of_calls_is_kept_and_used(framework: Path, tmp_path: Path) -> None:
    calls = {}
    for budget in (20, 40):
        rules = GvgaiRules(model_calls=budget, cpu_seconds=10.0)
        outcome = run(
            plan(framework, *misbehaving("Searches"), rules=rules), tmp_path / str(budget)
        )
        calls[budget] = int(by_agent(played(outcome), "model_calls")["Searches"])  # type: ignore[call-overload]
        assert 0.8 * budget <= calls[budget] / GAMES["aliens"] <= budget
    assert calls[40] > 1.9 * calls[20]


@pytest.mark.slow
def test_an_agent_that_overspends_calls_plays_on_where_it_is_forgiven(
    framework: Path, tmp_path: Path
) -> None:
    rules = GvgaiRules(model_calls=50, overspending="forgiven")
    results = played(run(plan(framework, *misbehaving("Overspends"), rules=rules), tmp_path))
    assert by_agent(results, "status") == {"Overspends": "finished"}
    assert by_agent(results, "model_calls") == {"Overspends": 80 * (GAMES["aliens"] - 2)}


@pytest.mark.slow
def test_milliseconds_are_spent_and_warned_of(framework: Path, tmp_path: Path) -> None:
    rules = GvgaiRules(milliseconds=10.0, cpu_seconds=30.0)
    work = plan(framework, *misbehaving("Searches"), rules=rules)
    with pytest.warns(ExaminerWarning, match="10 ms an action buys less on a busy machine"):
        outcome = run(work, tmp_path)
    seconds = by_agent(played(outcome), "cpu_seconds")["Searches"]
    assert isinstance(seconds, float) and seconds > 0.9 * GAMES["aliens"] * 0.009


@pytest.mark.slow
def test_a_play_ends_at_its_most_ticks(framework: Path, tmp_path: Path) -> None:
    rules = GvgaiRules(max_ticks=7)
    outcome = run(plan(framework, *misbehaving("OnlyLooks"), rules=rules), tmp_path)
    results = played(outcome)
    assert by_agent(results, "ticks") == {"OnlyLooks": 7}
    assert by_agent(results, "truncated") == {"OnlyLooks": True}
    assert by_agent(results, "win") == {"OnlyLooks": 0.0}


@pytest.mark.slow
def test_altered_outcomes_of_plays_are_found_and_the_others_saved(
    framework: Path, tmp_path: Path
) -> None:
    import sqlite3

    outcome = run(plan(framework, "doNothing", "simpleRandom"), tmp_path / "run")
    with sqlite3.connect(outcome.ledger) as database:
        database.execute("UPDATE plays SET win = 1 WHERE job = 1")
    database.close()
    with pytest.raises(InputError, match="values in 1 row of its plays differ"):
        read(outcome.ledger)
    saved = repair(tmp_path / "run")
    assert saved.saved == 2
    results = read(saved.ledger)
    assert by_agent(results, "win")["simpleRandom"] == 1.0


@pytest.mark.slow
def test_wins_and_scores_make_matrices_by_level(framework: Path, tmp_path: Path) -> None:
    outcome = run(
        plan(framework, "doNothing", "simpleRandom", games=tuple(GAMES), levels="all"), tmp_path
    )
    results = played(outcome)
    assert results.tasks == ("aliens.0", "aliens.1", "zelda.0", "zelda.1")
    assert np.array_equal(responses(results).to_numpy(), [[0.0] * 4, [1.0] * 4])


def test_a_checkout_that_is_none_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    with pytest.raises(InputError, match=r"it lacks 'core/game/Game.java'.* Clone"):
        checkout(tmp_path)
    with pytest.raises(InputError, match=r"no such folder\. Clone"):
        checkout(tmp_path / "missing")


def test_no_checkout_at_all_is_told_with_three_ways_to_name_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GVGAI_CHECKOUT", raising=False)
    with pytest.raises(InputError, match=r"--checkout FOLDER.*GVGAI_CHECKOUT"):
        checkout(None)


@pytest.mark.slow
def test_a_checkout_with_other_classes_is_refused_with_what_to_do(
    framework: Path, tmp_path: Path
) -> None:
    other = copy_of_framework(tmp_path / "other")
    game = other / "src" / "core" / "game" / "Game.java"
    game.write_text(game.read_text().replace("void abort()", "void stop()"))
    with pytest.raises(InputError, match=r"other classes than it expects: .*abort.* branch master"):
        built(checkout(other))


@pytest.mark.slow
def test_an_agent_that_is_no_agent_fails_with_its_name(framework: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no class 'my.Agent'.*class_path"):
        plan(framework, "my.Agent").jobs()
    with pytest.raises(InputError, match="Did you mean 'sampleMCTS'"):
        plan(framework, "sampleMTCS").jobs()
    outcome = run(plan(framework, "core.game.Game"), tmp_path)
    assert "the agent cannot be made" in outcome.failed[0].reason


def test_games_and_levels_that_are_not_there_are_refused(framework: Path) -> None:
    with pytest.raises(InputError, match="Did you mean 'aliens'"):
        plan(framework, "doNothing", games=("alien",)).jobs()
    with pytest.raises(InputError, match=r"has no level 7. Its levels are: 0, 1"):
        plan(framework, "doNothing", levels=(7,)).jobs()


@pytest.mark.parametrize(
    ("says", "refused"),
    [
        (None, r"need `java`, and there is none on the PATH. Install a JDK of version 11"),
        ('openjdk version "1.8.0_292"', r"is version 1.8.0_292, too old. Install a JDK"),
        ("command line tools missing", r"names no version. Install a JDK"),
    ],
)
def test_a_missing_or_old_java_is_told_with_what_to_install(
    framework: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: str | None,
    refused: str,
) -> None:
    if says is not None:
        for name in ("java", "javac"):
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
            program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match=refused):
        built(checkout(framework))


def test_a_java_without_javac_is_told(
    framework: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = shutil.which("java")
    assert java is not None
    (tmp_path / "java").symlink_to(java)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="need `javac`, and there is none"):
        built(checkout(framework))


@pytest.mark.slow
def test_an_agent_on_a_class_path_of_its_own_plays(framework: Path, tmp_path: Path) -> None:
    source = tmp_path / "Mine.java"
    text = (framework / "src/tracks/singlePlayer/simple/doNothing/Agent.java").read_text()
    text = text.replace("package tracks.singlePlayer.simple.doNothing;", "package mine;")
    source.write_text(text.replace("Agent", "Mine").replace("AbstractPlayer", "AbstractPlayer"))
    classes = ["-cp", str(built(checkout(framework)).framework), "-d", str(tmp_path / "classes")]
    subprocess.run(["javac", *classes, str(source)], check=True)
    work = plan(framework, "mine.Mine", class_path=(tmp_path / "classes",))
    assert by_agent(played(run(work, tmp_path / "run")), "status") == {"mine.Mine": "finished"}
