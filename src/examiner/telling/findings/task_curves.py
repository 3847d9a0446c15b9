"""Task curves: the most and least difficult tasks, the most discriminating, and the negative ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from examiner.irt import EmpiricalTaskCurves, TaskCurves, empirical_curves
from examiner.irt import curves as expected_curves
from examiner.telling.figures import task_curves as picture
from examiner.telling.finding import Block, Figure, Finding, Name, Prose, enumerated
from examiner.telling.fitting import Fitted, fitted
from examiner.telling.resampled import untold
from examiner.telling.study import Study
from examiner.wording import counted

KEY, TITLE = "task_curves", "Curves of tasks"
EACH = 3


def task_curves(study: Study) -> Finding:
    """Draw the curves that papers/002, Fig. 2, draws.

    >>> from examiner.results import Results
    >>> task_curves(Study.of(Results.from_numpy([[0.5, 1.0]]))).applies
    False
    """
    made = fitted(study)
    if isinstance(made, str):
        return untold(KEY, TITLE, made)
    fit = made.fit
    expected = expected_curves(fit)
    rows = [made.matrix.agents.index(agent) for agent in fit.abilities.agents]
    columns = [made.matrix.tasks.index(task) for task in fit.items.tasks]
    observed = empirical_curves(made.matrix.take(rows, columns), fit.abilities.ability)
    blocks: list[Block] = []
    for key, places, words in _groups(made):
        if len(places):
            blocks.append(_figure(key, places, words, expected, observed))
    return Finding(KEY, TITLE, _lead(made), tuple(blocks))


def _groups(made: Fitted) -> tuple[tuple[str, list[int], str], ...]:
    items = made.fit.items
    difficulty, slope = items.difficulty, items.slope
    rising = np.flatnonzero((slope > 0) & np.isfinite(difficulty))
    by_difficulty = rising[np.argsort(difficulty[rising], kind="stable")]
    hard, easy = by_difficulty[::-1][:EACH].tolist(), by_difficulty[:EACH].tolist()
    easy = [place for place in easy if place not in hard]
    steep = rising[np.argsort(-slope[rising], kind="stable")][: 2 * EACH].tolist()
    falling = np.flatnonzero(slope < 0)
    negative = falling[np.argsort(slope[falling], kind="stable")].tolist()[: picture.MOST_LINES]
    return (
        ("task-curves-difficulty", [*hard, *easy], "The most and the least difficult"),
        ("task-curves-discrimination", steep, "The most discriminating"),
        ("task-curves-negative", negative, "Negative discrimination: the able do worse"),
    )


def _lead(made: Fitted) -> Prose:
    items = made.fit.items
    rising = np.flatnonzero((items.slope > 0) & np.isfinite(items.difficulty))
    negative = [items.tasks[place] for place in np.flatnonzero(items.slope < 0)]
    if not len(rising):
        return ("No task rewards the able.",)
    hardest = int(rising[items.difficulty[rising].argmax()])
    steepest = int(rising[items.slope[rising].argmax()])
    start: Prose = (
        Name(items.tasks[hardest]),
        " is the most difficult task, ",
        Name(items.tasks[steepest]),
        " the most discriminating; ",
    )
    if not negative:
        return (*start, "no task has negative discrimination.")
    verb = "has" if len(negative) == 1 else "have"
    return (*start, *enumerated(negative, 6), f" {verb} negative discrimination.")


def _figure(
    key: str,
    places: Sequence[int],
    words: str,
    expected: TaskCurves,
    observed: EmpiricalTaskCurves,
) -> Figure:
    chosen = np.asarray(places)
    others = np.setdiff1d(np.arange(len(expected.tasks)), chosen)
    names = [expected.tasks[place] for place in places]
    data = picture.data(
        names,
        expected.ability,
        expected.success[chosen],
        expected.low[chosen],
        expected.high[chosen],
        observed.ability,
        observed.mean[chosen],
        expected.success[others],
    )
    return Figure(
        key=key,
        data=data._asdict(),
        drawing=picture.draw(data),
        caption=(f"{words}: ", *enumerated(names), "."),
        description=f"Curves of {counted(len(names), 'task')}: expected result over ability.",
        legend=(
            "Bands are 95 % intervals of the curve at each ability; circles are groups of agents of "
            "like ability. Other tasks are grey.",
        ),
        narrowest=420,
    )
