"""An evaluation of inspect_ai that ends as soon as few samples predict the whole score precisely enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from examiner.messages import InputError, listed
from examiner.selection.selection import Selection


def stop_when_sure(tiny: Selection, *, within: float, scorer: str | None = None) -> EarlyStopping:
    """Run the samples of a tiny version alone, until the predicted score is precise enough.

    An object of inspect_ai's protocol `EarlyStopping` (needs the extra `inspect`): samples that were not
    chosen are skipped, and chosen ones too from the moment when half of the interval is no wider than
    `within`. Give it to `Task(early_stopping=…)`, with few samples at once (`max_samples`): those that have
    begun are not broken off. `scorer` names the scorer, where there are several. The prediction at the end
    is in the log, under the early stopping's metadata.

    >>> import examiner as ex
    >>> rng = np.random.default_rng(0)
    >>> won = (rng.normal(size=(40, 1)) > rng.normal(size=12)).astype(float)
    >>> tiny = ex.selection.select(ex.Results.from_numpy(won), 4, rng=0)
    >>> stop_when_sure(tiny, within=0.05).known()["samples"]
    0
    """
    return EarlyStopping(tiny, within, scorer)


class EarlyStopping:
    """What inspect_ai asks before and after every sample."""

    def __init__(self, tiny: Selection, within: float, scorer: str | None) -> None:
        if not 0 < within < np.inf:
            raise InputError(f"The score shall be known within {within:g}. Give a number above 0.")
        ids = [task.rpartition("/")[2] for task in tiny.chosen.tasks]
        twice = [name for name in dict.fromkeys(ids) if ids.count(name) > 1]
        if twice:
            raise InputError(
                f"The ids {listed(twice)} name several of the chosen tasks. Distil one evaluation."
            )
        self._tiny, self._within, self._scorer = tiny, within, scorer
        self._column = {name: column for column, name in enumerate(ids)}
        self._sum, self._count = np.zeros(len(ids)), np.zeros(len(ids))

    def known(self) -> dict[str, Any]:  # Any: JSON values
        """Return the predicted score with its interval (None before the first sample), and of how many."""
        values = np.divide(
            self._sum, self._count, out=np.full(len(self._sum), np.nan), where=self._count > 0
        )
        samples = int((self._count > 0).sum())
        if not samples:
            return {"samples": 0, "predicted": None, "low": None, "high": None}
        prediction = self._tiny.predictor.aggregate(values[None], self._tiny.level)
        least, most = self._tiny.ends
        value, low, high = (float(np.clip(part[0], least, most)) for part in prediction[:3])
        return {"samples": samples, "predicted": value, "low": low, "high": high}

    async def start_task(self, task: object, samples: list[object], epochs: int) -> str:
        """Return the name of what stops."""
        return "examiner"

    async def schedule_sample(
        self,
        id: str | int,  # noqa: A002  the protocol's own name
        epoch: int,
    ) -> Any:  # Any: inspect_ai's EarlyStop
        """Skip samples that were not chosen, and all once the prediction is precise enough."""
        from inspect_ai.util import EarlyStop

        if str(id) not in self._column:
            return EarlyStop(id=id, epoch=epoch, reason="not among the chosen samples")
        now = self.known()
        if now["samples"] and now["high"] - now["low"] <= 2 * self._within:
            return EarlyStop(
                id=id, epoch=epoch, reason=f"the score is known within {self._within:g}"
            )
        return None

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002  the protocol's own name
        epoch: int,
        scores: Mapping[str, Any],  # Any: inspect_ai's SampleScore
    ) -> None:
        """Take a sample's score, as inspect_ai makes a number of it."""
        from inspect_ai.scorer import value_to_float

        column = self._column.get(str(id))
        if column is None or not scores:
            return
        if self._scorer is None and len(scores) > 1:
            raise InputError(
                f"Samples have several scorers: {listed(scores)}. Name one (`scorer`)."
            )
        name = next(iter(scores)) if self._scorer is None else self._scorer
        if name not in scores:
            raise InputError(f"No scorer {name!r}: there are {listed(scores)}.")
        self._sum[column] += float(value_to_float()(scores[name].score.value))
        self._count[column] += 1

    async def complete_task(self) -> dict[str, Any]:  # Any: JSON values
        """Return the prediction at the end, for the log."""
        return self.known()
