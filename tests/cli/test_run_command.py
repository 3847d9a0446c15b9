"""`examiner arena run`: a plan in, a ledger out, and every other command takes it."""

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import examiner as ex
from arena.runs import command as run
from examiner.arena import JobStanding, Standing
from examiner.arena import plan as named_plan
from examiner.cli import output
from examiner.cli.output import drawn

PLAN = """
games = ["CartPole-v1"]
environment = "gymnasium"
seeds = 2
episodes = 3
protocol = { preset = "machado-2018", frame_skip = 1, sticky_probability = 0.0 }

[[agents]]
entry = "random"

[[agents]]
name = "mine"
entry = "plan_side_agent:make"
settings = { action = 1 }
"""
AGENT = """
class Fixed:
    def __init__(self, action):
        self.action = action
    def act(self, observation):
        print("hello from the agent")
        return self.action
def make(action):
    return Fixed(action)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the plan was run once."""
    folder = tmp_path_factory.mktemp("plans")
    (folder / "pilot.toml").write_text(PLAN)
    (folder / "plan_side_agent.py").write_text(AGENT)
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "out", "--workers", 2)
    assert done.code == 0, done.err
    assert "4 of 4 jobs done; played 12 episodes" in done.out
    return folder


def test_every_command_takes_the_ledger_and_its_export(folder: Path) -> None:
    out = folder / "out"
    for source in (out, out / "ledger.sqlite", out / "episodes.parquet"):
        described = json.loads(run("describe", source, "--json").out)
        assert (described["agents"], described["tasks"], described["rows"]) == (2, 1, 12)
        assert (described["runs"], described["trials"]) == (2, 3)
        done = run("scores", source, "--reps", 20, "--json")
        assert done.code == 0, done.err
        assert {row["agent"] for row in json.loads(done.out)["agents"]} == {"random", "mine"}
    done = run("report", folder / "out" / "ledger.sqlite", "-o", folder / "report.html")
    assert done.code == 0 and (folder / "report.html").stat().st_size > 100_000


def test_the_export_has_every_column_and_equals_the_ledger(folder: Path) -> None:
    exported = ex.read(folder / "out" / "episodes.parquet")
    ledger = ex.read(folder / "out" / "ledger.sqlite")
    columns = ("frames", "length", "score", "lives", "truncated", "cpu_seconds", "seed", "split")
    for column in (
        "run",
        "trial",
        *columns,
        "job",
        "protocol",
        "version_examiner",
        "version_numpy",
        "version_python",
    ):
        assert exported.column(column) == ledger.column(column), column
    assert set(ledger.column("version_examiner")) == {ex.__version__}
    assert set(ledger.column("split")) == {"test"}


def test_running_again_plays_nothing_and_says_so(folder: Path) -> None:
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "out", "--json")
    told = json.loads(done.out)
    assert told["schema"] == "examiner.run/1"
    assert (told["jobs"], told["done"], told["done_before"]) == (4, 4, 4)
    assert (told["episodes"], told["failed"]) == (0, [])


def test_what_agents_print_is_in_the_log(folder: Path) -> None:
    assert "hello from the agent" in (folder / "out" / "output.log").read_text()


def test_a_run_s_own_files_are_no_strangers_in_its_folder(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "out", tmp_path / "out")
    for name in ("ledger.sqlite.lock", "output.log"):
        (tmp_path / "out" / name).write_text("of the run")
    told = json.loads(run("describe", tmp_path / "out", "--json").out)
    assert told["notes"] == [] and told["rows"] == 12
    (tmp_path / "out" / "thoughts.md").write_text("of mine")
    (note,) = json.loads(run("describe", tmp_path / "out", "--json").out)["notes"]
    assert note == "1 file was skipped that is not results: 'thoughts.md'."


def test_names_with_control_characters_are_shown_and_not_obeyed(tmp_path: Path) -> None:
    hostile = PLAN.partition("[[agents]]\nname")[0] + 'name = "ag\\u001b[31ment\\u0007"\n'
    (tmp_path / "plan.toml").write_text(hostile)
    (tmp_path / "evil\x1b[31m.toml").write_text(hostile)
    for words in (
        ("arena", "run", tmp_path / "plan.toml", "-o", tmp_path / "o\x1b[31mut", "--workers", 1),
        ("arena", "run", tmp_path / "plan.toml", "--explain"),
        ("arena", "run", tmp_path / "evil\x1b[31m.toml"),
        ("describe", tmp_path / "o\x1b[31mut"),
    ):
        done = run(*words)
        assert "\x1b" not in done.out + done.err and "\x07" not in done.out + done.err
        assert r"\x1b" in done.out + done.err or "--explain" in words
    assert not [one for one in tmp_path.iterdir() if one.is_dir() and one.name.startswith("evil")]


def test_stopped_before_anything_was_played_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["examiner.cli.arena.run"], "run_plan", stopped)
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "unplayed")
    assert done.code == 130 and "stopped; nothing had been played yet." in done.err
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "out")
    assert done.code == 130 and "all episodes so far are kept" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("name", ["atari-arena", "machado-2018-table1"])
def test_bundled_plans_are_run_by_name_and_files_of_that_name_by_their_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ale_py")
    monkeypatch.chdir(tmp_path)
    told = json.loads(run("arena", "run", name, "--explain", "--json").out)
    assert told["jobs"] >= 50
    Path(name).write_text(PLAN, encoding="utf-8")
    assert len(named_plan(name).jobs()) == told["jobs"]
    with pytest.raises(ex.InputError, match="plan_side_agent"):
        named_plan(f"./{name}")


def test_explaining_plays_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "unplayed", "--explain")
    assert "4 jobs: 2 agents × 1 variant of 1 game × 2 seeds" in done.out
    assert "sticky_probability" in done.out and "frame_skip" in done.out
    assert "tuning games        0" in done.out
    told = json.loads(run("arena", "run", folder / "pilot.toml", "--explain", "--json").out)
    apart = {one["setting"]: (one["value"], one["reference"]) for one in told["deviations"]}
    assert apart == {"sticky_probability": ("0.0", "0.25"), "frame_skip": ("1", "5")}
    assert told["games"] == [{"game": "CartPole-v1", "split": "test"}]
    assert [row["agent"] for row in told["frame_budgets"]] == ["random", "mine"]
    assert not (folder / "unplayed").exists()


def test_a_plan_as_the_paper_says_deviates_in_nothing(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('games = ["freeway"]\n[[agents]]\nentry = "random"')
    done = run("arena", "run", tmp_path / "plan.toml", "--explain")
    assert "deviating settings  0" in done.out and "Deviations from" not in done.out
    assert "tuning games        1" in done.out


def test_failures_are_listed_and_the_exit_code_is_one(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN.replace("settings = { action = 1 }", ""))
    (tmp_path / "plan_side_agent.py").write_text(AGENT)
    done = run("arena", "run", tmp_path / "plan.toml", "-o", tmp_path / "out", "--workers", 1)
    assert done.code == 1
    assert "2 of 4 jobs done, 2 failed" in done.out
    assert "Failed jobs" in done.out and "mine   CartPole-v1" in done.out and "action" in done.out
    told = json.loads(
        run(
            "arena",
            "run",
            tmp_path / "plan.toml",
            "-o",
            tmp_path / "out",
            "--json",
            "--skip-failed",
        ).out
    )
    assert [(one["agent"], one["seed"]) for one in told["failed"]] == [("mine", 0), ("mine", 1)]


BAD = {
    (
        "--workers",
        "0",
    ): "The number of workers is '0'. Give a whole number of at least 1, or 'ray'.",
    ("--workers", "many"): "The number of workers is 'many'.",
    ("--address", "10.0.0.1:6379"): "without `--workers ray`",
}


@pytest.mark.parametrize("options", BAD)
def test_bad_options_are_one_sentence(folder: Path, options: tuple[str, str]) -> None:
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "bad", *options)
    assert done.code == 2 and BAD[options] in done.err and done.err.count("\n") == 1


def test_a_folder_that_cannot_be_made_is_one_sentence(folder: Path) -> None:
    done = run("arena", "run", folder / "pilot.toml", "-o", folder / "pilot.toml")
    assert done.code == 2 and done.err.count("\n") == 1 and "Traceback" not in done.err


def test_without_ray_the_extra_is_named(folder: Path) -> None:
    code = (
        "import sys; sys.modules['ray'] = None; from examiner.cli import main; "
        f"sys.argv = ['examiner', 'arena', 'run', {str(folder / 'pilot.toml')!r}, '-o', "
        f"{str(folder / 'ray')!r}, '--workers', 'ray']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Working on a cluster needs Ray: pip install 'examiner[ray]'." in done.stderr


def test_the_live_table_shows_what_is_played() -> None:
    from rich.console import Console

    playing = tuple(JobStanding("dqn", "pong", seed, 12, 24_000, 0.5, -20.5) for seed in range(25))
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(drawn(Standing(40, 10, 2, playing, 300, 1_000_000, 8_000.0, 0.4, float("nan"))))
    text = console.export_text()
    assert "10 of 40 jobs done, 2 failed" in text and "8,000 frames/s" in text and "? to go" in text
    assert "-20.5" in text and "24,000" in text and "… and 5 more" in text


def test_without_a_terminal_a_line_is_written_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    standing = Standing(40, 10, 0, (), 300, 1_000_000, 8_000.0, 0.4, 3_700.0)
    with output.live_table() as watcher:
        watcher(standing)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(output, "SECONDS_BETWEEN_STANDINGS", 0.0)
        watcher(standing)
    assert capsys.readouterr().err.endswith("8,000 frames/s   40 %   1:01:40 to go\n")


@pytest.mark.parametrize("address", [None, "10.0.0.1"])
def test_a_ray_that_cannot_start_is_one_sentence(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    class NoRay(ModuleType):
        @staticmethod
        def is_initialized() -> bool:
            return False

        @staticmethod
        def init(**_: object) -> None:
            raise Exception("The current node timed out during startup.\nSee the logs.")

    monkeypatch.setitem(sys.modules, "ray", NoRay("ray"))
    words = [
        "arena",
        "run",
        folder / "pilot.toml",
        "-o",
        tmp_path / "out",
        "--workers",
        "ray",
        "--json",
    ]
    done = run(*words, *(("--address", address) if address else ()))
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    where = f"Cannot reach a Ray cluster at {address!r}" if address else "Ray cannot start on this"
    assert where in done.err and "The current node timed out during startup." in done.err
