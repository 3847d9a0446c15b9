"""The framework and our worker, compiled once on the user's machine and kept for later runs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from examiner.arena.gvgai.checkout import Checkout
from examiner.messages import InputError, shorten

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
