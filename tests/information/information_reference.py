"""Papers/004, equations 1, 3 and 4, written as plain loops over plain numbers."""

import math
from collections.abc import Sequence


def mean_and_deviation(trials: Sequence[float]) -> tuple[float, float]:
    mean = math.fsum(trials) / len(trials)
    return mean, math.sqrt(math.fsum((x - mean) ** 2 for x in trials) / (len(trials) - 1))


def share_and_deviation(trials: Sequence[float]) -> tuple[float, float]:
    share = (sum(trials) + 0.5) / (len(trials) + 1)
    return share, math.sqrt(share * (1 - share))


def plain_bits(channels, *, quadrature: bool = False, exact: bool = False) -> float:
    """Bits of a set: `channels` holds for each channel of each task the agents' (mean, deviation)."""
    agents = len(channels[0])
    rows = []
    for first in range(agents):
        row = []
        for second in range(agents):
            density = 1.0
            for channel in channels:
                (mean_1, deviation_1), (mean_2, deviation_2) = channel[first], channel[second]
                variance = (deviation_1 + deviation_2) ** 2
                if quadrature:
                    variance = deviation_1**2 + deviation_2**2
                density *= math.exp(-((mean_1 - mean_2) ** 2) / (2 * variance))
                density /= math.sqrt(2 * math.pi * variance)
            row.append(density)
        total = math.fsum(row)
        rows.append([density / total for density in row])
    conditional = math.fsum(-p * math.log2(p) / agents for row in rows for p in row if p > 0)
    columns = [math.fsum(row[place] for row in rows) / agents for place in range(agents)]
    prior = math.fsum(-p * math.log2(p) for p in columns if p > 0) if exact else math.log2(agents)
    return prior - conditional


def plain_greedy(tasks, size: int) -> tuple[list[int], list[float]]:
    """Greedy choice: `tasks` holds the channels of each task."""
    chosen: list[int] = []
    bits: list[float] = []
    for _ in range(size):
        best, most = -1, -1.0
        for candidate in range(len(tasks)):
            if candidate in chosen:
                continue
            channels = [channel for task in [*chosen, candidate] for channel in tasks[task]]
            gain = plain_bits(channels)
            if gain > most:
                best, most = candidate, gain
        chosen.append(best)
        bits.append(most)
    return chosen, bits
