"""Material: everything a comparison is made of, before any fold has looked at it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.information.channels import Channels, Noise, channels_of
from examiner.information.observations import Moments, Observations
from examiner.selection.constraints import Terms
from examiner.selection.evidence import Array, Evidence
from examiner.selection.recipe import Recipe
from examiner.selection.scaling import Kind, Scaling, learn_scaling
from examiner.selection.targets import Target, aggregate
from examiner.wording import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Agents on tasks as they were observed, and how they will be looked at inside each fold.

    `values` [agents, tasks] are cell means, higher is better, NaN where nothing was observed: nothing
    in them depends on other agents. `scaling` is learnt inside each fold. `success` [agents, tasks] are
    shares of successes, or None: then each task's median over the fold's own agents is the threshold.
    `families` [agents] are never split between folds. `observed` and `moments` are for bits.
    `given_target` [agents] stands in the place of the aggregate, where something else is to be predicted.
    """

    agents: tuple[str, ...]
    tasks: tuple[str, ...]
    values: Array
    terms: Terms
    scaling: Kind
    target: Target
    families: tuple[str, ...]
    recipe: Recipe
    groups: tuple[str, ...] | None = None
    success: Array | None = None
    observed: Observations | None = None
    moments: Moments | None = None
    noise: Noise = field(default_factory=Noise)
    given_target: Array | None = None
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """A hash of names and values: the same input has the same one."""
        content = hashlib.sha256()
        for name in (*self.agents, "\0", *self.tasks):
            content.update(name.encode("utf-8", "replace") + b"\0")
        content.update(np.ascontiguousarray(self.values).tobytes())
        return content.hexdigest()[:16]


def on_agents(material: Benchmark, agents: Sequence[str]) -> Benchmark:
    """Return the material of some agents alone.

    >>> import examiner as ex
    >>> material = ex.selection.benchmark(ex.Results.from_numpy(np.arange(30.0).reshape(6, 5)))
    >>> on_agents(material, ["agent 2", "agent 5"]).agents
    ('agent 2', 'agent 5')
    """
    rows = np.array([material.agents.index(agent) for agent in agents], dtype=np.intp)

    def part(values: Array | None) -> Array | None:
        return None if values is None else values[rows]

    return replace(
        material,
        agents=tuple(agents),
        values=material.values[rows],
        families=tuple(material.families[row] for row in rows.tolist()),
        success=part(material.success),
        moments=None
        if material.moments is None
        else Moments(*(values[:, rows] for values in material.moments)),
        given_target=part(material.given_target),
    )


def channels_among(material: Benchmark, rows: NDArray[np.intp]) -> Channels | None:
    """Return means and deviations of some agents alone; None where bits cannot be told."""
    if material.observed is None or material.moments is None:
        return None
    seen = material.observed._replace(agents=tuple(material.agents[row] for row in rows.tolist()))
    found = Moments(*(part[:, rows] for part in material.moments))
    try:
        return channels_of(seen, found, material.noise)
    except InputError:
        return None


class Fold(NamedTuple):
    """What is known inside a fold: the evidence of its agents, and how others are put beside them."""

    rows: NDArray[np.intp]
    evidence: Evidence
    scaling: Scaling
    centre: Array  # [tasks]: mean of the fold's agents on each task, comparable
    observed: Array  # [agents, tasks]: comparable values with their gaps


def fold_of(
    material: Benchmark, rows: NDArray[np.intp], needs: Sequence[str], *, lenient: bool = False
) -> Fold:
    """Gather evidence from some agents alone: scaling, gaps, target, bits, curves.

    Where too few agents allow no fit, evidence has none; `lenient` then takes flat curves, so that a
    small fold does not end a comparison.
    """
    raw = material.values[rows]
    scaling = learn_scaling(material.scaling, raw)
    values = scaling.apply(raw, own=True)
    filled, centre = fill(values)
    evidence = Evidence(
        tuple(material.agents[row] for row in rows),
        material.tasks,
        filled,
        material.terms,
        target=truth_of(material, rows, values),
        channels=channels_among(material, rows) if "channels" in needs else None,
        groups=material.groups,
    )
    if "items" in needs or "ability" in needs:
        from examiner.selection.quick_fit import quick_fit

        fitted = quick_fit(
            _successes(material, rows), evidence.agents, evidence.tasks, lenient=lenient
        )
        if fitted is not None:
            evidence = replace(evidence, items=fitted.items, ability=fitted.ability)
    return Fold(rows, evidence, scaling, centre, values)


def truth_of(material: Benchmark, rows: NDArray[np.intp], values: Array) -> Array:
    """Return what is to be predicted of some agents, whose comparable values are given."""
    if material.given_target is not None:
        return material.given_target[rows]
    return aggregate(values, material.target)


def fill(values: Array) -> tuple[Array, Array]:
    r"""Fill gaps with the task's mean plus the agent's mean deviation from the tasks it has.

    .. math:: \hat x_{at} = \bar x_t + \frac{1}{|T_a|} \sum_{s \in T_a} (x_{as} - \bar x_s)

    Returns the filled values, and the tasks' means.
    """
    seen = np.isfinite(values)
    count = seen.sum(axis=0)
    overall = values[seen].mean() if seen.any() else 0.0
    total = np.where(seen, values, 0.0).sum(axis=0)
    centre = np.where(count > 0, total / np.maximum(count, 1), overall)
    if seen.all():
        return values, centre
    return fill_from(values, centre), centre


def fill_from(values: Array, centre: Array) -> Array:
    """Fill the gaps of other agents, the tasks' means being known; the last axis is of tasks."""
    seen = np.isfinite(values)
    away = np.where(seen, values - centre, 0.0).sum(axis=-1, keepdims=True)
    away = away / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
    return np.where(seen, values, centre + away)


def _successes(material: Benchmark, rows: NDArray[np.intp]) -> Array:
    if material.success is not None:
        return material.success[rows]
    raw = material.values[rows]
    with np.errstate(invalid="ignore"):
        threshold = np.nanmedian(raw, axis=0)
    return np.where(np.isnan(raw), np.nan, (raw > threshold).astype(np.float64))
