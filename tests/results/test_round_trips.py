"""What was written is read back the same, by every path, whatever the names."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.results import in_order
from strategies import HOSTILE, results, tables


def without_scales(table: ex.Results) -> ex.Results:
    return ex.Results.from_frame(
        table.to_polars(), measures=table.measures, item=table.item, provenance=table.provenance
    )


@given(results())
def test_parquet_keeps_everything(table: ex.Results) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = table.save(Path(folder) / "results.parquet")
        pairs = ((ex.Results.load(path), table), (ex.read(path), in_order(table)))
        for back, same in pairs:
            assert back == same
            assert back.provenance == table.provenance
            assert back.scales == table.scales
            assert (back.agents, back.tasks, back.items) == (same.agents, same.tasks, same.items)


@given(results(), st.sampled_from([".csv", ".tsv", ".ndjson", ".csv.gz", ".csv.zst", ".jsonl.gz"]))
def test_text_keeps_the_table(table: ex.Results, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = ex.write(table, Path(folder) / f"results{ending}")
        back = ex.read(path, item=("task", *table.item))
        assert back == in_order(without_scales(table))


@given(results())
def test_frames_of_other_libraries_keep_the_table(table: ex.Results) -> None:
    expected = in_order(without_scales(table))
    for frame in (table.to_pandas(), table.to_polars(), table.to_arrow(), table.to_dict()):
        assert ex.read(frame, item=("task", *table.item)) == expected


@given(tables(), st.randoms(use_true_random=False))
def test_permuting_rows_changes_nothing_but_order(columns: dict, random) -> None:
    table = ex.Results.from_dict(columns)
    order = list(range(len(table)))
    random.shuffle(order)
    shuffled = ex.Results.from_dict(
        {name: [values[row] for row in order] for name, values in columns.items()}
    )
    assert set(shuffled.agents) == set(table.agents)
    assert set(shuffled.tasks) == set(table.tasks)
    assert shuffled.counts() == table.counts()
    back = [order.index(row) for row in range(len(table))]
    unshuffled = {
        name: [values[row] for row in back] for name, values in shuffled.to_dict().items()
    }
    assert ex.Results.from_dict(unshuffled) == table
    rows = [table.agents.index(agent) for agent in shuffled.agents]
    columns_ = [table.tasks.index(task) for task in shuffled.tasks]
    means, other = ex.responses(table).to_numpy(), ex.responses(shuffled).to_numpy()
    np.testing.assert_allclose(means[np.ix_(rows, columns_)], other, rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst"])
def test_packed_files_are_read_by_content_not_by_name(ending: str, tmp_path: Path) -> None:
    import bz2
    import gzip
    import lzma
    import sys

    zstd = pytest.importorskip(
        "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    )

    text = b"agent,task,score\na,t,1\n"
    pack = {
        ".csv": bytes,
        ".csv.gz": gzip.compress,
        ".csv.bz2": bz2.compress,
        ".csv.xz": lzma.compress,
        ".csv.zst": zstd.compress,
    }[ending]
    for name in (f"scores{ending}", "scores"):
        path = tmp_path / name
        path.write_bytes(pack(text))
        assert ex.read(path).measure().tolist() == [1.0]


@given(
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=5, unique=True),
    st.sampled_from([".csv", ".tsv", ".ndjson", ".parquet"]),
)
def test_wide_tables_come_back(agents: list[str], tasks: list[str], ending: str) -> None:
    values = np.arange(float(len(agents) * len(tasks))).reshape(len(agents), len(tasks))
    table = ex.Results.from_numpy(values, agents, tasks)
    with tempfile.TemporaryDirectory() as folder:
        path = ex.write(table, Path(folder) / f"wide{ending}", layout="wide")
        back = ex.read(path, layout="wide", tasks_are="columns")
    assert back == in_order(table)


@given(st.data())
def test_matrices_come_back(data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    size = shape[0] * shape[1]
    trials = np.array(data.draw(st.lists(st.integers(0, 400), min_size=size, max_size=size)))
    shares = np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)))
    counts = ex.ResponseMatrix.from_counts(
        (shares * trials).astype(int).reshape(shape), trials.reshape(shape)
    )
    values = ex.ResponseMatrix.from_array(np.where(trials > 0, shares, np.nan).reshape(shape))
    with tempfile.TemporaryDirectory() as folder:
        for matrix in (counts, values):
            assert ex.ResponseMatrix.load(matrix.save(Path(folder) / "m.parquet")) == matrix
    # A frame holds shares, not counts: values and missing cells are what must come back.
    for frame in (values.to_polars(), values.to_arrow(), values.to_pandas().reset_index()):
        back = ex.ResponseMatrix.from_frame(frame)
        np.testing.assert_array_equal(back.to_numpy(), values.to_numpy())


def test_a_header_longer_than_what_is_looked_at_first_is_read_whole(tmp_path: Path) -> None:
    tasks = [f"task with a long name {number:06d}" for number in range(20_000)]
    table = ex.Results.from_numpy(np.ones((2, len(tasks))), ["a", "b"], tasks)
    back = ex.read(ex.write(table, tmp_path / "wide.csv", layout="wide"))
    assert back.tasks == table.tasks


def test_blanks_around_column_names_are_forgiven(tmp_path: Path) -> None:
    path = tmp_path / "blanks.csv"
    path.write_text("agent, task, score\na,t,1.5\n")
    assert ex.read(path).measure().tolist() == [1.5]
