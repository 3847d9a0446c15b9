"""A small valid file of every format, for the tests to read, to mutate and to put into folders."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from examiner.results import Results
from importers.evaluation_files import (
    DATE,
    LM_EVAL_RESULTS,
    eee_aggregate,
    eee_line,
    eval_archive,
    harbor_trial,
    helm_instance,
    helm_specification,
    helm_state,
    inspect_members,
    inspect_sample,
    lines_of,
    lm_eval_line,
    mteb_result,
)

MONITOR = '#{"t_start": 1700000000.5, "env_id": "PongNoFrameskip-v4"}\nr,l,t\n-21.0,800,2.5\n-19,900,5.0\n'
TIDY = (
    "agent,task,level,run,trial,score\ndqn,pong,0,0,0,18.5\ndqn,pong,1,0,0,-3\nppo,pong,0,0,0,7\n"
)
STDOUT = (
    " ** Playing game g/aliens.txt, level g/aliens_lvl0.txt (1/2) **\n"
    "Result (1->win; 0->lose): Player0:1, Player0-Score:80.0, timesteps:476\n"
    " ** Playing game g/aliens.txt, level g/aliens_lvl1.txt (1/2) **\n"
    "Result (1->win; 0->lose):0, Score:-2.5, timesteps:33\n"
)


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _npy(values: list[float]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array(values))
    return buffer.getvalue()


def _parquet(folder: Path) -> bytes:
    path = folder / "made.parquet"
    Results.from_numpy([[1.0, 2.0], [3.0, 4.5]], ["a", "b"], ["s", "t"]).save(path)
    data = path.read_bytes()
    path.unlink()
    return data


EXAMPLES: dict[str, tuple[str, Callable[[Path], bytes]]] = {
    "csv": ("scores.csv", lambda _: TIDY.encode()),
    "parquet": ("scores.parquet", _parquet),
    "ndjson": (
        "scores.jsonl",
        lambda _: lines_of(
            [{"agent": "a", "task": "t", "score": 1}, {"agent": "b", "task": "t", "score": 2.5}]
        ),
    ),
    "sb3-monitor": ("0.monitor.csv", lambda _: MONITOR.encode()),
    "sb3-evaluations": (
        "evaluations.npz",
        lambda _: _npz(
            timesteps=np.array([100, 200]),
            results=np.array([[1.0, 2.0], [3.0, 4.0]]),
            ep_lengths=np.array([[5, 6], [7, 8]]),
        ),
    ),
    "dopamine": (
        "asterix.json",
        lambda _: json.dumps(
            [
                {"Iteration": iteration, "Value": 10.5 * iteration, "Agent": agent}
                for agent in ("DQN", "C51")
                for iteration in (0, 0, 1, 1)
            ]
        ).encode(),
    ),
    "npy": ("TD3_Ant-v1_0.npy", lambda _: _npy([1.0, 3.0, 9.5])),
    "json": (
        "curves.json",
        lambda _: json.dumps(
            [{"task": "t", "method": "a", "seed": 0, "xs": [0, 5, 10], "ys": [1.0, 2.0, 4.5]}]
        ).encode(),
    ),
    "markdown": (
        "page.md",
        lambda _: b"# Scores\n\n|agent|task|score|\n|--|--|--:|\n|dqn|pong|2|\n",
    ),
    "wandb": (
        "wandb.csv",
        lambda _: (
            b'"Step","Pong-v5__ppo__1__165 - eval/return","Pong-v5__ppo__1__165 - eval/return__MIN",'
            b'"Pong-v5__ppo__1__165 - eval/return__MAX"\n"1","-3","-4","0"\n"2","5","4","6"\n'
        ),
    ),
    "rliable": (
        "scores.npz",
        lambda _: _npz(DQN=np.ones((2, 3)), PPO=np.zeros((4, 3)), tasks=np.array(["a", "b", "c"])),
    ),
    "py-irt": (
        "responses.jsonl",
        lambda _: lines_of(
            [
                {"subject_id": "bert", "responses": {"q1": 1, "q2": 0}},
                {"subject_id": "gpt", "responses": {"q1": 1, "q3": None, "q2": 1}},
            ]
        ),
    ),
    "lm-eval": (
        f"samples_arc_{DATE}.jsonl",
        lambda _: lines_of([lm_eval_line(number, {"acc": number / 2}) for number in range(3)]),
    ),
    "lm-eval-results": (
        f"results_{DATE}.json",
        lambda _: json.dumps(LM_EVAL_RESULTS).encode(),
    ),
    "inspect": (
        "2026-01-21T03-44-18+00-00_arc-easy_x.eval",
        lambda _: eval_archive(
            inspect_members(
                [inspect_sample(1, "C"), inspect_sample("b", "I"), inspect_sample(1, 0, 2)]
            )
        ),
    ),
    "swe-bench": (
        "per_instance_details.json",
        lambda _: json.dumps(
            {
                "django__django-1": {"resolved": True, "cost": 0.5, "api_calls": 3},
                "django__django-2": {"resolved": False, "cost": 0.25, "api_calls": 9},
            }
        ).encode(),
    ),
    "every-eval-ever": (
        "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40_samples.jsonl",
        lambda _: lines_of([eee_line("1", 1.0), eee_line("2", 0.25), eee_line("2", 0.5)]),
    ),
    "every-eval-ever-results": (
        "f3a1c0de-4b2e-4c1a-9f6d-1b7e5a2c8d40.json",
        lambda _: json.dumps(eee_aggregate()).encode(),
    ),
    "helm": (
        "per_instance_stats.json",
        lambda folder: (
            (folder / "run_spec.json").write_text(json.dumps(helm_specification()))
            and json.dumps([helm_instance("id1", 1), helm_instance("id2", 0)]).encode()
        ),
    ),
    "yaml": (
        "scores.yml",
        lambda _: (
            b"- {agent: dqn, task: pong, score: 18.5}\n- {agent: ppo, task: pong, score: 7}\n"
        ),
    ),
    "helm-answers": (
        "scenario_state.json",
        lambda _: json.dumps(helm_state([("id1", " B", "B"), ("id2", "A", "C")])).encode(),
    ),
    "harbor": (
        "result.json",
        lambda _: json.dumps(harbor_trial("chess", "chess__a", 1.0)).encode(),
    ),
    "terminal-bench": (
        "results.json",
        lambda _: json.dumps(
            {
                "model_name": "gpt-5",
                "results": [{"task_id": "chess", "trial_name": "a", "is_resolved": True}],
            }
        ).encode(),
    ),
    "mteb": (
        "STS12.json",
        lambda _: json.dumps(mteb_result("STS12", {"test": {"default": 0.7}})).encode(),
    ),
    "lighteval": (
        "results_2025-01-02T03-04-05.6.json",
        lambda _: json.dumps(
            {
                "config_general": {"model_name": "org/m", "lighteval_sha": "abc"},
                "results": {
                    "lighteval|arc|0": {"acc": 0.5, "acc_stderr": 0.1},
                    "all": {"acc": 0.5, "acc_stderr": 0.1},
                },
            }
        ).encode(),
    ),
    "gvgai-stdout": ("mcts.log", lambda _: STDOUT.encode()),
    "gvgai-trials": (
        "trials.csv",
        lambda _: (
            b"mcts,aliens,0,1,80.0,476\nmcts,aliens,0,0,3,9\nrandom,aliens,0,-100,-1000.0,0\n"
        ),
    ),
    "gvgai-executor": ("mcts.txt", lambda _: b"aliens 0 1234 1 80.0 476\naliens 1 99 0 -3 22\n"),
}


def write_example(folder: Path, name: str) -> Path:
    """Write the example of a format into a folder."""
    file_name, content = EXAMPLES[name]
    path = folder / file_name
    path.write_bytes(content(folder))
    return path
