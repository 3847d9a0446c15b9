"""The verdict: a few sentences from the typed answers of findings, each with its uncertainty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from examiner.answers import Answer
from examiner.information import InformationAnalysis, SimilarityAnalysis
from examiner.irt import AbilityInformation, Audit
from examiner.messages import counted
from examiner.reporting.finding import BEWARE, Finding, Notes
from examiner.reporting.next_examination import NextExamination
from examiner.reporting.prose import (
    Parts,
    Prose,
    Sentence,
    enumerated,
    parts_of,
    percent,
    said,
    three_digits,
)
from examiner.reporting.ranked import leader_claim
from examiner.reporting.study import Study
from examiner.scores import DecisionStudy, Significance

MOST_SENTENCES = 5
MOST_DISTRUSTED = 3
MOST_NAMED = 3
LONGEST_DOUBT = 260
"""Letters of a warning beside the verdict; all of it stands at the end of a report."""
HELPS = 0.05
"""An error that twice as much lowers by less than this share is hardly lowered."""
ORDERED_FROM = 40
"""Agents: orders of the few that are held out at a time of fewer say little."""
PREDICTS, PREDICTS_WELL = 0.5, 0.9
"""Below these R² a few tasks leave most, or much, of what differs between agents unpredicted."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One sentence of a verdict, what is doubtful about it, and the section that shows it."""

    claim: Prose
    doubt: Prose
    section: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What results come to: sentences, and what must not be trusted."""

    judgements: tuple[Judgement, ...] = ()
    distrust: tuple[Prose, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.judgements)


Told: TypeAlias = Mapping[str, Finding]
"""The sections by key that apply and have not failed."""
Kind = TypeVar("Kind", bound=Answer)


def _answer(told: Told, key: str, kind: type[Kind]) -> Kind | None:
    """The typed numbers of a section; None where it is not there, or shows others."""
    answer = told[key].answer if key in told else None
    return answer if isinstance(answer, kind) else None


def _link(told: Told, *keys: str) -> str:
    """The first of these sections that is there, else any."""
    return next((key for key in keys if key in told), next(iter(told), ""))


def reach_verdict(study: Study, sections: Sequence[Finding]) -> Verdict:
    """Judge by the findings at hand; where agents do not differ significantly, no agent is named.

    >>> from examiner.results import Results
    >>> from examiner.reporting.findings import FINDINGS
    >>> study = Study.of(Results.from_numpy(np.random.default_rng(0).random((4, 9))))
    >>> made = reach_verdict(study, [FINDINGS["significance"](study)])
    >>> said(made.judgements[0].claim)
    'No agent is significantly better than another.'
    """
    told = {each.key: each for each in sections if each.applies and each.failure is None}
    distrust = (*_failed(sections), *_distrusted(study, told))[:MOST_DISTRUSTED]
    if study.not_shown:
        return Verdict(_nothing(study, told), distrust)
    judgements = [judge(study, told) for judge in JUDGES]
    kept = [judgement for judgement in judgements if judgement is not None]
    return Verdict(tuple(kept[:MOST_SENTENCES]), distrust)


def _nothing(study: Study, told: Told) -> tuple[Judgement, ...]:
    """What is left to say where agents do not differ significantly, at all or over other tasks."""
    shown = _link(told, "ranking", "significance")
    nothing = "No agent is significantly better than another."
    first = Judgement(nothing, (Sentence(study.none_better),), shown)
    if not study.none_better:
        leader = _leader(study, told)
        only = "The order of agents holds on these tasks; on others like them it may be different."
        over_tasks = Judgement(only, (Sentence(study.not_shown),), shown)
        return (over_tasks,) if leader is None else (leader, over_tasks)
    if "selection" not in told:
        return (first,)
    few = "No small set of tasks can represent all of them, and the rank of a new agent would be chance."
    return (first, Judgement(few, "Differences below may be due to chance.", "selection"))


def _leader(study: Study, told: Told) -> Judgement | None:
    if study.first_agent is None or not {"ranking", "significance"} & set(told):
        return None
    assert isinstance(study.tests, Significance), "the first agent was tested"
    tied = [study.results.agents[row] for row in study.order if study.ranks[row] == 1]
    doubt = _tested(study, study.tests, tied)
    return Judgement(leader_claim(study), doubt, _link(told, "ranking", "significance"))


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _tested(study: Study, tests: Significance, tied: Sequence[str]) -> str:
    """By which test agents are compared, and how often the first comes first in bootstrap samples."""
    agents = len(tests.agent_names)
    pairs = f" for {counted(agents * (agents - 1) // 2, 'pair')}" if agents > 2 else ""
    start = f"{tests.test[0].upper()}{tests.test[1:]}"
    doubt = f"{start}, at 5 %{' after Holm' if pairs else ''}{pairs}"
    few = f" {tests.too_few_tasks}" if tests.too_few_tasks else ""
    ranks = study.ranking.ranks
    if ranks is None or len(tied) > MOST_NAMED:
        return f"{doubt}.{few}"
    who = "it comes" if len(tied) == 1 else "they come"
    first = dict(zip(ranks.agent_names, ranks.probability[:, 0].tolist(), strict=True))
    shares = " and ".join(percent(first[name]) for name in tied)
    return f"{doubt}; by mean {who} first in {shares} of bootstrap samples of {ranks.unit}.{few}"


def _tasks(study: Study, told: Told) -> Judgement | None:
    if (about := _answer(told, "information", AbilityInformation)) is not None:
        return _about_ability(study, about)
    found = _answer(told, "information", InformationAnalysis)
    if found is None:
        return None
    if found.test is not None and not found.set_significant:
        return _single_tasks(found)
    best, enough, unsolved = found.chosen, found.enough, _unsolved(told)
    apart = best.task[:enough]
    named = [task for task in apart if task not in unsolved]
    if not named:
        return None
    bits = best.bits if best.corrected_bits is None else best.corrected_bits
    corrected, most = float(bits[enough - 1]), found.max_bits
    of = f"{enough:,} of {counted(len(found.tasks), 'task')} give{'s' if enough == 1 else ''}"
    start = f"{of} {percent(corrected / most)} of the information that identifies an agent: "
    claim: Parts = (start, *enumerated(named, MOST_NAMED))
    claim = (Sentence(found.headline),) if found.hardly_separates else (*claim, ".")
    noise = "" if best.corrected_bits is None else ", corrected for noise"
    doubt = f"{three_digits(corrected)} of {three_digits(most)} bits{noise}"
    if best.chance_bits is not None:
        observed, chance = (
            three_digits(float(bits[enough - 1])) for bits in (best.bits, best.chance_bits)
        )
        doubt += f"; {observed} before correction, {chance} in permuted results"
    failed = [task for task in apart if task in unsolved]
    beside: Parts = ()
    if failed:
        them = "it" if len(failed) == 1 else "them"
        differ = f" differ too, though no agent succeeds on {them}."
        beside = (" Scores on ", *enumerated(failed, MOST_NAMED), differ)
    silent, others = _silent_tasks(found), len(found.tasks) - enough
    if silent:
        verb = "discriminates" if len(silent) == 1 else "discriminate"
        start = f" Of the other {others:,}, {len(silent):,} {verb} no more than by chance: "
        beside = (*beside, start, *enumerated(silent, MOST_NAMED), ".")
    return Judgement(claim, (f"{doubt}.", *beside), "information")


def _silent_tasks(found: InformationAnalysis) -> list[str]:
    """The tasks outside the first few that have no more bits than by chance."""
    tasks, first = found.tasks, found.chosen.task[: found.enough]
    if found.test is None or tasks.chance_high is None:
        return []
    more = tasks.bits > tasks.chance_high
    known = np.isfinite(tasks.bits)
    return [
        tasks.task[row] for row in np.flatnonzero(known & ~more) if tasks.task[row] not in first
    ]


def _unsolved(told: Told) -> frozenset[str]:
    """The tasks on which no agent succeeds."""
    audited = _answer(told, "suspects", Audit)
    return frozenset() if audited is None else frozenset(audited.of_kind("nobody"))


def _single_tasks(found: InformationAnalysis) -> Judgement:
    """Where sets of tasks have no more bits than chance gives: which single tasks discriminate."""
    assert found.test is not None
    shown = found.significant_tasks
    verb = "discriminates" if len(shown) == 1 else "discriminate"
    start = f"{len(shown):,} of {counted(len(found.tasks), 'task')} {verb} significantly: "
    claim: Parts = (start, *enumerated(shown, MOST_NAMED), ".")
    if not shown:
        claim = ("No single task discriminates significantly between agents.",)
    return Judgement(claim, f"Permutation test, p = {found.test.p_value:.2g}.", "information")


def _about_ability(study: Study, found: AbilityInformation) -> Judgement | None:
    fitted = len(found.tasks)
    if len(found.chosen) == fitted:  # that all tasks give everything is no finding
        return None
    few, whole = float(found.chosen_bits[-1]), found.whole_bits
    of = f"{len(found.chosen):,} of {counted(fitted, 'task')}"
    start = f"{of} carry {percent(few / whole)} of the information of all tasks about ability: "
    doubt = f"{three_digits(few)} of {three_digits(whole)} bits, if the fitted model holds"
    every = study.comparable.shape[1]
    if fitted < every:
        doubt += f"; the other {every - fitted:,} of {every:,} tasks have no part in the fit"
    claim = (start, *enumerated(found.chosen, MOST_NAMED), ".")
    return Judgement(claim, f"{doubt}.", "information")


def _exam(study: Study, told: Told) -> Judgement | None:
    found = _answer(told, "decision", DecisionStudy)
    if found is None or not found.now > 0:
        return None
    now, tasks, runs = found.now, found.twice_tasks, found.twice_runs
    doubt = (
        f"The standard error of a difference of two means is {three_digits(now)}; twice the tasks would "
        f"make it {three_digits(tasks)}"
    )
    if not found.runs_known:
        claim = (
            "More tasks would make comparisons more precise; the effect of more runs is unknown."
        )
        unknown = "With one run per cell, the variation between runs is unknown."
        return Judgement(claim, f"{doubt}. {unknown}", "decision")
    if 1 - runs / now < HELPS:
        claim = "More tasks would make comparisons more precise; more runs would not."
    elif runs < (1 + HELPS) * tasks:  # more tasks bring more runs with them: these never do better
        claim = "More runs would make comparisons as much more precise as more tasks would."
    else:
        claim = "More tasks would make comparisons more precise than more runs would."
    return Judgement(claim, f"{doubt}, twice the runs {three_digits(runs)}.", "decision")


def _few(study: Study, told: Told) -> Judgement | None:
    if "selection" not in told:
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


def _next(study: Study, told: Told) -> Judgement | None:
    found = _answer(told, "next_task", NextExamination)
    if found is None or found.needed is None:
        return None
    many = f"the best {found.compared_with:,} do"
    if found.compared_with == found.tasks:
        many = "all tasks do"
    place = "places" if found.needed == 1 else "place"
    claim = (
        f"{counted(found.needed, 'task')} given one after another {place} a next agent like these nearly "
        f"as well as {many}."
    )
    random = "more than were tried" if found.at_random is None else f"{found.at_random:,}"
    near, least = three_digits(found.near), three_digits(found.least_error)
    doubt = f"An error of ability of {near} instead of {least}; in random order it takes {random}."
    return Judgement(claim, f"{doubt} Simulated, if the fit holds.", "next_task")


def _suspects(study: Study, told: Told) -> Judgement | None:
    found = _answer(told, "suspects", Audit)
    if found is None or not len(found.to_review):
        return None
    names = found.to_review.task
    total = f"{counted(len(found.tasks), 'task')}{_of_all(study, len(found.tasks))}"
    start = f"{len(names):,} of {total} {_are(len(names))} flagged: "
    flags = Counter(flag for flags in found.to_review.flags for flag in flags)
    why = ", ".join(f"{count:,} {flag}" for flag, count in flags.items())
    success = (
        f"Success: {study.judged_measure} reaches {study.success:g}. "
        if isinstance(study.success, float)
        else ""
    )
    tested = "Each kind of flag is tested at 5 % over all tasks."
    doubt = f"{why[0].upper()}{why[1:]}. {success}{tested}"
    return Judgement((start, *enumerated(names, MOST_NAMED), "."), doubt, "suspects")


def _unsuspected(study: Study, told: Told) -> Judgement | None:
    found = _answer(told, "suspects", Audit)
    if found is None or len(found.to_review):
        return None
    tasks = len(found.tasks)
    claim = f"None of {counted(tasks, 'task')}{_of_all(study, tasks)} is flagged for review."
    return Judgement(claim, "Each flag is tested at 5 % over all tasks.", "suspects")


def _similarity(study: Study, told: Told) -> Judgement | None:
    found = _answer(told, "similarity", SimilarityAnalysis)
    if found is None or not found.favourable.winners:
        return None
    winners, searched = len(found.favourable.winners), found.favourable.searched
    claim = f"{winners:,} of {counted(searched, 'agent')} would win on some choice of the tasks."
    factor = found.factor
    share, chance = percent(factor.first_factor_share.value), percent(factor.first_factor_by_chance)
    doubt = f"One factor explains {share} of the differences, {chance} by chance."
    return Judgement(claim, doubt, "similarity")


JUDGES: tuple[Callable[[Study, Told], Judgement | None], ...] = (
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


def _distrusted(study: Study, told: Told) -> tuple[Prose, ...]:
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
