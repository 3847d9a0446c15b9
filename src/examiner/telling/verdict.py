"""The verdict: a few sentences made from the numbers of the findings, each with its doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from examiner.telling.figures.standing import StandingData, draw
from examiner.telling.finding import Figure, Finding, Notes, Sides
from examiner.telling.prose import Name, Parts, Prose, enumerated, parts_of, said, three_digits
from examiner.telling.study import Study
from examiner.telling.table import Record
from examiner.wording import counted

MOST_SENTENCES = 5
MOST_DISTRUSTED = 4
MOST_NAMED = 3
MOST_DRAWN = 16
LONGEST_DOUBT = 260
"""Letters of a warning beside the verdict; all of it stands at the end of a report."""
SHARE_TOLD = 0.9
"""Of the bits that the best tasks tell: how few of them tell so much is counted."""
HELPS = 0.05
"""An error that twice as much lowers by less than this share is hardly lowered."""
PREDICTS = 0.5
"""Below this R² a few tasks leave most of what differs between agents untold."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One sentence of a verdict, what is doubtful about it, and the section that shows it."""

    claim: Prose
    doubt: Prose
    section: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What results come to: sentences, what must not be trusted, and the figure that says most."""

    judgements: tuple[Judgement, ...] = ()
    distrust: tuple[Prose, ...] = ()
    figure: Figure | None = None

    def __bool__(self) -> bool:
        return bool(self.judgements)


def verdict(study: Study, sections: Sequence[Finding]) -> Verdict:
    """Judge by the findings at hand; where agents are not shown to differ, say that nothing can be said.

    >>> from examiner.results import Results
    >>> from examiner.telling.findings import FINDINGS
    >>> study = Study.of(Results.from_numpy(np.random.default_rng(0).random((4, 9))))
    >>> made = verdict(study, [FINDINGS["significance"](study)])
    >>> said(made.judgements[0].claim)
    'Nothing can be said about which agent is better.'
    """
    told = {section.key: section for section in sections if section.applies}
    data = {key: section.data for key, section in told.items()}
    figure = _figure(study, data)
    distrust = _distrusted(study, told)
    if study.not_shown:
        return Verdict(_nothing(study, told), distrust, figure)
    found = [(rank, judge(study, data)) for rank, judge in enumerate(JUDGES)]
    kept = [(rank, made) for rank, made in found if made is not None]
    return Verdict(tuple(made for _, made in kept[:MOST_SENTENCES]), distrust, figure)


def _nothing(study: Study, told: Mapping[str, Finding]) -> tuple[Judgement, ...]:
    shown = "significance" if "significance" in told else next(iter(told), "")
    nothing = "Nothing can be said about which agent is better."
    first = Judgement(nothing, (Name(study.not_shown),), shown)
    if "selection" not in told:
        return (first,)
    rest = (
        "So no few tasks can stand for all of them, and the place of a next agent would be chance."
    )
    return (first, Judgement(rest, "What differs below may differ by luck alone.", "selection"))


def _leader(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("significance")
    if not found:
        return None
    first, alike, ahead = Name(found["first"]), found["alike"], found["ahead_on_most"]
    some = "" if found["others"] + 1 == len(study.results.agents) else "the next "
    tied = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
    if len(tied) > 1:
        alone = [name for name in alike if name not in tied]
        others = f"{len(alone):,} of {some}{found['others'] + 1 - len(tied):,} others"
        told = f" lead with the same mean; {others} cannot be told from them."
        both = (*enumerated(tied, MOST_NAMED), told)
        return Judgement(both, _tested(found, data), "significance")
    claim: Parts = (first, " leads, and every other agent is shown to be behind.")
    if ahead:
        claim = (first, " has the highest mean, but ", *enumerated(ahead, MOST_NAMED))
        claim = (*claim, f" {'do' if len(ahead) > 1 else 'does'} better on most tasks.")
    elif len(alike) > MOST_NAMED:
        many = f"{len(alike):,} of {some}{found['others']:,} others"
        claim = (first, f" leads; {many} cannot be told from it.")
    elif alike:
        claim = (first, " leads; ", *enumerated(alike), " cannot be told from it.")
    return Judgement(claim, _tested(found, data), "significance")


def _tested(found: Record, data: Mapping[str, Record]) -> str:
    """By which test agents are told apart, and how often the first would be first again."""
    doubt = f"Wilcoxon with Holm over {counted(found['tasks'], 'task')}, at 5 %"
    again = data.get("rank_probabilities")
    if again and again["first"] == found["first"]:
        share = f"{100 * again['probability']:.0f} %"
        doubt += f"; with other {again['unit']} it would come first in {share} of draws"
    return f"{doubt}."


def _tasks(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("information")
    if not found or not found["greedy"]:
        return None
    bits = [row["cumulative_bits"] for row in found["greedy"]]
    enough = next(k + 1 for k, so_far in enumerate(bits) if so_far >= SHARE_TOLD * bits[-1])
    total = counted(len(found["tasks"]), "task")
    if found.get("about") == "ability":
        share = f"{100 * bits[-1] / found['whole_bits']:.0f} %"
        told = f"{len(bits):,} of {total} tell {share} of what all of them tell about ability."
        doubt = (
            f"{three_digits(bits[-1])} of {three_digits(found['whole_bits'])} bits, if the fitted "
        )
        return Judgement(told, f"{doubt}model holds.", "information")
    silent = [row["task"] for row in found["tasks"] if not row["bits"] > row["chance_high"]]
    claim: Parts = (
        f"{enough:,} of {total} tell {100 * SHARE_TOLD:.0f} % of what the best "
        f"{len(bits):,} tell about who plays",
    )
    if silent and np.isfinite(found["tasks"][0]["chance_high"]):
        names = enumerated(silent, MOST_NAMED)
        verb = "tells" if len(silent) == 1 else "tell"
        claim = (*claim, f"; {len(silent):,} {verb} no more than chance: ", *names)
    row = found["greedy"][enough - 1]
    doubt = f"{three_digits(row['cumulative_bits'])} of {three_digits(found['max_bits'])} bits"
    if np.isfinite(row["low"]):
        doubt += f", at least {three_digits(row['low'])} once noise is taken off"
    if np.isfinite(row["chance_bits"]):
        doubt += f"; chance alone would seem to give {three_digits(row['chance_bits'])}"
    return Judgement((*claim, "."), f"{doubt}.", "information")


def _exam(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("decision")
    if not found or not found["now"] > 0:
        return None
    now, tasks, runs = (found[name] for name in ("now", "twice_tasks", "twice_runs"))
    error = (
        f"The standard error of a difference is {three_digits(now)}; twice the tasks would make it"
    )
    doubt = f"{error} {three_digits(tasks)}"
    if not found["runs_known"]:
        claim = "More tasks would make comparisons surer; whether more runs would cannot be told."
        return Judgement(claim, f"{doubt}. One run a cell says nothing of others.", "decision")
    if 1 - runs / now < HELPS:
        claim = "More tasks would make comparisons surer, more runs would not."
    elif runs < (1 + HELPS) * tasks:  # more tasks bring more runs with them: these never do better
        claim = "More runs would make comparisons surer, as much as more tasks would."
    else:
        claim = "More tasks would make comparisons surer than more runs would."
    return Judgement(claim, f"{doubt}, twice the runs {three_digits(runs)}.", "decision")


def _few(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("selection")
    if not found:
        return None
    by = {(row["method"], row["size"]): row for row in found["rows"]}
    best, random = (by[(name, found["size"])] for name in (found["leading"], "random"))
    every = study.comparable.shape[1]
    drawn = "" if found["tasks"] == every else f", drawn from {every:,},"
    total = f"{found['size']:,} of {counted(found['tasks'], 'task')}{drawn}"
    claim = f"{total} predict the {found['target']} of agents that had no part in choosing them."
    if not best["r2"] >= PREDICTS:
        claim = f"No few tasks stand for all: {total} hardly predict the {found['target']}."
    ends = ""
    if np.isfinite(best["r2_low"]):
        ends = f" (95 %: {three_digits(best['r2_low'])} to {three_digits(best['r2_high'])})"
    doubt = f"R² {three_digits(best['r2'])}{ends}, of random sets {three_digits(random['r2'])}."
    return Judgement(claim, doubt, "selection")


def _next(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("next_task")
    if not found or found["needed"] is None:
        return None
    asked = counted(found["needed"], "task")
    claim = f"A next agent like these is placed by {asked} asked one after another."
    random = "more than were tried" if found["at_random"] is None else f"{found['at_random']:,}"
    near, least = three_digits(found["near"]), three_digits(found["least_error"])
    doubt = f"To an error of {near}, where all leave {least}; in random order it takes {random}."
    return Judgement(claim, f"Simulated, if the fit holds. {doubt}", "next_task")


def _suspects(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("suspects")
    if not found:
        return None
    names, total = [row["task"] for row in found["suspects"]], counted(found["tasks"], "task")
    doubt = "Each kind of suspicion is tested at 5 % over all tasks."
    if not names:
        return Judgement(f"None of {total} is shown to deserve a look.", doubt, "suspects")
    verb = "deserves" if len(names) == 1 else "deserve"
    claim = (f"{len(names):,} of {total} {verb} a look: ", *enumerated(names, MOST_NAMED), ".")
    return Judgement(claim, doubt, "suspects")


def _likeness(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("likeness")
    if not found or not np.isfinite(found["first_factor_share"]):
        return None
    share, chance = found["first_factor_share"], found["first_factor_share_by_chance"]
    claim = f"One factor tells {share:.0%} of how agents differ."
    crowned = f"{found['crownable_agents']:,} of {found['searched_agents']:,} agents"
    doubt = f"{chance:.0%} by chance; {crowned} can be made to win by a choice of tasks."
    return Judgement(claim, doubt, "likeness")


JUDGES: tuple[Callable[[Study, Mapping[str, Record]], Judgement | None], ...] = (
    *(_leader, _tasks, _exam, _few, _next),
    *(_suspects, _likeness),
)
"""What a verdict asks, the weightiest first: the last ones speak where others have nothing to say."""


def _distrusted(study: Study, told: Mapping[str, Finding]) -> tuple[Prose, ...]:
    """What a reader must not trust, in short: what the results do not hold, then the gravest warnings."""
    own: list[Prose] = []
    if study.counts["runs"] == 1:
        own.append(
            "Whether the same agents, run again, come in the same order: cells are single runs."
        )
    if study.relative:
        own.append("Sizes of scores: they compare these agents with each other and nothing else.")
    reading = told.get("reading")
    blocks = () if reading is None else reading.blocks
    warned = [item for block in blocks if isinstance(block, Notes) for item in block.items]
    beware = [item for item in warned if len(said(item)) <= LONGEST_DOUBT]
    return tuple([*own, *map(parts_of, beware)][:MOST_DISTRUSTED])


def _figure(study: Study, data: Mapping[str, Record]) -> Figure | None:
    """The agents at the front with their intervals: the figure that says most of who is better."""
    rows = [
        row for row in data.get("intervals", {}).get("aggregates", ()) if row["aggregate"] == "mean"
    ]
    if len(rows) < 2:
        return None
    by_agent = {row["agent"]: row for row in rows}
    names = [study.results.agents[agent] for agent in study.order]
    drawn = [name for name in names if name in by_agent][:MOST_DRAWN]
    tests = data.get("significance", {})
    alike = set(tests.get("alike", names))
    group = [1 if study.not_shown or name in alike else 2 for name in drawn]
    if not study.not_shown:
        leading = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
        group = [0 if name in leading else each for name, each in zip(drawn, group, strict=True)]
    value, low, high = (
        np.array([by_agent[name][end] for name in drawn]) for end in ("value", "low", "high")
    )
    shown = StandingData(tuple(drawn), value, low, high, tuple(group))
    total = len(names)
    first = f"The first {len(drawn)} of {total:,} agents." if total > len(drawn) else ""
    unit = study.resampled.unit
    return Figure(
        key="standing",
        drawn=shown,
        drawing=draw(shown, f"mean {study.axis_title}"),
        caption=f"Means with 95 % intervals over other {unit}. {first}".rstrip(),
        description="One row an agent: its mean with an interval, and whether it is told from the first.",
        narrowest=300,
        sides=Sides(rows="agents"),
    )
