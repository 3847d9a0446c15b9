"""What shards may hold, and what is left of a fit that was killed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from examiner.engines import decoded as decoded_file
from examiner.engines.memory import size_of_shards
from examiner.messages import InputError

RNG = np.random.default_rng(0)
NAMES = {
    "agent": [f"a{agent}" for agent in range(30) for _ in range(8)],
    "task": [f"t{task}" for _ in range(30) for task in range(8)],
}
SCORES = RNG.random(240)


def shard(folder: Path, **columns: object) -> Path:
    folder.mkdir(exist_ok=True)
    pl.DataFrame(NAMES | columns).write_parquet(folder / "s.parquet")
    return folder


def likelihood(folder: Path, cache: Path | None = None, **how: float) -> float:
    return ex.irt.fit(ex.engines.sharded(folder, cache=cache, **how), errors=False).log_likelihood


def test_a_cache_of_a_run_that_was_killed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache = shard(tmp_path / "d", score=SCORES), tmp_path / "c"
    first = likelihood(folder, cache, success=0.3)

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(decoded_file, "_store", killed)
        with pytest.raises(Killed):
            likelihood(folder, cache, success=0.7)
    assert likelihood(folder, cache, success=0.3) == first


def test_somebody_elses_files_are_left_alone(tmp_path: Path) -> None:
    folder, cache = shard(tmp_path / "d", score=SCORES), tmp_path / "c"
    cache.mkdir()
    (cache / "note.json").write_text("precious")
    likelihood(folder, cache, success=0.5)
    assert (cache / "note.json").read_text() == "precious"


def test_counts_are_whole_numbers_and_missing_ones_are_not_observed(tmp_path: Path) -> None:
    won = RNG.integers(0, 4, 240)
    with pytest.raises(InputError, match=r"holds 1\.5 in its successes"):
        likelihood(shard(tmp_path / "f", successes=[1.5, *won[1:]], trials=[3] * 240))
    with pytest.raises(InputError, match="in its successes, where a whole number"):
        likelihood(shard(tmp_path / "n", successes=[float("nan"), *won[1:]], trials=[3] * 240))
    holed = shard(tmp_path / "h", successes=[None, *won[1:].tolist()], trials=[3] * 240)
    k, n = won.reshape(30, 8).copy(), np.full((30, 8), 3)
    k[0, 0] = n[0, 0] = 0
    matrix = ex.ResponseMatrix.from_counts(k, n)
    whole = ex.irt.fit(matrix, response="binomial", errors=False)
    parted = ex.irt.fit(ex.engines.sharded(holed, response="binomial"), errors=False)
    assert parted.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-8)


def test_the_measure_is_the_one_that_a_fit_in_memory_takes(tmp_path: Path) -> None:
    score = (SCORES < 0.5).astype(float)
    both = shard(tmp_path / "b", win=1 - score, level=[1] * 240, score=score)
    plain = shard(tmp_path / "p", score=score)
    assert likelihood(both) == likelihood(plain)
    two = shard(tmp_path / "t", bits=1 - score, points=score)
    with pytest.raises(InputError, match="several columns of numbers: 'bits', 'points'"):
        likelihood(two)


def test_damage_infinite_values_and_odd_memories_are_said_in_a_sentence(tmp_path: Path) -> None:
    folder = shard(tmp_path / "d", score=SCORES)
    with pytest.raises(InputError, match="memory is nan GB"):
        ex.engines.sharded(folder, success=0.5, memory=float("nan"))
    file = folder / "s.parquet"
    data = bytearray(file.read_bytes())
    data[4 : len(data) // 2] = b"\xff" * (len(data) // 2 - 4)
    file.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        size_of_shards(folder)
    infinite = shard(tmp_path / "i", score=[float("inf"), *SCORES[1:]])
    with pytest.raises(InputError, match="infinite"):
        likelihood(infinite, success=0.5)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("file:///%00x", "No file is called"),
        ("a\0b", "No file is called"),
        ([], "No shard is named"),
        ("file://elsewhere/x.parquet", "on another machine"),
    ],
)
def test_places_that_are_none_are_refused(source, said):
    with pytest.raises(ex.InputError, match=said):
        ex.engines.sharded(source)
