"""Small files in the layouts of public training logs, read at the first try with the right numbers."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.arena import Episode, Job, Ledger
from examiner.importers.options import TimeColumn
from examiner.scores import default_reduction


def cells(results: ex.Results, how: str | None = None) -> dict[tuple[str, str], float]:
    """The value of each agent on each task, runs averaged."""
    reduced = ex.reduce(results, how)
    values = ex.responses(reduced).to_numpy()
    return {
        (agent, task): values[row, column]
        for row, agent in enumerate(reduced.agents)
        for column, task in enumerate(reduced.tasks)
    }


# ---------------------------------------------------------------- time


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("step", "steps"),
        ("steps", "steps"),
        ("global_step", "steps"),
        ("timesteps", "steps"),
        ("env_step", "steps"),
        ("frame", "frames"),
        ("frames", "frames"),
    ],
)
def test_a_column_that_rises_within_runs_is_time(name: str, unit: str):
    table = {
        "agent": ["a"] * 8,
        "task": ["t"] * 8,
        "seed": [0] * 4 + [1] * 4,
        name: [10, 20, 30, 40] * 2,
        "score": [0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0, 8.0],
    }
    results = ex.read(table)
    assert results.provenance.training
    assert results.column(unit) == [10, 20, 30, 40] * 2
    assert cells(results) == {("a", "t"): 7.0}, "the last checkpoint, not the average of training"


def test_lengths_of_episodes_under_a_name_of_time_are_refused_until_somebody_says_so():
    rng = np.random.default_rng(0)
    table = {
        "agent": ["a"] * 40,
        "task": ["t"] * 40,
        "seed": [0] * 40,
        "steps": rng.integers(10, 500, 40),
        "score": rng.random(40),
    }
    with pytest.raises(ex.InputError, match=r"'steps' cannot be used as time: .* `--time none`"):
        ex.read(table)
    results = ex.read(table, time="none")
    assert not results.provenance.training
    assert sorted(results.column("steps")) == sorted(table["steps"].tolist())


def test_iterations_are_time_only_where_that_is_said():
    table = {"agent": ["a"] * 3, "task": ["t"] * 3, "epoch": [1, 2, 3], "score": [1.0, 2.0, 6.0]}
    assert not ex.read(table).provenance.training
    named = ex.read(table, time="epoch*1e6 frames")
    assert named.column("frames") == [1e6, 2e6, 3e6]
    assert cells(named) == {("a", "t"): 6.0}
    assert "frames" not in ex.read(table, time="none").attributes


def test_a_factor_of_four_counts_frames_and_a_time_that_is_no_number_is_refused():
    table = {"agent": ["a"] * 3, "task": ["t"] * 3, "global_step": [1, 2, 3], "score": [1, 2, 3]}
    assert ex.read(table, time="global_step*4").column("frames") == [4, 8, 12]
    with pytest.raises(ex.InputError, match=r"'score2' for the time"):
        ex.read(table, time="score2")
    with pytest.raises(ex.InputError, match=r"holds no numbers"):
        ex.read(table | {"global_step": ["x", "y", "z"]}, time="global_step")
    with pytest.raises(ex.InputError, match=r"Cannot tell which time 'x\*y' means"):
        TimeColumn.of("x*y")


def test_runs_that_nobody_named_begin_again_or_share_their_times():
    stacked = {"agent": ["a"] * 6, "task": ["t"] * 6, "step": [1, 2, 3] * 2, "score": range(6)}
    side_by_side = stacked | {"step": [1, 1, 2, 2, 3, 3]}
    assert ex.read(stacked).column("run") == [0, 0, 0, 1, 1, 1]
    results = ex.read(side_by_side)
    assert results.column("run") == [0, 0, 0, 1, 1, 1]
    assert results.measure().tolist() == [0, 2, 4, 1, 3, 5]


def test_steps_and_frames_of_one_task_are_not_taken_for_each_other():
    both = ex.Results.from_dict(
        {
            "agent": ["a", "a", "b", "b"],
            "task": ["t"] * 4,
            "run": [0] * 4,
            "trial": [0, 1, 0, 1],
            "frames": [4, 8, None, None],
            "steps": [None, None, 1, 2],
            "score": [1.0, 2.0, 3.0, 4.0],
        }
    )
    curves = ex.scores.curves(both)
    assert curves.unit == "frames or steps"
    assert any("whose times do not compare: 't'" in note for note in curves.notes)


# ---------------------------------------------------------------- DreamerV3: lists in records, packed


def dreamer(path: Path, method: str, points: int, top: float) -> None:
    """Curves as DreamerV3's score files have them, which rise to `top` at 1000 steps."""
    xs = np.linspace(0, 1000, points).tolist()
    records = [
        {
            "task": f"atari_{task}",
            "method": method,
            "seed": seed,
            "xs": xs,
            "ys": [top * x / 1000 + seed for x in xs],
        }
        for task in ("alien", "pong")
        for seed in (0, 1)
    ]
    path.write_bytes(gzip.compress(json.dumps(records).encode()))


def test_records_of_lists_are_curves_and_worth_what_they_end_with(tmp_path: Path):
    dreamer(tmp_path / "atari57-slow.json.gz", "slow", 21, 100.0)
    dreamer(tmp_path / "atari57-fast.json.gz", "fast", 5, 60.0)
    results = ex.read(tmp_path)
    assert set(results.agents) == {"fast", "slow"}
    assert results.counts()["runs"] == 2
    ended = cells(results)
    assert ended[("slow", "atari_alien")] == pytest.approx(100.5)
    assert ended[("fast", "atari_pong")] == pytest.approx(60.5)
    assert ended == cells(results, "final")


def test_a_game_by_any_of_its_names_finds_its_scale():
    names = ["atari_alien", "Alien-v5", "AlienNoFrameskip-v4", "ALE/Alien-v5", "alien"]
    assert {ex.results.atari.atari_game(name) for name in names} == {"alien"}


# ---------------------------------------------------------------- Dopamine: iterations


def test_iterations_of_dopamine_are_checkpoints_and_networks_are_agents(tmp_path: Path):
    for name, shift in (("alien", 0), ("alien_CNN", 1000)):
        records = [
            {"Iteration": iteration, "Value": shift + 10.0 * iteration + run, "Agent": "DQN"}
            for iteration in range(199)
            for run in range(5)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    (tmp_path / "alien.vg.json").write_text('{"$schema": "vega"}')
    results = ex.read(tmp_path)
    assert results.tasks == ("alien",)
    assert results.agents == ("DQN", "DQN (CNN)")
    assert default_reduction(results) == "final"
    assert cells(results)[("DQN", "alien")] == 1982.0, "never half of training"
    assert cells(results, "last:5 checkpoints")[("DQN", "alien")] == 1962.0
    with pytest.raises(ex.InputError, match=r"holds checkpoints, .*'last:100' counts episodes"):
        ex.reduce(results, "last:100")


# ---------------------------------------------------------------- Stable-Baselines3: a zoo's folders


def evaluations(path: Path, results: np.ndarray) -> None:
    path.parent.mkdir(parents=True)
    np.savez(path, timesteps=np.arange(1, len(results) + 1) * 100, results=results)


def test_an_odd_file_is_skipped_with_its_reason_and_shapes_are_squeezed(tmp_path: Path):
    evaluations(tmp_path / "her" / "FetchReach-v1_1" / "evaluations.npz", np.full((2, 5, 1), 3.0))
    evaluations(tmp_path / "ppo" / "FetchReach-v1_1" / "evaluations.npz", np.full((4, 5), 2.0))
    evaluations(tmp_path / "ppo" / "FetchReach-v1_2" / "evaluations.npz", np.ones((2, 5, 2)))
    with pytest.warns(ex.ExaminerWarning, match=r"1 file could not be read .*ppo/FetchReach"):
        results = ex.read(tmp_path, path="{agent}/{task}_{run}/")
    assert cells(results) == {("her", "FetchReach-v1"): 3.0, ("ppo", "FetchReach-v1"): 2.0}
    with pytest.raises(ex.InputError, match=r"fit each other"):
        ex.read(tmp_path, path="{agent}/{task}_{run}/", strict=True)


def test_a_folder_called_by_a_later_version_still_names_the_agent_above(tmp_path: Path):
    for agent, score in (("a2c", -200), ("ddpg", -150)):
        folder = tmp_path / agent / "Pendulum-v1_1"
        folder.mkdir(parents=True)
        head = '#{"t_start": 1.5, "env_id": "Pendulum-v0"}\nr,l,t\n'
        (folder / "0.monitor.csv").write_text(head + f"{score},200,1.5\n{score},200,2.5\n")
    killed = tmp_path / "ars" / "Pendulum-v1_1"
    killed.mkdir(parents=True)
    (killed / "0.monitor.csv").write_text('#{"t_start": 1.5, "env_id": "Pendulum-v0"}\nr,l,t\n')
    results = ex.read(tmp_path)
    assert results.column("steps") == [200, 400, 200, 400]
    assert cells(results) == {("a2c", "Pendulum-v0"): -200.0, ("ddpg", "Pendulum-v0"): -150.0}
    assert default_reduction(results) == "last:100", "episodes of one length are episodes"


def test_the_means_that_stable_baselines_logs_are_checkpoints(tmp_path: Path):
    tensorboard = pytest.importorskip("tensorboard.summary.writer.event_file_writer")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    folder = tmp_path / "ppo" / "CartPole-v1_2"
    folder.mkdir(parents=True)
    writer = tensorboard.EventFileWriter(str(folder))
    for step in range(1, 200):
        value = Summary.Value(tag="rollout/ep_rew_mean", simple_value=float(step))
        writer.add_event(Event(step=100 * step, summary=Summary(value=[value])))
    writer.close()
    results = ex.read(tmp_path)
    assert (results.agents, results.tasks) == (("ppo",), ("CartPole-v1",))
    assert cells(results) == {("ppo", "CartPole-v1"): 199.0}


# ---------------------------------------------------------------- DrQ-v2, TD3, exports of trackers


def test_the_index_of_pandas_is_dropped_and_the_table_is_a_training_log(tmp_path: Path):
    lines = [",agent,task,seed,frame,episode_reward,hour"]
    lines += [f"{row},DrQ-v2,hopper_hop,1,{20_000 * row},{row}.5,0.1" for row in range(30)]
    (tmp_path / "dmc_hopper_hop.csv").write_text("\n".join(lines) + "\n")
    with pytest.warns(ex.ExaminerWarning, match=r"as pandas writes its index: it is left out"):
        results = ex.read(tmp_path)
    assert results.measures == ("episode_reward",)
    assert results.column("frames")[-1] == 580_000
    assert cells(results) == {("DrQ-v2", "hopper_hop"): 29.5}


def test_a_wide_table_may_have_no_name_over_its_agents(tmp_path: Path):
    path = tmp_path / "wide.csv"
    path.write_text(",pong,alien\ndqn,1,2\nppo,3,4\n")
    assert ex.read(path).agents == ("dqn", "ppo")
    path.write_text(",agent,pong,alien\n0,dqn,1,2\n1,ppo,3,4\n")
    assert ex.read(path).agents == ("dqn", "ppo")


def test_bare_arrays_take_their_names_from_the_path(tmp_path: Path):
    for run in range(3):
        folder = tmp_path / "Ant"
        folder.mkdir(exist_ok=True)
        np.save(folder / f"TD3_Ant-v1_{run}.npy", np.linspace(0, 100 + run, 201))
    for template in (None, "{folder}/{agent}_{task}_{run}.npy"):
        results = ex.read(tmp_path, path=template)
        assert cells(results) == {("TD3", "Ant-v1"): 101.0}
    timed = ex.read(tmp_path, time="checkpoint*5000")
    assert timed.numbers("steps").max() == 1_000_000
    assert default_reduction(timed) == "final", "a time makes no episodes of checkpoints"
    np.save(tmp_path / "Ant" / "curve.npy", np.ones(3))
    with pytest.raises(ex.InputError, match=r"names no agent and no task. Take them from its path"):
        ex.read(tmp_path / "Ant" / "curve.npy")


def test_charts_of_weights_and_biases_become_curves(tmp_path: Path):
    runs = ["Pong-v5__ppo__1__165", "Pong-v5__ppo__2__166", "exp_name: dqn, env_id: Pong-v5"]
    header = ["Step"]
    for run in runs:
        header += [f"{run} - charts/episodic_return{end}" for end in ("", "__MIN", "__MAX")]
    lines = [",".join(f'"{name}"' for name in header)]
    for step in (10, 20, 30):
        cells_of = [f'"{step * (number + 1)}","0","999"' for number in range(3)]
        cells_of[1] = '"","",""' if step == 10 else cells_of[1]
        lines.append(f'"{step}",' + ",".join(cells_of))
    (tmp_path / "wandb_export.csv").write_text("\n".join(lines) + "\n")
    results = ex.read(tmp_path)
    assert cells(results) == {("ppo", "Pong-v5"): 45.0, ("dqn", "Pong-v5"): 90.0}


def test_a_metric_of_aim_becomes_a_curve(tmp_path: Path):
    header = (
        ",idx,step,value,epoch,time,run,run.hparams.env_id,run.hparams.algo,metric,context.subset\n"
    )
    lines = [
        f"{row},{row},{100 * row},{row + bonus},,,{name},Hopper-v4,{algo},{metric},eval\n"
        for name, algo, bonus in (("3f", "ppo", 0), ("4a", "ppo", 2), ("5b", "sac", 9))
        for metric in ("loss", "eval/mean_reward")
        for row in range(4)
    ]
    (tmp_path / "aim.csv").write_text(header + "".join(lines))
    results = ex.read(tmp_path / "aim.csv")
    assert cells(results) == {("ppo", "Hopper-v4"): 4.0, ("sac", "Hopper-v4"): 12.0}


def test_plain_lists_of_records_are_tables(tmp_path: Path):
    records = [
        {"algo": "ppo", "env": "pong", "score": 3},
        {"algo": "dqn", "env": "pong", "score": 5},
    ]
    (tmp_path / "scores.json").write_text(json.dumps(records))
    results = ex.read(tmp_path)
    assert (results.agents, results.measure().tolist()) == (("dqn", "ppo"), [5.0, 3.0])
    broken = [
        {"algo": "ppo", "env": "pong", "xs": [1, 2], "ys": [1, 2]},
        {"algo": "dqn", "env": "pong", "xs": [1, 2], "ys": 3},
    ]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    with pytest.raises(ex.InputError, match=r"Record 2 has 1 points in 'ys' and 2 in 'xs'"):
        ex.read(tmp_path / "broken.json")
    (tmp_path / "broken.json").write_text('[{"a": 1}, 5]')
    with pytest.raises(ex.InputError, match=r"Entry 2 of .*no record"):
        ex.read(tmp_path / "broken.json")


def test_scales_that_match_no_task_are_listed_beside_the_tasks():
    results = ex.Results.from_numpy([[1.0, 2.0]], ["a"], ["hopper_hop", "cheetah_run"])
    scaled = results.with_scales(ex.load("atari-human-random"))
    with pytest.raises(ex.InputError, match=r"of 'alien', .*tasks are called 'hopper_hop'"):
        ex.normalise(scaled, "human")


def test_the_learners_that_a_run_keeps_are_no_news(tmp_path: Path):
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        (account,) = ledger.enter([Job("random", "random", game="pong", episodes=1).record()])
        ledger.record(account, Episode(0, 10, 5, 1.0, 0, False, 0.1))
    (tmp_path / "checkpoints").mkdir()
    for name in ("checkpoints/1f-3.checkpoint", "output.log", "thoughts.txt"):
        (tmp_path / name).write_text("…")
    notes = ex.read(tmp_path).notes
    assert "1 file was skipped that is not results: 'thoughts.txt'." in notes


def test_a_curve_without_names_asks_for_a_path_template_and_is_no_wide_table(tmp_path):
    for task in ("cheetah", "walker"):
        folder = tmp_path / "drqv2" / task / "1"
        folder.mkdir(parents=True)
        rows = [f"{20_000 * n},{n + len(task)}" for n in range(1, 6)]
        (folder / "eval.csv").write_text("\n".join(["frame,episode_reward", *rows]) + "\n")
    with pytest.raises(ex.InputError, match=r"no column for the agent.*--path"):
        ex.read(tmp_path)
    results = ex.read(tmp_path, path="{agent}/{task}/{run}/")
    assert results.agents == ("drqv2",) and results.tasks == ("cheetah", "walker")
    assert results.provenance.training


LOGS = {
    "tensorboard": (
        "{task}/{agent}_seed{run}.csv",
        "Wall time,Step,Value",
        "{wall},{step},{score}",
        {"path": "{task}/{agent}_seed{run}"},
    ),
    "spinning up": (
        "{agent}_{task}/{agent}_{task}_s{run}/progress.txt",
        "Epoch\tAverageEpRet\tStdEpRet\tTotalEnvInteracts",
        "{epoch}\t{score}\t1\t{step}",
        {"measure": "AverageEpRet", "path": "{agent}_{task}/{folder}_s{run}/"},
    ),
    "stable baselines 3": (
        "{agent}/{task}_{run}/progress.csv",
        "time/fps,rollout/ep_rew_mean,time/total_timesteps",
        "100,{score},{step}",
        {"path": "{agent}/{task}_{run}/"},
    ),
    "rllib": (
        "{agent}/{upper}_{task}_{run}/progress.csv",
        "episode_reward_max,episode_reward_mean,timesteps_total,date,hostname",
        "9999,{score},{step},2020-01-01_00-00-{epoch},node",
        {"measure": "episode_reward_mean", "path": "{folder}/{agent}_{task}_{run}/"},
    ),
}
"""How libraries lay out their logs: the path, the header, a row, and what the refusal proposes."""


@pytest.mark.parametrize("name", LOGS)
def test_logs_of_libraries_are_refused_with_the_options_that_read_them(name, tmp_path):
    where, header, row, options = LOGS[name]
    for agent, level in (("sac", 100), ("td3", 50)):
        for task in ("Ant-v4", "Hopper-v4"):
            for run in range(3):
                path = tmp_path / where.format(agent=agent, task=task, run=run, upper=agent.upper())
                path.parent.mkdir(parents=True, exist_ok=True)
                rows = [
                    row.format(
                        epoch=n, step=5000 * (n + 1), score=level * n + run, wall=1e9 + 17.3 * n
                    )
                    for n in range(20)
                ]
                path.write_text("\n".join([header, *rows]) + "\n")
    with pytest.raises(ex.InputError) as refused:
        ex.read(tmp_path)
    measure = f"--measure {options['measure']} " if "measure" in options else ""
    command = f"`{measure}--path '{options['path']}'`"
    assert command in str(refused.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        results = ex.read(tmp_path, **options)
        final = ex.responses(ex.reduce(results)).to_numpy()
    assert [agent.lower() for agent in results.agents] == ["sac", "td3"]
    assert results.tasks == ("Ant-v4", "Hopper-v4") and results.counts()["runs"] == 3
    assert final.tolist() == [[1901, 1901], [951, 951]], "the last row of each run, over three runs"


def test_an_agent_stands_before_an_environment_of_a_later_version(tmp_path: Path):
    path = tmp_path / "ars-Pendulum-v1" / "0.monitor.csv"
    path.parent.mkdir()
    path.write_text('#{"t_start": 1.5, "env_id": "Pendulum-v0"}\nr,l,t\n-21,800,9.5\n')
    assert ex.read(path).agents == ("ars",)
