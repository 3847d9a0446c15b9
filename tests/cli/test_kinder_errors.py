"""Mistakes that are easily made, and the sentences that help."""

import numpy as np
import pytest

import examiner as ex


@pytest.mark.parametrize(
    "call", [ex.report, ex.normalise, ex.responses, ex.scores.aggregate, ex.scores.near_identical]
)
def test_the_name_of_a_bundled_data_set_is_said_to_be_loaded_first(call) -> None:
    with pytest.raises(ex.InputError, match=r"Results are needed here, and .*ex\.load\(NAME\)"):
        call("atari-dqn-family")
    with pytest.raises(ex.InputError, match="Cannot read a Scales"):
        call(ex.load("atari-human-random"))


def test_arrays_are_shown_their_own_door() -> None:
    with pytest.raises(ex.InputError, match=r"Results\.from_numpy"):
        ex.read(np.zeros((2, 2)))


def test_a_tidy_table_without_an_agent_column_is_told_so(tmp_path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("who,task,score\na,pong,1\n")
    with pytest.raises(
        ex.InputError, match="no column for the agent; found 'who', 'task', 'score'"
    ):
        ex.read(path)


def test_success_by_reference_without_scales_speaks_of_success() -> None:
    with pytest.raises(ex.InputError, match=r"^Success by reference needs the reference score"):
        ex.responses(ex.Results.from_numpy([[1.0]]), "human")


def test_no_normaliser_changes_nothing() -> None:
    results = ex.Results.from_numpy([[1.0]])
    assert ex.normalise(results, None) is results


def test_rank_names_tasks_that_one_agent_has() -> None:
    results = ex.Results.from_numpy([[1.0, 2.0], [3.0, np.nan]])
    assert "'task 2'" in ex.normalise(results, "rank").notes[-1]


def test_seeds_longer_than_64_bits_are_kept_apart() -> None:
    table = {"agent": ["a", "a"], "task": ["t", "t"], "run": [2**70, 2**70 + 1], "score": [1, 2]}
    assert ex.Results.from_dict(table).counts()["runs"] == 2


def test_other_tools_formats_are_converted_to(examiner, tmp_path) -> None:
    (tmp_path / "scores.csv").write_text("agent,task,score\na,t,1\na,u,0\nb,t,0\nb,u,1\n")
    assert examiner("convert", "scores.csv", "out.npz", "--to", "rliable").returncode == 0
    assert examiner("convert", "scores.csv", "out.jsonl", "--to", "py-irt").returncode == 0
    for name in ("out.npz", "out.jsonl"):
        assert ex.responses(ex.read(tmp_path / name)).to_numpy().tolist() == [[1, 0], [0, 1]]
    done = examiner("convert", "scores.csv", "out.npz")
    assert done.returncode == 2 and "Known endings" in done.stderr


def test_raw_scores_with_known_scales_are_not_averaged_in_silence(examiner) -> None:
    options = ["--normalise", "none", "--reps", "20", "--keep", "agent:d*", "--all"]
    done = examiner("scores", "atari-dqn-family", *options)
    assert "consider `--normalise human`" in done.stderr


def test_negative_seeds_are_refused(examiner) -> None:
    for command in ("report", "cluster", "information", "scores"):
        done = examiner(command, "gvgai-plays", "--seed", "-1")
        assert done.returncode == 2 and "Traceback" not in done.stderr
    with pytest.raises(ex.InputError, match="The seed is '-1'"):
        ex.report(ex.load("gvgai-plays"), rng=-1)


def test_names_no_file_system_takes_are_refused_in_words(examiner, tmp_path) -> None:
    (tmp_path / "ok.csv").write_text("agent,task,score\na,t,1\n")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    for target in ("x" * 300 + ".csv", "loop.csv", "report.pdf"):
        command = "report" if target.endswith("pdf") else "convert"
        words = ["ok.csv", "-o", target] if command == "report" else ["ok.csv", target]
        done = examiner(command, *words)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("examiner: ")


def test_nowhere_to_print_is_no_traceback(tmp_path) -> None:
    import subprocess
    import sys

    for redirect in (">/dev/full", ">&-", "2>&-"):
        command = f"{sys.executable} -m examiner datasets {redirect}"
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr


def test_names_that_differ_by_a_slip_are_said(tmp_path) -> None:
    table = {"agent": ["PPO", "ppo "], "task": ["t", "t"], "run": [0, 0], "score": [1, 2]}
    results = ex.Results.from_dict(table)
    assert results.agents == ("PPO", "ppo ")
    assert "differ only by case or blanks" in results.notes[-1]


def test_a_pandas_series_is_read_by_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_tuples([("a", "t"), ("b", "t")], names=["agent", "task"])
    assert ex.read(pandas.Series([1.0, 2.0], index=index, name="score")).agents == ("a", "b")


def test_zeros_and_ones_are_summed_up_by_their_mean(examiner, tmp_path) -> None:
    import json

    (tmp_path / "wins.csv").write_text(
        "agent,task,score\na,t,1\na,u,0\na,v,0\nb,t,1\nb,u,1\nb,v,0\n"
    )
    content = json.loads(examiner("scores", "wins.csv", "--reps", "20", "--json").stdout)
    assert all("mean" in row and "median" not in row for row in content["agents"])


def test_raw_scores_far_apart_are_not_averaged_in_silence(examiner, tmp_path) -> None:
    (tmp_path / "raw.csv").write_text("agent,Pong,Video Pinball\na,1,100000\nb,20,500000\nc,3,40\n")
    done = examiner("scores", "raw.csv", "--normalise", "none", "--reps", "20", "--all")
    assert "-fold apart" in done.stderr and "--scales atari-human-random" in done.stderr
    stated = examiner("scores", "raw.csv", "--reps", "20", "--all").stderr
    assert "`--normalise none` uses raw scores, `--scales atari-human-random` human ones" in stated


def test_random_and_human_columns_can_become_scales(examiner, tmp_path) -> None:
    (tmp_path / "paper.csv").write_text("Game,Random,Human,DQN\nPong,-20.7,14.6,14.6\n")
    assert "'Human', 'Random' are read as agents" in examiner("describe", "paper.csv").stderr
    words = ["--scales", "paper.csv", "--drop", "agent:Random", "--drop", "agent:Human"]
    done = examiner("convert", "paper.csv", "out.csv", *words, "--normalise", "human")
    assert done.returncode == 0, done.stderr
    assert ex.read(tmp_path / "out.csv").measure().tolist() == [1.0]
