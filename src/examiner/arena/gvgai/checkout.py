"""A user's checkout of the GVGAI framework: its games, levels and controllers, found and checked."""

from __future__ import annotations

import csv
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
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


LEAST_JAVA = 11
_VERSION = re.compile(r'"?(?:1\.)?(\d+)[\d._+\-]*')
_INSTALL = (
    f"Install a JDK of version {LEAST_JAVA} or newer (for example openjdk-17-jdk), or name its folder in "
    f"JAVA_HOME"
)
_COMPILE_SECONDS = 900
_SHORT_LIVED = (
    "-J-XX:TieredStopAtLevel=1",
    "-J-XX:+UseSerialGC",
)  # half the time of one compilation
_ERRORS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Built:
    """Compiled classes: of the worker, of its part that plays, and of the framework."""

    java: str
    version: str
    worker: Path
    play: Path
    framework: Path

    @property
    def class_path(self) -> str:
        """Where the framework's classes and those against it are found; ours come first."""
        return os.pathsep.join(map(str, (self.play, self.framework)))


def built(found: Checkout) -> Built:
    """Compile the framework and our worker, unless they were compiled before from the same sources."""
    java, javac = _program("java"), _program("javac")
    version = _version(java, "java")
    _version(javac, "javac")
    with as_file(files("examiner.arena.gvgai") / "java") as own:
        folder = cache_folder() / _fingerprint(found, own, version)
        if not (folder / "play").is_dir():
            _compile(found, own, folder, javac)
    return Built(java, version, *(folder / name for name in ("worker", "play", "framework")))


def cache_folder() -> Path:
    """Return where compiled classes are kept: below XDG_CACHE_HOME, or ~/.cache.

    >>> cache_folder().name
    'gvgai'
    """
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "examiner" / "gvgai"


def _program(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    inside = None if not home else shutil.which(name, path=str(Path(home) / "bin"))
    found = inside or shutil.which(name)
    if found is None:
        raise InputError(f"GVGAI games need `{name}`, and there is none on the PATH. {_INSTALL}.")
    return found


def _version(program: str, name: str) -> str:
    """The version of a program of the JDK; an old one is refused."""
    told = _run([program, "-version"], name)
    text = (told.stdout + told.stderr).strip()
    line = text.splitlines()[0] if text else "nothing"
    found = _VERSION.search(line.removeprefix("javac"))
    if told.returncode != 0 or found is None:
        raise InputError(
            f"`{program} -version` says {shorten(line)}, which names no version. {_INSTALL}."
        )
    if int(found[1]) < LEAST_JAVA:
        raise InputError(f"`{program}` is version {found[0].strip(chr(34))}, too old. {_INSTALL}.")
    return found[0].strip('"')


def _run(command: Sequence[str], name: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMPILE_SECONDS,
            check=False,
        )
    except OSError as problem:
        raise InputError(f"Cannot start `{name}`: {problem.strerror}. {_INSTALL}.") from None
    except subprocess.TimeoutExpired:
        raise InputError(
            f"`{name}` took longer than {_COMPILE_SECONDS} seconds. Try again when the machine is free."
        ) from None


def _fingerprint(found: Checkout, own: Path, version: str) -> str:
    """A name for these sources and this Java: other sources are compiled anew."""
    known = hashlib.sha256(f"{found.folder}\n{version}\n".encode())
    for path in _sources(own):
        known.update(path.read_bytes())
    for path in _sources(found.folder / "src"):
        about = path.stat()
        known.update(f"{path}\t{about.st_size}\t{about.st_mtime_ns}\n".encode())
    return known.hexdigest()[:16]


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.java"))


def _compile(found: Checkout, own: Path, folder: Path, javac: str) -> None:
    """Compile into a folder beside, which gets its name when all is there: others may be at it too."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=folder.name, dir=folder.parent))
    except OSError as problem:
        raise InputError(
            f"Cannot keep compiled classes in {shorten(folder.parent, 200)}: {problem.strerror}. Name "
            f"another folder in XDG_CACHE_HOME."
        ) from None
    try:
        jars = sorted(found.folder.glob("*.jar"))
        worker, play, framework = (part / name for name in ("worker", "play", "framework"))
        _javac(
            javac, _sources(found.folder / "src"), framework, jars, "the framework of your checkout"
        )
        _javac(javac, _sources(own / "worker"), worker, [], "the worker")
        what = "the worker against your checkout, which has other classes than it expects"
        _javac(javac, _sources(own / "play"), play, [worker, framework, *jars], what)
        try:
            part.rename(folder)
        except OSError:  # somebody else was faster
            if not (folder / "play").is_dir():
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _javac(
    javac: str, sources: Sequence[Path], target: Path, path: Sequence[Path], what: str
) -> None:
    target.mkdir()
    listing = target.with_name(target.name + ".sources")
    # javac reads names in quotes, in which a backslash stands before the next letter.
    names = (str(source).replace("\\", "\\\\").replace('"', '\\"') for source in sources)
    listing.write_text("".join(f'"{name}"\n' for name in names), encoding="utf-8")
    command = [javac, *_SHORT_LIVED, "-nowarn", "-encoding", "UTF-8", "-d", str(target)]
    command += ["-cp", os.pathsep.join(map(str, path)) or str(target), f"@{listing}"]
    told = _run(command, "javac")
    listing.unlink()
    if told.returncode != 0:
        raise InputError(
            f"Cannot compile {what}: {_complaints(told.stderr)}. Check out "
            f"github.com/GAIGResearch/GVGAI at its branch master, unchanged, and try again."
        )


def _complaints(told: str) -> str:
    """The first errors of javac, each with the name that it did not find."""
    errors: list[str] = []
    for line in told.splitlines():
        where, found, what = line.partition(": error: ")
        if found:
            errors.append(f"{Path(where.rpartition(':')[0]).name}: {what}")
        elif errors and line.strip().startswith("symbol:"):
            errors[-1] += " " + " ".join(line.split()[1:])
    return " | ".join(errors[:_ERRORS_SHOWN]) or shorten(told, 200)
