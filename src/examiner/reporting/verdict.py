"""The verdict: a few sentences made from the numbers of the findings, each with its doubt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from examiner.messages import counted
from examiner.reporting.finding import BEWARE, Figure, Finding, Notes
from examiner.reporting.prose import (
    Name,
    Parts,
    Prose,
    Sentence,
    enumerated,
    parts_of,
    percent,
    said,
    three_digits,
)
from examiner.reporting.standing_figure import standing_figure
from examiner.reporting.study import Study
from examiner.reporting.table import Record

MOST_SENTENCES = 5
MOST_DISTRUSTED = 3
MOST_NAMED = 3
LONGEST_DOUBT = 260
"""Letters of a warning beside the verdict; all of it stands at the end of a report."""
HELPS = 0.05
"""An error that twice as much lowers by less than this share is hardly lowered."""
ORDERED_FROM = 40
"""Agents: orders of the few that are held out at a time of fewer say little."""
SOLVED_BY_NOBODY = "solved by no agent"
"""What the section on flagged tasks calls them."""
PREDICTS, PREDICTS_WELL = 0.5, 0.9
"""Below these R² a few tasks leave most, or much, of what differs between agents untold."""


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


class _SectionData(Mapping[str, Record]):
    """The JSON values of sections by key, each computed when a sentence reads it first."""

    def __init__(self, sections: Mapping[str, Finding]) -> None:
        self._sections = sections
        self._data: dict[str, Record] = {}

    def __getitem__(self, key: str) -> Record:
        if key not in self._data:
            self._data[key] = self._sections[key].data
        return self._data[key]

    def __contains__(self, key: object) -> bool:
        return key in self._sections

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)


def verdict(study: Study, sections: Sequence[Finding]) -> Verdict:
    """Judge by the findings at hand; where agents do not differ significantly, no agent is named.

    >>> from examiner.results import Results
    >>> from examiner.reporting.findings import FINDINGS
    >>> study = Study.of(Results.from_numpy(np.random.default_rng(0).random((4, 9))))
    >>> made = verdict(study, [FINDINGS["significance"](study)])
    >>> said(made.judgements[0].claim)
    'No agent is significantly better than another.'
    """
    told = {each.key: each for each in sections if each.applies and each.failure is None}
    data = _SectionData(told)
    figure = standing_figure(study, data)
    distrust = (*_failed(sections), *_distrusted(study, told))[:MOST_DISTRUSTED]
    if study.not_shown:
        return Verdict(_nothing(study, told, data), distrust, figure)
    found = [(rank, judge(study, data)) for rank, judge in enumerate(JUDGES)]
    kept = [(rank, made) for rank, made in found if made is not None]
    return Verdict(tuple(made for _, made in kept[:MOST_SENTENCES]), distrust, figure)


def _nothing(
    study: Study, told: Mapping[str, Finding], data: Mapping[str, Record]
) -> tuple[Judgement, ...]:
    """What is left to say where agents do not differ significantly, at all or over other tasks."""
    shown = "significance" if "significance" in told else next(iter(told), "")
    nothing = "No agent is significantly better than another."
    first = Judgement(nothing, (Sentence(study.none_better),), shown)
    if not study.none_better:
        leader = _leader(study, data)
        only = "The order of agents holds on these tasks; on others like them it may be different."
        over_tasks = Judgement(only, (Sentence(study.not_shown),), shown)
        return (over_tasks,) if leader is None else (leader, over_tasks)
    if "selection" not in told:
        return (first,)
    rest = "No small set of tasks can represent all of them, and the rank of a new agent would be chance."
    return (first, Judgement(rest, "Differences below may be due to chance.", "selection"))


def _leader(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("significance")
    if not found:
        return None
    first, alike, ahead = Name(found["first"]), found["alike"], found["ahead_on_most"]
    some = "" if found["others"] + 1 == len(study.results.agents) else "the next "
    tied = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
    doubt = _tested(found, data, tied)
    unlike = "not significantly different from"
    if len(tied) > 1:
        alone = [name for name in alike if name not in tied]
        others = f"{len(alone):,} of {some}{found['others'] + 1 - len(tied):,} others"
        told = f" lead with the same mean; {others} {_are(len(alone))} {unlike} them."
        if not alone:
            told = " lead with the same mean, and are significantly better than every other agent."
        return Judgement((*enumerated(tied, MOST_NAMED), told), doubt, "significance")
    claim: Parts = (first, " leads, and is significantly better than every other agent.")
    if ahead:
        claim = (first, " has the highest mean, but ", *enumerated(ahead, MOST_NAMED))
        claim = (*claim, f" {'do' if len(ahead) > 1 else 'does'} better on most tasks.")
    elif found["too_few_tasks"]:
        claim = (
            first,
            " has the highest mean; there are too few tasks for a significant difference.",
        )
    elif len(alike) > MOST_NAMED:
        many = f"{len(alike):,} of {some}{found['others']:,} others"
        claim = (first, f" leads; {many} {_are(len(alike))} {unlike} it.")
    elif alike:
        claim = (first, " leads; ", *enumerated(alike), f" {_are(len(alike))} {unlike} it.")
    return Judgement(claim, doubt, "significance")


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _tested(found: Record, data: Mapping[str, Record], tied: Sequence[str]) -> str:
    """By which test agents are compared, and how often the first comes first in bootstrap samples."""
    agents = found["others"] + 1
    pairs = f" for {counted(agents * (agents - 1) // 2, 'pair')}" if agents > 2 else ""
    start = f"{found['test'][0].upper()}{found['test'][1:]}"
    doubt = f"{start}, at 5 %{' after Holm' if pairs else ''}{pairs}"
    few = f" {found['too_few_tasks']}" if found["too_few_tasks"] else ""
    again = data.get("rank_probabilities")
    if again is None or len(tied) > MOST_NAMED:
        return f"{doubt}.{few}"
    who = "it comes" if len(tied) == 1 else "they come"
    first = {row["agent"]: row["probability_first"] for row in again["agents"]}
    shares = " and ".join(percent(first[name]) for name in tied)
    unit = again["settings"]["unit"]
    return f"{doubt}; by mean {who} first in {shares} of bootstrap samples of {unit}.{few}"


def _tasks(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("information")
    if not found:
        return None
    if found.get("about") == "ability":
        return _about_ability(study, found)
    best, total = found["chosen"], counted(len(found["tasks"]), "task")
    bits = [row["bits"] for row in best]
    if found["p_value"] is not None and not found["set_significant"]:
        return _single_tasks(found)
    enough = found["enough"]
    unsolved = _unsolved(data)
    apart = [row["task"] for row in best[:enough]]
    named = [task for task in apart if task not in unsolved]
    if not named:
        return None
    names = enumerated(named, MOST_NAMED)
    silent = [
        row["task"]
        for row in found["tasks"]
        if row["bits"] is not None
        and not row["bits"] > row.get("chance_high", np.nan)
        and row["task"] not in apart
    ]
    few = "discriminates" if enough == 1 else "discriminate"
    start = (
        f"{enough:,} of {total} {few} between agents nearly as well as the best {len(bits):,} do: "
    )
    if enough == len(bits):
        start = f"It takes all of the best {enough:,} of {total} to discriminate between agents: "
    claim: Parts = (start, *names)
    if silent and found["p_value"] is not None:
        verb = "does" if len(silent) == 1 else "do"
        claim = (*claim, f"; of the others {len(silent):,} {verb} so no more than chance: ")
        claim = (*claim, *enumerated(silent, MOST_NAMED))
    claim = (Sentence(found["headline"]),) if found["hardly_separates"] else (*claim, ".")
    row = best[enough - 1]
    most = f"{three_digits(found['max_bits'])} bits needed to identify an agent"
    doubt = f"{three_digits(row['bits'])} of the {most}"
    if "bits_low" in row:
        doubt += f", at least {three_digits(row['bits_low'])} without noise"
    if "chance_bits" in row:
        doubt += f"; {three_digits(row['chance_bits'])} by chance"
    failed = [task for task in apart if task in unsolved]
    beside: Parts = ()
    if failed:
        them = "it" if len(failed) == 1 else "them"
        differ = f" differ too, though no agent succeeds on {them}."
        beside = (" Scores on ", *enumerated(failed, MOST_NAMED), differ)
    return Judgement(claim, (f"{doubt}.", *beside), "information")


def _unsolved(data: Mapping[str, Record]) -> set[str]:
    """The tasks on which no agent succeeds."""
    rows = data.get("suspects", {}).get("flagged", ())
    return {row["task"] for row in rows if SOLVED_BY_NOBODY in row["flags"]}


def _single_tasks(found: Record) -> Judgement:
    """Where sets of tasks have no more bits than chance gives: which single tasks discriminate."""
    shown = [row["task"] for row in found["tasks"] if row["significant"]]
    verb = "discriminates" if len(shown) == 1 else "discriminate"
    start = f"{len(shown):,} of {counted(len(found['tasks']), 'task')} {verb} significantly: "
    claim: Parts = (start, *enumerated(shown, MOST_NAMED), ".")
    if not shown:
        claim = ("No single task discriminates significantly between agents.",)
    return Judgement(claim, f"Permutation test, p = {found['p_value']:.2g}.", "information")


def _about_ability(study: Study, found: Record) -> Judgement | None:
    bits = [row["cumulative_bits"] for row in found["greedy"]]
    if not bits or len(bits) == len(found["tasks"]):  # that all tasks give everything is no finding
        return None
    share, fitted = percent(bits[-1] / found["whole_bits"]), len(found["tasks"])
    of = f"{len(bits):,} of {counted(fitted, 'task')}"
    told = f"{of} carry {share} of the information of all tasks about ability: "
    names = enumerated([row["task"] for row in found["greedy"]], MOST_NAMED)
    few, whole = (three_digits(each) for each in (bits[-1], found["whole_bits"]))
    doubt = f"{few} of {whole} bits, if the fitted model holds"
    every = study.comparable.shape[1]
    if fitted < every:
        doubt += f"; the other {every - fitted:,} of {every:,} tasks have no part in the fit"
    return Judgement((told, *names, "."), f"{doubt}.", "information")


def _exam(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("decision")
    if not found or not found["now"] > 0:
        return None
    now, tasks, runs = (found[name] for name in ("now", "twice_tasks", "twice_runs"))
    error = (
        f"The standard error of a difference of two means is {three_digits(now)}; twice the tasks would "
        "make it"
    )
    doubt = f"{error} {three_digits(tasks)}"
    if not found["runs_known"]:
        claim = (
            "More tasks would make comparisons more precise; the effect of more runs is unknown."
        )
        return Judgement(
            claim,
            f"{doubt}. With one run per cell, the variation between runs is unknown.",
            "decision",
        )
    if 1 - runs / now < HELPS:
        claim = "More tasks would make comparisons more precise; more runs would not."
    elif runs < (1 + HELPS) * tasks:  # more tasks bring more runs with them: these never do better
        claim = "More runs would make comparisons as much more precise as more tasks would."
    else:
        claim = "More tasks would make comparisons more precise than more runs would."
    return Judgement(claim, f"{doubt}, twice the runs {three_digits(runs)}.", "decision")


def _few(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    if "selection" not in data:
        return None
    selection = study.selected.selection
    best, random = selection.figures, selection.random_figures
    assert best is not None and random is not None
    every, target = len(selection.predictor.all_tasks), selection.target
    total = f"{len(selection):,} of {counted(every, 'task')}{_of_all(study, every)}"
    whose = f"the {target} of held-out agents"
    names = enumerated(selection.tasks.task, MOST_NAMED)
    claim: Parts = (f"{total} predict {whose}: ", *names, ".")
    if not best.r2 >= PREDICTS_WELL:
        claim = (f"{total} predict {whose} only roughly.",)
    if not best.r2 >= PREDICTS:
        claim = (f"No small set of tasks represents all: {total} hardly predict the {target}.",)
    interval, than = "", "random selections"
    if np.isfinite(best.r2_low):
        interval = f" (95 %: {three_digits(best.r2_low)} to {three_digits(best.r2_high)})"
        if best.r2_low <= random.r2:
            than = "not significantly higher than random selections:"
    doubt = f"R² {three_digits(best.r2)}{interval}, {than} {three_digits(random.r2)}"
    if np.isfinite(best.kendall) and len(selection.predictor.agents) >= ORDERED_FROM:
        doubt += f"; Kendall's tau of the order of agents is {three_digits(best.kendall)}"
    return Judgement(claim, f"{doubt}.", "selection")


def _of_all(study: Study, tasks: int) -> str:
    """Where a finding is about a sample of the tasks, of how many they were sampled."""
    every = study.comparable.shape[1]
    return "" if tasks == every else f", sampled from {every:,},"


def _next(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("next_task")
    if not found or found["needed"] is None:
        return None
    asked, beside = counted(found["needed"], "task"), found["compared_with"]
    many = "all tasks do" if beside == found["tasks"] else f"the best {beside:,} do"
    place = "places" if found["needed"] == 1 else "place"
    claim = (
        f"{asked} asked one after another {place} a next agent like these nearly as well as {many}."
    )
    random = "more than were tried" if found["at_random"] is None else f"{found['at_random']:,}"
    near, least = three_digits(found["near"]), three_digits(found["least_error"])
    doubt = f"An error of ability of {near} instead of {least}; in random order it takes {random}."
    return Judgement(claim, f"{doubt} Simulated, if the fit holds.", "next_task")


def _suspects(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("suspects")
    if not found or not found["flagged"]:
        return None
    names = [row["task"] for row in found["flagged"]]
    total = counted(len(found["tasks"]), "task")
    verb = "is" if len(names) == 1 else "are"
    start = f"{len(names):,} of {total}{_of_all(study, len(found['tasks']))} {verb} flagged: "
    kinds = Counter(kind for row in found["flagged"] for kind in row["flags"])
    why = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    success = (
        f"Success: {study.judged_measure} reaches {study.success:g}. "
        if isinstance(study.success, float)
        else ""
    )
    doubt = (
        f"{why[0].upper()}{why[1:]}. {success}Each kind of flag is tested at 5 % over all tasks."
    )
    return Judgement((start, *enumerated(names, MOST_NAMED), "."), doubt, "suspects")


def _unsuspected(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("suspects")
    if not found or found["flagged"]:
        return None
    tasks = len(found["tasks"])
    claim = f"None of {counted(tasks, 'task')}{_of_all(study, tasks)} is flagged for review."
    doubt = "Each flag is tested at 5 % over all tasks."
    return Judgement(claim, doubt, "suspects")


def _similarity(study: Study, data: Mapping[str, Record]) -> Judgement | None:
    found = data.get("similarity")
    if not found or not found["possible_winners"]:
        return None
    factor = next(row for row in found["statistics"] if row["statistic"] == "first_factor_share")
    winners = f"{found['possible_winners']:,} of {counted(found['searched_agents'], 'agent')}"
    claim = f"{winners} would win on some choice of the tasks."
    share, chance = percent(factor["value"]), percent(factor["chance"])
    doubt = f"One factor explains {share} of the differences, {chance} by chance."
    return Judgement(claim, doubt, "similarity")


JUDGES: tuple[Callable[[Study, Mapping[str, Record]], Judgement | None], ...] = (
    *(_leader, _tasks, _suspects, _exam, _few),
    *(_next, _unsuspected, _similarity),
)
"""What a verdict asks, the weightiest first: the last ones speak where others have nothing to say."""


def _failed(sections: Sequence[Finding]) -> tuple[Prose, ...]:
    """Which sections failed, so that nothing above rests on them."""
    titles = [each.title for each in sections if each.failure is not None]
    if not titles:
        return ()
    words = "This section" if len(titles) == 1 else f"These {len(titles)} sections"
    return ((f"{words} failed because of an unexpected error: ", *enumerated(titles, 6), "."),)


def _distrusted(study: Study, told: Mapping[str, Finding]) -> tuple[Prose, ...]:
    """What a reader must not trust, in short: what the results do not hold, then the gravest warnings."""
    own: list[Prose] = []
    if study.counts["runs"] == 1:
        own.append(
            "Cells are single runs: whether the same agents, run again, keep their order is not known."
        )
    if study.relative:
        own.append(
            "Scores compare these agents with each other: their sizes mean nothing elsewhere."
        )
    reading = told.get("reading")
    blocks = () if reading is None else reading.blocks
    beware = [block for block in blocks if isinstance(block, Notes) and block.title == BEWARE]
    warned = [item for block in beware for item in block.items]
    short = [item for item in warned if len(said(item)) <= LONGEST_DOUBT]
    return tuple([*own, *map(parts_of, short)][:MOST_DISTRUSTED])
