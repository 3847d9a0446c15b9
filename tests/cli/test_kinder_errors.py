"""Mistakes that are easily made, and the sentences that help."""

import numpy as np
import pytest

import examiner as ex


@pytest.mark.parametrize(
    "call", [ex.report, ex.normalise, ex.responses, ex.agent_aggregates, ex.near_identical_agents]
)
@pytest.mark.parametrize("given", ["atari-dqn-family", ex.load("atari-human-random")])
def test_what_is_no_results_is_said_to_be_loaded_first(call, given) -> None:
    with pytest.raises(ex.InputError, match=r"Results are needed here, not the .*ex\.load\(NAME\)"):
        call(given)


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
    done = examiner("scores", "atari-dqn-family", "--reps", "20", "--keep", "agent:d*")
    assert "consider `--normalise human`" in done.stderr
