"""Fits on a GPU, or wherever torch computes: bytes are sent once, and few numbers come back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from examiner.irt import (
    MODELS,
    Array,
    Block,
    Dense,
    MemorySource,
    Pace,
    Place,
    Response,
    SameRow,
    Unknowns,
    Whole,
    check_enough_agents,
    excluded_agents,
    log_choices,
    set_aside,
    tiles_of,
    usable_responses,
)
from examiner.messages import InputError, first_line
from examiner.results import MOST_AGENTS, ResponseMatrix, connections, connections_of_blocks

_PIECE = 1 << 28
"""Bytes sent at a time. To an H200, pinned memory in between took 0.15 instead of 0.12 s a gigabyte."""


class Device(Place):
    """Where torch computes."""

    in_process = False
    agents_together = 16_384
    """One billion responses take 0.62 s on an H200 with these, 1.0 s with 2,048."""

    def __init__(self, name: str | None) -> None:
        self.xp = torch = _torch()
        if name is None:
            if not torch.cuda.is_available():
                raise InputError(
                    "There is no GPU that torch can use. Fit in memory or from shards (`--engine memory`, "
                    "`--engine shards`), or install a torch that knows your GPU."
                )
            name = "cuda"
        try:
            self.device = torch.device(name)
            torch.zeros(1, device=self.device, dtype=torch.float64)
        except (RuntimeError, AssertionError, TypeError) as problem:
            raise InputError(
                f"torch cannot compute on {name!r}: {first_line(problem)}. Give 'cuda', 'cuda:0' or 'cpu'."
            ) from None

    def array(self, values: Array, kind: type[np.generic] = np.float64) -> Array:
        """Send numbers of numpy, large tables piece by piece."""
        if np.dtype(kind).kind == "u" and np.dtype(kind).itemsize > 1:
            kind = np.int32
        values = np.require(values, kind, ["C"])
        if values.nbytes <= _PIECE:
            return self._sent(values)
        there = self.xp.empty(values.shape, dtype=self._sent(values[:1]).dtype, device=self.device)
        rows = max(1, _PIECE // (values.nbytes // len(values)))
        for start in range(0, len(values), rows):
            there[start : start + rows] = self._sent(values[start : start + rows])
        return there

    def _sent(self, values: NDArray[np.generic]) -> Array:
        with warnings.catch_warnings():
            # torch warns of arrays that may not be written; this one is only read, or copied below.
            warnings.simplefilter("ignore", UserWarning)
            sent = self.xp.from_numpy(values)
            return sent.clone() if self.device.type == "cpu" else sent.to(self.device)

    def cast(self, values: Array, kind: type[np.generic]) -> Array:
        """Return an array in another precision."""
        return values.to(self.xp.float64 if kind is np.float64 else self.xp.float32)

    def numpy(self, values: Array) -> NDArray[np.float64]:
        """Bring numbers back."""
        if isinstance(values, np.ndarray):
            return np.asarray(values, dtype=np.float64)
        return np.asarray(values.double().cpu().numpy())

    @contextmanager
    def exactly(self) -> Iterator[None]:
        """Compute without gradients, and with all digits of single precision in products."""
        torch = self.xp
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            with torch.no_grad():
                yield
        finally:
            torch.set_float32_matmul_precision(before)

    def free_gigabytes(self) -> float | None:
        """Return how much memory is free there; None of the CPU's."""
        if self.device.type != "cuda":
            return None
        cuda = self.xp.cuda
        kept = cuda.memory_reserved(self.device) - cuda.memory_allocated(self.device)
        return float(cuda.mem_get_info(self.device)[0] + kept) / 1e9


class DeviceSource(MemorySource):
    """Responses on a device, in one block: successes and trials as bytes, or the statistics of others."""

    def __init__(
        self,
        device: Device,
        whole: Whole,
        response: Response,
        matrix: ResponseMatrix,
        counts: Block | None,
    ) -> None:
        self.place: Device = device
        super().__init__(matrix, response, whole)
        self._counts = counts

    @property
    def pace(self) -> Pace:
        """How finely to integrate and when to stop."""
        usual = super().pace
        if not self.plain or self.kind is np.float64:
            return usual
        # products are in single precision, and added in double
        return usual._replace(tolerance=5e-6, noise=1e-10)

    def suited(self, unknowns: Unknowns) -> Self:
        """Return the source with the statistics that a model needs."""
        super().suited(unknowns)
        self.memory = self.place.free_gigabytes()
        if self.response == "binomial" and self._counts is not None:
            tables = tuple(
                table._replace(kind=self.kind) if isinstance(table, Dense) else table
                for table in self._counts.tables
            )
            self._block = replace(self._counts, tables=tables)
        elif self.matrix is not None:
            self.matrix = _part(self.matrix, self.whole)
        return self


def gpu(
    matrix: ResponseMatrix, *, response: Response | None = None, device: str | None = None
) -> DeviceSource:
    """Return a source for `irt.fit` of responses on a GPU.

    They are sent once, a byte for each cell, two where cells are missing, and stay so there until a product
    needs floats. `device` is torch's name of it, by default "cuda"; "cpu" computes the same without one.

    >>> from examiner.irt import ItemParameters, simulate
    >>> items = ItemParameters.of([f"task {n}" for n in range(20)], np.ones(20), np.linspace(-2, 2, 20))
    >>> gpu(simulate(items, 100, rng=0), device="nowhere")  # doctest: +SKIP
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: torch cannot compute on 'nowhere': … Give 'cuda', 'cuda:0' or 'cpu'.
    """
    place = Device(device)
    if not matrix.is_counts:
        usable = usable_responses(matrix, MODELS["beta"], response)
        assert usable.matrix is not None
        whole = replace(usable.whole, joined=connections(usable.matrix))
        return DeviceSource(place, whole, usable.response, usable.matrix, None)
    with place.exactly():
        whole, block = _sent_counts(place, matrix)
    chosen: Response = response or ("beta-binomial" if whole.most > 1 else "binomial")
    return DeviceSource(place, whole, chosen, matrix, block)


def _sent_counts(place: Device, matrix: ResponseMatrix) -> tuple[Whole, Block]:
    """Send the counts of a matrix, and exclude what cannot be fitted; sums are taken there."""
    double, (agents, _) = place.xp.float64, matrix.shape
    won, trials = place.array(matrix.successes, matrix.successes.dtype.type), matrix.trials
    alike = trials.strides[0] == 0
    given = place.array(trials[0]) if alike else place.array(trials, trials.dtype.type)
    if not alike and bool((given == given[0]).all()):
        alike, given = True, given[0].double()
    tried = given * float(agents) if alike else given.sum(0, dtype=double)
    sums = place.numpy(won.sum(0, dtype=double)), place.numpy(tried)
    means = place.numpy(_means(place, won, given))
    columns, dropped = set_aside(matrix.tasks, *sums)
    if dropped:
        there = place.array(np.array(columns), np.int64)
        won, given = won[:, there], given[..., there]
    tries = place.numpy(given.sum(-1, dtype=double).expand(agents))
    rows = np.flatnonzero(tries > 0)
    check_enough_agents(len(rows))
    score = place.numpy(won.sum(1, dtype=double))[rows]
    order = np.argsort((score + 1.0) / (tries[rows] + 2.0), kind="stable")
    there = place.array(rows[order], np.int64)
    most = int(given.max())
    tables = (
        Dense(won[there], np.float64, place),
        SameRow(given, place) if alike else Dense(given[there], np.float64, place),
    )
    named = matrix.tasks if not dropped else tuple(matrix.tasks[column] for column in columns)
    whole = Whole(
        matrix.agents if len(rows) == agents else tuple(matrix.agents[row] for row in rows),
        named,
        sums[0][columns],
        sums[1][columns],
        means[rows],
        alike,
        most,
        len(rows) * len(columns),
        (float(score.mean()), max(float(score.std()), 1e-12)),
        False,
        dropped,
        excluded_agents(matrix.agents, means, tries > 0),
    )
    part = _part(matrix, whole)
    if not alike:
        few = len(rows) <= MOST_AGENTS
        joined = (
            connections(part)
            if few
            else connections_of_blocks(part.agents, part.tasks, [part.trials])
        )
        whole = replace(whole, joined=joined)
    constant = float(log_choices(part).sum()) if most > 1 else 0.0
    tiles = tiles_of(len(rows), place.agents_together)
    return whole, Block(tables, place, order, tiles, constant, score[order])


def _part(matrix: ResponseMatrix, whole: Whole) -> ResponseMatrix:
    """The agents and tasks of a matrix that are fitted."""
    if matrix.shape == (len(whole.agents), len(whole.tasks)):
        return matrix
    row = {agent: index for index, agent in enumerate(matrix.agents)}
    column = {task: index for index, task in enumerate(matrix.tasks)}
    return matrix.take(
        [row[agent] for agent in whole.agents], [column[task] for task in whole.tasks]
    )


def _means(place: Device, won: Array, given: Array) -> Array:
    """Each agent's mean share of successes over the tasks it met."""
    double = place.xp.float64
    if int(given.max()) <= 1:
        return won.sum(1, dtype=double) / given.sum(-1, dtype=double)
    observed = (given > 0).expand(won.shape)
    return place.xp.where(observed, won / given, 0.0).sum(1, dtype=double) / observed.sum(1)


def _torch() -> Any:  # Any: torch is an extra
    try:
        import torch
    except ImportError:
        raise InputError(
            "Fits on a GPU need torch, which is not installed. Install it: pip install 'examiner[gpu]'."
        ) from None
    return torch
