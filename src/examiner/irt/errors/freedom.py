"""What is free at estimates, and the complete information on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from examiner.irt.editions import Editions
from examiner.irt.items import Floats, ItemParameters
from examiner.irt.model import Model, Parameter, Unknowns
from examiner.irt.priors import Priors, SlopeScale

_NONE = 6e-5
"""A chance of guessing or slipping this small is at the end of its range."""
_PRECISE = 1.5e5
"""From this precision on the beta-binomial is the binomial."""
_FAR_OUT = 12.0
"""A cut farther out is where no score was: nothing depends on it."""


@dataclass(frozen=True, slots=True)
class Freedom(Unknowns):
    """What is free at estimates; in matrices those of each task come first, then the shared ones.

    Last come the populations of editions.

    `fixed` is [tasks, own]: estimates at an end of their range (guessing at 0, an infinite
    precision), which do not move.
    """

    fixed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.bool_))

    @classmethod
    def at(
        cls,
        items: ItemParameters,
        model: Model,
        priors: Priors | None,
        scale: SlopeScale | None = None,
        editions: Editions | None = None,
    ) -> Freedom:
        """Return what is free under a model at these estimates."""
        unknowns = Unknowns.of(model, items.response, items.tasks, priors)
        nowhere = np.zeros(len(items), dtype=np.bool_)
        stuck = {
            "guessing": items.guessing <= _NONE,
            "slip": items.ceiling >= 1 - _NONE,
            "precision": nowhere,
        }
        if items.precision is not None and items.response != "normal":
            stuck["precision"] = items.precision >= _PRECISE
        if items.cuts is not None:
            stuck |= {
                "zero_cut": items.cuts[:, 0] < -_FAR_OUT,
                "cut_gap": items.cuts[:, 1] > _FAR_OUT,
            }
        fixed = np.stack([stuck.get(name, nowhere) for name in unknowns.own], axis=1)
        shared = tuple(
            name for name in unknowns.shared if not (name in stuck and bool(stuck[name].all()))
        )
        return cls(
            items.tasks,
            items.response,
            unknowns.own,
            shared,
            priors,
            unknowns.spread if scale is None else scale.spread,
            unknowns.scale_of(items) if scale is None else scale,
            items.slope,
            unknowns.held,
            editions=editions,
            fixed=fixed,
        )

    @property
    def together(self) -> int:
        """How many numbers concern all tasks: the shared ones, then those of populations."""
        return len(self.shared) + self.populations

    def columns(self, parameter: Parameter) -> NDArray[np.intp]:
        """Return where a parameter of each task stands among all [tasks]; a shared one is in one place."""
        tasks, own = len(self.tasks), len(self.own)
        if parameter in self.own:
            return np.arange(tasks) * own + self.own.index(parameter)
        return np.full(tasks, tasks * own + self.shared.index(parameter))

    def tightness(self) -> Floats:
        """Return the curvatures of the log-priors of tasks, [tasks, own]."""
        _, found = self.pulls()
        if self.relative is not None and self.scale is not None and "slope" in self.own:
            assert self.near is not None
            bend = self.relative.curvature(self.near, self.scale)
            size = self.scale.common * self.scale.spread
            found[:, self.own.index("slope")] = bend / size**2
        return found

    def shared_tightness(self) -> Floats:
        """Return the curvatures of the log-priors of shared parameters."""
        found = np.array([float(self.pull(name)[1]) for name in self.shared])
        if self.relative is not None and self.scale is not None and "slope" in self.shared:
            place = self.shared.index("slope")
            found[place] = self.relative.shared_curvature(self.scale.common)
        return found

    def moving_along(self, slope: Floats) -> Floats | None:
        """Return the curvature lost because the scale of slopes moves along, as a row [size], or None.

        It is that of `RelativeSlopes.coupling`: to be taken off like missing information.
        """
        if self.relative is None or self.scale is None or "slope" not in self.own:
            return None
        row = np.zeros(self.count)
        row[self.columns("slope")] = self.relative.coupling(slope, self.scale)
        return row

    def position(self, parameter: Parameter) -> int:
        """Where a parameter stands in the order, or −1."""
        return self.names.index(parameter) if parameter in self.names else -1


class CompleteInformation(NamedTuple):
    """Σ_j E_j[−H] and the priors' curvature: own blocks, their coupling to shared ones, and these.

    Shapes [tasks, own, own], [tasks, own, shared] and [shared, shared].
    """

    own: Floats
    coupling: Floats
    shared: Floats
