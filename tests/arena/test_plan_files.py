"""Plans: what they mean, and that everything wrong in them is refused by its key before anything starts."""

from pathlib import Path

import pytest

from examiner.arena import PROTOCOLS, TRAINING_GAMES, plan_from_toml
from examiner.arena import plan as read_plan
from examiner.messages import InputError

RANDOM = '\n[[agents]]\nentry = "random"\n'


def test_a_plan_is_every_combination_once() -> None:
    plan = plan_from_toml(
        'games = ["Pong", { name = "ALE/Freeway-v5", modes = [0, 3], difficulties = [0, 1] }]\n'
        "seeds = [4, 7]\nepisodes = 3\n"
        '[[agents]]\nentry = "random"\n'
        '[[agents]]\nname = "up"\nentry = "constant"\nsettings = { action = "UP" }\nframes = 99\n'
    )
    jobs = plan.jobs()
    told = {(job.agent, job.game, job.mode, job.difficulty, job.seed) for job in jobs}
    variants = {("pong", 0, 0), *(("freeway", m, d) for m in (0, 3) for d in (0, 1))}
    wanted = {(a, *v, s) for a in ("random", "up") for v in variants for s in (4, 7)}
    assert told == wanted and len(jobs) == len(wanted) == 20
    assert len({job.key for job in jobs}) == 20
    assert {(job.agent, job.episodes, job.frames) for job in jobs} == {
        ("random", 3, None),
        ("up", 3, 99),
    }
    assert {job.protocol for job in jobs} == {PROTOCOLS["machado-2018"]}


def test_lists_of_all_modes_and_all_training_games_can_be_named() -> None:
    plan = plan_from_toml('games = "training"\nmodes = "all"\nepisodes = 1' + RANDOM)
    jobs = plan.jobs()
    assert {job.game for job in jobs} == set(TRAINING_GAMES)
    assert {job.mode for job in jobs if job.game == "freeway"} == set(range(8))
    assert {plan.split(job.game) for job in jobs} == {"train"}
    assert len(plan_from_toml('games = "all"' + RANDOM).games) == 104


@pytest.mark.slow
def test_all_games_can_be_planned_at_once() -> None:
    assert len({job.game for job in plan_from_toml('games = "all"' + RANDOM).jobs()}) == 104


def test_the_protocol_is_a_preset_with_changes() -> None:
    plan = plan_from_toml('games = ["pong"]\nprotocol = "mnih-2015"' + RANDOM)
    assert plan.protocol == PROTOCOLS["mnih-2015"]
    changed = plan_from_toml(
        'games = ["pong"]\n[protocol]\npreset = "mnih-2015"\nframe_skip = 2' + RANDOM
    )
    assert changed.protocol.frame_skip == 2 and changed.protocol.sticky_probability == 0.0


def test_games_for_tuning_are_marked() -> None:
    plan = plan_from_toml('games = ["pong", "freeway"]\ntuning_games = ["Pong"]' + RANDOM)
    assert (plan.split("pong"), plan.split("freeway")) == ("train", "test")


def test_limits_have_defaults_and_units() -> None:
    assert plan_from_toml('games = ["pong"]' + RANDOM).limits.silent_seconds == 3600
    text = 'games = ["pong"]\nlimits = { job_seconds = 60, memory_mib = 512 }' + RANDOM
    limits = plan_from_toml(text).limits
    assert (limits.job_seconds, limits.memory_mib) == (60, 512)


def test_an_agent_is_found_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "own_agent_beside_plan.py").write_text("class Agent: ...")
    path = tmp_path / "pilot.toml"
    path.write_text('games = ["pong"]\n[[agents]]\nentry = "own_agent_beside_plan:Agent"')
    plan = read_plan(path)
    assert plan.name == "pilot" and plan.folder == tmp_path
    path.write_text('games = ["pong"]\n[[agents]]\nentry = "nowhere_to_be_found:Agent"')
    with pytest.raises(InputError, match=r"agents\[0\]\.entry: there is no module 'nowhere_to_be"):
        read_plan(path)


WRONG = {
    "seedz = 3": "Unknown key of the plan 'seedz'. Did you mean 'seeds'?",
    "seeds = 0": "The plan's seeds is '0'. Give how many there are, up to 1,000,000, or a list",
    "seeds = true": "The plan's seeds is 'True'",
    "seeds = [1, -1]": "The plan's seeds[1] is '-1'. Give a whole number of at least 0.",
    "episodes = 1.5": "The plan's episodes is '1.5'. Give a whole number of at least 1.",
    "frames = 0": "The plan's frames is '0'",
    'environment = "atari"': "environment: Unknown environment 'atari'. Known: 'ale', 'gvgai', 'gymn",
    'observation = "dqn"': "observation: Unknown observation 'dqn'. Did you mean 'dqn84x4'?",
    "protocol = 3": "The plan's protocol is '3'. Give a preset's name",
    'protocol = "machado"': "protocol: Unknown protocol 'machado'. Did you mean 'machado-2018'?",
    "protocol = { stickyness = 0.1 }": "protocol: Unknown setting of a protocol 'stickyness'.",
    "protocol = { frame_skip = 0 }": "protocol: The protocol's frame_skip is '0'. Give a whole",
    "protocol = { report_shares = 1 }": "protocol: The protocol's report_shares is '1'. Give rising",
    "modes = [9]": "The game 'pong' has no mode 9. It has 0, 1.",
    "modes = 1": "The plan's modes is '1'. Give a list of whole numbers",
    "difficulties = [7]": "The game 'pong' has no difficulty 7. It has 0, 1, 2, 3.",
    'limits = "none"': "The plan's limits is 'none'. Give a table",
    "limits = { seconds = 1 }": "Unknown key of limits 'seconds'. Did you mean 'job_seconds'?",
    "limits = { job_seconds = -1 }": "The plan's limits.job_seconds is '-1'. Give a number above 0",
    'tuning_games = ["chess"]': "tuning_games[0]: Unknown Atari game 'chess'",
    "tuning_games = 5": "The plan's tuning_games is '5'",
    "name = 3": "The plan's name is '3'. Give text.",
    "agents = 3": "The plan's agents is '3'. Give a table for each: [[agents]] with entry =",
    "seeds = ": "The plan is not TOML: Invalid value (at line 2",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_said_with_its_key(line: str) -> None:
    agents = "" if line.startswith("agents") else RANDOM
    with pytest.raises(InputError) as told:
        plan_from_toml(f'games = ["pong"]\n{line}{agents}').jobs()
    assert WRONG[line] in str(told.value)


WRONG_GAMES = {
    "[]": "The plan's games is '[]'. Give a list",
    '"pong"': "The plan's games is 'pong'. Give a list",
    '["pnog"]': "games[0]: Unknown Atari game 'pnog'. Did you mean 'pong'?",
    '["pong", "combat"]': "games[1]: The game 'combat' cannot be played: it is for two players",
    '["pong", "Pong"]': "games[1]: the game 'pong' is listed twice",
    "[3]": "The plan's games[0] is '3'. Give a name, or a table",
    "[{ modes = [0] }]": "The plan's games[0].name is missing",
    '[{ name = "pong", mode = 0 }]': "Unknown key of games[0] 'mode'. Did you mean 'modes'?",
}


@pytest.mark.parametrize("games", WRONG_GAMES)
def test_wrong_games_are_refused_by_their_place(games: str) -> None:
    with pytest.raises(InputError) as told:
        plan_from_toml(f"games = {games}{RANDOM}").jobs()
    assert WRONG_GAMES[games] in str(told.value)


WRONG_AGENTS = {
    'entry = "randm"': "agents[0].entry: Unknown agent 'randm'. Did you mean 'random'?",
    'entry = "module:"': "The plan's agents[0].entry is 'module:'. Give \"module:factory\"",
    'name = "x"': "The plan's agents[0].entry is missing. Give text.",
    'entry = "random"\nenrty = 1': "Unknown key of agents[0] 'enrty'. Did you mean 'entry'?",
    'entry = "random"\nsettings = 1': "The plan's agents[0].settings is '1'. Give a table",
    'entry = "constant"\nsettings = { acton = 1 }': (
        "agents[0].settings: Unknown setting of constant 'acton'. Did you mean 'action'?"
    ),
    'entry = "random"\nobservation = "rgb"': "agents[0].observation: Unknown observation 'rgb'",
    'entry = "random"\nepisodes = 0': "The plan's agents[0].episodes is '0'",
    'entry = "random"\n[[agents]]\nentry = "random"': "Two agents are called 'random': agents[1].name",
}


@pytest.mark.parametrize("agent", WRONG_AGENTS)
def test_wrong_agents_are_refused_by_their_key(agent: str) -> None:
    with pytest.raises(InputError) as told:
        plan_from_toml(f'games = ["pong"]\n[[agents]]\n{agent}').jobs()
    assert WRONG_AGENTS[agent] in str(told.value)


def test_gymnasium_environments_have_no_modes() -> None:
    text = 'environment = "gymnasium"\ngames = ["CartPole-v1"]\n'
    assert plan_from_toml(text + RANDOM).jobs()[0].mode is None
    assert plan_from_toml(text + RANDOM).protocol == PROTOCOLS["gymnasium"]
    with pytest.raises(InputError, match="has no modes or difficulties"):
        plan_from_toml(text + "modes = [0]" + RANDOM).jobs()


def test_an_unknown_gymnasium_environment_is_refused_before_anything_starts() -> None:
    text = 'environment = "gymnasium"\ngames = ["CartPol-v1"]' + RANDOM
    with pytest.raises(InputError, match="CartPol-v1"):
        plan_from_toml(text).jobs()


def test_a_plan_that_cannot_be_read_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Cannot read the plan .* No such file"):
        read_plan(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe9'")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        read_plan(tmp_path / "latin.toml")


GYMNASIUM = 'environment = "gymnasium"\ngames = ["CartPole-v1"]\nepisodes = 1\n'
PONG = 'games = ["pong"]\nepisodes = 1\n'


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            PONG + "seeds = [99999999999999999999]" + RANDOM,
            r"The plan's seeds\[0\] is '99999999999999999999'. Give a whole number up to 9,223",
        ),
        (PONG + "seeds = 1000000000000" + RANDOM, "The plan's seeds is .* up to 1,000,000"),
        (
            PONG + "frames = 99999999999999999999" + RANDOM,
            "The plan's frames is '99999999999999999999'. Give a whole number up to 9,223",
        ),
        (PONG + RANDOM + "[limits]\nmemory_mib = inf", "limits.memory_mib is 'inf'"),
        (PONG + RANDOM + "[limits]\nmemory_mib = 1e30", "limits.memory_mib is '1e\\+30'"),
        (PONG + 'name = "../elsewhere"' + RANDOM, "name is '../elsewhere'. Give a name without"),
        (PONG + 'name = "a\\u0000b"' + RANDOM, "Give a name without slashes"),
        (PONG + 'name = ".."' + RANDOM, "Give a name without slashes"),
        (PONG + 'name = "a\\u001b[31mb"' + RANDOM, "without slashes and control characters"),
        (PONG + 'name = "a\\u202eb"' + RANDOM, "without slashes and control characters"),
        (PONG + 'protocol = { name = "mine" }' + RANDOM, "Unknown setting of a protocol 'name'"),
        (PONG + "protocol = { preset = [1] }" + RANDOM, r"Unknown protocol '\[1\]'"),
        (
            PONG + "protocol = { sticky_probability = true }" + RANDOM,
            "sticky_probability is 'True'",
        ),
        (PONG + "protocol = { report_shares = [true] }" + RANDOM, r"report_shares\[0\] is 'True'"),
        (PONG + RANDOM + "settings = { a = 1 }", "The agent 'random' has no settings"),
        (PONG + '[[agents]]\nentry = "constant"', r"agents\[0\].settings: .*missing .* 'action'"),
        (GYMNASIUM + 'modes = "all"' + RANDOM, "'CartPole-v1' .* has no modes or difficulties"),
        (GYMNASIUM + 'observation = "ram"' + RANDOM, "'CartPole-v1' has no observation 'ram'"),
    ],
)
def test_values_that_would_end_a_run_later_are_refused_before_it_begins(
    source: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        plan_from_toml(source).jobs()


def test_a_mark_of_utf8_at_the_beginning_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "marked.toml"
    path.write_text(PONG + RANDOM, encoding="utf-8-sig")
    assert [job.game for job in read_plan(path).jobs()] == ["pong"]


def test_a_plan_of_more_jobs_than_a_run_can_hold_is_refused_at_once() -> None:
    """A million seeds of every game filled the memory before anything was said."""
    text = (
        'games = ["pong", "freeway"]\nseeds = 1000000\nepisodes = 1\n[[agents]]\nentry = "random"\n'
    )
    with pytest.raises(InputError, match=r"2,000,000 jobs.*fewer seeds"):
        plan_from_toml(text).jobs()
