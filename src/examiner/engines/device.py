"""Arrays on a GPU, or wherever torch computes: sent once, multiplied in single, added in double."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examiner.messages import InputError, first_line

_PIECE = 1 << 28
"""Bytes sent at a time. To an H200, pinned memory in between took 0.15 instead of 0.12 s a gigabyte."""
_TOGETHER = 4096
"""Products are summed over so many columns or rows in single precision, and beyond in double."""
_EXACT = 1 << 24
"""Whole numbers up to here are exact in single precision."""
_HERE = 2e9

Tensor = Any
"""A torch.Tensor: torch is an extra."""


class Device:
    """Where torch computes."""

    def __init__(self, name: str | None) -> None:
        self.torch = _torch()
        if name is None:
            if not self.torch.cuda.is_available():
                raise InputError(
                    "There is no GPU that torch can use. Fit in memory or from shards (`--engine memory`, "
                    "`--engine shards`), or install a torch that knows your GPU."
                )
            name = "cuda"
        try:
            self.device = self.torch.device(name)
            self.torch.zeros(1, device=self.device, dtype=self.torch.float64)
        except (RuntimeError, AssertionError, TypeError) as problem:
            raise InputError(
                f"torch cannot compute on {name!r}: {first_line(problem)}. Give 'cuda', 'cuda:0' or 'cpu'."
            ) from None

    def kind(self, kind: type[np.floating]) -> Any:  # Any: a type of torch
        """Return torch's name for a precision."""
        return self.torch.float64 if kind is np.float64 else self.torch.float32

    def doubles(self, values: NDArray[np.float64]) -> Tensor:
        """Send a few numbers."""
        return self.torch.from_numpy(np.require(values, np.float64, ["C", "W"])).to(self.device)

    def sent(self, counts: NDArray[np.unsignedinteger], kind: type[np.floating]) -> Tensor:
        """Send a table of counts, as bytes, and make floats of them there: [agents, tasks]."""
        torch = self.torch
        counts = np.ascontiguousarray(counts)
        if counts.dtype.itemsize > 1:
            counts = counts.astype(np.int32)
        made = torch.empty(counts.shape, dtype=self.kind(kind), device=self.device)
        rows = max(1, _PIECE // max(1, counts.shape[1] * counts.dtype.itemsize))
        with warnings.catch_warnings():
            # torch warns of arrays that may not be written; this one is only read.
            warnings.simplefilter("ignore", UserWarning)
            for start in range(0, len(counts), rows):
                part = slice(start, start + rows)
                made[part] = torch.from_numpy(counts[part]).to(self.device)
        return made

    def numpy(self, values: Tensor) -> NDArray[np.float64]:
        """Bring numbers back."""
        return np.asarray(values.double().cpu().numpy())

    def free_bytes(self) -> float:
        """Return how much memory is free there; of the CPU's about as much as a block should take."""
        if self.device.type != "cuda":
            return _HERE
        cuda = self.torch.cuda
        kept = cuda.memory_reserved(self.device) - cuda.memory_allocated(self.device)
        return float(cuda.mem_get_info(self.device)[0] + kept)

    @contextmanager
    def exactly(self) -> Iterator[None]:
        """Compute without gradients, and with all digits of single precision in products."""
        torch = self.torch
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            with torch.no_grad():
                yield
        finally:
            torch.set_float32_matmul_precision(before)

    def along_tasks(self, data: Tensor, table: Tensor) -> Tensor:
        """Return data [agents, tasks] times a table [tasks, …], in double precision but for 1e-10."""
        return self._summed(data, table)

    def along_agents(self, data: Tensor, weights: Tensor) -> Tensor:
        """Return data [agents, tasks], transposed, times weights [agents, …], as exactly."""
        return self._summed(data.T, weights)

    def _summed(self, data: Tensor, table: Tensor) -> Tensor:
        if data.dtype == self.torch.float64:
            return data @ table.double()
        halves = self._halves(table.double().reshape(len(table), -1))
        parts = range(0, data.shape[1], _TOGETHER)
        both = sum((data[:, p : p + _TOGETHER] @ halves[p : p + _TOGETHER]).double() for p in parts)
        return both.reshape(len(data), 2, *table.shape[1:]).sum(dim=1)

    def _halves(self, table: Tensor) -> Tensor:
        """Return the leading bits of a table [n, columns] and what they leave, both single: [n, 2 columns].

        The leading ones are so few that a sum of as many as are added together is exact where the data
        are zeros and ones; what they leave is so small that its rounding is nothing.
        """
        largest = table.abs().max().clamp(min=1e-300)
        unit = self.torch.exp2(self.torch.ceil(self.torch.log2(largest))) * _TOGETHER / _EXACT
        leading = self.torch.round(table / unit) * unit
        return self.torch.cat([leading, table - leading], dim=1).float()


def _torch() -> Any:  # Any: torch is an extra
    try:
        import torch
    except ImportError:
        raise InputError(
            "Fits on a GPU need torch, which is not installed. Install it: pip install 'examiner[gpu]'."
        ) from None
    return torch
