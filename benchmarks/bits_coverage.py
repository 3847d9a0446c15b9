"""Claim: intervals of bits hold the bits counted, and cover, also for tasks that were chosen for them.

Agents with true means and deviations on 40 tasks play a few trials each; the five tasks that tell most
together are chosen on them. Counted are intervals that hold the bits of the true means and deviations, of
every task and of the chosen set, with standard errors over tables. Most kinds were seen in trials while
the method was chosen. Wins are zeros and ones; "mixed" has a score and a win.
Run: python benchmarks/bits_coverage.py [--tables 100] [--reps 100] [--quick] [--kind wins]
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

import examiner as ex
from examiner.information import ChannelModel, Channels, best_set, channels, gain, observe
from examiner.information.uncertainty import bits_intervals

TASKS, SIZE = 40, 5


class Kind(NamedTuple):
    """How agents differ on tasks, how much, how unevenly they vary, and whether trials are skewed."""

    name: str
    agents: int
    trials: int
    apart: float
    uneven: float = 0.3
    skewed: bool = False


KINDS = (
    Kind("normal", 6, 5, 1.0, 0.0),
    Kind("normal", 6, 5, 0.5),
    Kind("normal", 10, 5, 2.0, 0.5),
    Kind("sparse", 8, 5, 1.0),
    Kind("identical", 6, 5, 0.0, 0.0),
    Kind("general", 8, 5, 1.0),
    Kind("normal", 6, 3, 1.0),
    Kind("normal", 12, 20, 1.0),
    Kind("normal", 8, 5, 1.0, 0.3, True),
    Kind("heavy", 8, 5, 1.0),
    Kind("wins", 8, 5, 1.0),
    Kind("wins", 6, 10, 2.0),
    Kind("wins", 12, 20, 1.0),
    Kind("wins", 8, 5, 0.0),
    Kind("general wins", 8, 10, 1.5),
    Kind("beta wins", 8, 10, 1.0),
    Kind("mixed", 8, 5, 1.0),
    Kind("mixed", 6, 10, 2.0),
)


def true_means(kind: Kind, rng: np.random.Generator) -> Any:
    """Return true means [agents, tasks]."""
    each = rng.normal(size=(kind.agents, TASKS))
    if kind.name == "sparse":  # a quarter of the tasks tell anything
        each *= 2 * (rng.random(TASKS) < 0.25)
    if kind.name == "general":
        each = rng.normal(size=(kind.agents, 1)) + 0.5 * each
    if kind.name == "heavy":
        each = 0.7 * rng.standard_t(3, size=(kind.agents, TASKS))
    return kind.apart * each


def _table(kind: Kind, rng: np.random.Generator) -> tuple[ex.Results, Channels]:
    """Return trials of agents on tasks, and their true means and deviations."""
    parts = {}
    if "wins" not in kind.name:
        parts["score"] = _scores(kind, rng)
    if "wins" in kind.name or kind.name == "mixed":
        parts["win"] = _wins(kind, rng)
    names = [np.arange(size) for size in next(iter(parts.values()))[0].shape]
    agent, task, run = (part.ravel() for part in np.meshgrid(*names, indexing="ij"))
    columns = {"agent": [f"a{n}" for n in agent], "task": [f"t{n}" for n in task], "run": run}
    columns |= {name: values.ravel() for name, (values, _, _) in parts.items()}
    results = ex.Results.from_dict(columns, measures=list(parts))
    mean, deviation = (np.stack([part[at] for part in parts.values()]) for at in (1, 2))
    return results, Channels(results.agents, results.tasks, tuple(parts), mean, deviation)


def _scores(kind: Kind, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    means = true_means(kind, rng)
    deviations = np.exp(kind.uneven * rng.normal(size=means.shape))
    shape = (*means.shape, kind.trials)
    noise = (
        rng.gamma(2, np.sqrt(0.5), shape) - np.sqrt(2) if kind.skewed else rng.normal(size=shape)
    )
    return means[:, :, None] + deviations[:, :, None] * noise, means, deviations


def _wins(kind: Kind, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    own = rng.normal(size=(kind.agents, 1 if kind.name == "general wins" else TASKS))
    share = 1 / (1 + np.exp(-(kind.apart * own + rng.normal(size=TASKS))))
    if kind.name == "beta wins":
        share = np.clip(rng.beta(kind.apart, kind.apart, size=share.shape), 1e-6, 1 - 1e-6)
    won = rng.random((*share.shape, kind.trials)) < share[:, :, None]
    return won.astype(float), share, np.sqrt(share * (1 - share))


def _bits(source: ex.Results | Channels) -> Any:
    """Return the bits of each task, in the order of the tasks."""
    table = gain(source).tasks
    return np.array([table[task].bits for task in source.tasks])


def measured(kind: Kind, tables: int, reps: int) -> Any:
    """Return for each table: tasks covered, the set covered, and what was counted less the truth."""
    rows = []
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        results, truth = _table(kind, rng)
        observed = channels(results, truth.measures)
        chosen = best_set(observed, SIZE)
        runs = observe(results, truth.measures)
        ends = bits_intervals(runs, chosen, ChannelModel(), rng=rng, reps=reps)
        each, whole = _bits(truth), gain(truth, chosen.tasks.task).bits
        counted = _bits(observed)
        low, high = ends.tasks["bits_low"], ends.tasks["bits_high"]
        names = "corrected_bits", "bits_low", "bits_high"
        corrected, set_low, set_high = (ends.chosen[name][-1] for name in names)
        rows.append(
            [
                ((low <= each) & (each <= high)).mean(),
                set_low <= whole <= set_high,
                ((low <= counted) & (counted <= high)).mean(),
                chosen.bits - whole,
                corrected - whole,
                set_high - set_low,
            ]
        )
    return np.array(rows, dtype=np.float64)


def main() -> None:
    """Print one line a kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--reps", type=int, default=100)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kind", default="", help="only kinds with this in their name")
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if options.kind in kind.name]
    kinds = kinds[:2] if options.quick else kinds
    print(
        "coverage of tasks, of the chosen set; counted bits held; bias of counted, corrected; width"
    )
    for kind in kinds:
        rows = measured(kind, options.tables, options.reps)
        mean, error = rows.mean(axis=0), rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
        told = f"{mean[0]:6.1%} ± {error[0]:.1%}   {mean[1]:6.1%} ± {error[1]:.1%}   {mean[2]:.0%}"
        trials = f"{kind.agents:2} agents {kind.trials:2} trials, apart {kind.apart}, uneven {kind.uneven}"
        skew = ", skewed" if kind.skewed else ""
        print(
            f"{kind.name:9} {trials}{skew}: {told}   {mean[3]:+.2f} {mean[4]:+.2f} {mean[5]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
