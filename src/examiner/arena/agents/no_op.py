"""Doing nothing: what a game gives for being there."""

from __future__ import annotations


class NoOp:
    """Always choose the first action, which in Atari games is to do nothing."""

    blind = True

    def act(self, observation: object) -> int:
        """Return the action of doing nothing."""
        return 0
