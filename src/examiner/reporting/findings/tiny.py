"""A tiny version of a benchmark: what it is good for, by its record on held-out agents."""

from __future__ import annotations

from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import three_digits
from examiner.reporting.table import Column, Piece, Record, Table
from examiner.selection import Selection
from examiner.validation import to_record


def tell(tiny: Selection, *, seed: int = 0) -> Finding:
    """Tell how far off agents were that had no part, and how often a regression is cried or missed.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.selection import Holdout, distil
    >>> scores = np.random.default_rng(0).normal(size=(20, 6)) + np.arange(20)[:, None]
    >>> quick = Holdout(4, draws=5)
    >>> tell(distil(Results.from_numpy(scores), 2, rng=0, holdout=quick)).data["record"]["agents"]
    20
    """
    record = tiny.record
    data: Record = {
        "tasks": list(tiny.tasks),
        "of_tasks": len(tiny.predictor.all_tasks),
        "target": tiny.target,
        "method": tiny.method,
        "level": tiny.level,
        "record": to_record(record),
        "input": tiny.fingerprint,
    }
    about = (
        f"{len(tiny)} of {counted(data['of_tasks'], 'task')} by {tiny.method}, {tiny.target}; seed {seed}, "
        f"input {tiny.fingerprint}"
    )
    blocks: list[Piece] = []
    lead = "It was not validated on held-out agents."
    if record is not None:
        lead = (
            f"{counted(len(tiny), 'task')} predict{'s' if len(tiny) == 1 else ''} the {tiny.target} of "
            f"all {data['of_tasks']:,} for held-out agents with a mean absolute error of "
            f"{three_digits(record.error)} (95 % interval {three_digits(record.error_low)} to "
            f"{three_digits(record.error_high)}); random selections of the same size: "
            f"{three_digits(record.random_error)}. {record.coverage:.0%} of "
            f"{counted(record.agents, 'agent')} were inside their {tiny.level:.0%} intervals."
        )
        blocks = [_alarms(data["record"]), Text(_RULE)]
    blocks.append(
        Table.of([{"task": task} for task in tiny.tasks], (Column("task", "name"),), "Tasks")
    )
    return Finding(lead=lead, blocks=tuple(blocks), data=data, about=about)


_RULE = (
    "Over pairs of held-out agents, each taken both ways, as earlier and later: a drop is cried where the "
    "predicted one is at least half as large, so that as many are missed as are cried, but for ties. "
    "Newer agents, better than most of these, are more like the best third. "
    "Two versions of one agent share more of their errors than two agents do, so that both are rarer there."
)


def _alarms(record: Record) -> Table:
    columns = (
        Column("drop of", "number", key="drop"),
        Column("among", "text"),
        Column("cried, not there", "number", key="false"),
        Column("missed", "number"),
        Column("±", "number", "standard error of both, over agents", key="error"),
    )
    groups = (("all", record["alarms"]), ("the best third", record["alarms_of_best"]))
    rows = [alarm | {"among": name} for name, alarms in groups for alarm in alarms]
    return Table.of(rows, columns, "Regressions")
