"""Plan files of GVGAI plays: what they may hold, and what is said of what they may not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from arena.runs import command
from examiner.arena import GvgaiPlan, bundled_plans, plan, plan_from_toml, probe_plan
from examiner.messages import InputError

AGENTS = '[[agents]]\nentry = "sampleMCTS"\n'


def read(text: str, agents: str = AGENTS) -> GvgaiPlan:
    made = plan_from_toml(f'environment = "gvgai"\n{text}\n{agents}', folder=Path("/plans"))
    assert isinstance(made, GvgaiPlan)
    return made


def test_paths_begin_at_the_folder_of_the_plan() -> None:
    made = read('checkout = "../GVGAI"\nclass_path = ["classes", "/opt/agents.jar"]')
    assert made.checkout == Path("/plans/../GVGAI")
    assert made.class_path == (Path("/plans/classes"), Path("/opt/agents.jar"))


def test_the_usual_budget_is_fifty_calls_and_all_games_and_levels() -> None:
    made = read("")
    assert made.rules.model_calls == 50 and (made.games, made.levels) == ("all", "all")


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("levles = [0]", "Unknown key of the plan 'levles'. Did you mean 'levels'?"),
        ("rules = { model_calls = 50, milliseconds = 40 }", "Keep one of the two"),
        ('rules = { milliseconds = 40, overspending = "forgiven" }', "is not forgiven"),
        ("rules = { max_ticks = 3000 }", "a whole number from 1 to 2000"),
        ("rules = { call = 50 }", "'call'"),
        ('games = ["aliens", "aliens"]', "games[1]: 'aliens' is listed twice"),
        ("frames = 100", "Unknown key of the plan 'frames'"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(text: str, refused: str) -> None:
    with pytest.raises(InputError) as told:
        read(text)
    assert refused in str(told.value)


def test_agents_are_told_apart_and_known() -> None:
    with pytest.raises(InputError, match="'sampleMCTS' is listed twice"):
        read("", AGENTS + AGENTS)
    with pytest.raises(InputError, match="Did you mean 'olets'"):
        read("", '[[agents]]\nentry = "olet"')


@pytest.mark.parametrize("name", [name for name in bundled_plans() if name.startswith("gvgai")])
def test_bundled_plans_say_what_they_cost(name: str) -> None:
    made = plan(name)
    assert isinstance(made, GvgaiPlan)
    assert "core-hours" in made.source or name == "gvgai-planners"
    games = 122 if made.games == "all" else len(made.games)
    assert games == {"gvgai-002": 49, "gvgai-004": 108}.get(name[:9], 122)


def test_a_probe_of_sticky_actions_refuses_them(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no sticky actions"):
        probe_plan("gvgai-planners", tmp_path)


def small_checkout(folder: Path) -> Path:
    """A framework without a game worth playing: enough to be told what would be played."""
    sources = Path(__file__).parent / "gvgai_framework" / "src"
    shutil.copytree(sources, folder / "src")
    (folder / "sprites").mkdir()
    games = folder / "examples" / "gridphysics"
    games.mkdir(parents=True)
    for name in ("aliens.txt", "aliens_lvl0.txt", "aliens_lvl1.txt"):
        (games / name).write_text("10")
    (folder / "examples" / "all_games_sp.csv").write_text("0,examples/gridphysics/aliens.txt\n")
    return folder


def test_a_plan_is_explained_with_the_most_core_hours_it_may_take(tmp_path: Path) -> None:
    text = f'environment = "gvgai"\ncheckout = "{small_checkout(tmp_path / "GVGAI")}"\n'
    path = tmp_path / "mine.toml"
    path.write_text(text + '[[agents]]\nentry = "doNothing"\n')
    told = command("arena", "run", str(path), "--explain")
    assert told.code == 0, told.err
    assert "2 plays: 1 agent × 2 levels of 1 game × 1 seed" in told.out
    assert "50 model calls an action" in told.out and "core-hours" in told.out
    content = json.loads(command("arena", "run", str(path), "--explain", "--json").out)
    assert (content["jobs"], content["max_ticks"]) == (2, 2000)
    assert content["core_hours"] == pytest.approx(2 * content["cpu_seconds"] / 3600)


@pytest.mark.parametrize(
    ("words", "refused"),
    [
        (("atari-arena", "--checkout", "GVGAI"), "plays no GVGAI games"),
        (("gvgai-planners", "--workers", "ray"), "local Java processes"),
        (("gvgai-planners", "--checkout", "nowhere"), "There is no GVGAI checkout in 'nowhere'"),
    ],
)
def test_commands_that_do_not_fit_are_refused_and_leave_nothing(
    words: tuple[str, ...], refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = command("arena", "run", *words)
    assert told.code == 2 and list(tmp_path.iterdir()) == []
    assert refused in " ".join(told.err.split())
