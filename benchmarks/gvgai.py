"""What a GVGAI play costs beyond its controller and model, and how many plays an hour of CPU gives.

    GVGAI_CHECKOUT=GVGAI python benchmarks/gvgai.py

Claims: at most 0.3 CPU seconds of overhead a play, the start of Java shared out. The overhead is the
CPU time of a play in a Java process that has played before, by a controller that does nothing, ended
after one tick: reading the game, loading the classes and the lines through the pipe are all that is
left. Plays an hour of CPU stand beside those of the framework's own runner, which gives a controller 40
ms for an action and warms up before each play; `--stock` plays with it, which takes minutes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

from examiner.arena import GvgaiAgent, GvgaiPlan, GvgaiRules, run
from examiner.arena.gvgai.checkout import built, checkout
from examiner.importers import read

SHORT = ("aliens", "boulderdash", "butterflies", "sokoban", "zelda")
SEARCHING = ("aliens", "butterflies", "zelda")
STOCK = """
import tracks.ArcadeMachine;

public class Stock {
    public static void main(String[] words) {
        for (String game : words) {
            String file = "examples/gridphysics/" + game;
            String agent = "tracks.singlePlayer.advanced.sampleMCTS.Agent";
            ArcadeMachine.runOneGame(file + ".txt", file + "_lvl0.txt", false, agent, null, 7, 0);
        }
    }
}
"""


def children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def overhead(seeds: int) -> None:
    rules = GvgaiRules(model_calls=50, max_ticks=1)
    plan = GvgaiPlan((GvgaiAgent("doNothing"),), SHORT, (0,), tuple(range(seeds)), rules)
    with tempfile.TemporaryDirectory() as folder:
        before, begun = children_seconds(), time.perf_counter()
        outcome = run(plan, folder, workers=1)
        seconds = read(outcome.ledger).to_polars()["cpu_seconds"].to_list()
        spent, wall = children_seconds() - before, time.perf_counter() - begun
    later = sorted(seconds[len(SHORT) :])
    print(f"first play of a process    {seconds[0]:6.2f} CPU s")
    print(f"later plays, median        {later[len(later) // 2]:6.3f} CPU s, {len(later)} plays")
    print(f"later plays, mean          {sum(later) / len(later):6.3f} CPU s")
    print(
        f"whole process, a play      {spent / len(seconds):6.3f} CPU s, {wall / len(seconds):.3f} s"
    )


def plays_an_hour() -> None:
    plan = GvgaiPlan((GvgaiAgent("sampleMCTS"),), SEARCHING, (0,), (0, 1, 2))
    with tempfile.TemporaryDirectory() as folder:
        before = children_seconds()
        outcome = run(plan, folder, workers=1)
        spent = children_seconds() - before
    print(f"50 model calls             {3600 * outcome.done_now / spent:6,.0f} plays a CPU-hour")


def stock(folder: Path) -> None:
    found = checkout(None)
    made = built(found)
    (folder / "Stock.java").write_text(STOCK)
    command = ["javac", "-cp", str(made.framework), "-d", str(folder), str(folder / "Stock.java")]
    subprocess.run(command, check=True)
    path = f"{made.framework}:{folder}"
    command = [made.java, "-Djava.awt.headless=true", "-cp", path, "Stock", *SEARCHING]
    before = children_seconds()
    told = subprocess.run(command, cwd=found.folder, capture_output=True, text=True, check=True)
    spent = children_seconds() - before
    plays = told.stdout.count("Result (1->win; 0->lose)")
    lost = told.stdout.count("Player0:-100")
    print(f"framework's runner, 40 ms  {3600 * plays / spent:6,.0f} plays a CPU-hour", end="")
    print(f" ({plays} plays, {lost} disqualified)")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--stock", action="store_true")
    given = options.parse_args()
    overhead(given.seeds)
    plays_an_hour()
    if given.stock:
        with tempfile.TemporaryDirectory() as folder:
            stock(Path(folder))


if __name__ == "__main__":
    main()
