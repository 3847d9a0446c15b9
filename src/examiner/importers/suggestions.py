"""What to add to a command that could not be understood: a path template, a measure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath
from typing import Literal, NamedTuple

from examiner.importers.templates import PathTemplate, without_ending
from examiner.importers.vocabulary import (
    AGENT_COLUMNS,
    KEY,
    TASK_COLUMNS,
    columns_like,
    is_known_task,
    mostly_tasks,
)
from examiner.messages import InputError

_SEPARATORS = "-_.= "
_NUMBERED = re.compile(
    r"(.+?)([-_.= ]*(?:run|seed|rep|trial|exp)[-_.= ]*|[-_.= ][sr]?)(\d+)", re.IGNORECASE
)
_RUN = re.compile(r"(?:run|seed|rep|trial|exp|s|r)?[-_.= ]*\d+", re.IGNORECASE)
_RESULT = re.compile(
    r"^result$|rew|return|ret(?![a-z])|score|success|win|acc|pass@|solved|^value$|auc|f1|rate|top.?1",
    re.I,
)
_NO_RESULT = re.compile(
    r"std|stderr|_err|error|min|max|len|time|loss|low|high|q0|ci(?![a-z])|base|rating|normali[sz]er",
    re.IGNORECASE,
)


class MissingNamesError(InputError):
    """Files lack names; a path `template`, which stands in the message, could give the `missing` ones."""

    def __init__(self, message: str, missing: Sequence[str], template: str) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.template = template

    def __reduce__(self) -> tuple[object, ...]:
        """Let the error come back from another process."""
        return MissingNamesError, (str(self), self.missing, self.template)

    def with_template(self, template: str | None, where: str = "") -> MissingNamesError:
        """Return the error with a template that fits, and where else to read from, if there is one."""
        if template is not None:
            # The message may have a file's name before it by now.
            said = str(self).replace(f"--path '{self.template}'", f"--path '{template}'")
            self.args = (said + where,)
        return self


def suggested_measure(columns: Sequence[str]) -> str | None:
    """Return the column whose name is most like that of a result, None where none is.

    >>> suggested_measure(["eplenmean", "eprewmean", "misc/total_timesteps"])
    'eprewmean'
    >>> suggested_measure(["acc_stderr", "acc"]), suggested_measure(["loss"])
    ('acc', None)
    """
    like = [name for name in columns if _RESULT.search(name) and not _NO_RESULT.search(name)]
    return next(iter(like), None)


def one_result_per_row(
    what: str, columns: Sequence[str], *, named: bool = True, row: int | None = None
) -> MissingNamesError:
    """Return an error that says how to read a table as one result per row that looks like another.

    `named` says that the first column holds names, not numbers.

    >>> str(one_result_per_row("No.", ["name", "win_rate", "mode"]))
    "No. If each row is one result: `--measure win_rate --agent name --path '{task}'`."
    >>> str(one_result_per_row("No.", ["model", "x"]))
    "No. If each row is one result: `--measure COLUMN --path '{task}'`."
    >>> str(one_result_per_row("No.", ["success", "turns"]))
    "No. If each row is one result: `--measure success --path '{agent}/{task}'`."
    """
    agent, task = (columns_like(columns, known) for known in (AGENT_COLUMNS, TASK_COLUMNS))
    measure = suggested_measure([name for name in columns if name not in (*agent, *task)])
    # The keys of an object of records are mostly tasks of one agent, as the first column mostly agents.
    key: Literal["agent", "task"] = "task" if columns[0] == KEY else "agent"
    unnamed = agent or task or not named or columns[0] == measure
    first = "" if unnamed else f" --{key} {shlex.quote(columns[0])}"
    present = {"agent": bool(agent), "task": bool(task)} | ({key: True} if first else {})
    missing = [name for name, there in present.items() if not there]
    template = "/".join(f"{{{name}}}" for name in missing)
    path = f" --path '{template}'" if missing else ""
    command = f"--measure {shlex.quote(measure or 'COLUMN')}{first}{path}"
    problem = MissingNamesError(
        f"{what} If each row is one result: `{command}`.", missing or ["agent"], template
    )
    problem.row = row
    return problem


class _Level(NamedTuple):
    """One level of paths that differ there: text around a name, and around the number of a run."""

    stems: tuple[str, ...]
    before: str = ""
    after: str = ""
    run: str = ""

    def filled(self, name: str) -> str:
        return f"{self.before}{name}{self.run}{self.after}"


def suggested_template(paths: Sequence[PurePath], missing: Sequence[str]) -> str | None:
    """Return a template that takes missing names from where paths differ, else from the folder above.

    Numbers after a word such as `run`, and those that all names share, number runs; a level of known tasks
    names tasks; text that all names of a level share is kept. None where levels cannot be assigned, or two
    files would get the same names. Of files at several depths, the uppermost are meant.

    >>> paths = [PurePath(f"{agent}/{task}.csv") for agent in ("sac", "ppo") for task in ("hop", "run")]
    >>> suggested_template(paths, ["agent", "task"]), suggested_template(paths[:2], ["task"])
    ('{agent}/{task}', 'sac/{task}')
    >>> suggested_template([PurePath(f"logs/{agent}/0/log.csv") for agent in ("sac", "ppo")], ["agent"])
    'logs/{agent}/'
    >>> suggested_template([PurePath("sac_hopper_hop.csv"), PurePath("sac_pong.csv")], ["agent", "task"])
    '{agent}_{task}'
    >>> names = [f"{agent}-run{run}/log-{task}.csv" for agent in "xy" for run in "01" for task in "ab"]
    >>> suggested_template([PurePath(name) for name in names], ["agent", "task"])
    '{agent}-run{run}/log-{task}'
    """
    depth = min(len(path.parts) for path in paths)
    upper = [path for path in paths if len(path.parts) == depth]
    deeper = bool({path.name for path in paths} - {path.name for path in upper})
    paths = upper
    parted = [[*path.parts[:-1], without_ending(path.name)] for path in paths]
    values = [list(dict.fromkeys(level)) for level in zip(*parted, strict=True)]
    pieces = [level[0] for level in values]
    names, free = list(missing), list[int]()
    levels = {number: _level(level) for number, level in enumerate(values) if len(level) > 1}
    for number, level in levels.items():
        both = {"agent", "task"} <= set(names)
        split = _mark_before_task(values[number]) if both else None
        split_stems = _mark_before_task(level.stems) if both and split is None else None
        if split is not None:
            pieces[number], names = f"{{agent}}{split}{{task}}", []
        elif split_stems is not None:
            pieces[number], names = level.filled(f"{{agent}}{split_stems}{{task}}"), []
        elif not level.stems:
            pieces[number] = level.filled("")
        elif any(set(level.stems) <= set(before) for before in values[:number]):
            pieces[number] = level.filled("{folder}")
        elif mostly_tasks(level.stems) and "task" in missing:
            if "task" not in names:
                return None  # two levels name tasks
            pieces[number] = level.filled("{task}")
            names.remove("task")
        else:
            free.append(number)
    first = min(levels, default=max(depth - 1, 1))
    while len(free) < len(names) and first > 0:
        first -= 1
        free.insert(0, first)
    if not names and len(free) == 1 and not any("{folder}" in piece for piece in pieces):
        names = ["folder"]  # files that differ in nothing else are refused by their key
    if len(free) != len(names) or (len(names) == 2 and len(levels) == 1 and not _plain(values)):
        return None
    for number, name in zip(free, names, strict=True):
        level = levels.get(number, _Level((pieces[number],)))
        pieces[number] = level.filled(f"{{{name}}}")
    last = max(number for number, piece in enumerate(pieces) if "{" in piece)
    if deeper:  # what lies below has other names
        last = depth - 1
    text = "/".join(pieces[: last + 1]) + ("/" if last < depth - 1 else "")
    return text if "{" in text and _fits(PathTemplate.of(text), paths) else None


def _fits(template: PathTemplate, paths: Sequence[PurePath]) -> bool:
    """Whether a template is like all paths, as far as a few show."""
    return all(template.match(path) is not None for path in (*paths[:50], paths[-1]))


def _level(values: Sequence[str]) -> _Level:
    if all(map(_RUN.fullmatch, values)):
        return _Level((), run="{run}")
    if mostly_tasks(values):
        return _Level(tuple(values))
    before = _shared_beginning(values)
    before = before[: max((before.rfind(mark) for mark in _SEPARATORS), default=-1) + 1]
    values = [value.removeprefix(before) for value in values]
    if all(map(_RUN.fullmatch, values)):  # of one task, or of files that are all called so
        stem = before.rstrip(_SEPARATORS)
        if is_known_task(stem):
            return _Level((stem,), run=f"{before.removeprefix(stem)}{{run}}")
        return _Level((), before, run="{run}")
    if mostly_tasks(values):
        return _Level(tuple(values), before)
    numbered = [_NUMBERED.fullmatch(value) for value in values]
    parts = [match.groups() for match in numbered if match]
    if len(parts) == len(values) and len({between for _, between, _ in parts}) == 1:
        between = parts[0][1]
        stems = {
            stem: {number for name, _, number in parts if name == stem} for stem, _, _ in parts
        }
        shared = len(stems) > 1 and len(set(map(frozenset, stems.values()))) == 1
        if between.strip(_SEPARATORS) or (shared and len(next(iter(stems.values()))) > 1):
            return _Level(tuple(stems), before, run=f"{between}{{run}}")
    after = _shared_beginning([value[::-1] for value in values])[::-1]
    cuts = [place for place in (after.find(mark) for mark in _SEPARATORS) if place >= 0]
    after = after[min(cuts) :] if cuts else ""
    return _Level(tuple(value.removesuffix(after) for value in values), before, after)


def _shared_beginning(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[
        : sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    ]


def _plain(values: Sequence[Sequence[str]]) -> bool:
    """Whether names of the one level that differs are words or known tasks, with no agent in them."""
    (level,) = (names for names in values if len(names) > 1)
    return all(is_known_task(name) or name.isalnum() for name in level)


def _mark_before_task(stems: Sequence[str]) -> str | None:
    """What stands between an agent and a known task in all names, None where they are no such pairs.

    Names that are known tasks as a whole, such as `a2c-Ant-v3`, are pairs where agents share tasks.
    """
    for mark in "_-" if stems else "":
        template = PathTemplate.of(f"{{agent}}{mark}{{task}}")
        matches = [template.match(PurePath(f"{stem}.x")) for stem in stems]
        tasks = [match["task"] for match in matches if match]
        if len(tasks) < len(stems) or not all(map(is_known_task, tasks)):
            continue
        if not any(map(is_known_task, stems)) or len(set(tasks)) < len(tasks):
            return mark
    return None
