"""Which options have no effect with, or without, others: each such rule is declared here, once."""

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
    """Options that are refused unless a condition holds, and why, in words that follow an option."""

    options: tuple[str, ...]
    is_allowed: Callable[[Given], bool]
    words: str


def _is_given(given: Given, name: str) -> bool:
    value = given.get(name)
    return not (value is None or value is False or value == "")  # 0 is given


def _need(name: str, *options: str, shown: str = "") -> Rule:
    """Options that have no effect without another one, which is shown as users write it."""
    shown = shown or f"--{name.replace('_', '-')}"
    words = f"has no effect without `{shown}`. Give that too, or leave it out."
    return Rule(options, lambda given: _is_given(given, name), words)


def _exclude(name: str, *options: str, shown: str = "") -> Rule:
    """Options that cannot be given together with another one."""
    shown = shown or f"--{name.replace('_', '-')}"
    words = f"and `{shown}` exclude each other. Give one of them."
    return Rule(options, lambda given: not _is_given(given, name), words)


def _useless_with(name: str, reason: str, *options: str, shown: str = "") -> Rule:
    """Options that have no effect with another one, for this reason."""
    shown = shown or f"--{name.replace('_', '-')}"
    words = f"has no effect with `{shown}`, {reason}. Leave it out."
    return Rule(options, lambda given: not _is_given(given, name), words)


_FILES_ONLY = (
    *("format", "layout", "tasks_are", "agent", "task", "run", "trial"),
    *("where", "axes", "path", "strict", "time", "items", "item_text", "memory"),
)
_OF_RESULTS = (*_FILES_ONLY, "measure", "item", "scales", "agents", "keep", "drop", "reduce")
_OF_A_NEW_FIT = (
    *("model", "estimator", "priors", "response", "landmark", "starts", "nodes", "bins", "over"),
    *("engine", "cache", "address", "group", "editions"),
)
_OF_A_STORED_FIT = ("over", "add", "fit", "output", "engine", "cache", "address")
_OF_ANY_FIT = tuple(dict.fromkeys((*_OF_A_NEW_FIT, *_OF_A_STORED_FIT)))
_INSTEAD_OF_A_FIT = MappingProxyType(
    {
        "explain": tuple(name for name in _OF_ANY_FIT if name != "group"),
        "difficulty": _OF_ANY_FIT,
        "compound": _OF_A_STORED_FIT,
        "generality": _OF_ANY_FIT,
        "check": (*_OF_A_STORED_FIT, "bins", "group", "editions"),
    }
)
"""What `fit` shows instead of a fit → the options without effect on it."""
_OF_TOTALS = ("by", "average", "weights", "chance")
_OF_PLAYING = ("workers", "address", "skip_failed")
_STATED_BY_PLANS = (
    *("setting", "observation", "environment", "protocol", "cap", "episodes", "replays", "seed"),
)
_OF_A_SELECTION = ("size", "budget", "method", "proof", "output")


def _is_plan(name: str) -> bool:
    from examiner.arena import is_bundled  # few commands need the arena, which is slow to import

    return name.endswith(".toml") or is_bundled(name)


_TABLES = ("latex", "markdown", "csv")
"""What `--to` prints of an answer; the `--to` of `convert` names a layout."""

EVERYWHERE = (
    Rule(
        ("everything",),
        lambda given: not given.get("json") and given.get("to") not in _TABLES,
        "is for people: `--json` and `--to` print everything. Leave it out.",
    ),
    Rule(
        ("to",),
        lambda given: not given.get("json") or given["to"] not in _TABLES,
        "and `--json` exclude each other. Give one of them.",
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
    _need("figures", "figures_as", "columns", shown="--figures DIR"),
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
                lambda given: bool({".csv", ".tsv"} & set(Path(given["target"]).suffixes)),
                "is for CSV and TSV files, and TARGET is neither. Leave it out.",
            ),
        ),
        "curves": (
            Rule(
                ("reduce",),
                lambda given: False,
                "leaves one value of each run, and learning curves need whole runs. Leave it out.",
            ),
        ),
        "compare": (
            _need("fail_if", "sequential", "chosen", "summary", "undecided", "error_rate"),
            _useless_with("fail_if", "which prints one verdict", "reps"),
            _useless_with("plan", "which simulates nothing", "reps"),
            _useless_with(
                "chosen",
                "which predicts scores as they were stored",
                *("sequential", "plan", "unit", "group", "normalise", "success", "share"),
                *_OF_TOTALS,
                shown="--with",
            ),
        ),
        "distil": (
            Rule(
                ("choose_on",),
                lambda given: False,
                "has no effect: a tiny version is selected on all agents. Leave it out.",
            ),
        ),
        "fit": (
            *(
                _exclude(shown, "add", *(mode for mode in _INSTEAD_OF_A_FIT if mode != shown))
                for shown in _INSTEAD_OF_A_FIT
            ),
            *(
                _useless_with(shown, "which stores and prints no fit", *names)
                for shown, names in _INSTEAD_OF_A_FIT.items()
            ),
            _need("check", "draws", "quick", "overdispersion"),
            _need("fit", "add", shown="--fit FILE"),
            _need("add", "fit"),
            Rule(
                _OF_A_NEW_FIT,
                lambda given: not given["add"],
                "is for a new fit, and `--add` keeps the stored one. Leave it out.",
            ),
            Rule(
                ("address",),
                lambda given: given["engine"] == "ray",
                "has no effect without `--engine ray`. Give that too, or leave it out.",
            ),
        ),
        "place": (
            _exclude("fit", "chosen"),
            _need("fit", "population"),
        ),
        "scores": (
            Rule(
                ("aggregates", "unit", "interval", "reps", "posthoc"),
                lambda given: not given["attempts"],
                "is for a ranking, and `--attempts` prints none. Leave it out.",
            ),
        ),
        "cluster": (_exclude("number", "threshold", shown="--clusters"),),
        "select": (
            _exclude("judge", "adds", "exactly"),
            _exclude("adds", "exactly"),
            _exclude("size", "budget"),
            _exclude("present", "chosen", shown="--set"),
            *(
                _useless_with(name, "which selects nothing", *_OF_A_SELECTION, *more)
                for name, more in (
                    ("judge", ()),
                    ("exactly", ("folds", "choose_on", "must", "must_not")),
                    ("adds", ("folds", "choose_on", *_OF_TOTALS)),
                )
            ),
            _need("judge", "sizes", "methods", "draws", "tolerance"),
            _need("adds", "present", "chosen", shown="--adds TASK"),
            Rule(
                ("reps",),
                lambda given: bool(given["judge"] or given["adds"]),
                "has no effect without `--judge` or `--adds`. Leave it out.",
            ),
            Rule(
                ("folds",),
                lambda given: given["proof"],
                "is for validation, and `--no-proof` omits it. Give one of them.",
            ),
        ),
        "typology": (
            _need("source", *_OF_RESULTS, "tasks", "normalise", shown="--results SOURCE"),
        ),
        "examine": (
            _need("source", *_OF_RESULTS, shown="--oracle SOURCE"),
            _need("better_than", "certainty"),
            _need("protocol", "environment"),
            _useless_with("simulate", "which examines many agents", "output", "resume", "examinee"),
        ),
        "run": (
            _useless_with("repair", "which plays nothing", "plan", *_OF_PLAYING, "explain"),
            Rule(
                ("address",),
                lambda given: given["workers"] == "ray",
                "has no effect without `--workers ray`. Give that too, or leave it out.",
            ),
        ),
        "probe": (
            Rule(
                ("game", *_STATED_BY_PLANS),
                lambda given: not _is_plan(given["agent"]),
                "is stated by the plan itself. Leave it out.",
            ),
            Rule(
                ("output",),
                lambda given: _is_plan(given["agent"]),
                "is for the ledgers of a plan, and a single agent has none. Leave it out.",
            ),
        ),
    }
)
"""Command → its own rules."""


def check_effects(given: Given) -> None:
    """Refuse an option that has no effect together with the others.

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
        if named and not rule.is_allowed(given):
            raise InputError(f"{_option(context, named[0])} {rule.words}")


def _option(context: click.Context, name: str) -> str:
    """The option as users write it."""
    for parameter in context.command.params:
        if parameter.name == name and parameter.opts:
            word = parameter.opts[0]
            return f"`{word.upper() if isinstance(parameter, click.Argument) else word}`"
    return f"`--{name.replace('_', '-')}`"
