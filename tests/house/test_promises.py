"""No command opens a connection, and no data file runs code; a plan does, and only when it is played."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GUARDED = """
import sys
FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.bind", "urllib.Request", "pickle.find_class")
def refuse(event, arguments):
    if event in FORBIDDEN:
        raise SystemExit(f"promise broken: {event} {arguments}")
sys.addaudithook(refuse)
from examiner.cli import main
main()
"""
MODULE = "open('imported', 'w').close()\nclass Agent:\n    def act(self, observation):\n        return 0\n"
PLAN = 'games = ["CartPole-v1"]\nenvironment = "gymnasium"\n[[agents]]\nentry = "mine:Agent"\n'
TABLE = "agent,task,score\na,pong,1\nb,pong,2\na,x,0\nb,x,1\n"


def examiner(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as installed, without the current folder among the modules."""
    return subprocess.run(
        [sys.executable, "-P", "-c", GUARDED, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "command",
    [
        ("scores", "t.csv", "--reps", "10"),
        pytest.param(("report", "t.csv", "--sections", "ranking"), marks=pytest.mark.slow),
        pytest.param(("describe", "."), marks=pytest.mark.slow),
    ],
)
def test_no_command_on_data_opens_a_connection_or_runs_code_that_lies_there(command, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    for name in ("json.py", "numpy.py", "sitecustomize.py", "conftest.py", "examiner.py"):
        (tmp_path / name).write_text(MODULE)
    (tmp_path / "t.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'touch imported'\ntR.")
    done = examiner(tmp_path, *command)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()


def test_a_plan_runs_the_code_beside_it_when_it_is_played_and_not_before(tmp_path):
    pytest.importorskip("gymnasium")
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "plan.toml").write_text(PLAN)
    done = examiner(tmp_path, "arena", "run", "plan.toml", "--explain")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "imported").exists()
