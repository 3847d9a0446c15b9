"""Options that are given and cannot have any effect beside the others: said, never passed over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from examiner.importers import bundled_data_sets, is_many
from examiner.messages import InputError

Given = Mapping[str, Any]  # Any: each option has its own type


class Rule(NamedTuple):
    """Options that need something else of a command, what that is, and in words."""

    options: tuple[str, ...]
    needed: Callable[[Given], bool]
    words: str


_FILES_ONLY = (
    *("format", "layout", "tasks_are", "agent_column", "task_column", "run_column", "trial_column"),
    *("where", "axes", "path", "strict", "time", "items", "item_text", "memory"),
)
_OF_RESULTS = (*_FILES_ONLY, "measure", "item", "scales", "agents", "keep", "drop", "reduce")
_OF_A_NEW_FIT = (
    *("model", "estimator", "prior", "response", "landmark", "starts", "nodes", "bins", "over"),
    *("engine", "cache", "address", "group", "editions"),
)
_OF_A_STORED_FIT = ("over", "add", "fit", "output", "engine", "cache", "address")
_OF_A_RANKING = ("aggregate", "unit", "interval", "reps", "posthoc")
_OF_ANY_FIT = tuple(dict.fromkeys((*_OF_A_NEW_FIT, *_OF_A_STORED_FIT)))
_INSTEAD_OF_A_FIT = MappingProxyType(
    {
        "explain": tuple(name for name in _OF_ANY_FIT if name != "group"),
        "difficulty": _OF_ANY_FIT,
        "compound": _OF_A_STORED_FIT,
        "generality": _OF_ANY_FIT,
    }
)
"""What `fit` shows instead of a fit → the options without effect on it."""
_OF_TOTALS = ("by", "average", "weights", "chance")
_OF_A_SELECTION = ("size", "budget", "method", "proof", "output")


def _needs(shown: str, name: str, *options: str) -> Rule:
    """Options that need another one, which is shown as users write it."""
    return Rule(
        options,
        _given(name),
        f"has no effect without `{shown}`. Give that too, or leave it out.",
    )


def _given(name: str) -> Callable[[Given], bool]:
    return lambda given: not _not_given(name)(given)


def _not_given(name: str) -> Callable[[Given], bool]:
    def absent(given: Given) -> bool:
        value = given.get(name)
        return value is None or value is False or value == ""  # 0 is given

    return absent


EVERYWHERE = (
    Rule(
        ("everything",),
        lambda given: not given.get("json") and given.get("to") not in ("latex", "markdown", "csv"),
        "is for people: `--json` and `--to` print everything. Leave it out.",
    ),
    Rule(
        _FILES_ONLY,
        lambda given: given.get("source") not in bundled_data_sets(),
        "is for files, and a bundled data set is read. Leave it out.",
    ),
    Rule(
        ("strict",),
        lambda given: is_many(given.get("source") or ""),
        "is for folders and patterns, and one file is read. Leave it out.",
    ),
    _needs("--figures DIR", "figures", "figures_as", "columns"),
    Rule(
        ("floor",),
        lambda given: given.get("transform") == "log",
        "has no effect without `--transform log`. Give that too, or leave it out.",
    ),
)
OF_COMMANDS = MappingProxyType(
    {
        "convert": (
            Rule(
                ("for_spreadsheets",),
                lambda given: {".csv", ".tsv"} & set(Path(given["target"]).suffixes) != set(),
                "is for CSV and TSV, and TARGET is neither. Leave it out.",
            ),
        ),
        "fit": (
            *(
                Rule(
                    ("check", "add", *(mode for mode in _INSTEAD_OF_A_FIT if mode != shown)),
                    _not_given(shown),
                    f"and `--{shown}` exclude each other. Give one of them.",
                )
                for shown in _INSTEAD_OF_A_FIT
            ),
            *(
                Rule(
                    names,
                    _not_given(shown),
                    f"has no effect with `--{shown}`, which stores and prints no fit. Leave it out.",
                )
                for shown, names in _INSTEAD_OF_A_FIT.items()
            ),
            Rule(
                (*_OF_A_STORED_FIT, "bins", "group", "editions"),
                _not_given("check"),
                "has no effect with `--check`, which stores and prints no fit. Leave it out.",
            ),
            _needs("--check", "check", "draws", "quick", "overdispersion"),
            Rule(
                _OF_A_NEW_FIT,
                _not_given("add"),
                "is for a new fit, and `--add` keeps the stored one. Leave it out.",
            ),
            Rule(
                ("address",),
                lambda given: given["engine"] == "ray",
                "has no effect without `--engine ray`. Give that too, or leave it out.",
            ),
        ),
        "scores": (
            Rule(
                _OF_A_RANKING,
                _not_given("attempts"),
                "is for a ranking, and `--attempts` prints none. Leave it out.",
            ),
        ),
        "cluster": (
            Rule(
                ("threshold",),
                _not_given("clusters"),
                "and `--clusters` exclude each other. Give one of them.",
            ),
        ),
        "select": (
            Rule(
                ("adds", "exactly"),
                _not_given("judge"),
                "and `--judge` exclude each other. Give one of them.",
            ),
            Rule(
                ("exactly",),
                _not_given("adds"),
                "and `--adds` exclude each other. Give one of them.",
            ),
            *(
                Rule(
                    names,
                    _not_given(other),
                    f"has no effect with `--{other}`, which selects nothing. Leave it out.",
                )
                for other, names in (
                    ("judge", _OF_A_SELECTION),
                    ("exactly", (*_OF_A_SELECTION, "folds", "choose_on", "must", "must_not")),
                    ("adds", (*_OF_A_SELECTION, "folds", "choose_on", *_OF_TOTALS)),
                )
            ),
            _needs("--judge", "judge", "sizes", "methods", "draws", "tolerance"),
            _needs("--adds TASK", "adds", "present", "chosen"),
            Rule(
                ("reps",),
                lambda given: bool(given["judge"] or given["adds"]),
                "has no effect without `--judge` or `--adds`. Leave it out.",
            ),
            Rule(
                ("folds",),
                _given("proof"),
                "is for validation, and `--no-proof` omits it. Give one of them.",
            ),
        ),
        "typology": (_needs("--results SOURCE", "source", *_OF_RESULTS, "tasks", "normalise"),),
        "examine": (
            _needs("--oracle SOURCE", "source", *_OF_RESULTS),
            _needs("--better-than", "better_than", "certainty"),
            _needs("--protocol", "protocol", "environment"),
        ),
    }
)
"""Command → its own rules."""


def check_effects(given: Given) -> None:
    """Refuse an option that was given and cannot have any effect beside the others.

    >>> check_effects({"source": "scores.csv"})
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return
    typed = {
        name for name in given if context.get_parameter_source(name) == ParameterSource.COMMANDLINE
    }
    for rule in (*EVERYWHERE, *OF_COMMANDS.get(context.info_name or "", ())):
        named = [name for name in rule.options if name in typed]
        if named and not rule.needed(given):
            raise InputError(f"{_option(context, named[0])} {rule.words}")


def _option(context: click.Context, name: str) -> str:
    """The option as users write it."""
    for parameter in context.command.params:
        if parameter.name == name and parameter.opts:
            return f"`{parameter.opts[0]}`"
    return f"`--{name.replace('_', '-')}`"
