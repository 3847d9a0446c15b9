"""Claims: nominal 95 % intervals hold the truth 92 to 98.5 % of the time, with 12 agents and with 500.

Tables are simulated with the population's zero and unit (θ ~ N(0, 1)), slopes lognormal(0.2, 0.35) and
difficulties N(0, 1). Of every table the fit's intervals of abilities, of differences between agents, of
five new agents placed on it, of slopes and of difficulties are held against the truth. Standard errors
are clustered by table. A cell fails when it is more than two of them outside its limits. Beside: slopes
the prior does not expect, a population that is not normal, identical agents, and ranks of the truth among
joint draws, which are uniform if the draws are right (Talts et al. 2018).

Every table is a line of a file, so that a run can be stopped, continued, and split over machines.
Run: python benchmarks/interval_coverage.py [--cells 23x40] [--tables 200] [--workers 16] [--out FILE.jsonl]
     python benchmarks/interval_coverage.py --summary [--out coverage.jsonl]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from examiner.irt import IRTFit, ItemParameters, fit, place, simulate
from examiner.results import ResponseMatrix

for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # the workers', which start as new processes
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

NEW = 5
"""Agents placed on each fit."""
LANDMARK = 1.0
"""The score at which difficulty is told, of scores without ends."""
DRAWS = 199
BINS = 20
EXPECTED = {
    "abilities": (0.92, 0.985),
    "differences": (0.92, 0.985),
    "placed": (0.92, 0.985),
    "slopes": (0.90, 0.985),
    "difficulties": (0.90, 0.985),
}
BESIDE = {"abilities": (0.90, 1.0)}
NOISE = {"beyond": (0.0, 0.05)}


@dataclass(frozen=True)
class Cell:
    """One kind of table: its model and size, and what the truth is like."""

    model: str
    agents: int
    tasks: int
    trials: int = 1
    missing: float = 0.0
    slopes: str = "expected"
    population: str = "normal"
    kind: str = "coverage"
    response: str = "binomial"
    ends: bool = False
    """Whether some scores are exactly 0 and exactly 1."""

    @property
    def name(self) -> str:
        size = f"{self.agents}x{self.tasks}" + (f"x{self.trials}" if self.trials > 1 else "")
        said = [self.model if self.response != "beta-binomial" else "beta-binomial", size]
        said += [f"{self.missing:.0%} missing"] if self.missing else []
        said += ["with zeros and ones"] if self.ends else []
        said += [f"slopes {self.slopes}"] if self.slopes != "expected" else []
        said += [f"{self.population} population"] if self.population != "normal" else []
        return " ".join([*said, *([self.kind] if self.kind != "coverage" else [])])

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        if self.kind == "identical":
            return NOISE
        if self.kind == "ranks":
            return {}
        plain = self.slopes == "expected" and self.population == "normal"
        wanted = EXPECTED if plain else BESIDE
        return {
            name: ends
            for name, ends in wanted.items()
            if not (self.model == "1pl" and name == "slopes")
        }


def cells() -> Iterator[Cell]:
    sizes = ((12, 25, 5), (23, 40, 1), (23, 49, 25), (45, 41, 1), (500, 60, 1))
    for agents, tasks, trials in sizes:
        for missing in (0.0, 0.5):
            yield Cell("2pl", agents, tasks, trials, missing)
            if trials > 1:
                yield Cell("2pl", agents, tasks, trials, missing, response="beta-binomial")
    for agents, tasks in ((23, 40), (500, 60)):
        yield Cell("1pl", agents, tasks, slopes="equal")
        yield Cell("beta", agents, tasks, response="beta")
        yield Cell("beta", agents, tasks, response="beta", ends=True)
        yield Cell("normal", agents, tasks, response="normal")
    for agents, tasks in ((23, 40), (45, 41), (500, 60)):  # single trials have no overdispersion
        for missing in (0.0, 0.5):
            yield Cell("2pl", agents, tasks, 4, missing, response="beta-binomial")
    yield Cell("3pl", 500, 60)
    for agents, tasks, trials in ((12, 25, 5), (23, 40, 1), (45, 41, 1)):
        for slopes in ("of mean 0.5", "of mean 3", "a fifth negative"):
            yield Cell("2pl", agents, tasks, trials, slopes=slopes)
        yield Cell("2pl", agents, tasks, trials, population="skewed")
    for agents, tasks, trials in ((12, 15, 4), (23, 40, 1), (45, 41, 1)):
        yield Cell("2pl", agents, tasks, trials, kind="identical")
    for agents, tasks, trials in ((12, 25, 5), (23, 40, 1)):
        yield Cell("2pl", agents, tasks, trials, kind="ranks")


def truth(cell: Cell, rng: np.random.Generator) -> tuple[ItemParameters, np.ndarray]:
    """Tasks and abilities, those of new agents last."""
    slope = np.exp(rng.normal(0.2, 0.35, cell.tasks))
    mean = float(np.exp(0.2 + 0.35**2 / 2))
    if cell.slopes == "of mean 0.5":
        slope *= 0.5 / mean
    elif cell.slopes == "of mean 3":
        slope *= 3.0 / mean
    elif cell.slopes == "a fifth negative":
        slope *= np.where(rng.random(cell.tasks) < 0.2, -1.0, 1.0)
    elif cell.slopes == "equal":
        slope[:] = mean
    precision: float | np.ndarray | None = {"beta-binomial": 10.0, "beta": 8.0}.get(cell.response)
    if cell.response == "normal":  # scores of every task have units of their own
        precision = np.exp(rng.normal(0.0, 2.0, cell.tasks))
    items = ItemParameters.of(
        [f"task {n}" for n in range(cell.tasks)],
        slope,
        difficulty=rng.normal(size=cell.tasks),
        guessing=rng.beta(5, 17, cell.tasks) if cell.model == "3pl" else 0.0,
        precision=precision,
        response=cell.response,  # type: ignore[arg-type]
        cuts=(-2.5, 2.5) if cell.ends else None,
        landmark=LANDMARK if cell.response == "normal" else None,
    )
    ability = rng.normal(size=cell.agents + NEW)
    if cell.kind == "identical":
        ability[:] = 0.0
    elif cell.population == "skewed":
        ability = (rng.gamma(2.0, 1.0, ability.size) - 2.0) / np.sqrt(2.0)
    return items, ability


def one_table(cell: Cell, number: int, starts: int | None) -> dict[str, object]:
    """Fit one table and count what holds the truth."""
    rng = np.random.default_rng([zlib.crc32(cell.name.encode()), number])
    items, ability = truth(cell, rng)
    trials = np.full((len(ability), cell.tasks), cell.trials)
    if cell.missing:
        trials *= rng.random(trials.shape) >= cell.missing
    every = simulate(items, ability, trials=trials, rng=rng)
    old = every.take(range(cell.agents))
    new = every.take(range(cell.agents, len(ability)))
    begun = time.perf_counter()
    response = None if cell.response in ("beta", "normal") else cell.response
    landmark = LANDMARK if cell.response == "normal" else None
    made = fit(old, cell.model, starts=starts, response=response, landmark=landmark)  # type: ignore[arg-type]
    seconds = time.perf_counter() - begun
    kept = np.array([old.agents.index(agent) for agent in made.abilities.agents])
    able = ability[: cell.agents][kept]
    told: dict[str, object] = {"cell": cell.name, "table": number, "seconds": round(seconds, 4)}
    if cell.kind == "identical":
        beyond = np.abs(made.abilities.ability) > 1.96 * made.abilities.error
        return told | {"held": {"beyond": counted(beyond)}, "scale": common(made)}
    if cell.kind == "ranks":
        return told | {"ranks": ranks(made, able, rng)}
    return told | {
        "held": held(made, items, able, new, ability[cell.agents :]),
        "scale": common(made),
    }


def held(
    made: IRTFit,
    items: ItemParameters,
    able: np.ndarray,
    new: ResponseMatrix,
    newcomers: np.ndarray,
) -> dict[str, list[int]]:
    """How many intervals there are of each kind, and how many of them hold the truth."""
    errors = made.errors
    assert errors is not None
    known, real = made.abilities, items.named(made.items.tasks)
    first, second = np.triu_indices(len(able), 1)
    apart, spread = (part[first, second] for part in known.differences())
    seen = np.flatnonzero(new.observed.any(axis=1))
    placed = place(new.take(seen.tolist()), made)
    z = 1.959963984540054
    inside = {
        "abilities": np.abs(known.ability - able) <= z * known.error,
        "differences": np.abs(apart - (able[first] - able[second])) <= z * spread,
        "placed": np.array(
            [
                one.ability_low <= at <= one.ability_high
                for one, at in zip(placed, newcomers[seen], strict=True)
            ]
        ),
        "slopes": (errors.slope_low <= real.slope) & (real.slope <= errors.slope_high),
        "difficulties": (errors.difficulty_low <= real.difficulty)
        & (real.difficulty <= errors.difficulty_high),
    }
    return {name: counted(which) for name, which in inside.items()}


def ranks(made: IRTFit, able: np.ndarray, rng: np.random.Generator) -> dict[str, int]:
    """Where the truth stands among draws: of one agent, and of one difference."""
    drawn = made.draws(DRAWS, rng=rng).ability
    first, second = rng.choice(len(able), 2, replace=False)
    apart = drawn[:, first] - drawn[:, second]
    return {
        "abilities": int((drawn[:, first] < able[first]).sum()),
        "differences": int((apart < able[first] - able[second]).sum()),
    }


def counted(which: np.ndarray) -> list[int]:
    return [int(which.sum()), int(which.size)]


def common(made: IRTFit) -> list[float] | None:
    return None if made.slope_scale is None else [round(part, 4) for part in made.slope_scale]


def summary(lines: list[dict[str, object]]) -> bool:
    """Print a row for each cell, and whether all are within their limits."""
    right = True
    print("| cell | tables | " + " | ".join(EXPECTED) + " |  |")
    print("|---" * (len(EXPECTED) + 3) + "|")
    for cell in cells():
        mine = [line for line in lines if line["cell"] == cell.name]
        if not mine:
            continue
        said, good = (_ranked if cell.kind == "ranks" else _covered)(cell, mine)
        right &= good
        print(
            f"| {cell.name} | {len(mine)} | " + " | ".join(said) + f" | {'' if good else 'fails'} |"
        )
    return right


def covered(pairs: list[list[int]]) -> tuple[float, float]:
    """The share of intervals that hold the truth, and its standard error clustered by table."""
    held, every = np.array(pairs, dtype=float).T
    share = held.sum() / every.sum()
    error = np.sqrt(((held - share * every) ** 2).sum()) / every.sum()
    return float(share), float(max(error, 1.0 / every.sum()))


def _covered(cell: Cell, lines: list[dict[str, object]]) -> tuple[list[str], bool]:
    said, good = [], True
    for name in EXPECTED if cell.kind == "coverage" else NOISE:
        share, error = covered([line["held"][name] for line in lines])  # type: ignore[index]
        low, high = cell.limits.get(name, (0.0, 1.0))
        outside = share < low - 2 * error or share > high + 2 * error
        good &= not outside
        said.append(f"{100 * share:.1f} ± {100 * error:.1f}" + (" !" if outside else ""))
    return said, good


def _ranked(cell: Cell, lines: list[dict[str, object]]) -> tuple[list[str], bool]:
    from scipy.stats import chi2

    said, good = [], True
    for name in ("abilities", "differences"):
        found = np.array([line["ranks"][name] for line in lines])  # type: ignore[index]
        count = np.bincount(found * BINS // (DRAWS + 1), minlength=BINS)
        expected = len(found) / BINS
        chance = float(chi2.sf(((count - expected) ** 2 / expected).sum(), BINS - 1))
        good &= chance >= 0.01
        said.append(f"p = {chance:.3f}" + (" !" if chance < 0.01 else ""))
    return said, good


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--cells", default="", help="words that the names of cells must have, by commas"
    )
    options.add_argument("--tables", type=int, default=200)
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--starts", type=int, default=1)
    options.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options.add_argument("--out", type=Path, default=Path("coverage.jsonl"))
    options.add_argument("--summary", action="store_true", help="only tell what is in the file")
    given = options.parse_args()
    if not given.summary:
        _run(given)
    return 0 if summary(read(given.out)) else 1


def _run(given: argparse.Namespace) -> None:
    done = {(line["cell"], line["table"]) for line in read(given.out)}
    words = [word.strip() for word in given.cells.split(",") if word.strip()]
    chosen = [cell for cell in cells() if not words or any(word in cell.name for word in words)]
    jobs = [
        (cell, number)
        for number in range(max(given.tables, 500))
        for cell in chosen
        if number < (500 if cell.kind == "ranks" and given.tables >= 200 else given.tables)
        and (cell.name, number) not in done
    ]
    stop = time.monotonic() + given.seconds
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.workers, fresh) as pool, given.out.open("a") as file:
        waiting = set()
        queue = iter(jobs)
        while True:
            while len(waiting) < 4 * given.workers and time.monotonic() < stop:
                job = next(queue, None)
                if job is None:
                    break
                waiting.add(pool.submit(one_table, *job, given.starts))
            if not waiting:
                break
            for ended in as_completed(waiting):
                file.write(json.dumps(ended.result()) + "\n")
                file.flush()
                waiting.discard(ended)
                break


if __name__ == "__main__":
    sys.exit(main())
