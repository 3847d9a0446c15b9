"""Mutated files of every format: only our own error, or valid results, ever comes out."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import examiner as ex
from importers.example_files import EXAMPLES
from mutations import damaged_bytes

ORIGINALS = {name: content(Path(tempfile.mkdtemp())) for name, (_, content) in EXAMPLES.items()}


@st.composite
def mutated(draw: st.DrawFn, original: bytes) -> bytes:
    return damaged_bytes(original, draw(st.randoms(use_true_random=False)))


def check(folder: Path, source: Path, **options: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        try:
            results = ex.read(source, **options)
        except ex.InputError as problem:
            message = str(problem)
            assert "was not foreseen" not in message, message
            assert len(message) < 3000
            return
    assert len(results) > 0
    for name in results.measures:
        assert not (abs(results.measure(name)) == float("inf")).any()
    assert results.agents and results.tasks


# Damaged Parquet has a process of its own, in tests/fuzzing.
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "parquet"])
def test_mutated_files_give_results_or_our_own_error(name: str, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")

    @settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutated(ORIGINALS[name]), st.booleans(), st.booleans())
    def attack(data: bytes, named: bool, in_folder: bool) -> None:
        path = folder / EXAMPLES[name][0]
        path.write_bytes(data)
        check(folder, folder if in_folder else path, format=name if named else None)

    attack()


def test_mutated_event_files_give_results_or_our_own_error(tmp_path: Path):
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path / "made"))
    for step in range(3):
        value = Summary.Value(tag="charts/episodic_return", simple_value=1.5)
        writer.add_event(Event(step=step, summary=Summary(value=[value])))
    writer.close()
    original = next((tmp_path / "made").iterdir()).read_bytes()
    folder = tmp_path / "Pong-v5__dqn__1__2"
    folder.mkdir()

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutated(original), st.booleans())
    def attack(data: bytes, in_folder: bool) -> None:
        path = folder / "events.out.tfevents.1.host.2.0"
        path.write_bytes(data)
        check(folder, folder if in_folder else path, format="cleanrl")

    attack()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.binary(max_size=200), st.sampled_from([".csv", ".jsonl", ".json", ".npz", ".parquet", ""])
)
def test_arbitrary_bytes_give_our_own_error(data: bytes, ending: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        path.write_bytes(data)
        check(Path(folder), path)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(mutated(ORIGINALS["csv"]), mutated(ORIGINALS["csv"]), mutated(ORIGINALS["sb3-monitor"]))
def test_folders_of_mutated_files_give_results_or_our_own_error(one: bytes, two: bytes, log: bytes):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run, data in enumerate((one, two, ORIGINALS["csv"])):
            (folder / f"seed_{run}").mkdir()
            (folder / f"seed_{run}" / "scores.csv").write_bytes(data)
        check(folder, folder, path="seed_{replica}/")
        (folder / "logs").mkdir()
        (folder / "logs" / "0.monitor.csv").write_bytes(log)
        (folder / "logs" / "1.monitor.csv").write_bytes(ORIGINALS["sb3-monitor"])
        check(folder, folder / "logs")


def test_a_quotation_mark_that_is_never_closed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "0.monitor.csv"
    file.write_text('#{"t_start": 1.0, "env_id": "Pong"}\nr,l,t\n1.0,10,0.5\n2.0,"0,0.7\n')
    with pytest.raises(ex.InputError, match="line 4 is no list of fields"):
        ex.read(file)


def test_a_log_that_began_at_no_time_is_refused(tmp_path: Path):
    path = tmp_path / "0.monitor.csv"
    path.write_text('#{"t_start": 9999999999999999999999999999995, "env_id": "x"}\nr,l,t\n1,1,1\n')
    with pytest.raises(ex.InputError, match="does not say when it began"):
        ex.read(path)
