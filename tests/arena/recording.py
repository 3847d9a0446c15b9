"""Episodes together with the actions chosen in them, which tell runs apart that happen to score alike."""

from __future__ import annotations

from dataclasses import replace


def recorded(playing, episodes):
    """Play so many episodes; return each without its time, and the actions chosen in it."""
    chosen, act = [], playing.agent.act
    playing.agent.act = lambda seen: chosen.append(act(seen)) or chosen[-1]
    found = []
    for _ in range(episodes):
        chosen.clear()
        episode = next(playing)
        found.append((replace(episode, cpu_seconds=0.0), tuple(chosen)))
    return found
