"""The protocol: everything that decides what a score means, as one frozen value; how protocols differ."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Annotated, Literal

from examiner.messages import shorten, unknown_name
from examiner.validation import Bounds, ShapeError, Wanted, check_known, settle

Screens = Literal["last", "averaged", "pooled"]
_Count = Annotated[int, Bounds(0, words="a whole number of at least 0")]
_Positive = Annotated[int, Bounds(1, words="a whole number of at least 1")]
START = "game: ACTION*FRAMES …, for example 'pong: NOOP*60 FIRE RIGHT*20'"
"""How a recorded start is written."""
_STARTS = f"recorded starts, each {START}"
_START = re.compile(r"[^:]+:(?:\s+[A-Z]+(?:\*[0-9]{1,6})?)+\s*")
_RISING = "rising shares of the training frames above 0 and up to 1, for example [0.25, 0.5, 1.0]"


@dataclass(frozen=True, slots=True)
class Protocol:
    """How games are played; the defaults are those of Machado et al. (2018).

    All durations are in frames of the emulator (60 a second), skipped frames included.

    >>> protocol = Protocol()
    >>> protocol.sticky_probability, protocol.max_episode_frames, protocol.report_frames
    (0.25, 18000, (10000000, 50000000, 100000000, 200000000))
    """

    sticky_probability: Annotated[float, Bounds(0, 1, "a probability between 0 and 1")] = 0.25
    """ς: chance, at every frame, that the previous action is executed again (section 4.2)."""
    training_ends_at: Literal["game over", "life loss"] = "game over"
    """What a learner is told ends an episode. What is stored, and evaluation, is always a whole game."""
    action_set: Literal["full", "minimal"] = "full"
    """All legal actions of the console, or only those the game reacts to."""
    frame_skip: _Positive = 5
    """Frames an action lasts; every one of them is counted."""
    screens: Screens = "averaged"
    """What is seen after skipped frames: the last screen, or the last two averaged or pooled (maximum)."""
    max_episode_frames: _Positive | None = 18_000
    """Frames after which an episode is cut off; None lets it last."""
    max_start_no_ops: _Count = 0
    """Most frames of doing nothing at an episode's start; how many is drawn anew each time."""
    max_frame_skip: _Positive | None = None
    """Most frames an action lasts, where that is drawn anew for each action; None: always `frame_skip`."""
    starts: Annotated[tuple[str, ...], Wanted(_STARTS)] = ()
    """Recorded play, of which an episode follows one to a frame drawn anew; without any, games begin."""
    mode: _Count | None = None
    """Game mode where a plan lists none; None is the game's own default."""
    difficulty: _Count | None = None
    """Difficulty where a plan lists none; None is the game's own default."""
    training_frames: _Positive = 200_000_000
    """Frames an agent may learn from."""
    report_shares: Annotated[tuple[float, ...], Bounds(1), Wanted(_RISING)] = (0.05, 0.25, 0.5, 1.0)
    """Shares of the training frames at which performance is reported."""
    window_episodes: _Positive = 100
    """Performance is the mean score of so many episodes before a report point."""
    evaluation_episodes: _Count = 0
    """Episodes without learning at every report point."""
    name: str = field(default="", compare=False)
    source: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        settle(self, "protocol")
        shares = self.report_shares
        rising = all(share < later for share, later in itertools.pairwise((0.0, *shares)))
        if not rising or shares[-1] > 1.0:
            raise ShapeError("report_shares", f"is {shorten(list(shares))}", _RISING, "protocol")
        most = self.max_frame_skip
        if most is not None and most < self.frame_skip:
            wanted = f"at least the frame skip, {self.frame_skip}"
            raise ShapeError("max_frame_skip", f"is {most}", wanted, "protocol")
        for start in self.starts:
            if not _START.fullmatch(start):
                raise ShapeError("starts", f"has {shorten(start, 60)}", _STARTS, "protocol")

    @property
    def report_frames(self) -> tuple[int, ...]:
        """Frames at which performance is reported: the report shares of the training frames.

        >>> Protocol(training_frames=1_000_000).report_frames
        (50000, 250000, 500000, 1000000)
        """
        return tuple(round(share * self.training_frames) for share in self.report_shares)

    @property
    def reported_phase(self) -> Literal["training", "evaluation"]:
        """The phase whose scores are reported: evaluation where there is any.

        >>> PROTOCOLS["mnih-2015"].reported_phase, PROTOCOLS["machado-2018"].reported_phase
        ('evaluation', 'training')
        """
        return "evaluation" if self.evaluation_episodes else "training"

    @property
    def without_noise(self) -> Protocol:
        """The same without whatever it does to make games less alike.

        >>> Protocol().without_noise.sticky_probability
        0.0
        """
        return replace(
            self, sticky_probability=0.0, max_start_no_ops=0, max_frame_skip=None, starts=()
        )

    def changed(self, **changes: object) -> Protocol:
        """Return the protocol with changes; one that equals a preset is that preset.

        >>> PROTOCOLS["machado-2018"].changed(sticky_probability=0.0).name
        'deterministic'
        """
        changed = replace(self, **changes)  # type: ignore[arg-type]
        preset = next((preset for preset in PROTOCOLS.values() if preset == changed), None)
        name = f"{self.name.removesuffix(', changed')}, changed" if self.name else ""
        return preset or replace(changed, name=name)

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that differ as soon as one setting does; the name plays no part.

        >>> Protocol().hash == protocol("machado-2018").hash != Protocol(frame_skip=4).hash
        True
        """
        settings = json.dumps(self.telling, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(settings.encode()).hexdigest()[:16]

    @property
    def telling(self) -> dict[str, object]:
        """The settings that tell it from others: those that came later count where they are used.

        What was played before a setting was there keeps its hash, its key and its random numbers.

        >>> "max_frame_skip" in Protocol().telling, "frame_skip" in Protocol().telling
        (False, True)
        """
        settings = self.to_dict()
        return {name: value for name, value in settings.items() if value != _LATER.get(name, _USED)}

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, ready for JSON.

        >>> Protocol().to_dict()["sticky_probability"]
        0.25
        """
        settings = {name: getattr(self, name) for name in SETTINGS}
        return settings | {name: list(getattr(self, name)) for name in ("report_shares", "starts")}

    @classmethod
    def from_dict(cls, settings: Mapping[str, object]) -> Protocol:
        """Build a protocol from settings by name; `preset` names the one the others change.

        >>> Protocol.from_dict({"preset": "mnih-2015", "sticky_probability": 0.25}).frame_skip
        4
        """
        changes = dict(settings)
        preset = changes.pop("preset", "machado-2018")
        return protocol(preset, **changes)  # type: ignore[arg-type]


_USED = object()  # equals no setting
_LATER: Mapping[str, object] = MappingProxyType({"max_frame_skip": None, "starts": []})
SETTINGS = tuple(setting.name for setting in fields(Protocol) if setting.compare)
"""The names of all settings, in the order in which they are explained."""


def protocol(name: str, /, **changes: object) -> Protocol:
    """Return a preset, with changes if any are given.

    >>> protocol("machado-2018", training_frames=1_000_000).name
    'machado-2018, changed'
    >>> protocol("machado")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Unknown protocol 'machado'. Did you mean 'machado-2018'? \
Known: 'atari-100k', 'deterministic', 'gymnasium', 'machado-2018', 'mnih-2015'.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    for setting in changes:
        check_known("setting of a protocol", setting, SETTINGS)
    return PROTOCOLS[name].changed(**changes)


_MACHADO = Protocol(
    name="machado-2018",
    source=(
        "Machado, Bellemare, Talvitie, Veness, Hausknecht and Bowling (2018): Revisiting the Arcade "
        "Learning Environment, JAIR 61:523-562; extended abstract IJCAI 2018, sections 2 to 4. Frame "
        "skip and the merging of screens are left to the agent: these are those of its Sarsa(λ)."
    ),
)

_MNIH = Protocol(
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
)

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        "machado-2018": _MACHADO,
        "mnih-2015": _MNIH,
        "deterministic": replace(
            _MACHADO,
            sticky_probability=0.0,
            name="deterministic",
            source=(
                "The deterministic columns (ς = 0) of Machado et al. (2018), Table 1: the emulator as "
                "Bellemare, Naddaf, Veness and Bowling (2013), JAIR 47:253-279, published it."
            ),
        ),
        "atari-100k": replace(
            _MNIH,
            max_episode_frames=108_000,
            training_frames=400_000,
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


def usual_protocol(environment: str) -> str:
    """Name the preset of an environment where none is named.

    >>> usual_protocol("ale"), usual_protocol("gymnasium")
    ('machado-2018', 'gymnasium')
    """
    return environment if environment in PROTOCOLS else REFERENCE


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
        "max_frame_skip": "random frame skips, a noise that agents see as another time scale",
        "starts": "games begin where recorded play had come to: what is measured is how they go on",
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
