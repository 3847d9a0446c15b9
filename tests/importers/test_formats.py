"""Each format: recognised by its content, read as what it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.importers.files import open_source
from examiner.importers.formats import recognised
from importers.example_files import EXAMPLES, MONITOR, write_example

pytestmark = pytest.mark.filterwarnings("ignore::examiner.messages.ExaminerWarning")


@pytest.mark.parametrize(
    "name", sorted(set(EXAMPLES) - {"yaml", "markdown"})
)  # any text may be one
def test_every_format_is_recognised_by_its_content_under_another_name(name: str, tmp_path: Path):
    path = write_example(tmp_path, name).rename(tmp_path / "file.bin")
    assert recognised(open_source(path)) == name


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_reads_and_names_its_format(name: str, tmp_path: Path):
    results = ex.read(write_example(tmp_path, name))
    assert name in results.provenance.format or results.provenance.format == "numpy"
    assert len(results) > 0


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_reads_the_same_when_named(name: str, tmp_path: Path):
    path = write_example(tmp_path, name)
    assert ex.read(path, format=name) == ex.read(path)


@pytest.mark.parametrize(
    "text",
    [
        "agent,task,level,win,score,ticks\na,t,0,1,2,3\n",
        "name,pong,venture,alien,freeway,chase\n1,0,1,1,2,3\n",
        "task,r,l,t\npong,1,2,3\n",
        "# comment\nagent,task,score\na,t,1\n",
    ],
)
def test_plain_tables_are_not_taken_for_anything_else(text: str, tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_text(text)
    assert recognised(open_source(path)) == "csv"


# ------------------------------------------------------------------ GVGAI


def test_gvgai_disqualified_plays_are_dropped_and_counted(tmp_path: Path):
    with pytest.warns(ex.ExaminerWarning, match=r"1 disqualified play \(win -100\) is left out"):
        results = ex.read(write_example(tmp_path, "gvgai-trials"))
    assert results.agents == ("mcts",)
    assert results.measure("score").tolist() == [80.0, 3.0]


def test_gvgai_plays_without_an_outcome_are_not_observed(tmp_path: Path):
    path = tmp_path / "trials.csv"
    path.write_text("a,g,0,-1,5,9\na,g,0,1,6,9\n")
    assert np.isnan(ex.read(path).measure("win")[0])


def test_gvgai_trials_are_runs_of_their_own(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "gvgai-trials"))
    assert results.column("run") == results.column("trial") == [0, 1]


def test_gvgai_merge_markers_are_refused_with_their_line(tmp_path: Path):
    path = tmp_path / "trials.csv"
    path.write_text("a,g,0,1,5,9\n<<<<<<< HEAD\na,g,0,1,5,9\n=======\na,g,0,1,5,9\n>>>>>>> x\n")
    with pytest.raises(ex.InputError, match=r"line 2, is a mark of an unresolved git merge"):
        ex.read(path)


def test_gvgai_stdout_takes_game_and_level_from_the_line_before(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "gvgai-stdout"))
    assert results.agents == ("mcts",)
    assert results.tasks == ("aliens.0", "aliens.1")
    assert results.measure("win").tolist() == [1, 0]
    assert results.column("ticks") == [476, 33]


def test_gvgai_executor_lines_keep_the_seed(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "gvgai-executor"))
    assert results.column("seed") == ["1234", "99"]
    assert results.tasks == ("aliens.0", "aliens.1")


# ------------------------------------------------------------------ training logs


def test_a_monitor_log_counts_frames_within_the_run(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "sb3-monitor"))
    assert results.provenance.training
    assert results.tasks == ("PongNoFrameskip-v4",)
    assert results.column("length") == [800, 900]
    assert results.column("frames") == [800, 1700]
    assert results.column("trial") == [0, 1]


@pytest.mark.parametrize(
    ("env_id", "factor"),
    [
        ("PongNoFrameskip-v4", 1),
        ("ALE/Pong-v5", 4),
        ("PongDeterministic-v4", 4),
        ("CartPole-v1", 1),
    ],
)
def test_lengths_become_frames_as_the_environment_counts(env_id: str, factor: int, tmp_path: Path):
    path = tmp_path / "monitor.csv"
    path.write_text(MONITOR.replace("PongNoFrameskip-v4", env_id))
    assert ex.read(path).column("length") == [800 * factor, 900 * factor]


def test_parallel_workers_are_one_run_merged_by_the_time_episodes_ended(tmp_path: Path):
    folder = tmp_path / "dqn" / "Pong-v5_3"
    folder.mkdir(parents=True)
    for worker, (start, rows) in enumerate(
        [(100.0, "1,10,5\n3,10,20\n"), (102.0, "2,5,7\n4,5,30\n")]
    ):
        head = json.dumps({"t_start": start, "env_id": "Pong-v5"})
        (folder / f"{worker}.monitor.csv").write_text(f"#{head}\nr,l,t\n{rows}")
    with pytest.warns(
        ex.ExaminerWarning, match=r"2 logs of parallel workers were merged into 1 run"
    ):
        results = ex.read(tmp_path, path="{agent}/{task}_{run}/")
    assert results.column("score") == [1, 2, 3, 4]
    assert results.column("frames") == [40, 60, 100, 120]
    assert (results.agents, results.tasks, results.column("run")[0]) == (("dqn",), ("Pong-v5",), 3)


def test_a_folder_called_like_its_environment_gives_agent_and_run(tmp_path: Path):
    for run in (1, 2):
        folder = tmp_path / "ppo" / f"PongNoFrameskip-v4_{run}"
        folder.mkdir(parents=True)
        (folder / "0.monitor.csv").write_text(MONITOR)
    with pytest.warns(ex.ExaminerWarning, match=r"the name of the folder above is taken"):
        results = ex.read(tmp_path)
    assert results.agents == ("ppo",)
    assert sorted(set(results.column("run"))) == [1, 2]


def test_logs_with_other_names_in_one_folder_are_runs_of_their_own(tmp_path: Path):
    for seed in (0, 1):
        (tmp_path / f"dqn_{seed}.monitor.csv").write_text(MONITOR)
    results = ex.read(tmp_path, path="{agent}_{run}")
    assert results.agents == ("dqn",)
    assert results.counts()["runs"] == 2


def test_what_else_a_monitor_logged_is_kept(tmp_path: Path):
    path = tmp_path / "monitor.csv"
    path.write_text(
        '#{"t_start": 1, "env_id": "x"}\r\nr,l,t,is_success,run\r\n1,2,3,True,"a,b"\r\n'
    )
    results = ex.read(path)
    assert results.column("is_success") == [True]
    assert results.column("run_logged") == ["a,b"]


def test_a_log_without_episodes_is_said_beside_others_and_refused_alone(tmp_path: Path):
    (tmp_path / "0.monitor.csv").write_text(MONITOR)
    empty = tmp_path / "1.monitor.csv"
    empty.write_text("\n".join(MONITOR.splitlines()[:2]) + "\n")
    with pytest.warns(ex.ExaminerWarning, match=r"1 log without a finished episode"):
        assert len(ex.read(tmp_path)) == 2
    with pytest.raises(ex.InputError, match=r"holds no episodes"):
        ex.read(empty)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("5,3", "line 5 has 2 fields, the header has 3"),
        ("x,3,9", "line 5, has 'x' in the column 'r', where a number belongs"),
        ("1,-3,9", "line 5, has '-3' in the column 'l'"),
        ("<<<<<<< HEAD", "line 5, is a mark of an unresolved git merge"),
    ],
)
def test_a_broken_line_of_a_log_is_named(line: str, message: str, tmp_path: Path):
    path = tmp_path / "monitor.csv"
    path.write_text(MONITOR + line + "\n")
    with pytest.raises(ex.InputError, match=message):
        ex.read(path)


def test_evaluations_keep_their_time_and_order(tmp_path: Path):
    folder = tmp_path / "dqn" / "PongNoFrameskip-v4_2"
    folder.mkdir(parents=True)
    results = ex.read(write_example(folder, "sb3-evaluations"))
    assert (results.agents, results.tasks) == (("dqn",), ("PongNoFrameskip-v4",))
    assert results.column("frames") == [400, 400, 800, 800]  # agent steps of four frames
    assert results.column("length") == [5, 6, 7, 8]  # counted inside the wrapper
    assert results.column("evaluation") == [0, 0, 1, 1]
    assert results.provenance.training


def test_evaluations_beside_a_monitor_log_are_left_out_and_said(tmp_path: Path):
    write_example(tmp_path, "sb3-monitor")
    write_example(tmp_path, "sb3-evaluations")
    (tmp_path / "progress.csv").write_text("rollout/ep_rew_mean,time/fps\n1,2\n")
    with pytest.warns(
        ex.ExaminerWarning, match=r"beside a training log .*--format sb3-evaluations"
    ):
        assert ex.read(tmp_path).provenance.format == "sb3-monitor"
    assert ex.read(tmp_path, format="sb3-evaluations").provenance.format == "sb3-evaluations"


def test_dopamine_repeats_of_an_iteration_are_runs(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "dopamine"))
    assert results.agents == ("C51", "DQN") or results.agents == ("DQN", "C51")
    assert results.tasks == ("asterix",)
    assert results.counts()["runs"] == 2
    assert sorted(set(results.column("frames"))) == [1_000_000, 2_000_000]
    assert results.provenance.training


def test_event_files_need_tensorboard_or_say_so(tmp_path: Path):
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(bytes(20) + b"brain.Event:2" + bytes(40))
    with pytest.raises(
        ex.InputError, match=r"pip install tensorboard|is damaged|holds no episodes"
    ):
        ex.read(path)


def test_cleanrl_folders_name_environment_agent_and_seed(tmp_path: Path):
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    folder = tmp_path / "runs" / "PongNoFrameskip-v4__dqn_atari__7__1700000000"
    writer = EventFileWriter(str(folder))
    for step, score, length in [(100, -21.0, 400.0), (250, -20.0, 600.0)]:
        for tag, value in [("charts/episodic_return", score), ("charts/episodic_length", length)]:
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
            writer.add_event(Event(step=step, summary=summary))
    writer.close()
    results = ex.read(tmp_path)
    assert (results.agents, results.tasks) == (("dqn_atari",), ("PongNoFrameskip-v4",))
    assert results.column("run") == [7, 7]
    assert results.column("frames") == [400, 1000]
    assert results.column("length") == [400, 600]
    assert results.column("score") == [-21.0, -20.0]


# ------------------------------------------------------------------ responses and arrays


def test_py_irt_items_a_subject_lacks_are_missing_cells(tmp_path: Path):
    results = ex.read(write_example(tmp_path, "py-irt"))
    assert results.tasks == ("q1", "q2", "q3")
    assert results.counts()["missing_cells"] == 2
    assert results.measures == ("correct",)


def test_py_irt_subjects_answering_twice_are_refused_with_both_lines(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"subject_id": "a", "responses": {"q": 1}}\n' * 2)
    with pytest.raises(ex.InputError, match=r"Lines 1 and 2 .* same subject to the same item"):
        ex.read(path)


def test_rliable_tasks_without_names_are_numbered_and_said(tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text('{"DQN": [[1, null], [3, 4]], "PPO": [[5, 6]]}')
    with pytest.warns(ex.ExaminerWarning, match=r"have no names"):
        results = ex.read(path)
    assert results.tasks == ("task 1", "task 2")
    assert results.counts()["runs"] == 2


def test_rliable_arrays_of_objects_are_refused_as_pickles(tmp_path: Path):
    path = tmp_path / "x.npz"
    np.savez(path, DQN=np.array([[1, None]], dtype=object))
    with pytest.raises(ex.InputError, match=r"holds Python objects, which are pickled"):
        ex.read(path, format="rliable")


def test_rliable_algorithms_with_other_tasks_are_refused(tmp_path: Path):
    path = tmp_path / "x.npz"
    np.savez(path, DQN=np.ones((2, 3)), PPO=np.ones((2, 4)))
    with pytest.raises(ex.InputError, match=r"'PPO' .* has 4 tasks, and 'DQN' has 3"):
        ex.read(path)


def test_a_monitor_log_whose_clock_falls_back_is_noted(tmp_path: Path):
    head = '#{"t_start": 1.0, "env_id": "pong"}\nr,l,t\n'
    once, again = "1,100,1.0\n2,100,2.0\n3,100,3.0\n", "10,100,1.0\n20,100,2.0\n"
    for worker, rows in enumerate((once + again, once)):
        (tmp_path / f"{worker}.monitor.csv").write_text(head + rows)
    for source, episodes in ((tmp_path / "0.monitor.csv", 5), (tmp_path, 8)):
        with pytest.warns(
            ex.ExaminerWarning, match=r"In 1 log, the time 't' falls back.*'.*0\.monitor"
        ):
            assert len(ex.read(source)) == episodes
    (tmp_path / "0.monitor.csv").write_text(head + once)
    assert not any("falls back" in note for note in ex.read(tmp_path).notes)
