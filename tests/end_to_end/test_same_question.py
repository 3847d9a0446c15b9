"""The same question gets the same number from the report, from the command and from Python.

Each question names where it is asked and how the answer is found there. Those that still get several
answers are strict expected failures: whoever makes them one answer removes the mark.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import examiner as ex
from examiner.cli import app

FIRST, OTHER, AGENT, TASK, SIZE = "a11", "a04", "a09", "t07", 5


ON_REQUEST = ("rank_probabilities", "significance", "strips")
"""Sections that a report has only where they are named."""


class Sources:
    """One table and one training log, asked in every way; each answer is computed once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answers: dict[tuple[str, ...], Any] = {}
        rng = np.random.default_rng(3)
        logits = np.linspace(-2, 2, 12)[:, None] - rng.normal(size=14)
        logits[:, 13] *= -1  # a task on which weaker agents do better
        lines = ["agent,task,run,correct,cost"]
        for (agent, task), logit in np.ndenumerate(logits):
            lines += [
                f"a{agent:02},t{task:02},{run},{rng.random() < 1 / (1 + np.exp(-logit)):d},"
                f"{1 + agent + rng.random():.3f}"
                for run in range(4)
            ]
        (folder / "table.csv").write_text("\n".join(lines))
        lines = ["agent,task,seed,frames,score"]
        for agent, top in (("fast", 0.9), ("slow", 0.5)):
            for task in ("pong", "alien"):
                for seed in range(3):
                    lines += [
                        f"{agent},{task},{seed},{1000 * step},{top * step / 20 + 0.02 * rng.random()}"
                        for step in range(1, 21)
                    ]
        (folder / "log.csv").write_text("\n".join(lines))

    def command(self, *words: str) -> Any:
        """The JSON object that a command prints."""
        if words not in self.answers:
            paths = [str(self.folder / word) if "." in word else word for word in words]
            answer = CliRunner().invoke(app, [*paths, "--json"])
            assert answer.exit_code == 0, answer.output
            self.answers[words] = json.loads(answer.stdout)
        return self.answers[words]

    @cached_property
    def results(self) -> ex.Results:
        return ex.read(self.folder / "table.csv")

    @cached_property
    def log(self) -> ex.Results:
        return ex.read(self.folder / "log.csv")

    @cached_property
    def fit(self) -> ex.irt.IRTFit:
        return ex.irt.fit(self.results)

    @cached_property
    def indicators(self) -> ex.irt.Indicators:
        return ex.irt.indicators(self.fit)

    @cached_property
    def pair(self) -> ex.answers.Row:
        return ex.scores.compare(self.results, FIRST, OTHER, rng=0).pairs[0]

    @cached_property
    def bits(self) -> ex.information.InformationAnalysis:
        return ex.information.analyse(self.results, rng=0)

    @cached_property
    def similarity(self) -> ex.information.SimilarityAnalysis:
        return ex.information.similarity(self.results, rng=0)

    # ------------------------------------------------------------ the report

    def report(self, name: str = "table.csv", section: str = "") -> Any:
        named = ["--sections", "learning,curves"] if name == "log.csv" else []
        if section in ON_REQUEST:
            named = ["--sections", section]
        return self.command("report", name, *named)

    def blocks(self, section: str, kind: str, source: str = "table.csv") -> list[Any]:
        found = [
            each for each in self.report(source, section)["sections"] if each["key"] == section
        ]
        assert found, f"no section {section}"
        return [block for block in found[0]["blocks"] if block["kind"] == kind]

    def cell(self, section: str, row: str, column: str, source: str = "table.csv") -> Any:
        """A cell of the section's tables, by the name in its row and the title of its column."""
        for table in self.blocks(section, "table", source):
            if column in table["columns"]:
                for cells in table["rows"]:
                    if row in cells:
                        return cells[table["columns"].index(column)]
        raise AssertionError(f"no {column} of {row} in {section}")

    def drawn(self, section: str, field: str, place: str | None = None) -> Any:
        """What a section's figures draw, at the place of an agent or task."""
        for figure in self.blocks(section, "figure"):
            if field in figure["data"]:
                values = figure["data"][field]
                if place is None:
                    return values
                names = [*figure["data"].get("agents", []), *figure["data"].get("tasks", [])]
                agents = figure["data"].get("agents", [])
                where = agents if place in agents else figure["data"]["tasks"]
                assert place in names
                return values[where.index(place)]
        raise AssertionError(f"no {field} in {section}")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return Sources(tmp_path_factory.mktemp("sources"))


def row(records: list[dict[str, Any]], **wanted: str) -> dict[str, Any]:
    return next(each for each in records if all(each[key] == wanted[key] for key in wanted))


def at(names: Any, values: Any, name: str) -> float:
    return float(values[list(names).index(name)])


Ask = Callable[[Sources], Any]


class Question(NamedTuple):
    asked: str
    answers: dict[str, Ask]
    differs: str = ""


QUESTIONS = [
    Question(
        "How many agents?",
        {
            "report": lambda s: s.report()["agents"],
            "describe": lambda s: s.command("describe", "table.csv")["agents"],
            "python": lambda s: len(s.results.agents),
        },
    ),
    Question(
        "How many tasks?",
        {
            "report": lambda s: s.report()["tasks"],
            "describe": lambda s: s.command("describe", "table.csv")["tasks"],
            "python": lambda s: len(s.results.tasks),
        },
    ),
    Question(
        "What are scores measured in?",
        {
            "report": lambda s: s.report()["unit"],
            "scores": lambda s: s.command("scores", "table.csv")["score_unit"],
            "compare": lambda s: s.command("compare", "table.csv", FIRST, OTHER)["score_unit"],
            "cost": lambda s: s.command("cost", "table.csv")["score_unit"],
            "select": lambda s: s.command("select", "table.csv")["score_unit"],
            "python": lambda s: ex.scores.score_unit(s.results),
        },
    ),
    Question(
        "Which normaliser is used?",
        {
            "report": lambda s: s.report()["normaliser"],
            "python": lambda s: ex.scores.suggested_normaliser(s.results),
        },
    ),
    Question(
        "What is the mean of an agent?",
        {
            "report": lambda s: s.cell("ranking", AGENT, "mean"),
            "scores": lambda s: row(s.command("scores", "table.csv")["agents"], agent=AGENT)[
                "mean"
            ],
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)["mean"],
            "cost": lambda s: row(s.command("cost", "table.csv")["agents"], agent=AGENT)["score"],
            "python": lambda s: ex.scores.aggregate(s.results)[AGENT].mean,
        },
    ),
    Question(
        "What is the interval of an agent's mean?",
        {
            "report": lambda s: [s.cell("intervals", AGENT, end) for end in ("low", "high")],
            "scores": lambda s: [
                row(s.command("scores", "table.csv")["agents"], agent=AGENT)[f"mean_{end}"]
                for end in ("low", "high")
            ],
            "python": lambda s: [
                ex.scores.intervals(s.results)[AGENT][f"mean_{end}"] for end in ("low", "high")
            ],
        },
    ),
    Question(
        "What is the interval of an agent's mean, by `cost` too?",
        {
            "scores": lambda s: [
                row(s.command("scores", "table.csv")["agents"], agent=AGENT)[f"mean_{end}"]
                for end in ("low", "high")
            ],
            "cost": lambda s: [
                row(s.command("cost", "table.csv")["agents"], agent=AGENT)[end]
                for end in ("score_low", "score_high")
            ],
        },
    ),
    Question(
        "What rank has an agent?",
        {
            "report": lambda s: s.cell("ranking", AGENT, "rank"),
            "scores": lambda s: row(s.command("scores", "table.csv")["agents"], agent=AGENT)[
                "rank"
            ],
            "python": lambda s: ex.scores.aggregate(s.results)[AGENT].rank,
        },
    ),
    Question(
        "How probable is it that the first agent is first?",
        {
            "report": lambda s: s.drawn("rank_probabilities", "probability", FIRST)[0],
            "scores": lambda s: row(s.command("scores", "table.csv")["agents"], agent=FIRST)[
                "probability_first"
            ],
            "python": lambda s: ex.scores.ranks(s.results)[FIRST].probability_first,
        },
    ),
    Question(
        "By how much is the first agent ahead of another?",
        {
            "report": lambda s: s.cell("significance", OTHER, "difference"),
            "scores": lambda s: row(s.command("scores", "table.csv")["pairs"], a=FIRST, b=OTHER)[
                "difference"
            ],
            "compare": lambda s: s.command("compare", "table.csv", FIRST, OTHER)["pairs"][0][
                "difference"
            ],
            "python": lambda s: s.pair.difference,
        },
    ),
    Question(
        "What is the standard error of that difference?",
        {
            "report": lambda s: s.cell("significance", OTHER, "±"),
            "scores": lambda s: row(s.command("scores", "table.csv")["pairs"], a=FIRST, b=OTHER)[
                "difference_error"
            ],
            "compare": lambda s: s.command("compare", "table.csv", FIRST, OTHER)["pairs"][0][
                "error_of_runs"
            ],
            "python": lambda s: s.pair.error_of_runs,
        },
    ),
    Question(
        "What is the interval of that difference?",
        {
            "scores": lambda s: [
                row(s.command("scores", "table.csv")["pairs"], a=FIRST, b=OTHER)[
                    f"difference_{end}"
                ]
                for end in ("low", "high")
            ],
            "compare": lambda s: [
                s.command("compare", "table.csv", FIRST, OTHER)["pairs"][0][f"difference_{end}"]
                for end in ("low", "high")
            ],
            "python": lambda s: [s.pair.difference_low, s.pair.difference_high],
        },
    ),
    Question(
        "What is the p-value of that difference, of all pairs?",
        {
            "report": lambda s: s.cell("significance", OTHER, "p"),
            "scores": lambda s: row(s.command("scores", "table.csv")["pairs"], a=FIRST, b=OTHER)[
                "p_adjusted"
            ],
            "python": lambda s: ex.scores.significance(s.results).pairs[FIRST, OTHER].p_adjusted,
        },
    ),
    Question(
        "What is the p-value of that difference, of one pair?",
        {
            "compare": lambda s: s.command("compare", "table.csv", FIRST, OTHER)["pairs"][0]["p"],
            "python": lambda s: s.pair.p,
        },
    ),
    Question(
        "Do agents differ over tasks?",
        {
            "scores": lambda s: s.command("scores", "table.csv")["friedman_p"],
            "python": lambda s: ex.scores.significance(s.results).p_value,
        },
    ),
    Question(
        "What is the ability of an agent?",
        {
            "report": lambda s: s.cell("ability_generality", AGENT, "ability"),
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)["ability"],
            "place": lambda s: row(placed(s), agent=AGENT)["ability"],
            "python": lambda s: at(s.fit.abilities.agents, s.fit.abilities.ability, AGENT),
            "python place": lambda s: ex.irt.place(s.results, s.fit)[AGENT].ability,
        },
    ),
    Question(
        "What is the ability of an agent that is examined on all tasks?",
        {
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)["ability"],
            "examine": lambda s: examined(s)["ability"],
        },
    ),
    Question(
        "What is the error of an ability, by report, fit and Python?",
        {
            "report": lambda s: s.cell("ability_generality", AGENT, "±"),
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)[
                "ability_error"
            ],
            "python": lambda s: at(s.fit.abilities.agents, s.fit.abilities.error, AGENT),
        },
    ),
    Question(
        "What is the error of an ability, by fit and place?",
        {
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)[
                "ability_error"
            ],
            "place": lambda s: row(placed(s), agent=AGENT)["ability_error"],
            "python place": lambda s: ex.irt.place(s.results, s.fit)[AGENT].ability_error,
        },
    ),
    Question(
        "What is the interval of an ability?",
        {
            "place": lambda s: [
                row(placed(s), agent=AGENT)[f"ability_{end}"] for end in ("low", "high")
            ],
            "examine": lambda s: [examined(s)[f"ability_{end}"] for end in ("low", "high")],
            "python place": lambda s: next(
                [each.ability_low, each.ability_high]
                for each in ex.irt.place(s.results, s.fit)
                if each.agent == AGENT
            ),
            "python fit": lambda s: [
                at(s.fit.abilities.agents, s.fit.abilities.ability, AGENT)
                + side * at(s.fit.abilities.agents, s.fit.abilities.error, AGENT)
                for side in (-1.959964, 1.959964)
            ],
        },
    ),
    Question(
        "What is the error of an ability, by fit and examine?",
        {
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)[
                "ability_error"
            ],
            "examine": lambda s: examined(s)["ability_error"],
        },
    ),
    Question(
        "What is the difficulty of a task?",
        {
            "report": lambda s: s.cell("task_table", TASK, "difficulty"),
            "fit": lambda s: row(s.command("fit", "table.csv")["tasks"], task=TASK)["difficulty"],
            "python": lambda s: at(s.fit.items.tasks, s.fit.items.difficulty, TASK),
        },
    ),
    Question(
        "What is the interval of a difficulty?",
        {
            "report": lambda s: [s.cell("task_table", TASK, end) for end in ("low", "high")],
            "fit": lambda s: [
                row(s.command("fit", "table.csv")["tasks"], task=TASK)[f"difficulty_{end}"]
                for end in ("low", "high")
            ],
            "python": lambda s: [
                at(s.fit.items.tasks, ends, TASK)
                for ends in (s.fit.errors.difficulty_low, s.fit.errors.difficulty_high)  # type: ignore[union-attr]
            ],
        },
    ),
    Question(
        "What is the discrimination of a task?",
        {
            "report": lambda s: s.cell("task_table", TASK, "discrimination"),
            "fit": lambda s: row(s.command("fit", "table.csv")["tasks"], task=TASK)[
                "discrimination"
            ],
            "python": lambda s: at(s.fit.items.tasks, s.fit.items.slope, TASK),
        },
    ),
    Question(
        "How general is an agent?",
        {
            "report": lambda s: s.cell("ability_generality", AGENT, "generality"),
            "fit": lambda s: row(s.command("fit", "table.csv")["agents"], agent=AGENT)[
                "generality"
            ],
            "place": lambda s: row(placed(s), agent=AGENT)["generality"],
            "python": lambda s: at(s.indicators.agents, s.indicators.generality, AGENT),
        },
    ),
    Question(
        "How much information does a task give?",
        {
            "report": lambda s: s.drawn("information", "bits", s.bits.chosen.task[0]),
            "information": lambda s: row(
                s.command("information", "table.csv")["tasks"], task=s.bits.chosen.task[0]
            )["bits"],
            "python": lambda s: s.bits.tasks[s.bits.chosen.task[0]].bits,
        },
    ),
    Question(
        "Which tasks does the greedy search choose?",
        {
            "report": lambda s: s.drawn("information", "tasks"),
            "information": lambda s: [
                each["task"] for each in s.command("information", "table.csv")["chosen"]
            ],
            "python": lambda s: list(s.bits.chosen.task),
        },
    ),
    Question(
        "Which five tasks are selected?",
        {
            "report": lambda s: [cells[0] for cells in s.blocks("selection", "table")[0]["rows"]],
            "select": lambda s: [row["task"] for row in s.command("select", "table.csv")["tasks"]],
            "python": lambda s: list(ex.selection.select(s.results, SIZE, rng=0).tasks.task),
        },
    ),
    Question(
        "With which R² do five selected tasks predict held-out agents?",
        {
            "report": lambda s: next(
                values
                for name, values in zip(
                    s.drawn("selection", "methods"), s.drawn("selection", "r2"), strict=True
                )
                if name == ex.selection.DEFAULT
            )[s.drawn("selection", "sizes").index(SIZE)],
            "select": lambda s: s.command("select", "table.csv")["r2"],
            "python": lambda s: (
                ex.selection.judge(s.results, [SIZE], [ex.selection.DEFAULT], rng=0).methods[0].r2
            ),
        },
    ),
    Question(
        "With which R² do five tasks predict, by the report's card, `select --judge` and `select`?",
        {
            "report": lambda s: s.drawn("selection", "r2")[0][
                s.drawn("selection", "sizes").index(SIZE)
            ],
            "judge": lambda s: row(
                [
                    each
                    for each in s.command(
                        "select", "table.csv", "--judge", "--methods", "covariance,spread"
                    )["methods"]
                    if each["size"] == SIZE
                ],
                method=ex.selection.DEFAULT,
            )["r2"],
            "select": lambda s: s.command("select", "table.csv")["r2"],
        },
    ),
    Question(
        "How far off are held-out agents, predicted from five tasks?",
        {
            "select": lambda s: s.command("select", "table.csv")["mae"],
            "distil": lambda s: s.command("distil", "table.csv", "--size", "5", "-o", "tiny.json")[
                "mae"
            ],
            "python": lambda s: ex.selection.distil(s.results, SIZE).record.error,  # type: ignore[union-attr]
        },
    ),
    Question(
        "With which R² do random sets of five tasks predict held-out agents?",
        {
            "report": lambda s: s.drawn("selection", "r2")[1][
                s.drawn("selection", "sizes").index(SIZE)
            ],
            "select": lambda s: s.command("select", "table.csv")["random_r2"],
            "python": lambda s: (
                ex.selection.judge(s.results, [SIZE, 7], [ex.selection.DEFAULT])
                .row("random", SIZE)
                .r2
            ),
        },
    ),
    Question(
        "With which R² do two tasks named by hand predict held-out agents?",
        {
            "select": lambda s: s.command("select", "table.csv", "--exactly", "t03,t07")["methods"][
                0
            ]["r2"],
            "python": lambda s: (
                ex.selection.judge_tasks(s.results, ["t03", "t07"]).row("given", 2).r2
            ),
        },
    ),
    Question(
        "What does an attempt of an agent cost?",
        {
            "report": lambda s: s.cell("cost", AGENT, "cost"),
            "cost": lambda s: row(s.command("cost", "table.csv")["agents"], agent=AGENT)["cost"],
            "python": lambda s: ex.scores.pareto(s.results, "cost", rng=0)[AGENT].cost,
        },
    ),
    Question(
        "In which share of resamples is an agent on the front?",
        {
            "report": lambda s: s.cell("cost", AGENT, "front share"),
            "cost": lambda s: row(s.command("cost", "table.csv")["agents"], agent=AGENT)[
                "front_share"
            ],
            "python": lambda s: ex.scores.pareto(s.results, "cost", rng=0)[AGENT].front_share,
        },
    ),
    Question(
        "Which tasks are flagged for review?",
        {
            "report": lambda s: [
                task
                for task, suspect in zip(
                    s.drawn("suspects", "tasks"), s.drawn("suspects", "suspect"), strict=True
                )
                if suspect
            ],
            "audit": lambda s: sorted(
                each["task"] for each in s.command("audit", "table.csv")["flagged"]
            ),
            "python": lambda s: sorted(each.task for each in ex.irt.audit(s.results).flagged),
        },
    ),
    Question(
        "Which tasks form clusters?",
        {
            "cluster": lambda s: [
                " ".join(each["tasks"]) for each in s.command("cluster", "table.csv")["clusters"]
            ],
            "python": lambda s: [" ".join(each) for each in s.similarity.clusters.tasks],
        },
    ),
    Question(
        "In which order are clusters drawn?",
        {
            "report": lambda s: s.drawn("similarity", "tasks"),
            "cluster": lambda s: [
                each["task"] for each in s.command("cluster", "table.csv")["tasks"]
            ],
            "python": lambda s: list(s.similarity.tasks.task),
        },
    ),
    Question(
        "What share of the variance is that of agents?",
        {
            "report": lambda s: s.cell("decision", "agent", "share"),
            "scores": lambda s: row(
                s.command("scores", "table.csv")["variance"], component="agent"
            )["share"],
            "python": lambda s: ex.scores.variance(s.results).shares()["agent"],
        },
    ),
    Question(
        "Which task is asked first of a new agent?",
        {
            "report": lambda s: s.drawn("next_task", "tasks")[0],
            "examine": lambda s: examined(s)["steps"][0]["task"],
            "python": lambda s: (
                ex.adaptive.next_task(s.fit, {}).task  # type: ignore[union-attr]
            ),
        },
    ),
    Question(
        "Where does the learning curve of an agent end?",
        {
            "report": lambda s: s.cell("learning", "fast", "value", "log.csv"),
            "scores": lambda s: row(s.command("scores", "log.csv")["agents"], agent="fast")["mean"],
            "python": lambda s: ex.scores.aggregate(ex.reduce(s.log, "final"))["fast"].mean,
        },
    ),
    Question(
        "What does an agent reach on a task at the end of training?",
        {
            "report": lambda s: float(
                np.mean(
                    [
                        run[-1]
                        for figure in s.blocks("learning", "figure", "log.csv")
                        if "agent" in figure["data"]
                        for agent, task, run in zip(
                            *(figure["data"][name] for name in ("agent", "task", "runs")),
                            strict=True,
                        )
                        if figure["data"]["agents"][agent] == "fast"
                        and figure["data"]["tasks"][task] == "pong"
                    ]
                )
            ),
            "curves": lambda s: max(
                (
                    each
                    for each in s.command("curves", "log.csv")["report_points"]
                    if (each["agent"], each["task"]) == ("fast", "pong")
                ),
                key=lambda each: each["point"],
            )["mean"],
            "python": lambda s: float(
                ex.scores.cell_means(ex.reduce(s.log, "final"))[
                    s.log.agents.index("fast"), s.log.tasks.index("pong")
                ]
            ),
        },
    ),
]


def placed(s: Sources) -> list[dict[str, Any]]:
    stored = s.folder / "fit.json"
    if not stored.exists():
        ex.save(s.fit, stored)
    return list(s.command("place", "table.csv", "--fit", "fit.json")["agents"])


def examined(s: Sources) -> dict[str, Any]:
    placed(s)
    words = ("examine", "--fit", "fit.json", "--oracle", "table.csv", "--agent", AGENT)
    found: dict[str, Any] = s.command(*words, "--most", "14")
    return found


def same(one: Any, other: Any) -> bool:
    if (
        isinstance(one, str)
        or one is None
        or (isinstance(one, list) and one and isinstance(one[0], str))
    ):
        return bool(one == other)
    return bool(one == pytest.approx(other, rel=1e-5, abs=1e-9))


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(
            each,
            id=each.asked,
            marks=[pytest.mark.xfail(strict=True, reason=each.differs)] if each.differs else [],
        )
        for each in QUESTIONS
    ],
)
def test_the_same_question_has_one_answer(question: Question, sources: Sources) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ex.ExaminerWarning)
        answers = {where: ask(sources) for where, ask in question.answers.items()}
    first, *others = answers.values()
    assert all(same(first, other) for other in others), answers


def test_there_are_at_least_twenty_questions() -> None:
    assert len({each.asked for each in QUESTIONS}) >= 20
