"""What decides how a GVGAI play goes: the budget of an action, the ticks, and the CPU seconds of a play."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from examiner.messages import InputError
from examiner.validation import Bounds, settle

MOST_TICKS = 2000
"""The framework ends every play then: the number is compiled into it."""
USUAL_CALLS = 50
_Positive = Annotated[int, Bounds(1, words="a whole number of at least 1")]
_Seconds = Annotated[float, Bounds(0.1, 1e6, "a number of seconds, at least 0.1")]
_Milliseconds = Annotated[float, Bounds(1.0, 1e6, "a number of milliseconds, at least 1")]


@dataclass(frozen=True, slots=True)
class GvgaiRules:
    """The budget of an action is in calls of the forward model, or in milliseconds of CPU time.

    Calls are the same on every machine; milliseconds are those of the papers (40), and buy less on a busy
    one. A play that takes longer than `cpu_seconds` is ended, with the score of then. By the rule of
    the framework an action that took longer than its budget is not taken, and one a quarter longer
    disqualifies. Small budgets of calls would disqualify agents that try whole generations at once:
    they may be "forgiven".

    >>> GvgaiRules(model_calls=50).name
    '50 model calls an action'
    >>> GvgaiRules(milliseconds=40.0).name
    '40 ms an action'
    """

    model_calls: _Positive | None = None
    milliseconds: _Milliseconds | None = None
    max_ticks: Annotated[int, Bounds(1, MOST_TICKS, f"a whole number from 1 to {MOST_TICKS}")] = (
        MOST_TICKS
    )
    cpu_seconds: _Seconds = 60.0
    overspending: Literal["framework", "forgiven"] = "framework"

    def __post_init__(self) -> None:
        settle(self, "gvgai")
        if self.model_calls is not None and self.milliseconds is not None:
            raise InputError(
                f"gvgai: an action has {self.model_calls} model calls and {self.milliseconds:g} "
                f"milliseconds. Keep one of the two."
            )
        if self.model_calls is None and self.milliseconds is None:
            object.__setattr__(self, "model_calls", USUAL_CALLS)
        if self.overspending == "forgiven" and self.milliseconds is not None:
            raise InputError(
                "gvgai: milliseconds are the framework's own rule, and what overspends them is not "
                "forgiven. Give a budget of model calls, or leave `overspending` out."
            )

    @property
    def name(self) -> str:
        """The budget in words."""
        if self.milliseconds is not None:
            return f"{self.milliseconds:g} ms an action"
        return f"{self.model_calls:,} model calls an action"

    @property
    def budget(self) -> float:
        """The budget as a number, of calls or milliseconds."""
        return float(self.model_calls or self.milliseconds or 0.0)

    @property
    def hash(self) -> str:
        """Sixteen hexadecimal digits that differ as soon as one setting does.

        >>> GvgaiRules().hash == GvgaiRules(model_calls=50).hash != GvgaiRules(model_calls=51).hash
        True
        """
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, object]:
        """Return the settings by name, ready for JSON.

        >>> GvgaiRules().to_dict()["max_ticks"]
        2000
        """
        settings = {"framework": "gvgai"} | asdict(self)
        if self.overspending == "framework":  # as it is without this setting
            del settings["overspending"]
        return settings
