"""The diagnosis of a fit: tasks and agents that it does not describe, and tasks that share more."""

from __future__ import annotations

import numpy as np

from examiner.irt import Diagnosis
from examiner.messages import counted
from examiner.reporting.finding import Finding, Text
from examiner.reporting.prose import Prose
from examiner.reporting.table import Column, Piece, Record, Table, records


def tell(found: Diagnosis) -> Finding:
    """Tell what the fit leaves unexplained, the worst first.

    >>> from examiner.irt import ItemParameters, diagnose, fit, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(8)], np.ones(8), np.zeros(8))
    >>> made = fit(simulate(items, 60, rng=0), errors=False)
    >>> told = tell(diagnose(made, replicates=20, refit=False, rng=0))
    >>> len(told.data["tasks"]), len(told.data["agents"])
    (8, 60)
    """
    tasks, agents = _tasks(found), _agents(found)
    pairs = [pair._asdict() for pair in found.dependence.pairs]
    blocks: list[Piece] = [Text(sentence) for sentence in found.findings()]
    blocks += [_task_table(tasks), _agent_table(agents)]
    if pairs:
        blocks.append(_pair_table(pairs))
    return Finding(
        lead=_lead(found),
        blocks=tuple(blocks),
        data={
            "findings": list(found.findings()),
            "tasks": tasks,
            "agents": agents,
            "pairs": pairs,
            "pair_cutoff": found.dependence.cutoff,
            "one_ability": bool(found.dimensions.one_dimension),
            "first_eigenvalue": found.dimensions.first,
            "eigenvalue_cutoff": found.dimensions.cutoff,
            "overdispersion": None
            if found.overdispersion is None
            else {
                "correlation": found.overdispersion.correlation,
                "p_value": found.overdispersion.p_value,
            },
            "draws": found.draws,
        },
    )


def _lead(found: Diagnosis) -> Prose:
    odd, total = int(found.mean_squares.misfit.sum()), len(found.mean_squares.tasks)
    enough = "is enough" if found.dimensions.one_dimension else "is not enough"
    return (
        f"{odd:,} of {counted(total, 'task')} fit badly (up to {0.1 * total:.1f} by chance); "
        f"{int(found.agents.odd.sum()):,} of {counted(len(found.agents.agents), 'agent')} have odd "
        f"responses; one ability {enough}."
    )


def _tasks(found: Diagnosis) -> list[Record]:
    squares, sums = found.mean_squares, found.sum_scores
    rows = records(
        task=squares.tasks,
        infit=squares.infit,
        infit_low=squares.infit_low,
        infit_high=squares.infit_high,
        outfit=squares.outfit,
        outfit_low=squares.outfit_low,
        outfit_high=squares.outfit_high,
        misfit=squares.misfit,
        sum_score_p=sums.p_value,
        rmsea=sums.rmsea,
    )
    distance = np.nan_to_num(np.abs(np.log(np.maximum(squares.outfit, 1e-9))))
    order = np.lexsort((-distance, ~squares.misfit))
    return [rows[place] for place in order.tolist()]


def _agents(found: Diagnosis) -> list[Record]:
    fit = found.agents
    names = ("lz", "p_value", "adjusted", "infit", "outfit", "odd")
    rows = records(agent=fit.agents, **{name: getattr(fit, name) for name in names})
    return [rows[place] for place in np.argsort(fit.lz, kind="stable").tolist()]


def _task_table(rows: list[Record]) -> Table:
    columns = (
        Column("task", "name"),
        Column("infit", "number", "mean squared residual near its difficulty; 1 where it fits"),
        Column("low", "number", "95 % of what the model gives", "infit_low"),
        Column("high", "number", "95 % of what the model gives", "infit_high"),
        Column("outfit", "number", "the same over all agents"),
        Column("lower", "number", "95 % of what the model gives", "outfit_low"),
        Column("upper", "number", "95 % of what the model gives", "outfit_high"),
        Column("p by S-X²", "number", key="sum_score_p"),
        Column("fits badly", "text", key="misfit"),
    )
    return Table.of(rows, columns, "Tasks, the worst fit first")


def _agent_table(rows: list[Record]) -> Table:
    columns = (
        Column("agent", "name"),
        Column("lz", "number", "how likely its responses are, in deviations of draws"),
        Column("p", "number", "share of draws at most as likely", "p_value"),
        Column("among all", "number", "share of tables with any agent as odd", "adjusted"),
        Column("infit", "number"),
        Column("outfit", "number"),
        Column("odd", "text"),
    )
    return Table.of(rows, columns, "Agents, the most unusual responses first")


def _pair_table(rows: list[Record]) -> Table:
    columns = (
        Column("task", "name", key="first"),
        Column("and", "name", key="second"),
        Column("beyond the mean", "number", "Q3 less its mean", "excess"),
    )
    return Table.of(rows, columns, "Tasks that share more than ability")
