"""`examiner fit` and `examiner place` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.irt import ItemParameters, probability
from examiner.storage import open_fit

TASKS = [f"game{n:02d}" for n in range(16)]
FIT_KEYS = [
    "schema", "headline", "model", "estimator", "outcome", "converged", "log_likelihood",
    "objective", "aic", "bic",
]  # fmt: skip
TASK_KEYS = [
    "task", "difficulty", "difficulty_error", "difficulty_low", "difficulty_high", "discrimination",
    "discrimination_error", "discrimination_low", "discrimination_high", "flags",
]  # fmt: skip
AGENT_KEYS = ["agent", "mean", "ability", "ability_error", "regularity", "generality", "slope"]


def wins(agents: int = 40, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    items = ItemParameters.of(TASKS, np.full(16, 1.5), difficulty=np.linspace(-1.5, 1.5, 16))
    chance = probability(items, rng.normal(size=agents))
    return (rng.random(chance.shape) < chance).astype(int)


def wide(path: Path, values: np.ndarray, tasks: list[str] = TASKS, first: int = 0) -> Path:
    lines = [",".join(["agent", *tasks])]
    for number, row in enumerate(values, start=first):
        lines.append(",".join([f"a{number:02d}", *(f"{value:g}" for value in row)]))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_fit_prints_the_promised_json(examiner, tmp_path):
    values = wins()
    values[:, 3] = 1  # a task everybody solves
    path = wide(tmp_path / "wins.csv", values)
    done = examiner("fit", path, "--json")
    assert done.returncode == 0 and done.stderr == ""
    content = json.loads(done.stdout)
    assert list(content)[: len(FIT_KEYS)] == FIT_KEYS and "notes" in content
    assert content["schema"] == "examiner.fit/1" and content["converged"] is True
    assert content["aic"] is None  # priors
    assert [one["task"] for one in content["excluded_tasks"]] == ["game03"]
    assert len(content["tasks"]) == 15 and len(content["agents"]) == 40
    assert list(content["tasks"][0])[: len(TASK_KEYS)] == TASK_KEYS
    assert list(content["agents"][0])[: len(AGENT_KEYS)] == AGENT_KEYS
    found = {row["task"]: row["difficulty"] for row in content["tasks"]}
    truth = dict(zip(TASKS, np.linspace(-1.5, 1.5, 16), strict=True))
    together = np.corrcoef([(found[task], truth[task]) for task in found], rowvar=False)[0, 1]
    assert together > 0.8


def test_maximum_likelihood_has_criteria_and_says_its_nodes(examiner, tmp_path):
    path = wide(tmp_path / "wins.csv", wins())
    done = examiner("fit", path, "--estimator", "ml", "--model", "1pl", "--nodes", 41, "--json")
    content = json.loads(done.stdout)
    assert content["settings"]["nodes"] == 41 and content["estimator"] == "ml"
    assert content["aic"] == pytest.approx(
        2 * content["parameters"] - 2 * content["log_likelihood"]
    )
    assert len({round(row["discrimination"], 9) for row in content["tasks"]}) == 1


def test_infinite_generality_is_null_with_a_flag_beside(examiner, tmp_path):
    values = wins()
    values[0] = 0
    path = wide(tmp_path / "wins.csv", values)
    content = json.loads(examiner("fit", path, "--bins", "2", "--json").stdout)
    agent = next(row for row in content["agents"] if row["agent"] == "a00")
    assert agent["generality"] is None
    assert "generality is infinite: it failed at everything" in agent["flags"]


def test_a_stored_fit_places_an_agent_from_raw_scores(examiner, tmp_path):
    rng = np.random.default_rng(3)
    ability = rng.normal(size=30)
    scores = 10 * (ability[:, None] - np.linspace(-1, 1, 16)) + rng.normal(0, 6, (30, 16))
    path = wide(tmp_path / "scores.csv", scores)
    stored = tmp_path / "fit.json"
    done = examiner("fit", path, "--success", "0", "-o", stored)
    assert done.returncode == 0 and f"Fit: {stored}" in done.stdout
    assert open_fit(stored).recipe.success == 0.0
    new = wide(tmp_path / "new.csv", np.array([[30.0, 30, 30, -30, -30]]), TASKS[:5], first=77)
    placed = examiner("place", new, "--fit", stored, "--json")
    content = json.loads(placed.stdout)
    assert content["schema"] == "examiner.place/1"
    (agent,) = content["agents"]
    assert agent["agent"] == "a77" and agent["tasks"] == 5 and agent["mean"] == 0.6
    assert agent["ability_low"] < agent["ability"] < agent["ability_high"]
    assert 1 <= agent["rank_low"] <= agent["rank"] <= agent["rank_high"] <= agent["ranked_among"]
    assert agent["ranked_among"] == 31
    assert [row["task"] for row in content["predictions"]] == TASKS[5:]
    ends = agent["predicted_mean_low"], agent["predicted_mean_high"]
    assert ends[0] < agent["predicted_mean"] < ends[1]
    people = examiner("place", new, "--fit", stored)
    assert "a77" in people.stdout and people.returncode == 0


def test_the_same_command_stores_the_same_bytes(examiner, tmp_path):
    path = wide(tmp_path / "wins.csv", wins())
    for name in ("one.json", "two.json"):
        examiner("fit", path, "-o", tmp_path / name, "--seed", 4)
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_the_command_python_and_the_stored_fit_have_the_same_abilities(examiner, tmp_path):
    stored = tmp_path / "fit.json"
    asked = ("atari-dqn-family", "--normalise", "human", "--success", "1.0", "-o", stored, "--json")
    told = {row["agent"]: row for row in json.loads(examiner("fit", *asked).stdout)["agents"]}
    made = ex.irt.fit(
        ex.load("atari-dqn-family"), recipe=ex.Recipe(success=1.0, normaliser="human")
    )
    for fit in (made, ex.load_saved(stored)):
        assert {row["agent"]: row["ability"] for row in fit.agents} == {
            agent: row["ability"] for agent, row in told.items()
        }
        assert fit.recipe == made.recipe
    again = ex.load_saved(ex.save(made, tmp_path / "again.json"))
    np.testing.assert_array_equal(again.abilities.ability, made.abilities.ability)
    assert stored.read_bytes() == (tmp_path / "again.json").read_bytes()


def test_tables_for_people_name_tasks_agents_and_what_was_set_aside(examiner, tmp_path):
    values = wins()
    values[:, 0] = 0
    done = examiner("fit", wide(tmp_path / "wins.csv", values))
    assert "Tasks, the most difficult first" in done.stdout
    assert "Agents, the highest ability first" in done.stdout
    assert "Excluded: game00" in done.stdout


def test_scores_between_zero_and_one_are_fitted_as_they_are(examiner, tmp_path):
    rng = np.random.default_rng(5)
    shares = 1 / (1 + np.exp(-rng.normal(size=(20, 1)) - rng.normal(size=(20, 16))))
    done = examiner("fit", wide(tmp_path / "s.csv", shares.round(4)), "--model", "beta", "--json")
    content = json.loads(done.stdout)
    assert content["response"] == "beta" and "precision" in content["tasks"][0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "is not made of zeros and ones. Say what a success is (`--success 1.0`"),
        (["--model", "beta"], "takes scores from 0 to 1"),
        (["--success", "0", "--model", "5pl"], "Unknown model '5pl'"),
        (["--success", "0", "--prior", "slope"], "Write PARAMETER=MEAN,SD"),
        (["--success", "0", "--prior", "steepness=1,1"], "Unknown parameter 'steepness'"),
        (["--success", "0", "--bins", "many"], "Give their number, or their ends"),
        (["--success", "0", "--starts", "0"], "0 starts are asked for"),
        (["--success", "0", "--nodes", "0"], "0 nodes are asked for"),
        (["--success", "0", "--estimator", "ml", "--prior", "slope=1,1"], "Priors are given"),
        (["--success-share", "0.5"], "is not made of zeros and ones"),
    ],
)
def test_bad_requests_end_with_a_sentence(examiner, tmp_path, options, said):
    scores = np.random.default_rng(0).normal(0, 9, size=(12, 16))
    done = examiner("fit", wide(tmp_path / "scores.csv", scores), *options, "--json")
    assert done.returncode == 2 and done.stdout == ""
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "values",
    [
        [[1, 0]],  # one agent
        [[1], [0]],  # one task, two agents
        [[1, 1], [1, 1], [1, 1]],  # nothing varies
    ],
)
def test_degenerate_tables_end_with_a_sentence_or_a_flagged_fit(examiner, tmp_path, values):
    table = np.array(values)
    done = examiner("fit", wide(tmp_path / "t.csv", table, TASKS[: table.shape[1]]), "--json")
    assert "Traceback" not in done.stderr
    if done.returncode == 0:
        content = json.loads(done.stdout)
        assert content["notes"] or any(row["flags"] for row in content["tasks"])
    else:
        assert done.returncode == 2 and done.stderr.startswith("examiner: ")


@pytest.mark.parametrize(
    ("content", "said"),
    [("{}", "says its schema is"), ("nonsense", "is not JSON"), (None, "Cannot read")],
)
def test_placing_on_what_is_no_fit_ends_with_a_sentence(examiner, tmp_path, content, said):
    new = wide(tmp_path / "new.csv", wins(2))
    stored = tmp_path / "fit.json"
    if content is not None:
        stored.write_text(content)
    done = examiner("place", new, "--fit", stored)
    assert done.returncode == 2 and said in done.stderr


def test_placing_on_nothing_names_what_there_could_be(examiner, tmp_path):
    done = examiner("place", wide(tmp_path / "new.csv", wins(2)))
    assert done.returncode == 2 and "--fit fit.json" in done.stderr


def test_regularity_is_of_the_scores_behind_successes(examiner, tmp_path):
    from scipy.special import ndtr

    scores = np.random.default_rng(8).normal(0, 9, size=(25, 16)).round(3)
    path = wide(tmp_path / "scores.csv", scores)
    content = json.loads(examiner("fit", path, "--success", "0", "--starts", "1", "--json").stdout)
    z = (scores - scores.mean(axis=0)) / scores.std(axis=0, ddof=1)
    expected = 1 / ndtr(z).var(axis=1)
    assert content["regularity_of"] == "Φ(z) of score"
    found = {agent["agent"]: agent["regularity"] for agent in content["agents"]}
    np.testing.assert_allclose([found[f"a{n:02d}"] for n in range(25)], expected, rtol=1e-9)


def test_a_report_tells_of_ability_where_success_is_said(examiner, tmp_path):
    rng = np.random.default_rng(8)
    scores = (rng.normal(0, 9, size=(25, 16)) + np.linspace(-9, 9, 25)[:, None]).round(3)
    path = wide(tmp_path / "scores.csv", scores)
    options = ("--sections", "wright_map,task_table", "--normalise", "none", "--json")
    without = json.loads(examiner("report", path, *options).stdout)
    assert "Say what a success is" in without["sections"][0]["finding"]
    content = json.loads(examiner("report", path, "--success", "0", *options).stdout)
    assert content["success"] == 0.0 and content["command"].endswith(" --success 0")
    assert content["sections"][0]["finding"].startswith("Abilities run from")
    assert examiner("report", path, "--success", "often").returncode == 2


def test_training_logs_are_reduced_by_the_recipe_of_the_fit(examiner, tmp_path):
    rng = np.random.default_rng(2)

    def log(name: str, abilities: np.ndarray, first: int) -> Path:
        lines = ["agent,task,run,trial,score"]
        for agent, ability in enumerate(abilities, start=first):
            for number, task in enumerate(TASKS):
                final = ability - (number - 8) / 4 + rng.normal(0, 0.5)
                lines += [f"a{agent},{task},0,{k},{v}" for k, v in enumerate((-50, -50, final))]
        path = tmp_path / name
        path.write_text("\n".join(lines))
        return path

    stored = tmp_path / "fit.json"
    table = log("logs.csv", rng.normal(size=25), 0)
    done = examiner("fit", table, "--reduce", "last:1", "--success", "0", "-o", stored)
    assert done.returncode == 0, done.stderr
    assert open_fit(stored).recipe.reduction == "last:1"
    new = log("new.csv", np.array([5.0, -5.0]), 90)
    content = json.loads(examiner("place", new, "--fit", stored, "--json").stdout)
    best, worst = content["agents"]
    assert best["mean"] == 1.0 and worst["mean"] == 0.0  # the early episodes are left out
    assert best["rank"] <= 3 and worst["rank"] >= 24
    assert any("from below only" in flag for flag in best["flags"])


def with_a_reversed_key(tasks: int = 60, agents: int = 60) -> tuple[np.ndarray, list[str]]:
    """Zeros and ones of many tasks, 6 % missing; the key of item-017 is reversed."""
    rng = np.random.default_rng(7)
    ability, difficulty = rng.normal(size=(agents, 1)), 1.2 * rng.normal(size=tasks)
    slope = np.exp(0.3 * rng.normal(size=tasks))
    difficulty[16], slope[16] = 0.0, 1.6
    won = (rng.random((agents, tasks)) < 1 / (1 + np.exp(-slope * (ability - difficulty)))) * 1.0
    won[:, 16] = 1 - won[:, 16]
    won[rng.random(won.shape) < 0.06] = np.nan
    return won, [f"item-{number:03d}" for number in range(1, tasks + 1)]


def tidy(path: Path, values: np.ndarray, tasks: list[str]) -> Path:
    lines = ["agent,task,correct"]
    for agent, task in zip(*np.nonzero(np.isfinite(values)), strict=True):
        lines.append(f"model-{agent:02d},{tasks[task]},{values[agent, task]:g}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_tasks_with_negative_discrimination_are_the_first_thing_said(examiner, tmp_path):
    path = tidy(tmp_path / "wins.csv", *with_a_reversed_key(agents=70))
    done = examiner("fit", path, "--starts", "1")
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "1 task has negative discrimination: 'item-017'. Check its key or its scoring."
    )
    tables = done.stdout.split("Tasks, the most difficult first")
    assert "Flagged tasks" in tables[0] and "negative" in tables[0].split("item-017")[2]
    assert max(map(len, lines)) <= 80
    assert "± is one standard error." in lines
    content = json.loads(examiner("fit", path, "--starts", "1", "--json").stdout)
    negative = [row["task"] for row in content["tasks"] if "negative" in row["significance"]]
    assert negative == ["item-017"]
    noisy = [row for row in content["tasks"] if "slope not significant" in row["flags"]]
    assert noisy and all("interval of difficulty is unbounded" in row["flags"] for row in noisy)
    assert f"not significant ({len(noisy)} tasks): " in done.stdout
    assert "sign of the slope" not in done.stdout and "unbounded" not in done.stdout


@pytest.mark.parametrize("tasks", [30, 55])
def test_the_sorted_table_of_tasks_has_all_of_them_flagged_or_not(examiner, tmp_path, tasks):
    won, names = with_a_reversed_key(agents=40)
    path = tidy(tmp_path / "wins.csv", won[:, :tasks], names[:tasks])
    content = json.loads(examiner("fit", path, "--starts", "1", "--json").stdout)
    assert any(row["flags"] for row in content["tasks"])
    rows = sorted(content["tasks"], key=lambda row: -row["difficulty"])
    order = [row["task"] for row in rows]
    assert len(order) >= tasks - 5
    for words in ((), ("--all",)):
        printed = examiner("fit", path, "--starts", "1", *words).stdout
        lines = printed.split("the most difficult first\n")[1].splitlines()
        shown = [line.split()[0] for line in lines if line.startswith("item-")]
        assert 5 <= len(shown) <= 10 or words
        assert shown == order[: len(shown)] and (len(shown) == len(order) or not words)
        assert words or f"… and {len(order) - len(shown)} more (--all)" in lines
    table = examiner("fit", path, "--starts", "1", "--to", "markdown").stdout
    told = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| item-")]
    assert told[-len(order) :] == order


def test_regularity_of_zeros_and_ones_is_not_printed_but_kept_in_json(examiner, tmp_path):
    path = wide(tmp_path / "wins.csv", wins())
    done = examiner("fit", path, "--starts", "1", "--all")
    words = " ".join(done.stdout.split())
    assert "regularity" not in words and "generality: 1 / sum of variances" in words
    content = json.loads(examiner("fit", path, "--starts", "1", "--json").stdout)
    assert content["agents"][0]["regularity"] > 0
    scores = np.random.default_rng(3).normal(size=(30, 16)) + np.linspace(-1, 1, 30)[:, None]
    path = wide(tmp_path / "scores.csv", scores)
    done = examiner("fit", path, "--success", "0", "--starts", "1", "--all")
    assert "regularity: 1 / variance of the agent's results" in " ".join(done.stdout.split())


def test_place_says_what_its_numbers_are_within_eighty_columns(examiner, tmp_path):
    stored = tmp_path / "fit.json"
    examiner("fit", wide(tmp_path / "wins.csv", wins()), "-o", stored, "--starts", "1")
    new = wide(tmp_path / "new.csv", wins()[:1, :9], TASKS[:9], first=77)
    said = examiner("place", new, "--fit", stored).stdout
    assert "95 % interval of ability" in " ".join(said.split())
    assert "Over all 16 tasks of the fit" in said
    assert all(len(line) <= 80 for line in said.splitlines())
    assert said.startswith("'a77' has an ability")
    assert sum(line.startswith("a77 ") for line in said.splitlines()) == 2


def test_fits_whose_scale_is_stretched_by_a_tenth_say_so():
    from examiner.irt import SPREAD

    assert SPREAD == 1.1
    items = ItemParameters.of([f"t{n}" for n in range(60)], np.ones(60), np.linspace(-2, 2, 60))
    spreads = []
    for seed in range(6):
        matrix = ex.irt.simulate(items, 25, rng=seed)
        made = ex.irt.fit(matrix, starts=1, errors=False, priors="fixed")
        held = made.abilities
        spread = float(np.sqrt(held.ability.var() + (held.error**2).mean()))
        told = any("Abilities spread by" in note for note in made.notes)
        assert told == (not 1 / 1.1 <= spread <= 1.1)
        spreads.append(spread)
    assert any(1.1 < spread < 1.2 for spread in spreads)


def test_progress_over_years_is_that_of_python(examiner, tmp_path):
    table = wide(tmp_path / "wins.csv", np.sort(wins(), axis=0))
    dates = [f"{2020 + number // 14}-0{1 + number % 9}-01" for number in range(40)]
    agents = tmp_path / "agents.csv"
    rows = [f"a{number:02d},{date}" for number, date in enumerate(dates)]
    agents.write_text("\n".join(["agent,date", *rows]) + "\n")
    answer = examiner("fit", str(table), "--agents", str(agents), "--over", "date", "--json")
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)["over"]
    fit = ex.irt.fit(ex.read(table))
    years = {f"a{number:02d}": int(date[:4]) for number, date in enumerate(dates)}
    made = ex.irt.over_time(ex.irt.indicators(fit), years)
    assert [row["ability"] for row in told["years"]] == pytest.approx(made.years.ability.tolist())
    assert [row["agents"] for row in told["years"]] == [14, 14, 12]
    assert told["ability_correlation"] > 0.5  # columns are sorted: later agents win more
    shown = examiner("fit", str(table), "--agents", str(agents), "--over", "date")
    assert "By year of agents" in shown.stdout
    refused = examiner("fit", str(table), "--agents", str(agents), "--over", "year")
    assert refused.returncode == 2 and "They have 'date'" in refused.stderr


def test_agents_are_placed_by_the_column_that_the_fit_was_made_of(examiner, tmp_path):
    values = wins()
    rows = [
        f"a{agent:02d},{task},{value}"
        for agent, row in enumerate(values)
        for task, value in zip(TASKS, row, strict=True)
    ]
    seen, new = tmp_path / "seen.csv", tmp_path / "new.csv"
    seen.write_text("\n".join(["agent,task,resolved", *rows]) + "\n")
    new.write_text(
        "\n".join(["agent,task,resolved", *(f"new,{task},{n % 2}" for n, task in enumerate(TASKS))])
        + "\n"
    )
    stored = tmp_path / "fit.json"
    assert examiner("fit", seen, "--measure", "resolved", "-o", stored).returncode == 0
    answer = examiner("place", new, "--fit", stored, "--json")
    assert answer.returncode == 0, answer.stderr
    named = examiner("place", new, "--fit", stored, "--measure", "resolved", "--json")
    assert json.loads(answer.stdout)["agents"] == json.loads(named.stdout)["agents"]
    new.write_text("agent,task,solved\nnew,game00,1\n")
    refused = examiner("place", new, "--fit", stored)
    assert (
        refused.returncode == 2
        and "for the measure 'resolved', and the results have 'solved'" in refused.stderr
    )


def test_progress_over_years_needs_responses_in_memory(examiner, tmp_path):
    table = ex.ResponseMatrix.from_array(wins()).save(tmp_path / "wins.parquet")
    refused = examiner("fit", table, "--engine", "shards", "--over", "year")
    assert refused.returncode == 2 and "Leave --over out" in refused.stderr
