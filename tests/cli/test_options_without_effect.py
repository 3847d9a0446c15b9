"""An option that cannot have any effect beside the others is refused, with what it needs."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from examiner.cli import ARENA, COMMANDS, app
from examiner.cli.effects import EVERYWHERE, OF_COMMANDS

TABLE = "agent,t,u,v\na,1,0,1\nb,0,0,1\nc,1,1,0\nd,0,1,1\n"
BUNDLED = "is for files, and a bundled data set is read"
ALONE = "has no effect without"

POINTLESS = [
    (["scores", "gvgai-plays", "--layout", "wide"], BUNDLED),
    (["scores", "gvgai-plays", "--tasks-are", "rows"], BUNDLED),
    (["fit", "swebench-verified", "--format", "csv"], BUNDLED),
    (["describe", "gvgai-plays", "--path", "{agent}/{task}/"], BUNDLED),
    (["describe", "gvgai-plays", "--time", "step"], BUNDLED),
    (["report", "gvgai-plays", "--strict"], BUNDLED),
    (["describe", "table.csv", "--all", "--json"], "`--json` and `--to` print everything"),
    (["scores", "table.csv", "--all", "--to", "csv"], "`--json` and `--to` print everything"),
    (["describe", "table.csv", "--strict"], "is for folders and patterns"),
    (["describe", "table.csv", "--time", "step"], "is a wide table"),
    (["describe", "log.jsonl", "--layout", "tidy"], "is for plain tables"),
    (["describe", "log.jsonl", "--tasks-are", "rows"], "is for plain tables"),
    (["audit", "table.csv", "--figures-as", "png"], ALONE),
    (["report", "table.csv", "--columns", "one"], ALONE),
    (["select", "table.csv", "--floor", "0.5"], ALONE),
    (["select", "table.csv", "--no-proof", "--folds", "2"], "`--no-proof`"),
    (["select", "table.csv", "--exactly", "t,u", "--output", "x.json"], "`--exactly`"),
    (["select", "table.csv", "--exactly", "t,u", "--size", "1"], "`--exactly`"),
    (["select", "table.csv", "--exactly", "t,u", "--judge"], "exclude each other"),
    (["select", "table.csv", "--adds", "t", "--judge"], "exclude each other"),
    (["select", "table.csv", "--exactly", "t,u", "--adds", "v"], "exclude each other"),
    (["select", "table.csv", "--judge", "--size", "1"], "`--judge`, which selects nothing"),
    (["select", "table.csv", "--judge", "--no-proof"], "`--judge`, which selects nothing"),
    (["select", "table.csv", "--adds", "t", "--by", "group"], "`--adds`, which selects nothing"),
    (["select", "table.csv", "--sizes", "1,2"], "has no effect without `--judge`"),
    (["select", "table.csv", "--tolerance", "0.1"], "has no effect without `--judge`"),
    (["select", "table.csv", "--set", "t"], "has no effect without `--adds TASK`"),
    (["select", "table.csv", "--reps", "5"], "without `--judge` or `--adds`"),
    (["fit", "table.csv", "--draws", "20"], "has no effect without `--check`"),
    (["fit", "table.csv", "--quick"], "has no effect without `--check`"),
    (["fit", "table.csv", "--check", "-o", "fit.json"], "has no effect with `--check`"),
    (["fit", "table.csv", "--check", "--engine", "gpu"], "has no effect with `--check`"),
    (["fit", "table.csv", "--address", "auto"], ALONE),
    (["fit", "table.csv", "--add", "--fit", "fit.json", "--model", "rasch"], "`--add`"),
    (["fit", "table.csv", "--check", "--editions", "year"], "has no effect with `--check`"),
    (
        ["fit", "table.csv", "--compound", "0.5", "-o", "fit.json"],
        "has no effect with `--compound`",
    ),
    (["fit", "table.csv", "--compound", "0", "-o", "fit.json"], "has no effect with `--compound`"),
    (["fit", "table.csv", "--explain", "x", "--model", "1pl"], "has no effect with `--explain`"),
    (
        ["fit", "table.csv", "--difficulty", "x", "--group", "g"],
        "has no effect with `--difficulty`",
    ),
    (["fit", "table.csv", "--generality", "--bins", "3"], "has no effect with `--generality`"),
    (["fit", "table.csv", "--generality", "--compound", "0.5"], "exclude each other"),
    (["fit", "table.csv", "--explain", "x", "--check"], "exclude each other"),
    (["fit", "table.csv", "--add", "--fit", "fit.json", "--group", "g"], "`--add`"),
    (["scores", "table.csv", "--attempts", "--unit", "runs"], "`--attempts` prints none"),
    (["scores", "table.csv", "--attempts", "--reps", "9"], "`--attempts` prints none"),
    (["compare", "table.csv", "a", "b", "--error-rate", "0.1"], "without `--fail-if`"),
    (["compare", "table.csv", "a", "b", "--undecided", "fail"], "without `--fail-if`"),
    (["compare", "table.csv", "a", "b", "--plan", "0.1", "--reps", "9"], "with `--plan`"),
    (["curves", "table.csv", "--reduce", "auc"], "learning curves need whole runs"),
    (["distil", "table.csv", "--size", "2", "--choose-on", "a"], "selected on all agents"),
    (["fit", "table.csv", "--fit", "fit.json"], "has no effect without `--add`"),
    (["fit", "table.csv", "--add"], "has no effect without `--fit FILE`"),
    (["place", "table.csv", "--fit", "a.json", "--with", "b.json"], "exclude each other"),
    (["place", "table.csv", "--with", "b.json", "--population", "fit"], "without `--fit`"),
    (["scores", "table.csv", "--json", "--to", "csv"], "exclude each other"),
    (["select", "table.csv", "--size", "2", "--budget", "3"], "exclude each other"),
    (["examine", "--fit", "fit.json", "--simulate", "9", "-o", "x.json"], "with `--simulate`"),
    (["arena", "run", "--repair", "x", "--workers", "2"], "with `--repair`"),
    (["arena", "run", "atari-arena", "--address", "auto"], "without `--workers ray`"),
    (["audit", "table.csv", "--key", "gold"], "no column 'answer' of answers"),
    (["cluster", "table.csv", "--clusters", "2", "--threshold", "0.3"], "exclude each other"),
    (["convert", "table.csv", "x.parquet", "--for-spreadsheets"], "CSV and TSV"),
    (["typology", "atari-typology", "--normalise", "rank"], ALONE),
    (["typology", "atari-typology", "--keep", "agent:a"], ALONE),
    (["examine", "--fit", "fit.json", "--interactive", "--keep", "agent:a"], ALONE),
    (["examine", "--fit", "fit.json", "--interactive", "--certainty", "0.9"], ALONE),
    (["examine", "--fit", "fit.json", "--interactive", "--environment", "x"], ALONE),
]


@pytest.mark.parametrize(
    ("words", "said"), POINTLESS, ids=lambda v: " ".join(v)[:60] if isinstance(v, list) else ""
)
def test_an_option_without_effect_is_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE)
    Path("log.jsonl").write_text(
        '{"subject_id": "m", "responses": {"q1": 1, "q2": 0}}\n'
        '{"subject_id": "n", "responses": {"q1": 0, "q2": 1}}\n'
    )
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 2, answer.output
    assert said in answer.output
    assert not {path.name for path in tmp_path.iterdir()} - {"table.csv", "log.jsonl"}


def test_defaults_are_never_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("table.csv").write_text(TABLE)
    for words in (["audit", "table.csv"], ["describe", "gvgai-plays"], ["cluster", "table.csv"]):
        answer = CliRunner().invoke(app, words)
        assert "Leave it out" not in answer.output and "leave it out" not in answer.output


def test_rules_name_options_that_commands_have() -> None:
    import click

    context = click.Context(app)
    parameters = {
        name: {each.name for each in app.get_command(context, name).params}  # type: ignore[union-attr]
        for name in COMMANDS
        if name != "arena"
    }
    arena = app.get_command(context, "arena")
    parameters |= {
        name: {each.name for each in arena.get_command(context, name).params}  # type: ignore[union-attr]
        for name in ARENA["Commands"]
    }
    for rule in EVERYWHERE:
        assert set(rule.options) <= set().union(*parameters.values())
    for command, rules in OF_COMMANDS.items():
        for rule in rules:
            assert set(rule.options) <= parameters[command]
