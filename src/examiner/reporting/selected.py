"""The few tasks that a report chooses and judges: once for all sections that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from examiner.scores import NORMALISERS, Recipe

if TYPE_CHECKING:
    from examiner.reporting.study import Study
    from examiner.selection import Benchmark, Comparison, Selection

SIZE = 5
"""Tasks that the report chooses, as `select` does where no size is given."""


class Selected(NamedTuple):
    """What tasks are chosen from, the chosen ones with their predictor, and their validation."""

    material: Benchmark
    selection: Selection
    comparison: Comparison
    note: str  # which agents and tasks it is about, where not all

    @property
    def size(self) -> int:
        """How many tasks were chosen."""
        return len(self.selection)


def selected(study: Study) -> Selected:
    """Choose and judge as `examiner select` does: the same function, defaults and seed.

    >>> import numpy as np
    >>> from examiner.reporting.study import Study
    >>> from examiner.results import Results
    >>> scores = np.random.default_rng(0).normal(size=(10, 6)) + np.arange(10)[:, None]
    >>> selected(Study.of(Results.from_numpy(scores))).size
    5
    """
    from examiner.selection import SIZES, Constraints, benchmark, select_and_judge

    used, note = study.for_models
    tasks = used.results.tasks
    material = benchmark(
        used.results,
        Recipe(
            measure=study.measure,
            normaliser=study.normaliser if study.normaliser in NORMALISERS else None,
            total=None if study.total is None else study.total.on(tasks),
        ),
        constraints=Constraints(groups=study.classification),
    )
    sizes = [size for size in SIZES if size < len(material.tasks)]
    size = min(SIZE, sizes[-1])
    made = select_and_judge(material, size, sizes=sizes, rng=study.seed)
    return Selected(material, *made, note)
