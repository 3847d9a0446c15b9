"""Fits on disk: every number comes back bit for bit, and damaged files end with a sentence."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import examiner as ex
from examiner.irt.fitted import Abilities, Dropped, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.items import ItemParameters
from examiner.irt.known import known
from examiner.irt.model import Priors
from examiner.irt.stored import fit_to_dict
from examiner.results import Results
from examiner.scores.recipe import Recipe
from examiner.stored import open_fit, save


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
        warnings=("Beware.",),
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
    assert content["schema"] == "examiner.irt-fit/2" and "matrix" not in content


def test_the_same_fit_gives_the_same_bytes(tmp_path: Path) -> None:
    one = save(awkward_fit(), tmp_path / "a.json").read_bytes()
    two = save(open_fit(tmp_path / "a.json"), tmp_path / "b.json").read_bytes()
    assert one == two


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "schema is 'None'"),
        ('{"schema": "examiner.scores/1"}', "schema is 'examiner.scores/1'"),
        ('{"schema": "examiner.irt-fit/2"}', "no stored fit: 'outcome' is missing"),
        ('{"schema": "examiner.irt-fit/2", "outcome": "LUCKY"}', "'LUCKY' is missing or wrong"),
    ],
)
def test_what_is_no_fit_ends_with_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fit.json"
    path.write_text(text)
    with pytest.raises(ex.InputError, match=said):
        open_fit(path)


def test_damaged_lists_and_files_end_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "fit.json"
    content = {"schema": "examiner.irt-fit/2", **fit_to_dict(awkward_fit())}
    for damage in (
        {"flags": []},
        {"abilities": content["abilities"] | {"error": [1.0]}},
        {"items": {}},
        {"recipe": {"measure": 1}},
        {"log_likelihood": "many"},
        {"errors": content["errors"] | {"extra": [1.0]}},
    ):
        path.write_text(json.dumps(content | damage))
        with pytest.raises(ex.InputError):
            open_fit(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ex.InputError, match="is no text"):
        open_fit(path)
    with pytest.raises(ex.InputError, match="Cannot read"):
        open_fit(tmp_path)
