"""What a column says of each agent, wherever it stands: in the table of agents, or next to the results."""

from __future__ import annotations

from typing import Any

from examiner.messages import InputError, listed, shorten
from examiner.results.table import Results


def find_agent_column(results: Results, column: str) -> tuple[Any, ...] | None:
    """Return one value per agent; None where there is no such column (Any: values as the user had them).

    A column of results may be missing in some rows of an agent, and is refused where two rows differ.

    >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "year": [2024, 2025], "score": [1, 0]}
    >>> find_agent_column(Results.from_dict(table), "year")
    (2024, 2025)
    """
    if column in results.agent_attributes.columns:
        return tuple(results.agent_attributes.aligned(results.agents, column))
    if column not in results.attributes:
        return None
    values: dict[int, Any] = {}
    for agent, value in zip(results.agent_codes.tolist(), results.column(column), strict=True):
        if value is None or value != value:  # NaN is missing too
            continue
        if values.setdefault(agent, value) != value:
            raise InputError(
                f"Column {shorten(column)} differs between results of one agent: "
                f"{shorten(results.agents[agent])} has {listed((values[agent], value))}. Name a column "
                f"with one value for each agent."
            )
    return tuple(map(values.get, range(len(results.agents))))


def agent_column(results: Results, column: str, what: str) -> dict[str, Any]:
    """Return the value of each agent by name; `what` says in messages what the values are.

    >>> table = {"agent": ["a", "b"], "task": ["t", "t"], "score": [1, 0]}
    >>> agent_column(Results.from_dict(table), "year", "years")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Agents have no column 'year' with years. They have none. Add the column, \
or give a table of agents with it.
    """
    values = find_agent_column(results, column)
    if values is None:
        columns = (*results.agent_attributes.columns, *results.attributes)
        raise InputError(
            f"Agents have no column {shorten(column)} with {what}. They have "
            f"{listed(columns) if columns else 'none'}. Add the column, or give a table of agents with it."
        )
    return dict(zip(results.agents, values, strict=True))
