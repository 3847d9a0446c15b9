"""One training log in several formats gives the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.scores import reduce

pytestmark = pytest.mark.filterwarnings("ignore::examiner.ExaminerWarning")
RUNS = {
    (agent, run): [float(100 * step + 10 * run + place) for step in range(6)]
    for place, agent in enumerate(("ppo", "sac"))
    for run in range(3)
}
TASK, STEPS = "Hopper-v4", [1000 * (step + 1) for step in range(6)]


def as_csv(folder: Path) -> ex.Results:
    lines = [
        f"{agent},{TASK},{run},{step},{score}"
        for (agent, run), scores in RUNS.items()
        for step, score in zip(STEPS, scores, strict=True)
    ]
    (folder / "log.csv").write_text("\n".join(["agent,task,seed,step,score", *lines]))
    return ex.read(folder / "log.csv")


def as_json(folder: Path) -> ex.Results:
    curves = [
        {"method": agent, "task": TASK, "seed": run, "xs": STEPS, "ys": scores}
        for (agent, run), scores in RUNS.items()
    ]
    (folder / "log.json").write_text(json.dumps(curves))
    return ex.read(folder / "log.json")


def as_npz(folder: Path) -> ex.Results:
    agents = dict.fromkeys(agent for agent, _ in RUNS)
    arrays = {agent: np.array([RUNS[agent, run] for run in range(3)]).T for agent in agents}
    np.savez(folder / "log.npz", **arrays)
    return ex.read(folder / "log.npz", axes="checkpoints,runs", task=f"={TASK}")


def as_tensorboard(folder: Path) -> ex.Results:
    pytest.importorskip("tensorboard")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for (agent, run), scores in RUNS.items():
        writer = EventFileWriter(str(folder / f"{TASK}__{agent}__{run}__1650000000"))
        for step, score in zip(STEPS, scores, strict=True):
            value = Summary.Value(tag="eval/mean_reward", simple_value=score)
            writer.add_event(Event(step=step, summary=Summary(value=[value])))
        writer.close()
    return ex.read(folder)


@pytest.mark.parametrize("other", [as_json, as_npz, as_tensorboard])
def test_a_log_gives_the_same_numbers_in_every_format(other, tmp_path: Path) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "other").mkdir()
    tables = [reduce(read) for read in (as_csv(tmp_path / "csv"), other(tmp_path / "other"))]
    first, second = (
        {
            (agent, task, int(run)): score
            for agent, task, run, score in zip(
                *(table.column(name) for name in ("agent", "task", "run", "score")), strict=True
            )
        }
        for table in tables
    )
    assert first == second
    assert len(first) == len(RUNS)
