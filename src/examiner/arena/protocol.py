"""The protocol: everything that decides what a score means, as one frozen value in frames."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Literal, get_args

from examiner.wording import InputError, unknown_name

Terminal = Literal["game over", "life loss"]
ActionSet = Literal["full", "minimal"]
Screens = Literal["last", "averaged", "pooled"]

_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "training_ends_at": get_args(Terminal),
        "action_set": get_args(ActionSet),
        "screens": get_args(Screens),
    }
)


@dataclass(frozen=True, slots=True)
class Protocol:
    """How games are played; the defaults are those of Machado et al. (2018).

    All durations are in frames of the emulator (60 a second), skipped frames included.

    >>> protocol = Protocol()
    >>> protocol.sticky_probability, protocol.max_episode_frames, protocol.report_frames
    (0.25, 18000, (10000000, 50000000, 100000000, 200000000))
    """

    sticky_probability: float = 0.25
    """ς: chance, at every frame, that the previous action is executed again (section 4.2)."""
    training_ends_at: Terminal = "game over"
    """What a learner is told ends an episode. What is stored, and evaluation, is always a whole game."""
    action_set: ActionSet = "full"
    """All legal actions of the console, or only those the game reacts to."""
    frame_skip: int = 5
    """Frames an action lasts; every one of them is counted."""
    screens: Screens = "averaged"
    """What is seen after skipped frames: the last screen, or the last two averaged or pooled (maximum)."""
    max_episode_frames: int | None = 18_000
    """Frames after which an episode is cut off; None lets it last."""
    max_start_no_ops: int = 0
    """Most frames of doing nothing at an episode's start; how many is drawn anew each time."""
    mode: int | None = None
    """Game mode where a plan lists none; None is the game's own default."""
    difficulty: int | None = None
    """Difficulty where a plan lists none; None is the game's own default."""
    training_frames: int = 200_000_000
    """Frames an agent may learn from."""
    report_shares: tuple[float, ...] = (0.05, 0.25, 0.5, 1.0)
    """Shares of the training frames at which performance is reported."""
    window_episodes: int = 100
    """Performance is the mean score of so many episodes before a report point."""
    evaluation_episodes: int = 0
    """Episodes without learning at every report point."""
    name: str = field(default="", compare=False)
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        shares: object = self.report_shares
        if isinstance(shares, list):  # as JSON and TOML have it
            object.__setattr__(self, "report_shares", tuple(shares))
        _check_choices(self)
        _check_shares(self)
        _check_counts(self)
        # 0 and 0.0 are one setting, and have one hash.
        object.__setattr__(self, "sticky_probability", float(self.sticky_probability))
        object.__setattr__(self, "report_shares", tuple(map(float, self.report_shares)))

    @property
    def report_frames(self) -> tuple[int, ...]:
        """Frames at which performance is reported: the report shares of the training frames.

        >>> Protocol(training_frames=1_000_000).report_frames
        (50000, 250000, 500000, 1000000)
        """
        return tuple(round(share * self.training_frames) for share in self.report_shares)

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that differ as soon as one setting does; the name plays no part.

        >>> Protocol().hash == protocol("machado-2018").hash != Protocol(frame_skip=4).hash
        True
        """
        settings = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(settings.encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, ready for JSON.

        >>> Protocol().to_dict()["sticky_probability"]
        0.25
        """
        settings = asdict(self)
        settings["report_shares"] = list(self.report_shares)
        return {name: settings[name] for name in SETTINGS}

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Protocol:
        """Build a protocol from settings by name; `preset` names the one the others change.

        >>> Protocol.from_dict({"preset": "mnih-2015", "sticky_probability": 0.25}).frame_skip
        4
        """
        changes = dict(settings)
        preset = changes.pop("preset", "machado-2018")
        return protocol(preset, **changes)  # type: ignore[arg-type]


SETTINGS = tuple(one.name for one in fields(Protocol) if one.compare)
"""The names of all settings, in the order in which they are explained."""


def protocol(name: str, **changes: object) -> Protocol:
    """Return a preset, with changes if any are given.

    >>> protocol("machado-2018", training_frames=1_000_000).name
    'machado-2018, changed'
    >>> protocol("machado")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Unknown protocol 'machado'. Did you mean 'machado-2018'? \
Known: 'atari-100k', 'deterministic', 'gymnasium', 'machado-2018', 'mnih-2015'.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    for setting in changes:
        if setting not in SETTINGS:
            raise unknown_name("setting of a protocol", setting, SETTINGS)
    preset = PROTOCOLS[name]
    changed = replace(preset, **changes)  # type: ignore[arg-type]
    return preset if changed == preset else replace(changed, name=f"{name}, changed")


def _check_choices(protocol: Protocol) -> None:
    for name, choices in _CHOICES.items():
        value = getattr(protocol, name)
        if value not in choices:
            raise unknown_name(f"value of {name}", value, choices)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_shares(protocol: Protocol) -> None:
    sticky = protocol.sticky_probability
    if not (_is_number(sticky) and 0.0 <= sticky <= 1.0):
        raise InputError(
            f"The protocol's sticky_probability is {sticky!r}. A probability lies between 0 and 1."
        )
    shares: object = protocol.report_shares
    edges = (0.0, *shares) if isinstance(shares, tuple) else (0.0,)
    numbers = all(_is_number(share) for share in edges)
    rising = numbers and all(one < other for one, other in itertools.pairwise(edges))
    if len(edges) < 2 or not rising or edges[-1] > 1.0:
        raise InputError(
            f"The protocol's report_shares are {shares!r}. Give rising shares of the training "
            f"frames above 0 and up to 1, for example [0.25, 0.5, 1.0]."
        )


_LEAST = MappingProxyType(
    {
        "frame_skip": 1,
        "max_episode_frames": 1,
        "max_start_no_ops": 0,
        "mode": 0,
        "difficulty": 0,
        "training_frames": 1,
        "window_episodes": 1,
        "evaluation_episodes": 0,
    }
)
_MAY_BE_NONE = ("max_episode_frames", "mode", "difficulty")


def _check_counts(protocol: Protocol) -> None:
    for name, least in _LEAST.items():
        value = getattr(protocol, name)
        if value is None and name in _MAY_BE_NONE:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(
                f"The protocol's {name} is {value!r}. It must be a whole number of at least {least}."
            )


_MACHADO = Protocol(
    name="machado-2018",
    source=(
        "Machado, Bellemare, Talvitie, Veness, Hausknecht and Bowling (2018): Revisiting the Arcade "
        "Learning Environment, JAIR 61:523-562; extended abstract IJCAI 2018, sections 2 to 4. Frame "
        "skip and the merging of screens are left to the agent: these are those of its Sarsa(λ)."
    ),
)

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "machado-2018": _MACHADO,
        "mnih-2015": Protocol(
            sticky_probability=0.0,
            training_ends_at="life loss",
            action_set="minimal",
            frame_skip=4,
            screens="pooled",
            max_episode_frames=18_000,
            max_start_no_ops=30,
            report_shares=(1.0,),
            evaluation_episodes=30,
            name="mnih-2015",
            source=(
                "Mnih et al. (2015): Human-level control through deep reinforcement learning, Nature "
                "518:529-533, Methods. Its evaluation of the best of many stored policies is not "
                "repeated: the last policy is evaluated."
            ),
        ),
        "deterministic": replace(
            _MACHADO,
            sticky_probability=0.0,
            name="deterministic",
            source=(
                "The deterministic columns (ς = 0) of Machado et al. (2018), Table 1: the emulator as "
                "Bellemare, Naddaf, Veness and Bowling (2013), JAIR 47:253-279, published it."
            ),
        ),
        "atari-100k": Protocol(
            sticky_probability=0.0,
            training_ends_at="life loss",
            action_set="minimal",
            frame_skip=4,
            screens="pooled",
            max_episode_frames=108_000,
            max_start_no_ops=30,
            training_frames=400_000,
            report_shares=(1.0,),
            evaluation_episodes=100,
            name="atari-100k",
            source=(
                "Kaiser et al. (2020): Model Based Reinforcement Learning for Atari, ICLR (100,000 "
                "decisions, 400,000 frames); settings as Schwarzer et al. (2021), ICLR, and Agarwal et "
                "al. (2021), NeurIPS, use them."
            ),
        ),
        "gymnasium": Protocol(
            sticky_probability=0.0,
            frame_skip=1,
            screens="last",
            max_episode_frames=None,
            training_frames=1_000_000,
            name="gymnasium",
            source=(
                "Towers et al. (2024): Gymnasium, a standard interface for reinforcement learning "
                "environments, arXiv:2407.17032: an environment as it is made, with its own limits."
            ),
        ),
    }
)
"""Name → protocol. A new one is one entry here."""

REFERENCE = "machado-2018"
"""The protocol from which deviations are told."""
