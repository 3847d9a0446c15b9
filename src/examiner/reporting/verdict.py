"""The verdict: the headlines of the weightiest sections, each with its uncertainty, and warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from examiner.answers import Answer
from examiner.information import InformationAnalysis, SimilarityAnalysis
from examiner.irt import AbilityInformation, Audit
from examiner.reporting.finding import Finding
from examiner.reporting.findings.next_task import NextExamination
from examiner.reporting.findings.ranking import who_leads
from examiner.reporting.findings.reading import doubts_of
from examiner.reporting.prose import enumerated, headline
from examiner.reporting.study import Study

WEIGHTIEST = ("information", "suspects", "decision", "selection", "next_task", "similarity")
"""The sections that a verdict is made of, next to who leads."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One sentence of a verdict, what is doubtful about it, and the section that shows it."""

    claim: str
    doubt: str
    section: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What results come to: sentences, and what must not be trusted."""

    judgements: tuple[Judgement, ...] = ()
    distrust: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.judgements)


def reach_verdict(study: Study, sections: Sequence[Finding]) -> Verdict:
    """Judge by the sections at hand; where agents do not differ significantly, no agent is named.

    >>> import numpy as np
    >>> from examiner.results import Results
    >>> from examiner.reporting.findings import FINDINGS
    >>> study = Study.of(Results.from_numpy(np.random.default_rng(0).random((4, 9))))
    >>> reach_verdict(study, [FINDINGS["ranking"](study)]).judgements[0].claim
    'No agent is significantly better: means lie between 0.465 and 0.565.'
    """
    shown = {
        section.key: section for section in sections if section.applies and section.failure is None
    }
    compared = [key for key in ("ranking", "significance") if key in shown]
    others = [key for key in WEIGHTIEST if key in shown]
    others.sort(key=lambda key: _says_little(shown[key].answer))
    judgements = []
    if compared and not isinstance(study.tests, str):
        judgements.append(Judgement(*headline(who_leads(study)), compared[0]))
    if study.none_better:
        others = [key for key in others if key == "selection"]
    elif study.not_shown:
        others = []
        only = "The order of agents holds on these tasks; on others like them it may be different."
        judgements.append(Judgement(only, study.not_shown, next(iter([*compared, *shown]), "")))
    unsolved = _unsolved(shown)
    for key in others:
        claim, doubt = headline(shown[key].lead)
        more = unsolved if key == "information" else ""
        judgements.append(Judgement(claim, f"{doubt} {more}".strip(), key))
    distrust = (*_failed(sections), *_distrusted(study, read="reading" in shown))
    return Verdict(tuple(judgements[:5]), distrust[:3])


def _says_little(answer: Answer | None) -> bool:
    """Whether others come first: nothing is flagged, all tasks are needed, or nobody else could win."""
    match answer:
        case Audit():
            return not len(answer.to_review)
        case AbilityInformation():
            return len(answer.chosen) == len(answer.tasks)
        case NextExamination():
            return answer.needed is None
        case SimilarityAnalysis():
            return not answer.favourable.winners
    return False


def _unsolved(shown: Mapping[str, Finding]) -> str:
    """Say on which of the informative tasks no agent succeeds."""
    answers = [shown[key].answer if key in shown else None for key in ("information", "suspects")]
    match answers:
        case InformationAnalysis() as information, Audit() as audited:
            first = information.chosen.task[: information.enough]
            tasks = [task for task in first if task in audited.of_kind("nobody")]
            them = "it" if len(tasks) == 1 else "them"
            differ = f"differ too, though no agent succeeds on {them}."
            return f"Scores on {enumerated(tasks, 3)} {differ}" if tasks else ""
    return ""


def _failed(sections: Sequence[Finding]) -> list[str]:
    """Which sections failed, so that nothing above rests on them."""
    titles = [section.title for section in sections if section.failure is not None]
    words = "This section" if len(titles) == 1 else f"These {len(titles)} sections"
    failed = f"{words} failed because of an unexpected error: {enumerated(titles, 6)}."
    return [failed] if titles else []


def _distrusted(study: Study, *, read: bool) -> list[str]:
    """What a reader must not trust, in short: what the results do not hold, then the gravest warnings."""
    reasons = []
    if study.counts["runs"] == 1:
        reasons.append(
            "Cells are single runs: whether the same agents, run again, keep their order is not known."
        )
    if study.relative:
        reasons.append(
            "Scores compare these agents with each other: their sizes mean nothing elsewhere."
        )
    # Longer ones are shown under "What this is based on".
    return reasons + [doubt for doubt in doubts_of(study) if read and len(doubt) <= 260]
