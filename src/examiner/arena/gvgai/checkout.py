"""A user's checkout of the GVGAI framework: its games, levels and controllers, found and checked."""

from __future__ import annotations

import csv
import os
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from examiner.messages import InputError, listed, shorten, unknown_name

VARIABLE = "GVGAI_CHECKOUT"
"""Names the checkout where neither plan nor command line does."""
_SOURCE = "github.com/GAIGResearch/GVGAI"
_LIST = "examples/all_games_sp.csv"
_FOLDERS = ("gridphysics", "contphysics")
_NEEDED = (
    "core/game/Game.java",
    "core/game/StateObservation.java",
    "core/player/AbstractPlayer.java",
    "core/competition/CompetitionParameters.java",
    "core/vgdl/VGDLParser.java",
    "tools/ElapsedCpuTimer.java",
)
_LEVELS = 5

_SAMPLES = "tracks.singlePlayer"
CONTROLLERS: Mapping[str, str] = MappingProxyType(
    {
        name: f"{_SAMPLES}.{folder}.{name}.Agent"
        for folder, names in (
            ("simple", ("doNothing", "simpleRandom", "sampleRandom", "sampleonesteplookahead")),
            ("simple", ("greedyTreeSearch",)),
            ("advanced", ("sampleMCTS", "sampleRHEA", "sampleRS", "olets")),
            ("tools", ("repeatOLETS",)),
            ("deprecated", ("sampleGA",)),
        )
        for name in names
    }
    | {"deprecatedMCTS": f"{_SAMPLES}.deprecated.sampleMCTS.Agent"}
)
"""Short name → class of a controller that the checkout comes with."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder that holds the framework's sources, games and sprites."""

    folder: Path

    def listed_games(self) -> tuple[str, ...]:
        """Return the single-player games that the framework lists, in its order."""
        with (self.folder / _LIST).open(encoding="utf-8", newline="") as file:
            return tuple(Path(row[1].strip()).stem for row in csv.reader(file) if len(row) > 1)

    def game_file(self, game: str) -> Path:
        """Return the description of a game, below the checkout; refuse one that is not there."""
        for folder in _FOLDERS:
            path = Path("examples", folder, f"{game}.txt")
            if "/" not in game and (self.folder / path).is_file():
                return path
        raise unknown_name("game of the checkout", game, self.listed_games())

    def level_file(self, game: str, level: int) -> Path:
        """Return a level of a game, below the checkout; refuse one that is not there."""
        file = self.game_file(game)
        path = file.with_name(f"{game}_lvl{level}.txt")
        if not (self.folder / path).is_file():
            found = sorted((self.folder / file.parent).glob(f"{game}_lvl*.txt"))
            names = ", ".join(each.stem.rpartition("_lvl")[2] for each in found) or "none"
            raise InputError(
                f"The game {shorten(game)} has no level {level}. Its levels are: {names}."
            )
        return path

    def levels(self, game: str) -> tuple[int, ...]:
        """Return the first five levels of a game, fewer where it has fewer."""
        file = self.folder / self.game_file(game)
        return tuple(
            level
            for level in range(_LEVELS)
            if file.with_name(f"{file.stem}_lvl{level}.txt").is_file()
        )

    def version(self) -> str:
        """Return the commit that is checked out; "unknown" where git cannot tell."""
        command = ["git", "-C", str(self.folder), "rev-parse", "--short=10", "HEAD"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        return told.stdout.strip() or "unknown"


def checkout(folder: str | Path | None) -> Checkout:
    """Return the checkout in a folder, or else in the one that the environment names.

    >>> checkout("missing")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone \
github.com/GAIGResearch/GVGAI and give its folder.
    """
    given = folder or os.environ.get(VARIABLE)
    if not given:
        raise InputError(
            f"GVGAI games are played in your own checkout of {_SOURCE}. Clone it, then name its folder: "
            f"`--checkout FOLDER`, `checkout = ...` in the plan, or the variable {VARIABLE}."
        )
    path = Path(given).expanduser()
    if not path.is_dir():
        raise InputError(
            f"There is no GVGAI checkout in {shorten(given, 200)}: no such folder. Clone {_SOURCE} and "
            f"give its folder."
        )
    missing = [name for name in _NEEDED if not (path / "src" / name).is_file()]
    missing += [name for name in (_LIST, "sprites") if not (path / name).exists()]
    if missing:
        raise InputError(
            f"{shorten(given, 200)} is no checkout that can be played: it lacks {listed(missing)}. Clone "
            f"{_SOURCE} (its branch master has them) and give that folder."
        )
    return Checkout(path.absolute())


def controller_class(entry: str, found: Checkout, class_path: Sequence[Path]) -> str:
    """Return the class of an agent: a short name's, or one that stands on the class path."""
    name = CONTROLLERS.get(entry, entry)
    if "." not in name:
        known = unknown_name("controller", entry, CONTROLLERS)
        raise InputError(f"{known} Or give the class of your own, such as my.Agent.")
    outermost = name.partition("$")[0]
    source = found.folder / "src" / (outermost.replace(".", "/") + ".java")
    inside = name.replace(".", "/") + ".class"
    if source.is_file() or any(_holds(entry, inside) for entry in class_path):
        return name
    raise InputError(
        f"There is no class {shorten(name)}, neither in the checkout nor on the class path "
        f"({listed(class_path) if class_path else 'which is empty'}). Compile the agent, and name the "
        f"folder or jar of its classes under class_path."
    )


def _holds(entry: Path, inside: str) -> bool:
    if entry.is_dir():
        return (entry / inside).is_file()
    try:
        with zipfile.ZipFile(entry) as jar:
            return inside in jar.namelist()
    except (OSError, zipfile.BadZipFile):
        raise InputError(
            f"The class path names {shorten(entry, 200)}, which is neither a folder nor a jar. Correct it."
        ) from None
