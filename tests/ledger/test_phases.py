"""Ledgers with evaluations: a run counts with its last one, and curves show which phase is which."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

import examiner as ex
from arena.runs import cart_pole, command
from examiner.arena import Episode, Job, Ledger

TRAINED = (10.0, 20.0, 30.0, 40.0)
JUDGED = (3.0, 0.0, 0.0, 0.0)


def write(folder: Path, jobs: list[Job], each: int = 1, scores: tuple[float, ...] = JUDGED) -> Path:
    """The ledger of learners that train for an episode of 100 frames, then are evaluated, four times."""
    folder.mkdir()
    with Ledger(folder / "ledger.sqlite") as ledger:
        for account in ledger.enter([job.record() for job in jobs]):
            ledger.note_stateless(account, False)
            number = 0
            for step, (trained, judged) in enumerate(zip(TRAINED, scores, strict=True), start=1):
                episode = Episode(number, 100 * step, 100, trained, 0, False, 0.1)
                ledger.record(account, episode)
                for more in range(1, each + 1):
                    evaluated = dataclasses.replace(
                        episode, number=number + more, length=50, score=judged, phase="evaluation"
                    )
                    ledger.record(account, evaluated)
                number += each + 1
            ledger.end(account, None)
    return folder


@pytest.fixture(params=[1, 3], ids=["one episode", "three episodes"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    jobs = [cart_pole("Learner", seed=seed) for seed in range(2)]
    return write(tmp_path / "run", jobs, each=request.param)


def test_scores_are_those_of_the_last_evaluation(run: Path) -> None:
    told = json.loads(command("scores", run, "--reps", 20, "--json").out)
    assert {row["mean"] for row in told["agents"]} == {0.0}
    assert set(ex.scores.reduce(ex.read(run)).column("score")) == {0.0}


def test_the_last_evaluation_is_taken_in_the_order_of_learning(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [cart_pole("Learner")], 3, scores=(0.0, 1.0, 2.0, 7.0))
    assert ex.scores.reduce(ex.read(folder)).column("score") == [7.0]


def test_curves_of_evaluations_are_called_so(run: Path) -> None:
    summaries = summaries_of("curves", run, "--points", "100,400")
    assert summaries["evaluation at 100"] == 3.0 and summaries["evaluation at 400"] == 0.0
    assert summaries["evaluation after learning"] == 0.0 and summaries["best"] == 3.0
    assert not any(name.startswith("training") for name in summaries)


def test_curves_of_all_episodes_show_training_and_evaluation_apart(run: Path) -> None:
    summaries = summaries_of("curves", run, "--format", "ledger-training", "--points", "100,400")
    assert summaries["training at 100"] == 10.0 and summaries["training at 400"] == 25.0
    assert summaries["evaluation after learning"] == 0.0 and summaries["best"] == 3.0


def test_the_folder_of_a_run_is_read_as_a_training_log_by_name(run: Path) -> None:
    described = json.loads(command("describe", run, "--format", "ledger-training", "--json").out)
    of_file = ex.read(run / "ledger.sqlite", format="ledger-training")
    assert described["rows"] == len(of_file) > len(ex.read(run))
    assert ex.read(run, format="ledger-training").column("score") == of_file.column("score")


def test_atari_games_get_the_published_scale_and_a_note(tmp_path: Path) -> None:
    pong, freeway = (Job("random", "random", game=game, episodes=4) for game in ("pong", "freeway"))
    results = ex.read(write(tmp_path / "run", [pong, freeway]))
    assert results.scales.lookup("pong") == ex.load("atari-human-random").lookup("pong")
    assert set(results.scales.tasks) == {"pong", "freeway"}
    assert any("2 Atari games of 2 got the published scale" in note for note in results.notes)
    told = json.loads(
        command("scores", tmp_path / "run", "--normalise", "human", "--reps", 20, "--json").out
    )
    expected = sum((0.0 - low) / (high - low) for low, high in ((-20.7, 14.6), (0.0, 29.6))) / 2
    assert told["agents"][0]["mean"] == pytest.approx(expected)


def test_other_games_and_other_modes_of_atari_games_get_no_scale(run: Path, tmp_path: Path) -> None:
    assert not ex.read(run).scales
    modes = [Job("random", "random", game="freeway", mode=mode, episodes=4) for mode in (0, 1)]
    assert not ex.read(write(tmp_path / "modes", modes)).scales


def summaries_of(*words: object) -> dict[str, float]:
    """The mean of each summary over runs, by its name."""
    done = command(*words)
    assert done.code == 0, done.err
    _, found, table = done.out.partition("summary ")
    assert found, done.out
    lines = table.partition("\n\n")[0].splitlines()[1:]
    named = (line.rsplit(maxsplit=1) for line in lines)
    return {name.strip(): float(value.replace("–", "nan")) for name, value in named}
