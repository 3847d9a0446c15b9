"""A fit as plain values, and back again exactly; where it is written to is another room's matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from examiner.checking import check_names, from_record, read_only, to_record
from examiner.irt.fitted import Abilities, Dropped, FitOutcome, IRTFit, Starts, TaskErrors
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Priors
from examiner.irt.quadrature import Quadrature
from examiner.scores.recipe import Recipe
from examiner.wording import InputError, counted

Stored = dict[str, Any]  # Any: JSON values


def fit_to_dict(fit: IRTFit) -> Stored:
    """Return everything about a fit but its responses as JSON values; `fit_from_dict` reads it exactly.

    Numbers keep every bit. NaN is None, infinities are the texts "inf" and "-inf".

    >>> from examiner.irt.known import known
    >>> fit = known(ItemParameters.of(["t"], [1.0], [1 / 3]))
    >>> fit_from_dict(fit_to_dict(fit)).items == fit.items
    True
    """
    return {
        "model": fit.model,
        "estimator": fit.estimator,
        "outcome": fit.outcome.name,
        "converged": fit.converged,
        "iterations": fit.iterations,
        "log_likelihood": number(fit.log_likelihood),
        "objective": number(fit.objective),
        "parameters": fit.parameters,
        "population_sd": number(fit.population_sd),
        "items": fit.items.to_dict(),
        "errors": None if fit.errors is None else _errors(fit.errors),
        "flags": [list(words) for words in fit.flags],
        "abilities": {
            "agents": list(fit.abilities.agents),
            "ability": _numbers(fit.abilities.ability),
            "error": _numbers(fit.abilities.error),
            "method": fit.abilities.method,
            "notes": list(fit.abilities.notes),
        },
        "starts": {
            "objectives": [number(value) for value in fit.starts.objectives],
            "agreeing": fit.starts.agreeing,
        },
        "quadrature": {
            "nodes": _numbers(fit.quadrature.nodes),
            "log_weights": _numbers(fit.quadrature.log_weights),
            "kind": fit.quadrature.kind,
            "spacing": fit.quadrature.spacing,
        },
        "priors": None if fit.priors is None else fit.priors.to_dict(),
        "dropped": [one._asdict() for one in fit.dropped],
        "left_out": [one._asdict() for one in fit.left_out],
        "warnings": list(fit.warnings),
        "recipe": to_record(fit.recipe),
    }


def fit_from_dict(stored: Mapping[str, Any]) -> IRTFit:  # Any: JSON values
    """Read what `fit_to_dict` gave; the fit has no responses.

    >>> fit_from_dict({"model": "2pl"})
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: This is no stored fit: 'outcome' is missing or wrong.
    """
    try:
        outcome = FitOutcome[stored["outcome"]]
        items = ItemParameters.from_dict(stored["items"])
        flags = tuple(tuple(words) for words in stored["flags"])
        found = stored["abilities"]
        rule = stored["quadrature"]
        starts = stored["starts"]
        made = IRTFit(
            model=stored["model"],
            estimator=stored["estimator"],
            items=items,
            abilities=Abilities(
                check_names(tuple(found["agents"]), "agent"),
                _array(found["ability"]),
                _array(found["error"]),
                found["method"],
                tuple(found["notes"]),
            ),
            population_sd=_float(stored["population_sd"]),
            log_likelihood=_float(stored["log_likelihood"]),
            objective=_float(stored["objective"]),
            outcome=outcome,
            converged=bool(stored["converged"]),
            iterations=int(stored["iterations"]),
            starts=Starts(
                tuple(_float(value) for value in starts["objectives"]), int(starts["agreeing"])
            ),
            quadrature=Quadrature(
                _array(rule["nodes"]),
                _array(rule["log_weights"]),
                str(rule["kind"]),
                None if rule.get("spacing") is None else _float(rule["spacing"]),
            ),
            priors=None if stored["priors"] is None else Priors.of(stored["priors"]),
            flags=flags,
            dropped=tuple(Dropped(**one) for one in stored["dropped"]),
            left_out=tuple(Dropped(**one) for one in stored["left_out"]),
            warnings=tuple(stored["warnings"]),
            errors=None if stored["errors"] is None else _errors_from(stored["errors"]),
            parameters=int(stored["parameters"]),
            recipe=None if stored["recipe"] is None else from_record(Recipe, stored["recipe"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"This is no stored fit: {problem} is missing or wrong.") from None
    _check_sizes(made)
    if not 0 < made.population_sd < np.inf:
        raise InputError(
            f"This stored fit is damaged: its population has a standard deviation of "
            f"{made.population_sd:g}. Store it again."
        )
    return made


def number(value: float) -> float | str | None:
    """Return a number as JSON can hold it: NaN is None, infinities are "inf" and "-inf".

    >>> number(0.5), number(float("nan")), number(float("-inf"))
    (0.5, None, '-inf')
    """
    if np.isnan(value):
        return None
    return float(value) if np.isfinite(value) else ("inf" if value > 0 else "-inf")


def _float(value: float | str | None) -> float:
    return float("nan") if value is None else float(value)


def _numbers(values: Floats) -> list[float | str | None]:
    return [number(value) for value in values.tolist()]


def _array(values: Sequence[float | str | None]) -> Floats:
    array = np.array([_float(value) for value in values], dtype=np.float64)
    read_only(array)
    return array


def _errors(errors: TaskErrors) -> Stored:
    parts = {field.name: getattr(errors, field.name) for field in fields(errors)}
    return {
        name: _numbers(part)
        if isinstance(part, np.ndarray)
        else (part if isinstance(part, str) else number(part))
        for name, part in parts.items()
    }


def _errors_from(stored: Mapping[str, Any]) -> TaskErrors:  # Any: JSON values
    parts: dict[str, Any] = {  # Any: arrays, one number and one text
        name: _array(part)
        if name not in ("method", "population_sd")
        else (str(part) if name == "method" else _float(part))
        for name, part in stored.items()
    }
    return TaskErrors(**parts)


def _check_sizes(fit: IRTFit) -> None:
    tasks, agents = len(fit.items), len(fit.abilities.agents)
    wrong = len(fit.flags) != tasks or {len(fit.abilities.ability), len(fit.abilities.error)} != {
        agents
    }
    if fit.errors is not None:
        lists = (getattr(fit.errors, field.name) for field in fields(fit.errors))
        wrong |= any(len(part) != tasks for part in lists if isinstance(part, np.ndarray))
    wrong |= len(fit.quadrature.nodes) != len(fit.quadrature.log_weights)
    if wrong:
        raise InputError(
            f"This stored fit is damaged: its lists do not have the length of {counted(tasks, 'task')} "
            f"and {counted(agents, 'agent')}. Store it again."
        )
