"""Counts sent to a device, without what cannot be fitted; their sums are taken there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.engines.device import Device, Tensor
from examiner.irt import (
    Dropped,
    Floats,
    Whole,
    check_enough_agents,
    kind_for,
    set_aside,
    standard,
    start_along,
)
from examiner.results import (
    MOST_AGENTS,
    ResponseMatrix,
    connections,
    connections_of_blocks,
    in_short_blocks,
)

_ROWS = 1024


class DeviceCounts(NamedTuple):
    """Successes on the device, [agents, tasks], and trials: [tasks] where all agents had the same."""

    won: Tensor
    given: Tensor
    kind: type[np.floating]
    whole: Whole

    def kept(self, matrix: ResponseMatrix) -> ResponseMatrix:
        """Return the part of a matrix that is here."""
        whole = self.whole
        if matrix.shape == (len(whole.agents), len(whole.tasks)):
            return matrix
        row = {agent: index for index, agent in enumerate(matrix.agents)}
        column = {task: index for index, task in enumerate(matrix.tasks)}
        return matrix.take(
            [row[agent] for agent in whole.agents], [column[task] for task in whole.tasks]
        )


def sent(device: Device, matrix: ResponseMatrix) -> DeviceCounts:
    """Send the counts of a matrix, and set aside what cannot be fitted."""
    torch, (agents, tasks) = device.torch, matrix.shape
    shared = matrix.trials.strides[0] == 0
    most = int(matrix.trials[0].max() if shared else matrix.trials.max())
    kind = kind_for(agents * tasks, most, complete=shared)
    with device.exactly():
        won = device.sent(matrix.successes, kind)
        given = device.doubles(matrix.trials[0]) if shared else device.sent(matrix.trials, kind)
        if not shared and bool((given == given[0]).all()):
            shared, given = True, given[0].double()
        over_agents = given * agents if shared else given.sum(dim=0, dtype=torch.float64)
        sums = device.numpy(won.sum(dim=0, dtype=torch.float64)), device.numpy(over_agents)
        means = device.numpy(_means(torch, won, given))
        columns, dropped = set_aside(matrix.tasks, *sums)
        if dropped:
            there = torch.tensor(columns, device=device.device)
            won, given = won[:, there], given[..., there]
        tries = given.sum(dim=-1, dtype=torch.float64).expand(agents)
        rows = np.flatnonzero(device.numpy(tries) > 0)
        check_enough_agents(len(rows))
        if len(rows) < agents:
            there = torch.tensor(rows, device=device.device)
            won, given = won[there], given[there]
        scores = device.numpy(won.sum(dim=1, dtype=torch.float64))
        most, same = int(given.max()), device.numpy(given) if shared else None
    whole = Whole(
        matrix.agents if len(rows) == agents else tuple(matrix.agents[row] for row in rows),
        tuple(matrix.tasks[column] for column in columns) if dropped else matrix.tasks,
        sums[0][columns],
        sums[1][columns],
        scores,
        means[rows],
        same,
        most,
        dropped,
        _left_out(matrix, rows, means),
    )
    if same is None:
        observed = (
            matrix.trials[rows[n : n + _ROWS]][:, columns] for n in range(0, len(rows), _ROWS)
        )
        if len(rows) > MOST_AGENTS:
            joined = connections_of_blocks(whole.agents, whole.tasks, in_short_blocks(observed))
        else:
            joined = connections(matrix.take(rows.tolist(), columns))
        whole = whole._replace(joined=joined)
    return DeviceCounts(won, given, kind, whole)


def _means(torch: Tensor, won: Tensor, given: Tensor) -> Tensor:
    """Each agent's mean share of successes over the tasks it met."""
    if float(given.max()) <= 1:
        tries = given.sum(dim=-1, dtype=torch.float64)
        return won.sum(dim=1, dtype=torch.float64) / tries
    seen = (given > 0).expand(won.shape)
    return torch.where(seen, won / given, 0.0).sum(dim=1) / seen.sum(dim=1)


def _left_out(matrix: ResponseMatrix, rows: NDArray[np.intp], means: Floats) -> tuple[Dropped, ...]:
    """Agents without any result on the tasks that are fitted, and why."""
    unseen = np.setdiff1d(np.arange(len(matrix.agents)), rows)
    unseen = unseen[np.argsort(~np.isnan(means[unseen]), kind="stable")]
    return tuple(
        Dropped(
            matrix.agents[row],
            "no observed result"
            if np.isnan(means[row])
            else "observed only on tasks with constant results",
        )
        for row in unseen
    )


def first_start(device: Device, data: DeviceCounts, *, shared_slope: bool) -> tuple[Floats, Floats]:
    """Return slopes and intercepts from shares and from correlations with the total score."""
    whole = data.whole
    with device.exactly():
        along = device.along_agents(data.won, device.doubles(standard(whole.scores)))
        found = device.numpy(along)
    return start_along(found, whole.won, whole.tried, shared_slope=shared_slope)
