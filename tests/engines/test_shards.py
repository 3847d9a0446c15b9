"""Fits from Parquet shards equal fits in memory, and say what is wrong with shards."""

from __future__ import annotations

import errno
import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import examiner as ex
from engines.like_fits import MATRIX, TASKS, assert_same_fit, holed
from examiner.engines import ParquetSource
from examiner.engines.cluster import BlockWorker
from examiner.irt import PassResult, PlainStatistics, Unknowns, add_up, e_step


def tidy(matrix: ex.ResponseMatrix) -> pl.DataFrame:
    agent, task = np.nonzero(matrix.observed)
    return pl.DataFrame(
        {
            "agent": np.array(matrix.agents)[agent],
            "task": np.array(matrix.tasks)[task],
            "score": matrix.to_numpy()[agent, task],
        }
    )


def written(frame: pl.DataFrame, folder: Path, shards: int, *, shuffled: bool = False) -> Path:
    """Shards whose rows are cut anywhere, agents and all."""
    if shuffled:
        frame = frame.sample(fraction=1.0, shuffle=True, seed=3)
    folder.mkdir(exist_ok=True)
    size = -(-len(frame) // shards)
    for number in range(shards):
        frame.slice(number * size, size).write_parquet(folder / f"part-{number}.parquet")
    return folder


def in_small_blocks(source: ParquetSource) -> ParquetSource:
    """The same source, with so little memory that there are many blocks."""
    source.agents_together = 64
    return source


@pytest.mark.parametrize("missing", [0.0, 0.6])
@pytest.mark.parametrize("model", ["2pl", "1pl", "3pl"])
def test_a_fit_of_shards_equals_the_fit_in_memory(
    missing: float, model: str, tmp_path: Path
) -> None:
    matrix = holed(MATRIX, missing) if missing else MATRIX
    folder = written(tidy(matrix), tmp_path / "shards", 3, shuffled=True)
    source = in_small_blocks(ex.engines.sharded(folder))
    whole = ex.irt.fit(matrix, model, starts=1, errors=False)
    assert_same_fit(ex.irt.fit(source, model, starts=1, errors=False), whole)


def test_several_trials_of_a_cell_add_up(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    trials = rng.integers(1, 30, MATRIX.shape)  # more than half a byte holds
    won = rng.binomial(trials, np.clip(MATRIX.to_numpy(), 0.2, 0.8))
    matrix = ex.ResponseMatrix.from_counts(won, trials, MATRIX.agents, MATRIX.tasks)
    frame = pl.DataFrame(
        {
            "agent": np.repeat(matrix.agents, len(TASKS)),
            "task": np.tile(TASKS, len(matrix.agents)),
            "successes": won.ravel(),
            "trials": trials.ravel(),
        }
    )
    first = frame.with_columns(successes=pl.col("successes") // 2, trials=pl.col("trials") // 2)
    second = frame.with_columns(
        successes=pl.col("successes") - first["successes"],
        trials=pl.col("trials") - first["trials"],
    )
    folder = written(pl.concat([first, second]), tmp_path / "shards", 2)
    source = in_small_blocks(ex.engines.sharded(folder, response="binomial"))
    whole = ex.irt.fit(matrix, response="binomial", starts=1, errors=False)
    assert_same_fit(ex.irt.fit(source, starts=1), whole)


def test_wide_partitioned_and_listed_shards_are_the_same_table(tmp_path: Path) -> None:
    matrix = holed(MATRIX, 0.3)
    wide = matrix.to_polars()
    wide[:150].write_parquet(tmp_path / "a.parquet")
    wide[150:].write_parquet(tmp_path / "b.parquet")
    parted = tmp_path / "parted"
    for (task,), part in tidy(matrix).partition_by("task", as_dict=True, include_key=False).items():
        (parted / f"task={task}").mkdir(parents=True)
        part.write_parquet(parted / f"task={task}" / "0.parquet")
    listed = ex.engines.sharded([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    folder = ex.engines.sharded(parted)
    assert set(listed.agents) == set(folder.agents) == set(matrix.agents)
    assert set(listed.tasks) == set(folder.tasks) == set(matrix.tasks)
    order = [folder.tasks.index(task) for task in listed.tasks]
    np.testing.assert_array_equal(listed.whole.won, folder.whole.won[order])
    np.testing.assert_array_equal(listed.whole.tried, folder.whole.tried[order])


def test_names_of_any_kind_and_columns_in_any_order_are_the_same_table(tmp_path: Path) -> None:
    matrix = holed(MATRIX, 0.3)
    frame, names = tidy(matrix), pl.Enum(sorted(matrix.tasks))
    plain = ex.engines.sharded(written(frame, tmp_path / "plain", 2)).whole
    kinds = {"enum": names, "categorical": pl.Categorical}
    for kind, told in kinds.items():
        other = frame.with_columns(pl.col("task").cast(told))
        for shuffled in (False, True):
            folder = written(other, tmp_path / f"{kind} {shuffled}", 2, shuffled=shuffled)
            whole = ex.engines.sharded(folder).whole
            order = [whole.tasks.index(task) for task in plain.tasks]
            np.testing.assert_array_equal(plain.won, whole.won[order])
            np.testing.assert_array_equal(plain.tried, whole.tried[order])
    wide = matrix.to_polars()
    (tmp_path / "wide").mkdir()
    wide[:150].write_parquet(tmp_path / "wide" / "a.parquet")
    turned = wide[150:].select(wide.columns[0], *reversed(wide.columns[1:]))
    turned.write_parquet(tmp_path / "wide" / "b.parquet")
    whole = ex.engines.sharded(tmp_path / "wide").whole
    order = [whole.tasks.index(task) for task in plain.tasks]
    np.testing.assert_array_equal(plain.won, whole.won[order])


def test_cells_met_twice_in_any_batch_are_two_trials(tmp_path: Path) -> None:
    rng, frame = np.random.default_rng(4), tidy(MATRIX)
    twice = frame.filter(pl.Series(rng.random(len(frame)) < 0.2))
    for shuffled in (False, True):
        both = pl.concat([frame, twice])
        whole = ex.engines.sharded(
            written(both, tmp_path / str(shuffled), 3, shuffled=shuffled)
        ).whole
        assert whole.tried.sum() == len(both) and whole.most == 2
        expected = dict.fromkeys(TASKS, 0.0)
        for task, score in both.select("task", "score").iter_rows():
            expected[task] += score
        np.testing.assert_array_equal(whole.won, [expected[task] for task in whole.tasks])


def test_results_without_a_name_are_refused(tmp_path: Path) -> None:
    frame = tidy(MATRIX).with_columns(
        agent=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("agent")
    )
    with pytest.raises(ex.InputError, match=r"has a row without a name in its column 'agent'"):
        ex.engines.sharded(written(frame, tmp_path / "shards", 1))


def test_thresholds_make_successes_and_constant_tasks_are_set_aside(tmp_path: Path) -> None:
    scores = MATRIX.to_numpy() * 10.0
    scores[:, 4], scores[7], scores[7, 4] = 10.0, np.nan, 10.0
    values = np.where(np.isnan(scores), np.nan, scores >= 5.0)
    matrix = ex.ResponseMatrix.from_array(values, MATRIX.agents, MATRIX.tasks)
    frame = tidy(ex.ResponseMatrix.from_array(scores, MATRIX.agents, MATRIX.tasks))
    source = ex.engines.sharded(written(frame, tmp_path / "s", 2), success=5.0)
    whole, parts = ex.irt.fit(matrix, starts=1, errors=False), ex.irt.fit(source, starts=1)
    assert parts.dropped == whole.dropped
    assert parts.left_out == whole.left_out
    assert_same_fit(parts, whole)


def test_of_sparse_tables_only_what_was_observed_is_kept(tmp_path: Path) -> None:
    matrix = holed(MATRIX, 0.92)
    folder = written(tidy(matrix), tmp_path / "shards", 2, shuffled=True)
    for _ in range(2):  # decoded, and found again
        source = in_small_blocks(ex.engines.sharded(folder, cache=tmp_path / "cache"))
        held = source.decoded
        row = [matrix.agents.index(agent) for agent in source.agents]
        column = [matrix.tasks.index(task) for task in source.tasks]
        here, there = matrix.take(row, column), held.matrix(0, len(row))
        np.testing.assert_array_equal(there.successes, here.successes)
        np.testing.assert_array_equal(there.trials, here.trials)
        assert there.observed_cells is not None
        assert held.whole.listed and held.whole.cells == int(here.trials.sum())
    whole = ex.irt.fit(matrix, starts=1, errors=False)
    assert_same_fit(ex.irt.fit(source, starts=1, errors=False), whole)
    for damage in (b"", b"PK"):
        (held.folder / "agents-000000.arrow").write_bytes(damage)
        with pytest.raises(ex.InputError, match=r"The decoded responses in .* missing or damaged"):
            held.matrix(0, 5)


@pytest.mark.parametrize("name", ["note.json", "agents.arrow", "tasks.arrow"])
@pytest.mark.parametrize("damage", [b"", b"PK", b"[" * 100_000])
def test_what_was_decoded_before_and_is_damaged_is_decoded_again(
    damage: bytes, name: str, tmp_path: Path
) -> None:
    path, cache = holed(MATRIX, 0.6).save(tmp_path / "t.parquet"), tmp_path / "cache"
    first = ex.engines.sharded(path, cache=cache)
    (first.decoded.folder / name).write_bytes(damage)
    again = ex.engines.sharded(path, cache=cache)
    np.testing.assert_array_equal(again.whole.won, first.whole.won)


def test_one_folder_holds_what_several_fits_read(tmp_path: Path) -> None:
    """Nobody's decoded responses are written anew while a fit reads them."""
    cache, tables = tmp_path / "cache", [holed(MATRIX, share) for share in (0.5, 0.6)]
    paths = [table.save(tmp_path / f"{row}.parquet") for row, table in enumerate(tables)]
    sources = [ex.engines.sharded(path, cache=cache) for path in paths]
    for table, source in zip(tables, sources, strict=True):
        there = ex.irt.fit(source, starts=1, errors=False)
        assert_same_fit(there, ex.irt.fit(table, starts=1, errors=False))


FIT = """
import sys
import examiner as ex
sys.stdin.readline()
source = ex.engines.sharded(sys.argv[1], cache=sys.argv[2])
print(ex.irt.fit(source, starts=1, errors=False).log_likelihood)
"""


def test_processes_that_decode_into_one_folder_at_once_agree(tmp_path: Path) -> None:
    path = holed(MATRIX, 0.6).save(tmp_path / "t.parquet")
    expected = ex.irt.fit(ex.engines.sharded(path), starts=1, errors=False).log_likelihood
    words = [sys.executable, "-c", FIT, str(path), str(tmp_path / "cache")]
    jobs = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("go\n")
        job.stdin.flush()
    said = [float(job.communicate()[0]) for job in jobs]
    assert said == [pytest.approx(expected, rel=1e-12)] * 3
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.slow
def test_memory_at_work_is_what_was_given_for_data_four_times_as_large(tmp_path: Path) -> None:
    agents, tasks = 28_000, 500
    won = (np.random.default_rng(3).random((agents, tasks), dtype=np.float32) < 0.5).astype("u1")
    frame = pl.DataFrame({"agent": [f"a{row}" for row in range(agents)]}).hstack(
        pl.DataFrame(won, schema=[f"t{column}" for column in range(tasks)])
    )
    frame.write_parquet(tmp_path / "wide.parquet")
    given = 0.0035  # GB, beside the program
    assert won.size >= 4 * given * 1e9
    source = ex.engines.sharded(tmp_path / "wide.parquet", memory=0.25 + given)
    tracemalloc.start()
    ex.irt.fit(source, starts=1, errors=False, most_iterations=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < given * 1e9 + 150 * agents  # names and abilities of agents


def test_decoded_shards_are_found_again_and_passes_are_counted(tmp_path: Path) -> None:
    folder = written(tidy(MATRIX), tmp_path / "shards", 2)
    seen: list[tuple[str, int, int]] = []
    for _ in range(2):
        source = ex.engines.sharded(
            folder, cache=tmp_path / "cache", progress=lambda *told: seen.append(told)
        )
    assert seen == [("decoding shards", 1, 2), ("decoding shards", 2, 2)]
    fit = ex.irt.fit(source, starts=1)
    assert fit.iterations < source.passes <= 60
    pl.concat([tidy(MATRIX), tidy(MATRIX)]).write_parquet(folder / "part-1.parquet")
    other = ex.engines.sharded(folder, cache=tmp_path / "cache")
    assert other.whole.most == 3


def test_a_temporary_folder_goes_with_its_source(tmp_path: Path) -> None:
    source = ex.engines.sharded(written(tidy(MATRIX), tmp_path / "shards", 1))
    folder = source.decoded.folder
    assert folder.exists()
    del source
    assert not folder.exists()


def test_a_shard_with_another_schema_is_named(tmp_path: Path) -> None:
    folder = written(tidy(MATRIX), tmp_path / "shards", 2)
    tidy(MATRIX).rename({"score": "wins"}).write_parquet(folder / "part-9.parquet")
    with pytest.raises(ex.InputError, match=r"part-9.parquet' has another schema than .*'wins'"):
        ex.engines.sharded(folder)
    pl.DataFrame({"agent": ["a"], "other": ["b"]}).write_parquet(folder / "part-9.parquet")
    with pytest.raises(ex.InputError, match=r"part-9.parquet' has the columns 'agent', 'other'"):
        ex.engines.sharded(folder)


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    folder = written(tidy(MATRIX), tmp_path / "shards", 2)
    with pytest.raises(ex.InputError, match=r"The shard .*part-7.parquet' is missing"):
        ex.engines.sharded([folder / "part-0.parquet", folder / "part-7.parquet"])
    for old, new in (("part-0", "part-00001-of-00003"), ("part-1", "part-00003-of-00003")):
        (folder / f"{old}.parquet").rename(folder / f"{new}.parquet")
    with pytest.raises(ex.InputError, match=r"number 2 is missing"):
        ex.engines.sharded(folder)


def test_a_shard_that_changes_between_passes_ends_the_fit(tmp_path: Path) -> None:
    folder = written(tidy(MATRIX), tmp_path / "shards", 2)
    source = ex.engines.sharded(folder)
    tidy(MATRIX).write_parquet(folder / "part-1.parquet")
    with pytest.raises(ex.InputError, match=r"part-1.parquet' was changed while it was used"):
        ex.irt.fit(source)


def test_a_full_disk_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written(tidy(MATRIX), tmp_path / "shards", 1)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_ipc", full)
    with pytest.raises(ex.InputError, match=r"Cannot write .*: the disk is full\. Free space"):
        ex.engines.sharded(folder, cache=tmp_path / "cache")
    assert not list((tmp_path / "cache").iterdir())


def test_shards_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    frame = tidy(MATRIX).with_columns(score=pl.col("score") * 7.0)
    folder = written(frame, tmp_path / "shards", 1)
    with pytest.raises(ex.InputError, match=r"holds 7 in its 'score', which is no success"):
        ex.engines.sharded(folder)
    with pytest.raises(ex.InputError, match=r"has no column 'win' of numbers"):
        ex.engines.sharded(folder, measure="win")
    with pytest.raises(ex.InputError, match=r"0.1 GB of memory are too little for 30 tasks"):
        ex.engines.sharded(folder, success=5.0, memory=0.1)
    (folder / "part-1.parquet").write_bytes(b"PAR1 this is none")
    with pytest.raises(ex.InputError, match=r"part-1.parquet': the Parquet file is damaged"):
        ex.engines.sharded(folder)


def test_memory_grows_with_the_table_and_shards_are_chosen_if_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from examiner.engines import memory

    folder = written(tidy(holed(MATRIX, 0.5)), tmp_path / "shards", 2)
    size = memory.size_of_shards(folder)
    assert size[:2] == MATRIX.shape and size.rows < size.agents * size.tasks
    assert memory.Size(50_000, 20_000, 10**9).gigabytes > 4.0 > size.gigabytes
    assert memory.engine_for(folder) == "memory"
    monkeypatch.setattr(memory, "available_gigabytes", lambda: 0.1)
    assert memory.engine_for(folder) == "shards"


@pytest.mark.parametrize("memory", [-1.0, 0.0, float("nan"), float("inf")])
def test_no_amount_of_memory_is_refused_in_one_sentence(memory: float) -> None:
    from examiner.engines import check_memory

    with pytest.raises(ex.InputError, match=r"The memory is .* GB\. Give a number of GB above 0\."):
        check_memory(memory)


def by_ability(tmp_path: Path) -> tuple[ex.ResponseMatrix, ParquetSource]:
    """Agents in the order of their ability, whose parts reach other nodes than each other."""
    rng = np.random.default_rng(0)
    names = [f"task {n}" for n in range(300)]
    items = ex.irt.ItemParameters.of(names, rng.uniform(0.6, 1.8, 300), rng.normal(size=300))
    matrix = holed(ex.irt.simulate(items, np.sort(rng.normal(0.0, 1.5, 450)), rng=1), 0.6)
    return matrix, ex.engines.sharded(matrix.save(tmp_path / "t.parquet"))


def test_blocks_of_agents_that_lie_by_ability_are_fitted_as_in_memory(tmp_path: Path) -> None:
    matrix, source = by_ability(tmp_path)
    source.agents_together = 100
    fit = ex.irt.fit(source, starts=1, errors=False)
    assert_same_fit(fit, ex.irt.fit(matrix, starts=1, errors=False))


def test_workers_of_which_none_evaluates_all_curves_give_the_derivatives_of_the_whole(
    tmp_path: Path,
) -> None:
    matrix, source = by_ability(tmp_path)
    fit = ex.irt.fit(matrix, starts=1, errors=False)
    items, rule = fit.items.named(source.tasks), fit.quadrature
    source.suited(Unknowns.of(ex.irt.MODELS["2pl"], "binomial", source.tasks, None))
    whole = source.expected(items, rule)
    folder = str(source.decoded.folder)
    workers = [
        BlockWorker(folder, within, 2.0, "binomial", True) for within in ((0, 200), (200, 450))
    ]

    def results(*job: object) -> Iterator[PassResult]:
        for worker in workers:
            sums, agents = worker.run(e_step, pickle.loads(pickle.dumps(job[1])))
            yield PassResult(sums, agents, None)

    source.total = lambda *job: add_up(results(*job))  # type: ignore[method-assign]
    for _ in range(2):  # in the first pass all nodes are looked at
        parts = source.expected(items, rule)
    assert isinstance(parts, PlainStatistics) and isinstance(whole, PlainStatistics)
    for found, expected in zip(parts.derivatives(), whole.derivatives(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)
