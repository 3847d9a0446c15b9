"""Answers: rows by name, every format, frozen values, and what JSON gives back."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import examiner as ex
from examiner.answers import (
    Answer,
    Scalar,
    StoredAnswer,
    Table,
    bound,
    count,
    error,
    flag,
    name,
    number,
    words,
)
from examiner.messages import InputError
from examiner.validation import Floats


class AgentScores(Table):
    agent: tuple[str, ...] = name("Agent")
    mean: Floats = number("Mean score over tasks", unit="score")
    mean_low: Floats = bound("mean", "low")
    mean_high: Floats = bound("mean", "high")
    mean_error: Floats = error("mean")
    tasks: np.ndarray = count("Tasks observed")
    tied: np.ndarray = flag("Not significantly different from the best agent")
    flags: tuple[tuple[str, ...], ...] | None = words("Flags", default=None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranking(Answer):
    kind = "ranking"
    agents: AgentScores
    log_likelihood: float = -12.5
    notes: tuple[str, ...] = ("One note.",)

    @property
    def headline(self) -> str:
        return f"{self.agents[0].agent} has the highest mean."

    @property
    def tables(self) -> dict[str, Table]:
        return {"agents": self.agents}

    @property
    def scalars(self) -> dict[str, Scalar]:
        return {"log_likelihood": Scalar(self.log_likelihood, "Log-likelihood")}

    @property
    def settings(self) -> dict[str, object]:
        return {"seed": 0}


def ranking(
    names: tuple[str, ...] = ("uct", "dqn & co_v2"), mean: object = (1.276, np.nan)
) -> Ranking:
    rows = len(names)
    return Ranking(
        AgentScores(
            agent=names,
            mean=mean,
            mean_low=np.full(rows, -1.0),
            mean_high=np.full(rows, np.inf),
            mean_error=np.full(rows, 0.25),
            tasks=np.arange(rows),
            tied=np.arange(rows) == 0,
            score_unit="human = 1",
        )
    )


def test_a_row_is_found_by_its_name_in_the_answer_and_in_its_table() -> None:
    answer = ranking()
    assert answer["uct"].mean == answer.agents["uct"].mean == answer.agents[0]["mean"] == 1.276
    assert answer["uct"].tied is True and answer["uct"].tasks == 0


def test_an_unknown_row_column_or_table_is_refused_with_the_nearest_name() -> None:
    answer = ranking()
    with pytest.raises(KeyError, match=r"No row is named utc\. Did you mean 'uct'\?"):
        answer["utc"]
    with pytest.raises(AttributeError, match=r"no column 'meen'\. Did you mean 'mean'\?"):
        answer["uct"].meen  # noqa: B018
    with pytest.raises(AttributeError, match=r"no column 'meen'\. Did you mean 'mean'\?"):
        answer.agents.meen  # noqa: B018
    with pytest.raises(InputError, match=r"no table 'tasks'\. It has 'agents'"):
        answer.to_csv("tasks")


def test_rows_of_two_names_are_found_by_both() -> None:
    columns = [ex.answers.Column(key, "name", key) for key in ("agent", "statistic")]
    value = ex.answers.Column("value", "number", "Value")
    table = Table.of(
        [*columns, value],
        {"agent": ["a", "a"], "statistic": ["mean", "median"], "value": [1.0, 2.0]},
    )
    assert table["a", "median"].value == 2.0
    with pytest.raises(KeyError, match=r"2 rows are named a\. Name one by agent, statistic"):
        table["a"]


def test_bounds_and_errors_have_the_unit_of_their_estimate_and_say_their_level() -> None:
    columns = ranking().agents.columns
    assert columns["mean_low"].unit == columns["mean_error"].unit == "human = 1"
    assert columns["mean_low"].meaning == "95 % interval of mean"


def test_nothing_in_an_answer_can_be_changed() -> None:
    answer = ranking()
    for change in (
        lambda: setattr(answer.agents, "mean", 1),
        lambda: setattr(answer["uct"], "mean", 1),
        lambda: setattr(answer, "notes", ()),
    ):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(ValueError, match="read-only"):
        answer.agents.mean[0] = 2.0


def test_columns_of_unequal_length_and_missing_columns_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        ranking(mean=(1.0,))
    with pytest.raises(TypeError, match="lacks or does not have the columns 'mean'"):
        AgentScores(agent=("a",))  # type: ignore[call-arg]


def test_optional_columns_are_absent_where_there_are_none() -> None:
    assert "flags" not in ranking().agents.columns
    assert ranking().agents.flags is None


def test_json_gives_the_same_answer_back() -> None:
    answer = ranking()
    stored = StoredAnswer.from_json(answer.to_json())
    assert stored.to_dict() == answer.to_dict()
    assert stored["uct"].mean == 1.276 and stored.schema == "examiner.ranking/1"
    assert stored.tables["agents"].columns == answer.agents.columns


def test_what_is_not_a_finite_number_is_null_in_json() -> None:
    rows = json.loads(ranking().to_json())["agents"]
    assert rows[1]["mean"] is None and rows[0]["mean_high"] is None


def test_frames_and_csv_hold_every_digit_and_every_column() -> None:
    answer = ranking()
    pandas, polars = answer.to_pandas(), answer.to_polars()
    assert list(pandas.columns) == polars.columns == list(answer.agents.columns)
    assert pandas["mean"][0] == polars["mean"][0] == 1.276
    assert "human = 1" in pandas.attrs["mean"]
    rows = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert rows[0]["mean"] == "1.276" and rows[1]["mean"] == ""


def test_latex_and_markdown_escape_names() -> None:
    answer = ranking()
    assert r"dqn \& co\_v2" in answer.to_latex()
    assert "dqn & co\\_v2" in answer.to_markdown()


def test_a_repr_is_short_and_has_numbers() -> None:
    many = tuple(f"agent {n} with a long name that goes on and on and on" for n in range(500))
    text = repr(ranking(many, np.arange(500.0)))
    assert len(text) < 1_500 and max(map(len, text.splitlines())) <= 240
    assert "495 more rows" in text
    assert "1.276" in repr(ranking()) or "1.28" in repr(ranking())


def test_a_notebook_shows_names_inert_and_the_figure() -> None:
    html = ranking(("<script>alert(1)</script>", "b"))._repr_html_()
    assert "<script>" not in html and "<svg" in html and "human = 1" in html


def test_every_answer_can_be_drawn() -> None:
    plot = ranking().plot()
    assert plot.data.names == ("uct", "dqn & co_v2")
    assert plot.data.low.tolist() == [-1.0, -1.0]
    with pytest.raises(InputError, match="no estimates to draw"):
        StoredAnswer("examiner.x/1", "Nothing.").plot()


@given(st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=6, unique=True))
def test_names_of_any_kind_go_through_every_format(names: list[str]) -> None:
    answer = ranking(tuple(names), np.linspace(-1e300, 1e300, len(names)))
    for text in (answer.to_json(), answer.to_csv(), answer.to_latex(), answer.to_markdown()):
        assert text
    assert repr(answer) and answer._repr_html_()
    assert [row.agent for row in StoredAnswer.from_json(answer.to_json()).tables["agents"]] == names


def test_answers_are_pickled_and_copied_with_their_tables():
    answer = ex.Results.from_numpy([[1.0, 2.0], [3.0, np.nan]]).describe()
    for copied in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert copied.to_dict() == answer.to_dict()
        assert copied.plays.columns == answer.plays.columns
        with pytest.raises(ValueError, match="read-only"):
            copied.plays.tasks[0] = 5


def test_tables_and_scalars_are_attributes_of_fresh_and_stored_answers() -> None:
    ranking = ex.scores.rank({"a": [[1.0, 2.0]], "b": [[2.0, 4.0]]}, normalise=None)
    for answer in (ranking, StoredAnswer.from_json(ranking.to_json())):
        assert answer.agents["b"].mean == 3.0  # type: ignore[attr-defined]
        expected = ranking.scalars["error_of_difference"].value
        assert answer.error_of_difference == expected  # type: ignore[attr-defined]
        with pytest.raises(AttributeError, match="Did you mean 'agents'"):
            answer.agent  # type: ignore[attr-defined] # noqa: B018


def test_the_text_of_an_answer_says_what_scores_are_measured_in() -> None:
    scores = {name: np.full((3, 4), mean) for name, mean in (("a", 1.0), ("b", 2.0), ("c", 4.0))}
    assert "Scores: score as it was read" in repr(ex.scores.rank(scores, normalise=None))
    assert "min-max" in repr(ex.scores.rank(scores, normalise="min-max"))
