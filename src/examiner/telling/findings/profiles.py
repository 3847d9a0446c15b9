"""Performance profiles: the share of scores above each value, agent by agent."""

from __future__ import annotations

import numpy as np

from examiner.scores import Profiles
from examiner.scores import profiles as performance_profiles
from examiner.telling.figures import profiles as picture
from examiner.telling.finding import Figure, Finding, Name, Prose, Text
from examiner.telling.numbers import three_digits
from examiner.telling.resampled import noted, resampled, untold, what_varies
from examiner.telling.study import Study
from examiner.wording import InputError

KEY, TITLE = "profiles", "Performance profiles"


def profiles(study: Study) -> Finding:
    """Draw the share of runs above each score, with bands, and say who is ahead everywhere.

    >>> from examiner.results import Results
    >>> from examiner.telling.finding import said
    >>> scores = [[[0.8, 0.9], [0.7, 0.9]], [[0.1, 0.2], [0.3, 0.2]]]
    >>> study = Study.of(Results.from_numpy(scores, agents=["dqn", "random"]))
    >>> said(profiles(study).lead)
    'dqn is at or above every other agent drawn, at every score.'
    """
    shown = resampled(study)
    drawn = shown.agents[: picture.MOST_LINES]
    if not drawn or len(np.unique(study.comparable[np.isfinite(study.comparable)])) < 2:
        return untold(KEY, TITLE, "There are no two unlike scores, so there is no profile to draw.")
    chosen = np.isin(np.array(shown.results.agents), np.array(drawn))
    results = shown.results.where(chosen[shown.results.agent_codes])
    try:
        made = performance_profiles(
            results,
            rng=np.random.default_rng(study.seed),
            reps=shown.reps,
            unit=shown.unit,
            measure=study.measure,
        )
    except InputError as problem:
        return untold(KEY, TITLE, f"No profiles: {problem}")
    shown = shown._replace(agents=drawn)
    text = Text(what_varies(shown, study))
    figure = _figure(study, made, shown.places(made.agents))
    return Finding(KEY, TITLE, _lead(made), (text, figure, *noted(made.notes)))


def _lead(made: Profiles) -> Prose:
    if len(made.agents) == 1:
        half = made.thresholds[made.share[0] >= 0.5]
        level = three_digits(float(half[-1])) if len(half) else "none"
        return ("Half of the scores of ", Name(made.agents[0]), f" lie above {level}.")
    ahead = [
        agent
        for agent in range(len(made.agents))
        if (made.share[agent] >= made.share.max(axis=0) - 1e-12).all()
    ]
    if len(ahead) == 1:
        return (
            Name(made.agents[ahead[0]]),
            " is at or above every other agent drawn, at every score.",
        )
    crossing = "Profiles cross: which agent is ahead depends on the score that is asked for."
    return (crossing if not ahead else "Several agents have the same profile at the front.",)


def _figure(study: Study, made: Profiles, rows: list[int]) -> Figure:
    centre = study.landmark.value if study.landmark else None
    data = picture.data(
        [made.agents[row] for row in rows],
        made.thresholds,
        made.share[rows],
        made.low[rows],
        made.high[rows],
        centre,
    )
    title = study.measure if study.normaliser is None else f"{study.measure} ({study.normaliser})"
    stretched = " The axis is stretched: far out, equal steps are equal ratios."
    return Figure(
        key="profiles",
        data=data._asdict() | {"unit": made.unit, "reps": made.reps},
        drawing=picture.draw(data, title),
        caption=("The share of runs, every task weighing the same, that score above each value.",),
        description="One falling line an agent, with its band.",
        legend=(
            "Bands hold at each value by itself, not at all together."
            + (stretched if data.axis.width is not None else ""),
        ),
        narrowest=360,
    )
