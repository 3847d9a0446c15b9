"""Java processes that play: how they are started, told their plays, and understood."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from examiner.arena.gvgai.checkout import Checkout, built
from examiner.arena.gvgai.play import GvgaiPlay, GvgaiRules
from examiner.ledger import Episode, PlayEnd
from examiner.workers import Kind, ProgramCrew


class JavaCrew(ProgramCrew):
    """Plays on Java processes in a checkout, which is compiled if need be; `agents` are their class path.

    >>> from examiner.arena.gvgai.checkout import checkout
    >>> JavaCrew(checkout("missing"), (), GvgaiRules(), 1)
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: There is no GVGAI checkout in 'missing': no such folder. Clone ...
    """

    def __init__(
        self,
        checkout: Checkout,
        agents: Sequence[Path],
        rules: GvgaiRules,
        count: int,
        *,
        memory_mib: float | None = None,
        log: Path | None = None,
    ) -> None:
        self._checkout, self._rules = checkout, rules
        classes = built(checkout)
        # By default 1 GiB: games take 230 MB, trees of agents a few hundred more.
        memory = max(64, int(memory_mib or 1024))
        command = (
            classes.java,
            "-Djava.awt.headless=true",
            "-Xrs",  # a signal ends the process at once, and is not taken for an agent's exit
            "-XX:+UseSerialGC",
            "-XX:ActiveProcessorCount=1",  # one thread for each of its own duties
            f"-Xmx{memory}m",
            "-cp",
            str(classes.worker),
            "examiner.gvgai.Worker",
            classes.class_path,
            os.pathsep.join(str(path.absolute()) for path in agents),
        )
        # The framework looks for sprites in its folder.
        super().__init__(command, count, folder=checkout.folder, log=log)

    def packed(self, argument: object) -> bytes:
        """Put a play into a line of fields."""
        play = cast("GvgaiPlay", argument)
        rules = play.rules
        fields = (
            play.entry,
            self._checkout.game_file(play.game),
            self._checkout.level_file(play.game, play.level),
            play.play_seed,
            rules.max_ticks,
            "calls" if rules.milliseconds is None else "milliseconds",
            rules.budget,
            rules.cpu_seconds,
            rules.overspending,
        )
        return "\t".join(map(str, fields)).encode()

    def understood(self, data: bytes) -> Sequence[tuple[Kind, object]]:
        """Say what a line tells: a play that began, ended, or cannot be played at all."""
        kind, *fields = data.decode("utf-8", "replace").split("\t")
        if kind == "begun":
            return [("begun", None)]
        if kind == "failed":
            return [("failed", fields[0])]
        status, won, score, ticks, calls, seconds, spoilt, reason = fields
        win, length = float(won), int(ticks)
        episode = Episode(
            number=0,
            frames=length,
            length=length,
            score=float(score),
            lives=0,
            truncated=status == "capped" or length >= self._rules.max_ticks,
            cpu_seconds=float(seconds),
            play=PlayEnd(status, None if math.isnan(win) else int(win), int(calls), reason),
        )
        return [("heard", True), ("heard", episode), ("done", spoilt == "1")]
