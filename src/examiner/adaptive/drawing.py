"""Answers of simulated agents, drawn from the parameters that a calibration leaves possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from examiner.adaptive.answers import Whole
from examiner.adaptive.bank import TaskBank
from examiner.irt.items import Floats, ItemParameters, Response

_AS_BINOMIAL = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Respondents:
    """Agents of known ability, and the parameters their answers are drawn from: [versions, tasks]."""

    ability: Floats
    slope: Floats
    intercept: Floats
    guessing: Floats
    ceiling: Floats
    precision: Floats | None
    response: Response

    @classmethod
    def of(
        cls,
        bank: TaskBank,
        abilities: Floats,
        truth: ItemParameters | None,
        rng: np.random.Generator,
    ) -> Respondents:
        """Return agents who answer by `truth`, or else as the bank itself thinks possible.

        Then every answer is drawn from a version of the task's parameters, and the ability stands on a
        scale as uncertain as the bank's: θ' = (θ − m) / s.
        """
        sources = bank.calibration.versions if truth is None else (truth,)
        acting = abilities
        scale = bank.calibration.scale
        if truth is None and scale.zero > 0:
            zero = rng.normal(0.0, np.sqrt(scale.zero), abilities.size)
            unit = np.maximum(1.0 + rng.normal(0.0, np.sqrt(scale.unit), abilities.size), 0.2)
            acting = bank.prior_mean + (abilities - zero - bank.prior_mean) / unit
        precision = [one.precision for one in sources if one.precision is not None]
        return cls(
            acting,
            np.stack([one.slope for one in sources]),
            np.stack([one.intercept for one in sources]),
            np.stack([one.guessing for one in sources]),
            np.stack([one.ceiling for one in sources]),
            np.stack(precision) if precision else None,
            sources[0].response,
        )

    def answers(
        self,
        agents: NDArray[np.intp],
        task: NDArray[np.intp],
        trials: Whole,
        rng: np.random.Generator,
    ) -> Floats:
        """Draw the answer of each agent to its own task: successes, or a score."""
        versions = len(self.slope)
        at = rng.integers(versions, size=task.size) if versions > 1 else np.zeros_like(task)
        eta = self.slope[at, task] * self.ability[agents] + self.intercept[at, task]
        low, high = self.guessing[at, task], self.ceiling[at, task]
        chance = low + (high - low) / (1 + np.exp(-np.clip(eta, -500, 500)))
        if self.precision is not None:
            nu = self.precision[at, task]
            finite = np.minimum(nu, _AS_BINOMIAL)
            inside = np.clip(chance, 1e-9, 1 - 1e-9)
            drawn = rng.beta(inside * finite, (1 - inside) * finite)
            if self.response == "beta":
                return np.asarray(drawn)
            chance = np.where(nu < _AS_BINOMIAL, drawn, chance)
        if (trials == 1).all():
            return np.asarray(rng.random(chance.size) < chance, dtype=np.float64)
        return np.asarray(rng.binomial(trials, np.clip(chance, 0, 1)), dtype=np.float64)
