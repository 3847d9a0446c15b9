"""A folder never shrinks without a word: skipped files are grouped by reason, too many are refused."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app

AGENTS = ("dqn", "ppo", "sac", "td3", "tqc")
GOOD = "step,score,seed\n0,1,1\n10,2,1\n20,3,1\n"


def write(folder: Path, agents: tuple[str, ...], text: str, tasks: int = 4) -> None:
    for agent in agents:
        (folder / agent).mkdir(parents=True, exist_ok=True)
        for task in range(tasks):
            (folder / agent / f"task{task}.csv").write_text(text)


def read(folder: Path, **options: str) -> tuple[ex.Results, str]:
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        results = ex.read(folder, **options)
    return results, "\n".join(str(note.message) for note in notes)


def test_a_folder_of_which_most_files_are_broken_is_refused(tmp_path: Path):
    write(tmp_path, AGENTS, "agent,task,score\nx,y,fast\n", tasks=3)
    (tmp_path / "good.csv").write_text("agent,task,score\na,t,1\n")
    outcome = CliRunner().invoke(app, ["describe", str(tmp_path)])
    assert outcome.exit_code == 2
    assert "Of 16 files that may hold results" in outcome.stderr
    assert "only 1 could be read. 15 files ('dqn/task0.csv', " in outcome.stderr
    assert "'fast', not a number" in outcome.stderr
    assert "by a pattern, such as" in outcome.stderr


def test_files_are_grouped_by_the_reason_they_are_skipped_for(tmp_path: Path):
    write(tmp_path, AGENTS, GOOD)
    (tmp_path / "dqn" / "task1.csv").write_text("step,score,seed\n0,slow,1\n")
    (tmp_path / "ppo" / "task1.csv").write_text("step,score,seed\n0,late,1\n")
    (tmp_path / "sac" / "task1.csv").write_text("step,score,seed\n0,1,1,2\n")
    _, notes = read(tmp_path, path="{agent}/{task}")
    assert "2 files could not be read and were skipped" in notes
    assert "1 file could not be read and was skipped" in notes
    assert "'slow', not a number" in notes
    assert "4 fields, the header has 3" in notes


@pytest.mark.parametrize("text", ["", "step,score,seed\n0,fast,1\n", "a\0b"])
def test_an_agent_of_the_template_never_disappears(tmp_path: Path, text: str):
    write(tmp_path, AGENTS, GOOD)
    write(tmp_path, ("tqc",), text)
    with pytest.raises(ex.InputError, match=r"No file of 'tqc' could be read.*4 files"):
        ex.read(tmp_path, path="{agent}/{task}")


def test_an_agent_in_another_format_never_disappears(tmp_path: Path):
    write(tmp_path, AGENTS[:4], GOOD)
    (tmp_path / "tqc").mkdir()
    (tmp_path / "tqc" / "task0.json").write_text('{"score": {"mean": 3}}')
    with pytest.raises(
        ex.InputError, match=r"No file of 'tqc' could be read.*is a single JSON object"
    ):
        ex.read(tmp_path, path="{agent}/{task}")


def test_figures_settings_and_our_own_files_are_no_results(tmp_path: Path):
    write(tmp_path, ("dqn", "ppo"), GOOD, tasks=2)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "curve.png").write_bytes(b"\x89PNG\r\n")
    for agent in ("dqn", "ppo"):
        for name in ("config.json", "args.json", "hparams.yaml", "params.csv"):
            (tmp_path / agent / name).write_text('{"lr": 0.1}')
    for name in ("fit", "report", "tiny", "chosen"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": f"examiner.{name}/1"}))
    (tmp_path / "chart.vg.json").write_text('{"$schema": "https://vega.github.io/schema"}')
    results, notes = read(tmp_path, path="{agent}/{task}")
    assert (results.agents, len(results.tasks), len(results)) == (("dqn", "ppo"), 2, 12)
    assert "4 files were skipped that were written by examiner" in notes
    assert "9 files were skipped that are not results" in notes
    assert "could not be read" not in notes


def test_a_fit_is_not_a_table_of_results(tmp_path: Path):
    (tmp_path / "fit.json").write_text('{"schema": "examiner.fit/3", "tasks": []}')
    with pytest.raises(ex.InputError, match=r"was written by examiner \(examiner\.fit/3\)"):
        ex.read(tmp_path / "fit.json")


def test_objects_among_records_count_as_skipped_results(tmp_path: Path):
    record = [{"agent": "a", "task": "t", "score": 1}]
    (tmp_path / "a.json").write_text(json.dumps(record))
    for name in ("b", "c"):
        (tmp_path / f"{name}.json").write_text('{"t": {"b": 1}}')
    with pytest.raises(ex.InputError, match=r"Of 3 files .* only 1 could be read"):
        ex.read(tmp_path)


def test_a_fault_of_all_files_is_told_before_all_are_read(tmp_path: Path):
    write(tmp_path, AGENTS, "step,reward\n0,1\n", tasks=10)
    outcome = CliRunner().invoke(app, ["describe", str(tmp_path)])
    assert outcome.exit_code == 2
    assert "There is no column for the agent" in outcome.stderr
    assert "46 were not read" in outcome.stderr


def test_two_broken_files_in_front_are_skipped_like_any(tmp_path: Path):
    write(tmp_path, AGENTS, GOOD, tasks=10)
    for task in (0, 1):
        (tmp_path / "dqn" / f"task{task}.csv").write_text("step,score,seed\n0,fast,1\n")
    results, notes = read(tmp_path, path="{agent}/{task}")
    assert "2 files could not be read" in notes
    assert (len(results.agents), len(results)) == (5, 48 * 3)


def test_files_without_a_known_ending_are_read_where_there_is_nothing_else(tmp_path: Path):
    (tmp_path / "scores.txt").write_text("agent,task,score\na,t,1\n")
    assert len(ex.read(tmp_path)) == 1
    (tmp_path / "scores.csv").write_text("agent,task,score\nb,t,1\nb,u,2\n")
    results, notes = read(tmp_path)
    assert results.agents == ("b",) and "1 file was skipped that is not results" in notes


# -------------------------------------------------------------------- measures


def measured(folder: Path) -> Path:
    for agent in ("dqn", "ppo"):
        (folder / agent).mkdir()
        for task in ("dog-run", "dog-walk"):
            (folder / agent / f"{task}.csv").write_text("reward,seed\n700,1\n800,2\n")
        (folder / agent / "reach.csv").write_text("success,seed\n1,1\n0,2\n")
    return folder


def scores(folder: Path, *options: str) -> tuple[str, str]:
    words = ["scores", str(folder), "--path", "{agent}/{task}", "--aggregate", "mean", *options]
    outcome = CliRunner().invoke(app, [*words, "--reps", "50", "--json"])
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.stdout, outcome.stderr


def test_a_measure_that_is_empty_in_what_is_kept_does_no_harm(tmp_path: Path):
    measured(tmp_path)
    printed, _ = scores(tmp_path, "--keep", "task:dog-*")
    assert [row["mean"] for row in json.loads(printed)["agents"]] == [750, 750]
    printed, _ = scores(tmp_path, "--keep", "task:reach")
    assert [row["mean"] for row in json.loads(printed)["agents"]] == [0.5, 0.5]


def test_tasks_with_only_another_measure_are_listed(tmp_path: Path):
    _, notes = read(measured(tmp_path), path="{agent}/{task}")
    assert "1 of 3 tasks has no 'reward', only 'success': 'reach'" in notes


def test_files_with_only_another_measure_than_asked_for_are_no_failures(tmp_path: Path):
    results, notes = read(measured(tmp_path), path="{agent}/{task}", measure="success")
    assert results.tasks == ("reach",)
    assert "4 files have no 'success', only 'reward', and are excluded, with the tasks" in notes
    assert "could not be read" not in notes


# -------------------------------------------------------------------- templates


@pytest.mark.parametrize(
    ("paths", "header", "template"),
    [
        (
            ["dqn/pong.csv", "dqn/go.csv", "ppo/pong.csv", "ppo/go.csv"],
            "seed,return",
            "{agent}/{task}",
        ),
        (["dqn/pong/log.csv", "ppo/pong/log.csv"], "task,return", "{agent}/"),
        (["logs/dqn.csv", "logs/ppo.csv"], "env,seed,return", "logs/{agent}"),
        (["my_dqn_pong.csv", "spr_bank_heist.csv"], "seed,return", "{agent}_{task}"),
        (["x/ppo-walker-run.csv", "x/ppo-cheetah-run.csv"], "return,run", "x/{agent}-{task}"),
        (["a/Hopper-v4.csv", "a/Ant-v4.csv"], "return,run", "{agent}/{task}"),
        (["dqn/s1/log.csv", "dqn/s2/log.csv", "ppo/s1/log.csv"], "env,return", "{agent}/{run}/"),
        (["a/b/Ant-v4/results.csv"], "agent,rew,return", "a/b/{task}/"),
        (
            [f"{a}-run{n}/log-{t}.csv" for a in ("x-9", "y-9") for n in "01" for t in ("a", "b-c")],
            "seed,return",
            "{agent}-run{run}/log-{task}",
        ),
        (
            [f"{a}-{t}-v3/0.csv" for a in ("a2c", "ppo") for t in ("Ant", "Go")],
            "seed,return",
            "{agent}-{task}/",
        ),
        (["pong/dqn.csv", "pong/ppo.csv", "go/dqn.csv"], "seed,return", "{agent}/{task}"),
        (["pong/dqn.csv", "pong/ppo.csv", "venture/dqn.csv"], "seed,return", "{task}/{agent}"),
        (["leaderboard.csv"], "model,return", "{task}"),
    ],
)
def test_the_template_that_fits_a_folder_is_proposed_and_works(
    tmp_path: Path, paths: list[str], header: str, template: str
):
    row = ",".join(
        "1" if name in ("seed", "run", "return", "rew") else "x" for name in header.split(",")
    )
    for name in paths:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{header}\n{row}\n")
    with pytest.raises(ex.InputError) as refusal:
        ex.read(tmp_path)
    assert f"`--path '{template}'`" in str(refusal.value)
    results, _ = read(tmp_path, path=template)
    assert len(results) == len(paths)


def test_one_agent_in_a_folder_is_called_by_the_folder_above(tmp_path: Path):
    (tmp_path / "sac").mkdir()
    for task in ("hop", "run"):
        (tmp_path / "sac" / f"{task}.csv").write_text("seed,return\n1,2\n")
    proposed = f"`--path '{{agent}}/{{task}}'`. Read the folder above, '{tmp_path}'"
    with pytest.raises(ex.InputError) as refusal:
        ex.read(tmp_path / "sac")
    assert proposed in str(refusal.value)
    results, _ = read(tmp_path, path="{agent}/{task}")
    assert (results.agents, results.tasks) == (("sac",), ("hop", "run"))


@pytest.mark.parametrize("environment", ["Ant-v3", "MiniGrid-Empty-5x5-v0"])
@pytest.mark.parametrize("template", [None, "{agent}-{task}/"])
def test_an_environment_is_never_split_from_its_version(
    tmp_path: Path, environment: str, template: str | None
):
    for agent in ("a2c", "ppo"):
        folder = tmp_path / f"{agent}-{environment}"
        folder.mkdir()
        head = f'#{{"t_start": 1.5, "env_id": "{environment}"}}\nr,l,t\n'
        (folder / "0.monitor.csv").write_text(head + "1,20,1.5\n2,20,2.5\n")
    results, _ = read(tmp_path, **({"path": template} if template else {}))
    assert (results.agents, results.tasks) == (("a2c", "ppo"), (environment,))


@pytest.mark.parametrize(
    ("template", "name", "agent", "task"),
    [
        ("{agent}_{task}", "spr+resets_bank_heist", "spr+resets", "bank_heist"),
        ("{agent}_{task}", "my_spr_up_n_down", "my_spr", "up_n_down"),
        ("{agent}_{task}", "sac_ball_in_cup_catch", "sac", "ball_in_cup_catch"),
        ("{agent}-{task}", "td-mpc-cheetah-run", "td-mpc", "cheetah-run"),
        ("{agent}_{task}_{run}", "spr_ms_pacman_3", "spr", "ms_pacman"),
        ("{task}_{agent}", "bank_heist_spr_2", "spr_2", "bank_heist"),
        ("{agent}_{task}", "my_agent_chess", "my_agent", "chess"),
    ],
)
def test_a_known_task_in_a_name_stays_whole(
    tmp_path: Path, template: str, name: str, agent: str, task: str
):
    (tmp_path / f"{name}.csv").write_text("score\n1\n")
    results, _ = read(tmp_path, path=template)
    assert (results.agents, results.tasks) == ((agent,), (task,))


def test_an_array_of_runs_or_episodes_is_not_guessed(tmp_path: Path):
    np.save(tmp_path / "spr_bank_heist.npy", np.ones((32, 10)))
    with pytest.raises(ex.InputError, match=r"shape \(32, 10\).*second axis may be runs"):
        ex.read(tmp_path, path="{agent}_{task}.npy")
    (tmp_path / "spr_bank_heist.npy").rename(tmp_path / "spr_bank_heist_3.npy")
    results, _ = read(tmp_path, path="{agent}_{task}_{run}.npy")
    assert (results.agents, results.tasks, len(results)) == (("spr",), ("bank_heist",), 320)
