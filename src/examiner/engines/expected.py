"""What an analysis of results in memory will take before it is begun, and what would be cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from examiner.engines.estimate import Size, estimate, lasting
from examiner.engines.pace import Pace, held_gigabytes
from examiner.information.analysis import FEW_PERMUTATIONS
from examiner.information.cluster_chance import MOST_CELLS, MOST_COMPARED
from examiner.information.clusters import MOST_TASKS
from examiner.information.favourable_search import MOST_CONTENDERS
from examiner.information.followers import JOINED
from examiner.information.permutation import FEWEST_TABLES, permutations_of
from examiner.information.sets import SCREENED, SCREENING_ROWS, is_large
from examiner.irt.suspects.together import DRAWN_CELLS, FEWEST_DRAWS, MOST_DRAWS
from examiner.irt.suspects.together import MOST_TASKS as MOST_PAIRED
from examiner.irt.suspects.unsteady import EXCHANGES
from examiner.messages import counted
from examiner.selection import Benchmark, Folds, expected_once, expected_seconds

LONG_SECONDS = 20.0
"""Work from here on is announced."""
_REFERENCE = Pace(3.0e-10, 5.6e-11, 2.6e-11, 4.6e-11, 1.25e-9)
"""Of the machine on which work was counted, one core of 2024."""
_CELL = 8e-9
"""Gigabytes of a number in a table."""


class Expected(NamedTuple):
    """About how long an analysis takes, how much memory the process needs, and what would take less."""

    seconds: float
    gigabytes: float
    cheaper: str

    @property
    def long(self) -> bool:
        """Whether it is worth a word."""
        return self.seconds >= LONG_SECONDS

    def sentence(self, size: Size) -> str:
        """Say it.

        >>> Expected(300.0, 2.0, "`--reps 0` takes 20 seconds").sentence(Size(500, 4000, 6_000_000))
        'About 5 minutes and 2.0 GB are expected for 500 agents × 4,000 tasks; `--reps 0` takes 20 seconds.'
        """
        table = f"{counted(size.agents, 'agent')} × {counted(size.tasks, 'task')}"
        taken = f"{lasting(self.seconds)} and {self.gigabytes:.1f} GB"
        return f"About {taken} are expected for {table}; {self.cheaper}."


def _slower(pace: Pace) -> float:
    """How many times longer this machine takes than that on which work was counted."""
    names = ("cell", "exact", "exponential")
    times: list[float] = [getattr(pace, name) / getattr(_REFERENCE, name) for name in names]
    return sum(times) / len(times)


def expected_scores(size: Size, *, reps: int, unit: str) -> Expected:
    """Scores with neighbours compared, and resampled `reps` times where there is something to resample.

    >>> expected_scores(Size(20, 30, 600), reps=2000, unit="runs").long
    False
    """
    cells, pace = size.agents * size.tasks, Pace.probed()
    once = (0.3 + 1.4e-7 * cells) * _slower(pace)
    drawn = 0.0
    if unit == "tasks":
        drawn = reps * cells * pace.exact + 2e-8 * reps * size.tasks
    elif size.rows > cells:  # several runs
        drawn = 8 * reps * size.rows * pace.exponential
    memory = held_gigabytes() + _CELL * (2.6 * cells + 5 * size.agents**2)
    if unit == "tasks":
        memory += _CELL * 3 * cells
    cheaper = "fewer tasks or agents (`--keep`) take less"
    if drawn > once:
        few = max(reps // 10, 100)
        cheaper = f"`--reps {few}` takes {lasting(once + drawn * few / reps)}"
    return Expected(once + drawn, memory, cheaper)


def expected_likeness(size: Size, *, two_valued: bool = True) -> Expected:
    """Clusters of tasks, the general factor, and who could be crowned; of zeros and ones, or other scores.

    >>> expected_likeness(Size(20, 30, 600)).long
    False
    """
    cells, pace = size.agents * size.tasks, Pace.probed()
    slower = _slower(pace)
    joined = size.tasks if size.tasks <= MOST_TASKS else JOINED
    clustered = joined**2 * (3.2e-7 + 1.0e-10 * size.agents)
    crowned = min(size.agents, MOST_CONTENDERS) * 60 * (2e-6 + 1.2e-8 * size.tasks)
    crowned *= 1 + FEWEST_TABLES  # and again on permuted tables
    few = min(size.tasks, MOST_COMPARED)
    clustered += permutations_of(min(size.agents * few, MOST_CELLS)) * few**2 * 2e-7
    seconds = (0.5 + clustered + crowned + 9e-7 * cells) * slower
    if size.rows < cells:  # means of correlations look at all pairs of tasks, and of agents
        pairs = size.tasks**2 + size.agents**2
        products = 2 * pace.product if two_valued else 3 * pace.exact
        seconds += products * cells * (size.tasks + size.agents) + 1e-8 * pairs * slower
    memory = held_gigabytes() + _CELL * (3.5 * cells + 5 * joined**2)
    cheaper = "fewer tasks or agents (`--keep`) take less"
    if size.tasks <= MOST_TASKS and clustered > 10:
        cheaper = "fewer tasks (`--keep`) take less, by their square"
    return Expected(seconds, memory, cheaper)


def expected_bits(size: Size, levels: int | None, chosen: int, reps: int) -> Expected:
    """Bits of tasks about which agent is playing; `levels` of cells, None where they are many (above 16).

    >>> expected_bits(Size(20, 30, 1800), 4, 5, 100).seconds < 30
    True
    """
    pairs, pace = size.agents**2 * size.tasks, Pace.probed()
    raised = 3 * pace.exponential
    each = 1.7 * pace.exact * levels if levels else raised / 2
    screened = is_large(size.agents, size.tasks)
    looked_at = pairs * min(SCREENING_ROWS / size.agents, 1.0) if screened else pairs
    looked_at += SCREENED * size.agents**2 if screened else 0
    once = each * looked_at * chosen + (0.0 if levels else each * pairs) + 2e-7 * size.rows
    made = min(reps, FEW_PERMUTATIONS) if screened else reps
    repeated = 0.0
    if size.rows > size.agents * size.tasks:
        drawing = size.agents**2 * (chosen if screened else size.tasks) * raised / 2
        repeated = reps * (drawing + 5e-8 * size.rows) + made * (once + 1e-7 * size.rows)
    alone = once + (1.5 * pairs * pace.exact * levels if levels else each * pairs)
    memory = held_gigabytes() + _CELL * (6.5 * size.agents * size.tasks + 10 * size.agents**2)
    cheaper = "fewer tasks or agents (`--keep`) take less"
    if repeated > alone:
        cheaper = f"`--reps 0` takes {lasting(alone)}"
    return Expected(alone + repeated, memory, cheaper)


def expected_ability_bits(size: Size) -> Expected:
    """Bits about ability: a fit in memory, and the expected information of each task.

    >>> expected_ability_bits(Size(20, 30, 600)).long
    False
    """
    fit, slower = estimate(size, "memory"), _slower(Pace.probed())
    seconds = 2 * fit.seconds + (0.5 + 2e-8 * size.rows + 8.5e-4 * size.tasks) * slower
    if (
        not size.complete
    ):  # errors of a fit look at levels of ability in every cell, or in those listed
        seconds += 4e-7 * min(size.agents * size.tasks, 8 * size.rows) * slower
    memory = held_gigabytes() + _CELL * (3 * size.agents * size.tasks + 4000 * size.tasks)
    cheaper = "fewer tasks or agents (`--keep`) take less"
    return Expected(seconds, memory, cheaper)


def expected_audit(size: Size) -> Expected:
    """Slopes of all tasks tested, and pairs of tasks compared in tables that are drawn.

    >>> expected_audit(Size(20, 30, 600)).long
    False
    """
    cells, pace = size.agents * size.tasks, Pace.probed()
    slower, paired = _slower(pace), size.tasks <= MOST_PAIRED
    seconds = (0.5 + 1.1e-6 * cells) * slower
    if size.rows > cells:  # what trials disagree on is exchanged between cells
        seconds += 1e-7 * EXCHANGES * cells * slower
    if paired:
        draws = min(max(DRAWN_CELLS // max(size.tasks, 1) ** 2, FEWEST_DRAWS), MOST_DRAWS)
        looked_at = cells * (6e-7 * slower + 6 * size.tasks * pace.exact)
        seconds += draws * (looked_at + 1.5e-7 * size.tasks**2 * slower)
    memory = held_gigabytes() + _CELL * (8 * cells + (20 * size.tasks**2 if paired else 0))
    return Expected(seconds, memory, "fewer tasks or agents (`--keep`) take less")


def expected_selection(
    material: Benchmark,
    chosen: int | None,
    folds: Folds | None,
    methods: Sequence[str] | None,
    *,
    processes: int = 1,
    cheaper: str = "",
) -> Expected:
    """Tasks chosen, a predictor learnt, and both judged in folds where these are given.

    `cheaper` says what would take less; choosing alone is told beside it where that is much shorter.
    """
    slower = _slower(Pace.probed())
    once = slower * expected_once(material, chosen, methods, proof=folds is not None)
    judged = slower * expected_seconds(material, chosen, folds, methods) if folds else 0.0
    agents, tasks = material.values.shape
    memory = held_gigabytes() + _CELL * (2.2 * agents * tasks + 4e7) * (1 + 0.5 * (processes - 1))
    alone = slower * expected_once(material, chosen, methods, proof=False)
    told = [cheaper] if cheaper else []
    if folds is not None and "--" not in cheaper and alone < 0.7 * (once + judged / processes):
        told.append(f"`--no-proof` only chooses, in {lasting(alone)}")
    told = told or ["fewer tasks or agents (`--keep`) take less"]
    return Expected(once + judged / processes, memory, "; ".join(told))
