"""Two editions on one scale, linked by the tasks they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from examiner.answers import Answer, Table, name, number, scalar
from examiner.irt.fitted import Abilities, IRTFit
from examiner.irt.items import Floats, ItemParameters, probability
from examiner.messages import InputError, counted, listed
from examiner.results import check_undivided
from examiner.validation import Randomness, check_known, generator, seed_of

LinkMethod = Literal["stocking-lord", "haebara", "mean-sigma", "mean-mean"]

_GRID = np.linspace(-4.0, 4.0, 81)
_WEIGHTS = np.exp(-0.5 * _GRID**2) / np.exp(-0.5 * _GRID**2).sum()
"""Abilities at which curves are compared, weighed as in the population."""
Transformation = tuple[float, float]
"""Scale and shift."""


Solver = Callable[[ItemParameters, ItemParameters, Transformation | None], Transformation]
"""A method: from the shared tasks in both editions, and where to look first, to scale and shift."""


class SharedTasks(Table):
    """Shared tasks, the largest difference between editions first."""

    task: tuple[str, ...] = name("Task")
    drift: Floats = number("Root mean square difference between the linked curves")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Link(Answer):
    """How abilities of one edition are expressed on the scale of another: θ = scale · θ' + shift.

    Errors are those of joint draws of both editions, whose tasks share the uncertainty of their zero and
    unit, or, where these are larger, those of a jackknife over the shared tasks, which may have changed. An
    edition read from a file has no draws. `drift` [shared] is the root mean square difference between the
    two curves of each shared task after linking.
    """

    kind: ClassVar[str] = "link"

    method: LinkMethod = field(metadata=scalar("Method of linking"))
    scale: float = field(metadata=scalar("Factor of abilities of the new edition"))
    shift: float = field(metadata=scalar("Shift of abilities after scaling", "logits"))
    scale_error: float = field(metadata=scalar("Standard error of the factor"))
    shift_error: float = field(metadata=scalar("Standard error of the shift", "logits"))
    shared: tuple[str, ...]
    drift: Floats
    notes: tuple[str, ...]
    seed: int | None = None

    @property
    def headline(self) -> str:
        """The link as an equation."""
        shared = counted(len(self.shared), "shared task")
        return f"Linked by {self.method} over {shared}: θ = {self.scale:.3g} θ' {self.shift:+.3g}."

    @property
    def tables(self) -> Mapping[str, Table]:
        """Shared tasks."""
        table = SharedTasks(task=self.shared, drift=self.drift)
        return {"shared": table.sorted_by("drift", descending=True)}

    def items(self, items: ItemParameters) -> ItemParameters:
        """Return the tasks of the new edition on the scale of the old one: a / scale, b · scale + shift.

        >>> link = Link("mean-sigma", 2.0, 1.0, 0.0, 0.0, (), np.empty(0), ())
        >>> moved = link.items(ItemParameters.of(["t"], slope=[1.0], difficulty=[0.5]))
        >>> moved.slope, moved.difficulty
        (array([0.5]), array([2.]))
        """
        return items.rescaled(-self.shift / self.scale, 1.0 / self.scale)

    def abilities(self, abilities: Abilities) -> Abilities:
        """Return abilities of the new edition on the scale of the old one, with their errors.

        >>> link = Link("mean-sigma", 2.0, 1.0, 0.0, 0.0, (), np.empty(0), ())
        >>> link.abilities(Abilities(("a",), np.array([1.0]), np.array([0.5]), "")).ability
        array([3.])
        """
        placed = self.scale * abilities.ability + self.shift
        of_link = np.hypot(self.scale_error * abilities.ability, self.shift_error)
        error = np.hypot(self.scale * abilities.error, np.nan_to_num(of_link, nan=0.0))
        method = f"{abilities.method}; linked by {self.method}"
        return Abilities(abilities.agents, placed, error, method)


def link(
    old: IRTFit, new: IRTFit, method: LinkMethod = "stocking-lord", *, rng: Randomness = 0
) -> Link:
    r"""Link a new edition to an old one by their shared tasks.

    With θ = Aθ' + B a task's slope becomes a/A and its difficulty Ab + B. `mean-sigma` takes A and B
    from the means and standard deviations of the difficulties, `mean-mean` from the means of slopes
    and difficulties. `haebara` minimises the squared differences between the two curves of each
    task, `stocking-lord` those between the two expected total scores:

    .. math:: \sum_q w_q \sum_i (P_i(\theta_q) - P_i^*(\theta_q))^2, \qquad
              \sum_q w_q \Big(\sum_i P_i(\theta_q) - \sum_i P_i^*(\theta_q)\Big)^2

    summed over both scales, w the normal density. Tasks whose slopes have opposite signs, or are below 0.2
    (which leaves the difficulty undetermined), are excluded and listed in `notes`, as are tasks that have
    drifted by more than 0.1. `rng` draws the editions for the errors.

    References: Stocking & Lord (1983); Haebara (1980); Kolen & Brennan (2014), ch. 6.

    >>> from examiner.irt.ability import known as known_fit
    >>> first = ItemParameters.of(list("abcde"), [1, 2, 1, 2, 1], difficulty=[-2, -1, 0, 1, 2])
    >>> second = first.rescaled(0.5, 2.0)  # where θ = 0.5 + 2 θ'
    >>> answer = link(known_fit(first), known_fit(second))
    >>> round(answer.scale, 4), round(answer.shift, 4)
    (2.0, 0.5)
    """
    check_known("method of linking", method, get_args(LinkMethod))
    for edition in (old, new):
        check_undivided(edition.groups, "an edition has no scale of its own to be linked")
    shared = tuple(task for task in old.items.tasks if task in set(new.items.tasks))
    if not shared:
        raise InputError(
            f"The two fits share no task: one has {listed(old.items.tasks)}, the other "
            f"{listed(new.items.tasks)}. Link editions that have tasks in common."
        )
    first, second = old.items.named(shared), new.items.named(shared)
    usable, warnings = _usable(first, second)
    if len(usable) < 2:
        raise InputError(
            f"{counted(len(usable), 'task')} of {counted(len(shared), 'shared task')} can link the two "
            f"fits, and two are needed. {' '.join(warnings)}"
        )
    solve = _METHODS[method]
    scale, shift = solve(first.take(usable), second.take(usable), None)
    by_tasks = _jackknifed(solve, first, second, usable, (scale, shift))
    names = tuple(shared[column] for column in usable)
    seed = seed_of(rng)
    by_draws = _errors_of_draws(solve, (old, new), names, (scale, shift), generator(seed))
    scale_error, shift_error = np.fmax(by_tasks, by_draws).tolist()
    drift = _drift(first, second, scale, shift)
    warnings += _warnings(shared, usable, drift)
    for label, fit in (("old", old), ("new", new)):
        if fit.evidence is not None and not fit.evidence.abilities_differ:
            warnings.append(
                f"The agents of the {label} fit do not differ significantly in ability "
                f"({fit.evidence.abilities.p}): its scale has no unit to link."
            )
    linked = (scale, shift, scale_error, shift_error)
    return Link(method, *linked, shared, drift, tuple(warnings), seed)


def _usable(first: ItemParameters, second: ItemParameters) -> tuple[NDArray[np.intp], list[str]]:
    opposed = first.slope * second.slope < 0
    flat = ~opposed & (np.minimum(np.abs(first.slope), np.abs(second.slope)) < 0.2)
    warnings = []
    for excluded, reason in (
        (opposed, "with opposite signs of discrimination in the two editions"),
        (flat, "with hardly any discrimination in one of the editions"),
    ):
        if excluded.any():
            names = [first.tasks[column] for column in np.flatnonzero(excluded)]
            warnings.append(
                f"{counted(len(names), 'shared task')} {reason}, excluded from the link: {listed(names)}."
            )
    return np.flatnonzero(~opposed & ~flat), warnings


def _warnings(shared: tuple[str, ...], usable: NDArray[np.intp], drift: Floats) -> list[str]:
    warnings = []
    if len(usable) < 5:
        warnings.append(
            f"The link depends on {counted(len(usable), 'shared task')}: with fewer than 5, one task that "
            f"changed between the editions moves all abilities."
        )
    drifted = [shared[column] for column in usable if drift[column] > 0.1]
    if drifted:
        warnings.append(
            f"Shared tasks that differ between the editions even after linking: {listed(drifted)}. Check "
            f"whether they changed, and link without them."
        )
    return warnings


def _mean_sigma(
    first: ItemParameters, second: ItemParameters, near: Transformation | None = None
) -> Transformation:
    old, new = first.difficulty, second.difficulty
    spread = float(new.std())
    scale = float(old.std()) / spread if spread > 0 and old.std() > 0 else 1.0
    return scale, float(old.mean() - scale * new.mean())


def _mean_mean(
    first: ItemParameters, second: ItemParameters, near: Transformation | None = None
) -> Transformation:
    scale = float(np.abs(second.slope).mean() / np.abs(first.slope).mean())
    return scale, float(first.difficulty.mean() - scale * second.difficulty.mean())


def _by_curves(
    first: ItemParameters,
    second: ItemParameters,
    near: Transformation | None = None,
    *,
    total: bool,
) -> Transformation:
    """Least squares between curves, or between their sums, from the best of three starts."""
    from scipy.optimize import least_squares

    old, new = probability(first, _GRID), probability(second, _GRID)
    root = np.sqrt(_WEIGHTS)[:, None]

    def differences(at: Floats) -> Floats:
        scale, shift = float(np.exp(at[0])), float(at[1])
        there = root * (old - probability(second, (_GRID - shift) / scale))
        back = root * (new - probability(first, scale * _GRID + shift))
        both = np.concatenate([there, back])
        return both.sum(axis=1) if total else both.ravel()

    starts = [near] if near else [_mean_mean(first, second), _mean_sigma(first, second), (1.0, 0.0)]
    solutions = [
        least_squares(
            differences,
            [np.log(np.clip(scale, 0.05, 20.0)), np.clip(shift, -10.0, 10.0)],
            xtol=1e-10,
            ftol=1e-12,
            gtol=1e-12,
        )
        for scale, shift in starts
    ]
    best = min(solutions, key=lambda solution: float(solution.cost))
    return float(np.exp(best.x[0])), float(best.x[1])


_METHODS: Mapping[LinkMethod, Solver] = MappingProxyType(
    {
        "mean-sigma": _mean_sigma,
        "mean-mean": _mean_mean,
        "haebara": partial(_by_curves, total=False),
        "stocking-lord": partial(_by_curves, total=True),
    }
)


def _jackknifed(
    solve: Solver,
    first: ItemParameters,
    second: ItemParameters,
    usable: NDArray[np.intp],
    near: Transformation,
) -> Transformation:
    """Errors of scale and shift by a jackknife over shared tasks, or groups of them."""
    if len(usable) < 3:
        return float("nan"), float("nan")
    groups = np.array_split(usable, min(len(usable), 60))
    others = (np.setdiff1d(usable, group) for group in groups)
    links = np.array([solve(first.take(kept), second.take(kept), near) for kept in others])
    factor = (len(groups) - 1) / len(groups)
    error = np.sqrt(factor * ((links - links.mean(axis=0)) ** 2).sum(axis=0))
    return float(error[0]), float(error[1])


def _errors_of_draws(
    solve: Solver,
    editions: tuple[IRTFit, IRTFit],
    names: tuple[str, ...],
    near: Transformation,
    rng: np.random.Generator,
) -> Transformation:
    """Errors of scale and shift from joint draws of both editions, as half of what 68 % of them span."""
    if any(edition.errors is None or edition.errors.joint is None for edition in editions):
        return float("nan"), float("nan")
    drawn = zip(*(edition.draws(100, rng=rng).items for edition in editions), strict=True)
    links = [solve(old.named(names), new.named(names), near) for old, new in drawn]
    low, high = np.quantile(links, (0.1587, 0.8413), axis=0)
    return float(high[0] - low[0]) / 2, float(high[1] - low[1]) / 2


def _drift(first: ItemParameters, second: ItemParameters, scale: float, shift: float) -> Floats:
    difference = probability(first, _GRID) - probability(second, (_GRID - shift) / scale)
    return np.asarray(np.sqrt(_WEIGHTS @ difference**2))
