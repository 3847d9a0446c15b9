"""Fits on disk: every number comes back bit for bit, and damaged files end with a sentence."""

from __future__ import annotations

import json
import tempfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import examiner as ex
from examiner.irt import (
    Abilities,
    Dropped,
    FitOutcome,
    IRTFit,
    ItemParameters,
    Priors,
    Starts,
    TaskErrors,
    known,
)
from examiner.results import Results
from examiner.scores import Recipe
from examiner.storage import open_fit, save
from examiner.validation import to_record


def awkward_fit() -> IRTFit:
    """A fit with every field filled, and numbers that text often loses."""
    rng = np.random.default_rng(0)
    count = 6
    names = [f"t{n} \u202e\N{GREEK SMALL LETTER THETA}\n\"'" for n in range(count)]
    odd = np.array([0.1 + 0.2, 1e-308, -0.0, 1 / 3, np.nextafter(1, 2), 12345678.901234567])
    items = ItemParameters.of(
        names, rng.normal(size=count), odd, precision=[1, 2, np.inf, 4, 5, 6],
        response="beta-binomial",
    )  # fmt: skip
    parts = [rng.normal(size=count) for _ in range(11)]
    for standard_error in (0, 1, 3, 4, 5, 6):
        parts[standard_error] = np.abs(parts[standard_error])
    for low, high in ((7, 8), (9, 10)):  # ends of intervals
        parts[low], parts[high] = np.sort([parts[low], parts[high]], axis=0)
    parts[3][:2] = np.nan, np.inf
    parts[9][0], parts[10][0] = -np.inf, np.inf
    table = Results.from_numpy(rng.normal(size=(3, count)), tasks=names)
    return replace(
        known(items),
        abilities=Abilities(("a", "b"), odd[:2], np.array([np.nan, 0.1]), "EAP", ("Hm.",)),
        population_sd=1.1543,
        log_likelihood=-490.39885929203840,
        objective=-550.7732,
        outcome=FitOutcome.STARTS_DISAGREE,
        converged=False,
        iterations=17,
        estimator="map",
        starts=Starts((-550.7, -551.123456789, float("nan")), 1),
        priors=Priors.of({"slope": (0.5, 0.1)}),
        flags=tuple((f"flag {n}",) for n in range(count)),
        dropped=(Dropped("pong", "always 1"),),
        left_out=(Dropped("me", "nothing observed"),),
        notes=("A note.",),
        errors=TaskErrors(*parts, method="blocks", population_sd=0.25),
        parameters=18,
        recipe=Recipe(normaliser="z-score", success=0.5).learn(table),
    )


def same(one: object, two: object) -> bool:
    if isinstance(one, np.ndarray):
        return isinstance(two, np.ndarray) and one.tobytes() == two.tobytes()
    if isinstance(one, float):
        return np.float64(one).tobytes() == np.float64(two).tobytes()
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))  # type: ignore[arg-type]
    if hasattr(one, "__dataclass_fields__"):
        return all(
            same(getattr(one, field.name), getattr(two, field.name)) for field in fields(one)
        )
    return bool(one == two)


def test_every_field_comes_back_bit_for_bit(tmp_path: Path) -> None:
    fit = awkward_fit()
    back = open_fit(save(fit, tmp_path / "fit.json"))
    for field in fields(IRTFit):
        if field.name == "matrix":
            assert back.matrix is None
            continue
        assert same(getattr(fit, field.name), getattr(back, field.name)), field.name


def test_the_file_is_plain_json_without_responses(tmp_path: Path) -> None:
    text = save(awkward_fit(), tmp_path / "fit.json").read_text(encoding="utf-8")
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert content["schema"] == "examiner.irt-fit/4" and "matrix" not in content


def test_the_same_fit_gives_the_same_bytes(tmp_path: Path) -> None:
    one = save(awkward_fit(), tmp_path / "a.json").read_bytes()
    two = save(open_fit(tmp_path / "a.json"), tmp_path / "b.json").read_bytes()
    assert one == two


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ('{"schema": "examiner.irt-fit/1"}', "another version of examiner"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "schema is 'None'"),
        ('{"schema": "examiner.scores/1"}', "schema is 'examiner.scores/1'"),
        ('{"schema": "examiner.irt-fit/4"}', "stored fit is damaged: its model is missing"),
    ],
)
def test_what_is_no_fit_ends_with_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fit.json"
    path.write_text(text)
    with pytest.raises(ex.InputError, match=said):
        open_fit(path)


def test_damaged_lists_and_files_end_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    content = {"schema": "examiner.irt-fit/4", **to_record(awkward_fit())}
    for damage, said in (
        ({"flags": []}, "its flags has 0 entries, where 6, as many as items.tasks should be"),
        (
            {"abilities": content["abilities"] | {"error": [1.0]}},
            "abilities.error has 1 entries, where 2, as many as abilities.agents",
        ),
        ({"items": {}}, "items.tasks is missing"),
        ({"recipe": {"measure": 1}}, "its recipe.measure is '1', where text should be"),
        ({"log_likelihood": "many"}, "log_likelihood is 'many', where a number should be"),
        ({"outcome": "LUCKY"}, "outcome is 'LUCKY', where one of"),
        ({"errors": content["errors"] | {"extra": [1.0]}}, "Unknown key of errors 'extra'"),
        ({"errors": content["errors"] | {"slope": [1.0]}}, "errors.slope has 1 entries"),
        ({"priors": {"slope": [1.0, "wide"]}}, r"priors.slope\[1\] is 'wide', where a number"),
        ({"errors": content["errors"] | {"slope": [-1.0] * 6}}, "errors.slope has a number out of"),
        ({"abilities": content["abilities"] | {"error": [-1.0, 1.0]}}, "a negative number"),
        ({"population_sd": -1.0}, "where a standard deviation above 0"),
    ):
        path.write_text(json.dumps(content | damage))
        with pytest.raises(ex.InputError, match=said):
            open_fit(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ex.InputError, match="is not text"):
        open_fit(path)
    with pytest.raises(ex.InputError, match="Cannot read"):
        open_fit(tmp_path)


def record_of(model: str) -> dict[str, object]:
    """The document of a small fit of a model."""
    scores = np.random.default_rng(0).random((12, 3))
    responses = scores if model in ("beta", "normal") else (scores > 0.5).astype(float)
    agents = [f"a{n}" for n in range(12)]
    matrix = ex.ResponseMatrix.from_array(responses, agents, ["pong", "qbert", "flat"])
    with tempfile.TemporaryDirectory() as folder:
        return dict(
            json.loads(save(ex.irt.fit(matrix, model=model), f"{folder}/fit.json").read_text())
        )


HOSTILE = (
    None, True, -1, 0, 0.5, 10**30, 1e308, -1e308, "", "x", "inf", "-inf", "nan", [], {}, [[]], [None],
    ["x"], [0.5], {"x": 1}, [1] * 50,
)  # fmt: skip


def places(part: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The path of every part of a record."""
    inner: list[tuple[str | int, object]] = []
    if isinstance(part, dict):
        inner = list(part.items())
    elif isinstance(part, list):
        inner = list(enumerate(part))
    return [path, *(deeper for name, value in inner for deeper in places(value, (*path, name)))]


RECORDS = {model: record_of(model) for model in ex.irt.MODELS}
PLACES = [
    (name, path)
    for name, record in sorted(RECORDS.items())
    for path in places(record)[1:]
    if path[0] != "schema"
]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(PLACES),
    st.sampled_from(("replace", "remove", "repeat", "add")),
    st.sampled_from(HOSTILE),
)
@example(("2pl", ("abilities", "error", 0)), "replace", 1e308)
@example(("2pl", ("errors", "parameters", "design_effect")), "replace", -1e308)
@example(("2pl", ("errors", "parameters", "design_effect")), "replace", "inf")
@example(("2pl", ("errors", "parameters", "unit_slopes")), "replace", True)
@example(("normal", ("items", "centre", 0)), "replace", 1e99)
@example(("normal", ("items", "precision", 0)), "replace", 1e-308)
@example(("beta", ("items", "cuts", 0, 1)), "replace", 1e308)
def test_a_record_mutated_anywhere_is_a_fit_or_ends_with_one_sentence(
    where: tuple[str, tuple[str | int, ...]], how: str, value: object
) -> None:
    name, path = where
    record = json.loads(json.dumps(RECORDS[name]))
    holder = record
    for step in path[:-1]:
        holder = holder[step]
    if how == "replace":
        holder[path[-1]] = value
    elif how == "remove":
        del holder[path[-1]]
    elif isinstance(holder, list):
        holder.append(holder[-1] if how == "repeat" else value)
    else:
        holder["unheard of"] = value
    new = ex.ResponseMatrix.from_array([[1, 0]], ["mine"], ["pong", "qbert"])
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(record, file)
            file.flush()
            fit = open_fit(file.name)
        assert fit.headline in " ".join(repr(fit).split())
        (mine,) = ex.irt.place(new, fit)
        assert mine.tasks in (1, 2)  # a task may have got another name
    except ex.InputError as refused:
        assert "\n" not in str(refused) and str(refused).rstrip().endswith((".", "!", "?"))
