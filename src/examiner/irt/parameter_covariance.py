"""The covariance of all task parameters of a fit, small enough to be stored with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from examiner.irt.estimation.arrays import HERE, Array, Kind, Place
from examiner.irt.items import LARGEST, Estimates, Floats
from examiner.irt.model import Parameter
from examiner.validation import Axes, Bounds


@dataclass(frozen=True, slots=True, eq=False)
class ParameterCovariance:
    r"""The covariance of all estimated parameters, for a population of abilities N(0, 1).

    .. math:: \Sigma = D + F F^\top

    D has a block for each task, F the leading directions in which tasks err together: the zero and the unit
    of the scale above all. Parameters are those of each task (`own`), task after task, then those that
    all tasks share (`shared`), on the scale on which they are estimated (see `Parameter`).
    `blocks` is D, [tasks, own × own]; `directions` is F, [parameters, directions]. With `unit_slopes`
    the shared slope is the standard deviation of the population (Rasch).

    >>> alone = ParameterCovariance(("intercept",), (), np.full((2, 1), 0.5), np.zeros((2, 0)))
    >>> alone.variances(np.array([[1.0, 1.0]]))
    array([1.])
    """

    own: tuple[Parameter, ...]
    shared: tuple[Parameter, ...]
    blocks: Annotated[Estimates, Axes("tasks", "pairs of parameters")]
    directions: Annotated[Estimates, Axes("parameters", "directions of tasks")]
    unit_slopes: bool = False
    populations: int = 0
    """Means and log deviations of editions but the first, whose directions come last (see `Editions`)."""
    design_effect: Annotated[float, Bounds(0.0, LARGEST, "a ratio of variances")] = 1.0
    """Variance of the score of an ability, relative to that of independent tasks (see `design_effect`)."""

    @property
    def names(self) -> tuple[Parameter, ...]:
        """Every estimated parameter: those of a task, then the shared."""
        return self.own + self.shared

    @property
    def task_blocks(self) -> Floats:
        """D as one matrix per task, [tasks, own, own]."""
        return self.blocks.reshape(-1, len(self.own), len(self.own))

    @property
    def shared_directions(self) -> Floats:
        """The rows of F of shared parameters, [shared, directions]."""
        cut = len(self.blocks) * len(self.own)
        return self.directions[cut : cut + len(self.shared)]

    def population_directions(self, edition: int) -> Floats:
        """The rows of F of mean and log deviation of an edition but the first, [2, directions]."""
        end = len(self.directions) - self.populations + 2 * edition
        return self.directions[end - 2 : end]

    def rows_of(self, parameter: Parameter) -> NDArray[np.intp]:
        """Return the row of a parameter of each task, [tasks]; a shared one has the same row for all."""
        tasks, width = len(self.blocks), len(self.own)
        if parameter in self.own:
            return np.arange(tasks) * width + self.own.index(parameter)
        return np.full(tasks, tasks * width + self.shared.index(parameter))

    def take(self, tasks: Sequence[int] | NDArray[np.intp]) -> ParameterCovariance:
        """Return the covariance of some tasks and of what all share.

        >>> two = ParameterCovariance(("intercept",), (), np.array([[1.0], [2.0]]), np.zeros((2, 0)))
        >>> two.take([1]).blocks
        array([[2.]])
        """
        width, cut = len(self.own), len(self.blocks) * len(self.own)
        chosen = np.asarray(tasks, dtype=np.intp)
        rows = (chosen[:, None] * width + np.arange(width)).ravel()
        directions = np.concatenate([self.directions[rows], self.directions[cut:]])
        return replace(self, blocks=self.blocks[chosen], directions=directions)

    def with_tasks(self, blocks: Floats, together: Floats | None = None) -> ParameterCovariance:
        """Return the covariance with further tasks: blocks [tasks, own, own].

        They err independently, or along the directions of the others: `together` is
        [tasks × own, directions].

        >>> one = ParameterCovariance(("intercept",), (), np.ones((1, 1)), np.ones((1, 1)))
        >>> one.with_tasks(np.full((1, 1, 1), 4.0)).variances(np.eye(2))
        array([2., 4.])
        """
        cut = len(self.blocks) * len(self.own)
        if together is None:
            together = np.zeros((len(blocks) * len(self.own), self.directions.shape[1]))
        directions = np.concatenate([self.directions[:cut], together, self.directions[cut:]])
        every = np.concatenate([self.blocks, blocks.reshape(len(blocks), -1)])
        return replace(self, blocks=every, directions=directions)

    def with_population(self, moves: Floats, unknown: Floats) -> ParameterCovariance:
        """Return the covariance with the mean and log deviation of one more population.

        `moves` [2, parameters] is how they move with all other parameters, and `unknown` [2, 2] their
        covariance where these are known.

        >>> one = ParameterCovariance(("intercept",), (), np.ones((1, 1)), np.ones((1, 1)))
        >>> grown = one.with_population(np.array([[1.0], [0.0]]), 2 * np.eye(2))
        >>> grown.variances(np.array([[0.0, 1.0, 0.0]]))
        array([4.])
        """
        width, cut = len(self.own), len(self.blocks) * len(self.own)
        mine = moves[:, :cut].reshape(len(moves), -1, width)
        bent = np.einsum("ati,tij,btj->ab", mine, self.task_blocks, mine)
        before = np.pad(self.directions, ((0, 0), (0, len(moves))))
        added = np.concatenate(
            [moves @ self.directions, np.linalg.cholesky(unknown + bent)], axis=1
        )
        directions = np.concatenate([before, added])
        return replace(self, directions=directions, populations=self.populations + len(moves))

    def variances(self, rows: Floats) -> Floats:
        """Return the variances of sums of parameters: the diagonal of R Σ Rᵀ for rows R [n, parameters]."""
        width, cut = len(self.own), len(self.blocks) * len(self.own)
        moves = [rows[:, place:cut:width] for place in range(width)]
        return np.asarray(self.propagated(moves, rows[:, cut:])[0])

    def slope_variances(self, rows: Floats) -> Floats:
        """Return the variances of sums of slopes, for rows of weights [n, tasks].

        >>> shared = ParameterCovariance(("intercept",), ("slope",), np.ones((2, 1)), 2 * np.ones((3, 1)))
        >>> shared.slope_variances(np.array([[1.0, 0.5]]))
        array([9.])
        """
        every = np.zeros((len(rows), len(self.directions)))
        np.add.at(every.T, self.rows_of("slope"), rows.T)
        return self.variances(every)

    def propagated(
        self, own: Sequence[Array], shared: Array, kind: Kind = np.float64, place: Place = HERE
    ) -> tuple[Array, Array]:
        """Return the diagonal of R Σ Rᵀ [n], and R F [n, directions], in which rows vary together.

        R is given by parameter: [n, tasks], of any storage, for each own one, and [n, shared] with
        populations last, where they have a part in R. Products are of one `kind`, at one `place`.
        """
        directions, blocks = (
            place.array(part, kind) for part in (self.directions, self.task_blocks)
        )
        cut = len(self.blocks) * len(self.own)
        along = place.cast(shared, kind) @ directions[cut : cut + shared.shape[1]]
        for row, moves in enumerate(own):
            along = along + moves @ directions[row : cut : len(self.own)]
        total = (place.cast(along, np.float64) ** 2).sum(1)
        for first, moves in enumerate(own):
            for second, others in enumerate(own[: first + 1]):
                bent = (moves * others) @ blocks[:, first, second]
                total = total + (1.0 if first == second else 2.0) * bent
        return place.xp.clip(total, 0.0, None), along

    def between(self, rows: Floats) -> Floats:
        """Return the covariances of sums of parameters: R Σ Rᵀ for rows R [n, parameters]."""
        width, cut = len(self.own), len(self.blocks) * len(self.own)
        along = rows @ self.directions
        mine = rows[:, :cut].reshape(len(rows), -1, width)
        bent = np.einsum("nti,tij->ntj", mine, self.task_blocks).reshape(len(rows), -1)
        return np.asarray(along @ along.T + bent @ rows[:, :cut].T)

    def drawn(self, count: int, rng: np.random.Generator) -> Floats:
        """Return draws from N(0, Σ), [count, parameters].

        >>> alone = ParameterCovariance(("intercept",), (), np.full((1, 1), 4.0), np.zeros((1, 0)))
        >>> alone.drawn(1000, np.random.default_rng(0)).std().round(1)
        np.float64(2.0)
        """
        values, axes = np.linalg.eigh(self.task_blocks)
        roots = axes * np.sqrt(np.maximum(values, 0.0))[:, None]
        alone = np.einsum("tij,ntj->nti", roots, rng.standard_normal((count, *roots.shape[:2])))
        moves = rng.standard_normal((count, self.directions.shape[1])) @ self.directions.T
        moves[:, : alone[0].size] += alone.reshape(count, -1)
        return np.asarray(moves)
