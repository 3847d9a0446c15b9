"""The few tasks that a report selects and judges: once for all sections that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from examiner.scores import NORMALISERS, Recipe

if TYPE_CHECKING:
    from examiner.reporting.study import Study
    from examiner.selection import Benchmark, MethodJudgement, Selection

SIZE = 5
"""Tasks that the report selects, as `select` does by default."""


class Selected(NamedTuple):
    """What tasks are selected from, the selection, and its validation."""

    material: Benchmark
    selection: Selection
    judgement: MethodJudgement
    note: str  # which agents and tasks it is about, where not all

    @property
    def size(self) -> int:
        """The number of selected tasks."""
        return len(self.selection)


def selected(study: Study) -> Selected:
    """Select and judge as `examiner select` does: the same function, defaults and seed.

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
    selection = select_and_judge(material, size, sizes=sizes, rng=study.seed)
    assert selection.judgement is not None
    return Selected(material, selection, selection.judgement, note)
