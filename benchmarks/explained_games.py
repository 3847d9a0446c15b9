"""Which attributes explain the difficulty of Atari and GVGAI games, and predict a game left out.

Atari: 40 published techniques on 49 games (a clone of GitHub `nandomp/AI_benchmark_analysis` in --data), by
the bundled typology and profile. GVGAI: the bundled plays of 129 games, by features of their descriptions
(--games: the folder `examples/gridphysics` of GitHub `GAIGResearch/GVGAI`).
Run: python benchmarks/explained_games.py --data DIR --games DIR
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from pathlib import Path

import numpy as np

import examiner as ex
from examiner.results import Attributes

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "papers"))
import make

MEASURED = ("branching", "change", "length", "density", "open_loop")


def number_or_none(text: str) -> float | None:
    """A measured value, or None for words such as 'no reward'."""
    try:
        return float(text)
    except ValueError:
        return None


def atari_attributes(games: tuple[str, ...]) -> Attributes:
    """The typology and the measured profile of games."""
    rows: dict[str, dict[str, object]] = {game: {"task": game} for game in games}
    for source in ("atari-typology", "atari-profile"):
        table = ex.load(source)
        names = [feature.rpartition(".")[2] for feature in table.features]
        about = Attributes("task", table.tasks, tuple(names), table.values)
        for name in names:
            for game, value in zip(games, about.aligned(games, name), strict=True):
                rows[game][name] = number_or_none(str(value)) if name in MEASURED else value
    return Attributes.from_dicts("task", rows.values())


def gvgai_attributes(folder: Path, games: tuple[str, ...]) -> Attributes:
    """Counts of what a game's description has: sprites, interactions, ends."""
    rows = []
    for game in games:
        path = folder / f"{game}.txt"
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            rows.append({"task": game} | features(text))
    return Attributes.from_dicts("task", rows)


def features(text: str) -> dict[str, object]:
    """Features of a VGDL description."""
    parts: dict[str, list[str]] = {}
    part = ""
    for line in text.splitlines():
        words = line.split("#")[0].strip()
        if words in ("SpriteSet", "InteractionSet", "TerminationSet", "LevelMapping"):
            part = words
        elif words:
            parts.setdefault(part, []).append(words)
    sprites, rules = parts.get("SpriteSet", []), parts.get("InteractionSet", [])
    ends, joined = parts.get("TerminationSet", []), " ".join(parts.get("SpriteSet", []))
    timeout = [end for end in ends if "Timeout" in end]
    return {
        "sprites": len(sprites),
        "rules": len(rules),
        "scored_rules": sum("scoreChange" in rule for rule in rules),
        "deadly_rules": sum(rule.startswith("avatar") and "kill" in rule for rule in rules),
        "movers": len(re.findall(r"Random\w*|Chaser|Fleeing|Missile|Bomber", joined)),
        "shoots": "yes" if re.search(r"(Shoot|Flak|Oriented)\w*Avatar", joined) else "no",
        "resources": "yes" if "Resource" in joined else "no",
        "pushes": "yes" if any("bounceForward" in rule for rule in rules) else "no",
        "time_out": "wins" if any("win=True" in end for end in timeout) else "other",
    }


def show(label: str, answer: ex.irt.ExplainedDifficulty) -> None:
    """Print the headline and effects per standard deviation."""
    print(f"\n{label}: {sum(np.isfinite(answer.tasks.difficulty))} games. {answer.headline}")
    for row in answer.effects:
        print(
            f"  {row.attribute:22}{row.step:14}{row.per_deviation:6.2f}  effect {row.effect:8.3f} "
            f"({row.effect_low:.3f} to {row.effect_high:.3f}), p {row.p:.3f}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path)
    options.add_argument("--games", type=Path)
    given = options.parse_args()
    warnings.simplefilter("ignore", ex.ExaminerWarning)
    if given.data is not None:
        results = make.atari_scores(given.data)
        kept = ~np.isin(np.array(results.agents), make.NOT_KEPT)
        matrix = ex.responses(results.where(kept[results.agent_codes]), success=100)
        about = atari_attributes(matrix.tasks)
        typology = [feature.rpartition(".")[2] for feature in ex.load("atari-typology").features]
        for label, columns in (
            ("Atari, typology", typology),
            ("Atari, measured", ["log2(length)", "branching", "change", "density", "open_loop"]),
            ("Atari, challenge", ["challenge"]),
            ("Atari, length", ["log2(length)"]),
        ):
            show(label, ex.irt.explain(matrix, columns, attributes=about))
    if given.games is not None:
        wins = ex.responses(ex.load("gvgai-plays").with_items().with_measures("win"))
        about = gvgai_attributes(given.games, wins.tasks)
        columns = list(about.columns)
        show("GVGAI, all features", ex.irt.explain(wins, columns, attributes=about))
        for column in columns:
            show(f"GVGAI, {column}", ex.irt.explain(wins, [column], attributes=about))


if __name__ == "__main__":
    main()
