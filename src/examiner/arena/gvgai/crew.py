"""Java processes that play: how they are started, told their jobs by lines, and understood."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from examiner.arena.gvgai.checkout import Built, Checkout
from examiner.arena.gvgai.play import GvgaiPlay, GvgaiRules
from examiner.ledger import Episode, PlayEnd
from examiner.workers import Kind, Message

_USUAL_MEMORY_BYTES = 2**30  # games take 230 MB, trees of agents a few hundred more
_WORKER = "examiner.gvgai.Worker"


@dataclass(frozen=True, slots=True)
class JavaTongue:
    """Plays as lines of text, to and from Java processes in a checkout."""

    checkout: Checkout
    built: Built
    agents_path: Sequence[Path]
    rules: GvgaiRules
    memory_bytes: int | None = None

    @property
    def command(self) -> Sequence[str]:
        """Java with one thread for each of its own duties, and without a screen."""
        memory = (self.memory_bytes or _USUAL_MEMORY_BYTES) // 2**20
        agents = os.pathsep.join(str(path.absolute()) for path in self.agents_path)
        return (
            self.built.java,
            "-Djava.awt.headless=true",
            "-Xrs",  # a signal ends the process at once, and is not taken for an agent's exit
            "-XX:+UseSerialGC",
            "-XX:ActiveProcessorCount=1",
            f"-Xmx{max(memory, 64)}m",
            "-cp",
            str(self.built.worker),
            _WORKER,
            self.built.class_path,
            agents,
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """Nothing beside the variables of this process."""
        return {}

    @property
    def folder(self) -> Path:
        """The checkout: the framework looks for sprites there."""
        return self.checkout.folder

    @property
    def orders(self) -> None:
        """It is told nothing before its first play."""

    def packed(self, argument: object) -> bytes:
        """Put a play into the fields of a line."""
        play = cast("GvgaiPlay", argument)
        rules = play.rules
        fields = (
            play.entry,
            self.checkout.game_file(play.game),
            self.checkout.level_file(play.game, play.level),
            play.play_seed,
            rules.max_ticks,
            "calls" if rules.milliseconds is None else "milliseconds",
            rules.budget,
            rules.cpu_seconds,
            rules.overspending,
        )
        return "\t".join(map(str, fields)).encode()

    def send(self, stream: IO[bytes], job: bytes, data: bytes) -> None:
        """Write the name of a job and its fields as one line."""
        stream.write(job.hex().encode() + b"\t" + data + b"\n")
        stream.flush()

    def receive(self, stream: IO[bytes], known: Callable[[bytes], bool]) -> Message | None:
        """Read a line; None where the other side is gone, even in the middle of it."""
        line = stream.readline()
        if not line.endswith(b"\n"):
            return None
        name, _, data = line[:-1].partition(b"\t")
        job = bytes.fromhex(name.decode("ascii"))
        if not known(job):
            raise ValueError("a message of an unknown job")
        return Message(job, data)

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        """Say what a line tells: a play that began, ended, or cannot be played at all."""
        kind, *fields = data.decode("utf-8", "replace").split("\t")
        if kind == "begun":
            return [("begun", None)]
        if kind == "failed":
            return [("failed", fields[0])]
        episode, spoilt = self._episode(fields)
        return [("heard", True), ("heard", episode), ("done", spoilt)]

    def _episode(self, fields: Sequence[str]) -> tuple[Episode, bool]:
        status, won, score, ticks, calls, seconds, spoilt, reason = fields
        win, length = float(won), int(ticks)
        end = PlayEnd(status, None if math.isnan(win) else int(win), int(calls), reason)
        episode = Episode(
            number=0,
            frames=length,
            length=length,
            score=float(score),
            lives=0,
            truncated=status == "capped" or length >= self.rules.max_ticks,
            cpu_seconds=float(seconds),
            play=end,
        )
        return episode, spoilt == "1"
