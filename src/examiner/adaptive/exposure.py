"""How often each task may be open to an agent, so that none is given too often."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.rules import Rule
from examiner.adaptive.simulate import Progress, simulate
from examiner.adaptive.step import Choosing
from examiner.adaptive.stopping import Stop
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.wording import InputError


def exposure(
    source: TaskBank | ItemParameters | IRTFit,
    most: float,
    *,
    rng: np.random.Generator,
    choosing: str | Rule | Choosing = "information",
    stop: Stop | None = None,
    agents: int = 500,
    rounds: int = 12,
    progress: Progress | None = None,
) -> dict[str, float]:
    """Find the chance with which each task shall be open to an agent: `Choosing(open_shares=…)`.

    Agents of the prior are examined in rounds; a task that was given to more than the share `most`
    of them is opened less often by the same factor, one given to fewer more often again (after Sympson
    and Hetter, 1985).

    >>> items = ItemParameters.of([f"task {n}" for n in range(30)], 1.0, difficulty=np.linspace(-2, 2, 30))
    >>> shares = exposure(items, 0.5, stop=Stop(most=5), rng=np.random.default_rng(0), agents=200)
    >>> min(shares.values()) < 1
    True
    """
    bank = TaskBank.of(source)
    ends = stop or Stop()
    if not 0 < most <= 1:
        raise InputError(
            f"Tasks may be given to a share of {most} of agents. Give a share up to 1."
        )
    plan = choosing if isinstance(choosing, Choosing) else Choosing(choosing)
    shares = np.ones(len(bank))
    theta = bank.prior_mean + (bank.nodes[-1] - bank.prior_mean) / 6.0 * rng.standard_normal(agents)
    for number in range(rounds):
        opened = dict(zip(bank.tasks, shares.tolist(), strict=True))
        run = simulate(bank, theta, rng=rng, choosing=replace(plan, open_shares=opened), stop=ends)
        seen = np.maximum(run.exposure, 1e-9)
        wanted = np.clip(shares * most / seen, 0.01, 1.0)
        shares = np.where(run.exposure > 0, wanted, 1.0)
        if progress is not None:
            progress("finding exposure", number + 1, rounds)
    return dict(zip(bank.tasks, shares.tolist(), strict=True))
