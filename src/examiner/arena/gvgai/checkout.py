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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Any

from examiner.arena.environments.gymnasium import settings_of_game
from examiner.arena.gvgai.description import MAP, flat_settings, level_text, varied_description
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
        """Return the description of a game, below the checkout; refuse one that is not there.

        Parameters may stand behind the name, `aliens(alien.speed=0.4)`: the description with these values
        is written next to compiled classes.
        """
        name, settings = _settings(game)
        settings.pop(MAP, None)
        path = self._game_file(name)
        text = (self.folder / path).read_text(encoding="utf-8", errors="replace")
        varied = varied_description(text, settings)
        return path if varied == text else _kept(varied)

    def level_file(self, game: str, level: int) -> Path:
        """Return a level of a game, below the checkout; refuse one that is not there.

        The map of a level may stand behind the game's name: `aliens(map=["www", "wAw"])`.
        """
        name, settings = _settings(game)
        file = self._game_file(name)
        if MAP in settings:
            description = (self.folder / file).read_text(encoding="utf-8", errors="replace")
            return _kept(level_text(settings[MAP], description))
        path = file.with_name(f"{name}_lvl{level}.txt")
        if not (self.folder / path).is_file():
            files = sorted((self.folder / file.parent).glob(f"{name}_lvl*.txt"))
            levels = ", ".join(path.stem.rpartition("_lvl")[2] for path in files) or "none"
            raise InputError(
                f"The game {shorten(name)} has no level {level}. Its levels are: {levels}."
            )
        return path

    def levels(self, game: str) -> tuple[int, ...]:
        """Return the first five levels of a game, fewer where it has fewer; of a map just one."""
        name, settings = _settings(game)
        if MAP in settings:
            return (0,)
        file = self.folder / self._game_file(name)
        return tuple(
            level
            for level in range(5)  # as many as each game of the framework has
            if file.with_name(f"{name}_lvl{level}.txt").is_file()
        )

    def _game_file(self, name: str) -> Path:
        for folder in _FOLDERS:
            path = Path("examples", folder, f"{name}.txt")
            if "/" not in name and (self.folder / path).is_file():
                return path
        raise unknown_name("game of the checkout", name, self.listed_games())

    def version(self) -> str:
        """Return the commit that is checked out; "unknown" where git cannot tell."""
        command = ["git", "-C", str(self.folder), "rev-parse", "--short=10", "HEAD"]
        try:
            answer = subprocess.run(
                command, capture_output=True, text=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return "unknown"
        return answer.stdout.strip() or "unknown"


def _settings(game: str) -> tuple[str, dict[str, Any]]:  # Any: TOML values
    name, settings = settings_of_game(game)
    return name, flat_settings(settings)


def _kept(text: str) -> Path:
    """The file of a description or level that was varied; equal texts have one file."""
    folder = cache_folder() / "varied"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.txt"
    if not path.is_file():
        with _writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=folder, delete=False, encoding="utf-8"
            ) as file:
                file.write(text)
            Path(file.name).replace(path)  # others may write the same
    return path


@contextmanager
def _writable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise InputError(
            f"Cannot keep files of games in {shorten(folder, 200)}: {problem.strerror}. Name another "
            f"folder in XDG_CACHE_HOME."
        ) from None


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


def controller_class(entry: str, framework: Checkout, class_path: Sequence[Path]) -> str:
    """Return the class of an agent: a short name's, or one that stands on the class path."""
    name = CONTROLLERS.get(entry, entry)
    if "." not in name:
        problem = unknown_name("controller", entry, CONTROLLERS)
        raise InputError(f"{problem} Or give the class of your own, such as my.Agent.")
    outermost = name.partition("$")[0]
    source = framework.folder / "src" / (outermost.replace(".", "/") + ".java")
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


def built(framework: Checkout) -> Built:
    """Compile the framework and our worker, unless they were compiled before from the same sources."""
    java, javac = _program("java"), _program("javac")
    version = _version(java, "java")
    _version(javac, "javac")
    with as_file(files("examiner.arena.gvgai") / "java") as worker:
        folder = cache_folder() / _fingerprint(framework, worker, version)
        if not (folder / "play").is_dir():
            _compile(framework, worker, folder, javac)
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
    program = inside or shutil.which(name)
    if program is None:
        raise InputError(f"GVGAI games need `{name}`, and there is none on the PATH. {_INSTALL}.")
    return program


def _version(program: str, name: str) -> str:
    """The version of a program of the JDK; an old one is refused."""
    answer = _run([program, "-version"], name)
    text = (answer.stdout + answer.stderr).strip()
    line = text.splitlines()[0] if text else "nothing"
    number = _VERSION.search(line.removeprefix("javac"))
    if answer.returncode != 0 or number is None:
        raise InputError(
            f"`{program} -version` says {shorten(line)}, which names no version. {_INSTALL}."
        )
    if int(number[1]) < LEAST_JAVA:
        raise InputError(f"`{program}` is version {number[0].strip(chr(34))}, too old. {_INSTALL}.")
    return number[0].strip('"')


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


def _fingerprint(framework: Checkout, worker: Path, version: str) -> str:
    """A name for these sources and this Java: other sources are compiled anew."""
    fingerprint = hashlib.sha256(f"{framework.folder}\n{version}\n".encode())
    for path in _sources(worker):
        fingerprint.update(path.read_bytes())
    for path in _sources(framework.folder / "src"):
        about = path.stat()
        fingerprint.update(f"{path}\t{about.st_size}\t{about.st_mtime_ns}\n".encode())
    return fingerprint.hexdigest()[:16]


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.java"))


def _compile(source: Checkout, ours: Path, folder: Path, javac: str) -> None:
    """Compile into a folder beside, which gets its name when all is there: others may be at it too."""
    with _writable(folder.parent):
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=folder.name, dir=folder.parent))
    try:
        jars = sorted(source.folder.glob("*.jar"))
        worker, play, framework = (part / name for name in ("worker", "play", "framework"))
        _javac(
            javac,
            _sources(source.folder / "src"),
            framework,
            jars,
            "the framework of your checkout",
        )
        _javac(javac, _sources(ours / "worker"), worker, [], "the worker")
        what = "the worker against your checkout, which has other classes than it expects"
        _javac(javac, _sources(ours / "play"), play, [worker, framework, *jars], what)
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
    compilation = _run(command, "javac")
    listing.unlink()
    if compilation.returncode != 0:
        raise InputError(
            f"Cannot compile {what}: {_complaints(compilation.stderr)}. Check out "
            f"github.com/GAIGResearch/GVGAI at its branch master, unchanged, and try again."
        )


def _complaints(output: str) -> str:
    """The first errors of javac, each with the name that it did not find."""
    errors: list[str] = []
    for line in output.splitlines():
        place, separator, what = line.partition(": error: ")
        if separator:
            errors.append(f"{Path(place.rpartition(':')[0]).name}: {what}")
        elif errors and line.strip().startswith("symbol:"):
            errors[-1] += " " + " ".join(line.split()[1:])
    return " | ".join(errors[:3]) or shorten(output, 200)
