"""Two thousand jobs, one in ten misbehaving: every other job has the table of a quiet run."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest

from arena.runs import cart_pole, rows
from child_processes import left
from examiner.arena import Job, Playing, run
from examiner.workers import Limits

JOBS = 2_000
FAILING = ("crash", "exit", "die", "hoard")
UNTIDY = ("fork", "sleeper", "program", "leak", "junk")
HANGING = 6  # each takes as long as its limit


def odd_jobs(folder: Path) -> list[Job]:
    """One job in ten: some fail, some hang, and some leave things behind but play to their end."""
    count = JOBS // 10
    hanging = [cart_pole("Misbehaving", seed=seed, how="hang") for seed in range(HANGING)]
    failing = [
        cart_pole("Misbehaving", seed=seed, how=how)
        for seed, how in zip(range(HANGING, count // 2), cycle(FAILING), strict=False)
    ]
    untidy = [
        cart_pole("Untidy", seed=seed, how=how, folder=str(folder))
        for seed, how in zip(range(count // 2, count), cycle(UNTIDY), strict=False)
    ]
    return [*hanging, *failing, *untidy]


@pytest.mark.slow
def test_two_thousand_jobs_with_one_in_ten_misbehaving_give_the_table_of_a_quiet_run(
    tmp_path: Path,
) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    odd = odd_jobs(pids)
    good = iter([cart_pole(seed=seed, episodes=3) for seed in range(JOBS - len(odd))])
    jobs = [job for one in odd for job in (one, *(next(good) for _ in range(9)))]
    assert len(jobs) == JOBS
    limits = Limits(silent_seconds=15.0, memory_mib=300)
    outcome = run(jobs, tmp_path, workers=2, limits=limits)
    failed = {(job.seed, job.agent) for job in outcome.failures}
    assert failed == {(job.seed, job.agent) for job in odd if job.agent == "misbehaving"}
    whole = {job.key: job for job in jobs if job.agent != "misbehaving"}
    assert [row for row in rows(outcome.ledger) if row[0] in whole] == sorted(
        (key, e.number, e.phase, e.frames, e.length, e.score, e.lives, int(e.truncated))
        for key, job in whole.items()
        for e in quietly(job)
    )
    assert len(list(pids.iterdir())) > 50 and not left(pids), "no child outlives the run"


def quietly(job: Job) -> Playing:
    """The job alone in this process, its agent without its bad habits."""
    playing = Playing(job)
    playing.agent.how, playing.agent.nothing = "nothing", lambda: None
    return playing
