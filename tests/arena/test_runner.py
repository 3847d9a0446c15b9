"""Runs: the same episodes for any number of workers and wherever they were interrupted."""

import math
import shutil
import sqlite3
from pathlib import Path

import pytest

from arena import toy_agents
from arena.runs import cart_pole, rows, states
from examiner.arena import Episode, Ledger, Playing, Standing, perform_job, plan, run
from examiner.arena import episodes as performance
from examiner.arena.episodes import Saved, Start
from examiner.ledger import Checkpoint
from examiner.messages import InputError
from examiner.workers import Limits

AGENTS = ("Stateless", "Learner", "Unsaved")


def played(job: object) -> list[tuple[object, ...]]:
    """The episodes of a job played here and now, without ledger or workers."""
    return [
        (job.key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))  # type: ignore[attr-defined]
        for e in Playing(job)  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_table_is_that_of_playing_every_job_alone(tmp_path: Path, workers: int) -> None:
    jobs = [cart_pole(agent, seed=seed) for agent in AGENTS for seed in range(2)]
    outcome = run(jobs, tmp_path / "ledger.sqlite", workers=workers)
    assert (outcome.done, outcome.failures, outcome.episodes) == (6, {}, 30)
    assert rows(tmp_path / "ledger.sqlite") == sorted(row for job in jobs for row in played(job))
    assert outcome.frames == sum(played(job)[-1][3] for job in jobs)  # type: ignore[misc]


def test_jobs_go_on_where_they_were_left(tmp_path: Path) -> None:
    jobs, path = [cart_pole(agent, episodes=6) for agent in AGENTS], tmp_path / "ledger.sqlite"
    with Ledger(path) as ledger:
        accounts = ledger.enter([job.record() for job in jobs])
        for known, (job, account) in enumerate(zip(jobs, accounts, strict=True), start=2):
            for message in perform_job(Start(job)):
                if isinstance(message, bool):
                    ledger.note_stateless(account, message)
                elif isinstance(message, Episode):
                    ledger.record(account, message)
                    if account.episodes == known:
                        break
    outcome = run(jobs, path)
    assert (outcome.done, outcome.episodes) == (3, 4 + 3 + 2)
    assert rows(path) == sorted(row for job in jobs for row in played(job))


def test_a_learner_goes_on_from_its_checkpoint_not_from_its_beginning(tmp_path: Path) -> None:
    job, path = cart_pole("Learner", episodes=6), tmp_path / "ledger.sqlite"
    episodes = list(Playing(job))
    playing = Playing(job)
    for _ in range(3):
        next(playing)
    data = playing.checkpoint()
    with Ledger(path) as ledger:
        (account,) = ledger.enter([job.record()])
        ledger.note_stateless(account, False)
        for episode in episodes[:4]:
            ledger.record(account, episode)
        ledger.keep_checkpoint(account, Checkpoint(3, episodes[2].frames, 0), data or b"")
        start = Start(job, account.checkpoint, ledger.checkpoint_data(account))
    messages = list(perform_job(start))
    assert [one.number for one in messages if isinstance(one, Episode)] == [3, 4, 5]
    outcome = run([job], path)
    assert outcome.done == 1 and rows(path) == played(job)
    (saved,) = (tmp_path / "checkpoints").iterdir()
    trained = toy_agents.Learner()
    trained.load(saved.read_bytes())
    assert trained.steps == episodes[-1].frames, "the last checkpoint is the trained agent"


def test_checkpoints_are_made_now_and_then_and_at_the_end() -> None:
    messages = list(perform_job(Start(cart_pole("Learner", episodes=25, slow=0.005))))
    saved = [one.checkpoint.episodes for one in messages if isinstance(one, Saved)]
    assert saved[-1] == 25 and 2 <= len(saved) <= 10 and saved == sorted(set(saved))


def test_a_learner_that_cannot_be_resumed_exactly_fails_and_says_which_episode(
    tmp_path: Path,
) -> None:
    job, path = cart_pole("Forgetful", episodes=12), tmp_path / "ledger.sqlite"
    episodes = list(Playing(job))
    with Ledger(path) as ledger:
        (account,) = ledger.enter([job.record()])
        ledger.note_stateless(account, False)
        for episode in episodes:
            ledger.record(account, episode)
        ledger.keep_checkpoint(account, Checkpoint(1, episodes[0].frames, 0), b"[[0, 0], 0]")
    outcome = run([job, cart_pole()], path)
    assert list(outcome.failures) == [job] and outcome.done == 1
    assert "was played again and differs in" in outcome.failures[job]
    assert outcome.failed[job.agent].reason == outcome.failures[job]
    assert "1 of 2 jobs done, 1 failed; played " in outcome.headline
    assert len([row for row in rows(path) if row[0] == job.key]) == 12


@pytest.mark.slow
def test_misbehaving_agents_fail_with_reasons_and_keep_what_they_played(tmp_path: Path) -> None:
    how = ("crash", "hang", "hoard", "die", "behave")
    jobs = [cart_pole("Misbehaving", seed=seed, how=one) for seed, one in enumerate(how)]
    path = tmp_path / "ledger.sqlite"
    limits = Limits(silent_seconds=15.0, memory_mib=300)
    outcome = run(jobs, path, workers=3, limits=limits)
    reasons = {job.settings["how"]: reason for job, reason in outcome.failures.items()}
    assert reasons["crash"].startswith("RuntimeError: out of ideas (toy_agents.py, line")
    assert reasons["hang"] == "nothing was heard of it for longer than its limit of 15 seconds"
    assert reasons["hoard"].startswith("it needed more memory than its limit of 300 MiB")
    assert reasons["die"] == "its process ended with exit code 7, 3 times in a row"
    assert (outcome.done, len(reasons), outcome.episodes) == (1, 4, 4 * 2 + 5)
    assert [state for state, _ in states(path)] == ["failed"] * 4 + ["done"]


def test_failed_jobs_are_tried_again_unless_told_not_to(tmp_path: Path) -> None:
    job, path = cart_pole("Misbehaving", how="crash"), tmp_path / "ledger.sqlite"
    assert len(run([job], path).failed) == 1
    outcome = run([job], path, again=False)
    assert (len(outcome.failed), outcome.episodes) == (1, 0)
    outcome = run([job], path)
    assert (len(outcome.failed), outcome.episodes) == (1, 0), "tried again, from the third episode"


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    jobs, path = [cart_pole(), cart_pole(seed=1)], tmp_path / "ledger.sqlite"
    run(jobs, path)
    before = rows(path)
    outcome = run(jobs, path)
    assert (outcome.done_before, outcome.done, outcome.episodes) == (2, 2, 0)
    assert rows(path) == before
    assert run([*jobs, cart_pole(seed=2)], path).done == 3


def test_the_watcher_is_told_of_speed_time_left_and_scores(tmp_path: Path) -> None:
    told: list[Standing] = []
    jobs = [cart_pole(seed=seed, episodes=60, slow=0.001) for seed in range(2)]
    run(jobs, tmp_path / "ledger.sqlite", workers=2, watcher=told.append)
    busy = [one for one in told if one.playing and one.episodes > 20]
    assert busy, "told while playing"
    assert 0 < busy[-1].share < 1 and busy[-1].frames_per_second > 0
    assert math.isfinite(busy[-1].seconds_left) and busy[-1].playing[0].score > 5
    assert (told[-1].done, told[-1].episodes) == (2, 120)
    assert told[-1].share == pytest.approx(1.0)
    assert told[-1].seconds_left == pytest.approx(0.0, abs=1e-6)


def test_no_workers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot play with 0 workers"):
        run([cart_pole()], tmp_path / "ledger.sqlite", workers=0)


def test_a_run_ends_in_a_sentence_when_its_folder_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()

    def remove(standing: Standing) -> None:
        shutil.rmtree(folder, ignore_errors=True)

    jobs = [cart_pole(episodes=100_000)]
    with pytest.raises(InputError, match="removed or replaced while the run was going on"):
        run(jobs, folder / "ledger.sqlite", watcher=remove)


def test_a_log_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "output.log").mkdir()
    with pytest.raises(InputError, match=r"Cannot go on: .*output\.log"):
        run([cart_pole()], tmp_path / "ledger.sqlite")


@pytest.mark.parametrize("episodes", [5, 6])
def test_jobs_that_results_could_not_tell_apart_are_refused(tmp_path: Path, episodes: int) -> None:
    jobs = [cart_pole(episodes=5), cart_pole(episodes=episodes)]
    with pytest.raises(InputError, match="Two jobs are 'stateless' on 'CartPole-v1', seed 0"):
        run(jobs, tmp_path / "ledger.sqlite")


def test_a_learner_that_was_saved_after_its_last_episode_is_not_saved_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(performance, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(performance, "_COST_SHARE", 1e9)  # saved after every episode
    messages = list(perform_job(Start(cart_pole("Learner", episodes=3, slow=0.001))))
    saved = [one.checkpoint.episodes for one in messages if isinstance(one, Saved)]
    assert saved == [1, 2, 3]


PLAN = """
environment = "gymnasium"
games = ["CartPole-v1"]
episodes = 2
tuning_games = ["CartPole-v1"]
limits = { job_seconds = 60 }
[[agents]]
entry = "random"
"""


def test_a_plan_is_run_by_its_path_into_a_folder_or_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "pilot.toml").write_text(PLAN)
    outcome = run(tmp_path / "pilot.toml", tmp_path / "new" / "folder")
    assert outcome.ledger == tmp_path / "new" / "folder" / "ledger.sqlite" and outcome.done == 1
    again = run(str(tmp_path / "pilot.toml"), outcome.ledger)
    assert (again.done_before, again.episodes) == (1, 0)
    renamed = outcome.ledger.rename(tmp_path / "kept")  # a file is a ledger, whatever it is called
    assert run(plan(tmp_path / "pilot.toml"), renamed).done_before == 1
    assert again.headline.startswith("1 of 1 job done (1 before); played 0 episodes, 0 frames in ")
    database = sqlite3.connect(renamed)
    assert database.execute("SELECT split FROM jobs").fetchall() == [("train",)]
    assert database.execute("SELECT plan FROM sessions").fetchall() == [(PLAN,)] * 3
    database.close()


def test_a_plan_that_is_misspelt_is_answered_with_the_names_of_those_known(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"Unknown plan 'atari-arean'\. Did you mean 'atari-arena'"
    ):
        run("atari-arean", tmp_path)
