"""How a protocol deviates from a reference, setting by setting, and why that matters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from examiner.arena.protocol import PROTOCOLS, REFERENCE, SETTINGS, Protocol


@dataclass(frozen=True, slots=True)
class Deviation:
    """One setting that differs from the reference.

    `free` says that the reference leaves the setting to the agent or to the budget: scores stay
    comparable as long as it is told.
    """

    setting: str
    value: object
    reference: object
    meaning: str
    free: bool


_MEANING: Mapping[str, str] = MappingProxyType(
    {
        "sticky_probability": "how often the previous action is executed again: without that, memorised "
        "sequences of actions can score",
        "training_ends_at": "what a learner is told ends an episode: lives are knowledge about the game",
        "action_set": "which actions there are: the minimal set is knowledge about the game",
        "frame_skip": "how many frames an action lasts; all of them are counted",
        "screens": "how the last two screens are merged into what is seen",
        "max_episode_frames": "when an episode is cut off: scores of long games grow with it",
        "max_start_no_ops": "random idle frames at the start, a weaker noise than sticky actions",
        "mode": "which mode is played where the plan lists none",
        "difficulty": "which difficulty is played where the plan lists none",
        "training_frames": "how much an agent may learn from",
        "report_shares": "at which shares of training performance is reported",
        "window_episodes": "over how many last episodes performance is averaged",
        "evaluation_episodes": "episodes without learning: the reference measures while learning",
    }
)
_FREE = ("frame_skip", "screens", "training_frames", "report_shares")


def deviations(protocol: Protocol, reference: Protocol | None = None) -> tuple[Deviation, ...]:
    """List the settings in which a protocol differs from a reference, by default from `machado-2018`.

    >>> for one in deviations(PROTOCOLS["deterministic"]):
    ...     print(one.setting, one.value, one.reference)
    sticky_probability 0.0 0.25
    """
    reference = PROTOCOLS[REFERENCE] if reference is None else reference
    return tuple(
        Deviation(
            setting=name,
            value=getattr(protocol, name),
            reference=getattr(reference, name),
            meaning=_MEANING[name],
            free=name in _FREE,
        )
        for name in SETTINGS
        if getattr(protocol, name) != getattr(reference, name)
    )
