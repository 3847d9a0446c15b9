"""Report: the finished document, and the function that makes one from results."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from examiner.irt.flags import rewarding_the_weak, weak_sentence
from examiner.results import Classification, Results
from examiner.results.display import html_table
from examiner.results.writing import write_text
from examiner.scores import Normaliser
from examiner.scores.success import Landmark as Success
from examiner.telling.json import section_dict
from examiner.telling.finding import Finding, Name, Notes, Prose, said
from examiner.telling.findings import FINDINGS
from examiner.telling.fitting import already_fitted
from examiner.telling.study import Study
from examiner.wording import InputError, unknown_name

SCHEMA = "examiner.report/1"
_FIRST = "reading"

SectionFunction = Callable[[Study], Finding]
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """Sections under a title, with what is needed to make them again.

    >>> from examiner.results import Results
    >>> report(Results.from_numpy([[0.5, 1.0], [0.0, 0.9]]))
    Report '2 agents on 2 tasks': reading, ranking, heatmap...
    """

    title: str
    sections: tuple[Finding, ...]
    recipe: Mapping[str, Any]  # Any: JSON values
    command: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report should know, as it stands in its first section."""
        return tuple(self.recipe["warnings"])

    @property
    def html(self) -> str:
        """The whole page as text; the same results give the same bytes."""
        from examiner.telling.page import render

        return render(self.title, self.sections, self.recipe, self.command)

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all, and return where it is.

        >>> import tempfile
        >>> from examiner.results import Results
        >>> page = Path(tempfile.mkdtemp()) / "report.html"
        >>> report(Results.from_numpy([[0.5, 1.0]])).save(page) == page
        True
        """
        return write_text(path, self.html)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the report as JSON values; what was not observed is None.

        >>> from examiner.results import Results
        >>> report(Results.from_numpy([[0.5, 1.0]])).to_dict()["schema"]
        'examiner.report/1'
        """
        return {
            "schema": SCHEMA,
            "title": self.title,
            **self.recipe,
            "command": self.command,
            "sections": [section_dict(section) for section in self.sections],
        }

    def __repr__(self) -> str:
        keys = ", ".join(section.key for section in self.sections)
        return f"Report {self.title!r}: {keys}"

    def _repr_html_(self) -> str:
        """The findings as a small table: a notebook need not carry megabytes of page."""
        rows = [[section.title, said(section.lead)] for section in self.sections]
        hint = "The page, with tables and figures: report.save('report.html')"
        return html_table(self.title, ["section", "finding"], rows, [hint])


def report(
    results: Results,
    normalise: str | Normaliser | None = "auto",
    measure: str | None = None,
    sections: Sequence[str | SectionFunction] | None = None,
    title: str | None = None,
    progress: Progress | None = None,
    *,
    reduce: str | None = None,
    classification: Classification | None = None,
    success: float | Success | None = None,
    seed: int = 0,
) -> Report:
    """Make a report of results: what was read, who ranks where, every agent on every task.

    Training logs are reduced to one value a run first, as `reduce` says (see `reduce_runs`); their
    learning curves are a section of their own.

    `normalise` is a name in `NORMALISERS`, a function, None for values as they are, or "auto": the
    human scale where every task has one, nothing where all values lie in [0, 1], else the z-score.
    `sections` are names in `FINDINGS` or functions of a `Study`, in the order wanted; without them,
    all that apply to the results. With a `classification`, kinds of task are told too. `success` says
    what counts as one, after normalising (see `responses`): abilities are then fitted to successes.

    >>> results = Results.from_numpy([[0.5, 1.0], [0.0, 0.9]], agents=["dqn", "random"])
    >>> report(results, sections=["ranking"]).to_dict()["sections"][0]["finding"]
    'dqn leads by mean, median and interquartile mean.'
    """
    if seed < 0:
        raise InputError(f"The seed is {seed}. Give a whole number from 0 on.")
    chosen = _chosen(FINDINGS if sections is None else sections)
    study = Study.of(
        results,
        normalise,
        measure,
        reduce=reduce,
        classification=classification,
        title=title,
        success=success,
        seed=seed,
    )
    made: dict[int, Finding] = {}
    # What was read is told last, and stands first: it warns of what other sections have found.
    order = sorted(range(len(chosen)), key=lambda place: chosen[place][0] == _FIRST)
    for done, place in enumerate(order):
        name, section = chosen[place]
        if progress:
            progress(name, done, len(chosen))
        made[place] = section(study)
    if progress:
        progress("done", len(chosen), len(chosen))
    finished = [made[place] for place in range(len(chosen))]
    if sections is None:
        finished = _without_idle(finished)
    names = None if sections is None else [name for name, _ in chosen]
    return Report(study.title, tuple(finished), _recipe(study), _command(study, names, title))


def _without_idle(sections: list[Finding]) -> list[Finding]:
    """The sections that apply; the first one names the others, and why they are left out."""
    idle: dict[str, list[str]] = {}
    for section in sections:
        if not section.applies:
            idle.setdefault(said(section.lead), []).append(section.key)
    kept = [section for section in sections if section.applies]
    if idle and kept and kept[0].key == _FIRST:
        items: list[Prose] = [
            (", ".join(keys), ": ", Name(reason)) for reason, keys in idle.items()
        ]
        first = replace(kept[0], blocks=(*kept[0].blocks, Notes("Left out", tuple(items))))
        kept[0] = first
    return kept


def _chosen(
    sections: Sequence[str | SectionFunction] | Mapping[str, SectionFunction],
) -> list[tuple[str, SectionFunction]]:
    if isinstance(sections, str):
        sections = [sections]
    chosen: list[tuple[str, SectionFunction]] = []
    for section in sections:
        if callable(section):
            chosen.append((getattr(section, "__name__", "section"), section))
        elif section in FINDINGS:
            chosen.append((section, FINDINGS[section]))
        else:
            raise unknown_name("section", section, FINDINGS)
    if not chosen:
        raise InputError(f"No sections were chosen. Name some of {', '.join(FINDINGS)}.")
    return chosen


def _recipe(study: Study) -> dict[str, Any]:  # Any: JSON values
    import examiner  # the door knows the version; reading it costs nothing

    counts = study.counts
    return {
        "examiner": examiner.__version__,
        "source": study.results.provenance.source,
        "format": study.results.provenance.format,
        "agents": counts["agents"],
        "tasks": counts["tasks"],
        "runs": counts["runs"],
        "trials": counts["trials"],
        "missing_cells": counts["missing_cells"],
        "measure": study.measure,
        "reduction": study.results.provenance.reduction or "all",
        "normaliser": study.normaliser,
        "unit": said(study.unit),
        "success": study.success,
        "seed": study.seed,
        "steps": list(study.scores.provenance.steps),
        "warnings": _warnings(study),
    }


def _warnings(study: Study) -> list[str]:
    made = already_fitted(study)
    weak = () if made is None else rewarding_the_weak(made.fit)
    return [*([weak_sentence(weak)] if weak else []), *study.scores.notes]


def _command(study: Study, sections: Sequence[str] | None, title: str | None) -> str:
    """The command line that makes the report again, or the call where there was no file."""
    source = study.results.provenance.source
    if not source or source == "memory":
        return f"ex.report(results, normalise={study.normaliser!r}, measure={study.measure!r})"
    words = ["examiner", "report", source]
    words += ["--normalise", study.normaliser or "none", "--measure", study.measure]
    if study.results.provenance.reduction is not None:
        words += ["--reduce", study.results.provenance.reduction]
    if sections is not None:
        words += ["--sections", ",".join(sections)]
    if study.classification is not None and study.classification.source:
        words += ["--classification", study.classification.source]
    if study.success is not None:
        words += ["--success", str(study.success)]
    if title is not None:
        words += ["--title", title]
    return shlex.join([*words, "--seed", str(study.seed)])
