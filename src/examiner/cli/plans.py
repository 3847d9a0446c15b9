"""Plans on the command line: a file, or the name of one that comes with the package."""

from __future__ import annotations

from pathlib import Path

from examiner.arena.plans.file import plan as read_plan
from examiner.arena.plans.file import plan_from_toml
from examiner.arena.plans.plan import Plan
from examiner.datasets import bundled_plans, plan_text
from examiner.wording import unknown_name

PLAN_HELP = "The plan: a TOML file, or the name of a bundled one."


def named_plan(source: str) -> Plan:
    """Return the plan of a file, or else a bundled one.

    >>> named_plan("machado-2018-table1").seeds
    (0, 1, 2, 3, 4)
    >>> named_plan("atari-arean")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown plan 'atari-arean'. Did you mean 'atari-arena'? Known: ...
    """
    if is_bundled(source):
        return plan_from_toml(plan_text(source), name=source)
    path = Path(source)
    if path.name == source and not path.suffix and not path.exists():
        raise unknown_name("plan", source, bundled_plans())
    return read_plan(source)


def is_bundled(source: str) -> bool:
    """Say whether this names a bundled plan; a file of that name comes first."""
    return source in bundled_plans() and not Path(source).is_file()
