"""Report: the finished document, and the function that makes one from results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar, Unpack

from examiner.messages import ExaminerWarning, InputError, unknown_name
from examiner.reporting.failure import Failure, attempt, failed_finding, section_or_failure
from examiner.reporting.figures.printed import Columns
from examiner.reporting.finding import Finding, Notes, save_figures
from examiner.reporting.findings import FINDINGS, default_sections
from examiner.reporting.json import one_object, section_of
from examiner.reporting.prose import plain_text
from examiner.reporting.rendering import failure_sentence, rendered
from examiner.reporting.study import Study, StudyOptions
from examiner.reporting.subjects import Subjects
from examiner.reporting.verdict import Verdict, reach_verdict
from examiner.results import Results, html_table, write_text
from examiner.scores import OwnFunction, score_unit

SCHEMA = "examiner.report/1"
_LAST = "reading"
_PLAIN = (str, int, float, type(None))

SectionFunction = Callable[[Study], Finding]
Progress = Callable[[str, int, int], None]
Written = TypeVar("Written", str, dict[str, Any])  # Any: JSON values


@dataclass(frozen=True, slots=True)
class Report:
    """Findings under a title, with what is needed to make them again.

    >>> from examiner.results import Results
    >>> report(Results.from_numpy([[0.5, 1.0], [0.0, 0.9]]))
    Report '2 agents on 2 tasks': ranking, tasks, heatmap, intervals...
    """

    title: str
    sections: tuple[Finding, ...]
    recipe: Mapping[str, Any]  # Any: JSON values
    command: str
    verdict: Verdict = field(default_factory=Verdict)
    subjects: Subjects = field(default_factory=Subjects)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the report should know, as it stands in its last section."""
        return tuple(self.recipe["notes"])

    @property
    def failures(self) -> Mapping[str, Failure]:
        """The sections that ended in an unexpected error, and the errors."""
        return {
            section.key: section.failure for section in self.sections if section.failure is not None
        }

    @property
    def html(self) -> str:
        """The whole page as text; the same results give the same bytes."""
        from examiner.reporting.page import render  # a template engine that only a page needs

        return rendered(self, render)

    def save(self, path: str | Path) -> Path:
        """Write the report, whole or not at all, and return where it is.

        The ending of the path says as what: `.json` as data, `.md` as Markdown, else as a page.

        >>> import tempfile
        >>> from examiner.results import Results
        >>> page = Path(tempfile.mkdtemp()) / "report.html"
        >>> report(Results.from_numpy([[0.5, 1.0]])).save(page) == page
        True
        """
        ending = Path(path).suffix.lower()
        if ending == ".json":
            content = self.to_dict()
            return write_text(path, one_object(content.pop("schema"), content) + "\n")
        return write_text(path, self.markdown if ending == ".md" else self.html)

    @property
    def markdown(self) -> str:
        """The verdict, the findings and the tables as Markdown."""
        from examiner.reporting.markdown import markdown  # for those who want no page

        return rendered(self, markdown)

    def save_figures(
        self, folder: str | Path, kind: str = "pdf", columns: Columns = "two"
    ) -> tuple[Path, ...]:
        """Write every figure into a folder as SVG, PDF or PNG, named by its key; needs matplotlib.

        >>> from examiner.results import Results
        >>> report(Results.from_numpy([[0.5]]), sections=["reading"]).save_figures("figures")
        ()
        """
        return save_figures(self.sections, folder, kind, columns)

    def to_dict(self) -> dict[str, Any]:  # Any: JSON values
        """Return the report as JSON values; what was not observed is None.

        >>> from examiner.results import Results
        >>> report(Results.from_numpy([[0.5, 1.0]])).to_dict()["schema"]
        'examiner.report/1'
        """
        return rendered(self, _content)

    def __repr__(self) -> str:
        keys = ", ".join(section.key for section in self.sections)
        return f"Report {self.title!r}: {keys}"

    def _repr_html_(self) -> str:
        """The findings as a small table: a notebook need not carry megabytes of page."""
        rows = [[section.title, plain_text(section.lead)] for section in self.sections]
        hint = "The page, with tables and figures: report.save('report.html')"
        return html_table(self.title, ["section", "finding"], rows, [hint])


def report(
    results: Results,
    normalise: str | OwnFunction | None = "auto",
    measure: str | None = None,
    sections: Sequence[str | SectionFunction] | None = None,
    progress: Progress | None = None,
    **options: Unpack[StudyOptions],
) -> Report:
    """Make a report of results: what was read, who ranks where, every agent on every task.

    Training logs are reduced to one value a run first, as `reduce` says (see `reduce_runs`); their
    learning curves are a section of their own.

    `normalise` is a name in `NORMALISERS`, a function, None for values as they are, or "auto": the
    human scale where every task has one, nothing where all values lie in [0, 1], else the z-score.
    `sections` are names in `FINDINGS` or functions of a `Study`, in the order wanted; without them,
    all that apply to the results. With a `typology`, kinds of task are told too. `success` says
    what counts as one (see `Recipe` for its units): abilities are then fitted to successes;
    with a `share`, to cells in which at least that share of trials succeeded. `total` says how tasks
    make one number (see `scores.total`), `cost` what attempts cost (see `scores.attempt_costs`). With
    results of an `earlier` edition, both are compared.
    `rng` (0 where none is given) starts everything random, and `title` heads the page. A section that ends
    in an unexpected error is shown as failed, with a warning (see `Report.failures`).

    >>> results = Results.from_numpy([[0.9, 1.0], [0.0, 0.1]], agents=["dqn", "random"])
    >>> report(results, sections=["ranking"]).to_dict()["sections"][0]["finding"][:64]
    'dqn has the best mean, and is significantly better than random. '
    """
    named = None if sections is None else _chosen(sections)
    study = Study.of(results, normalise, measure, **options)
    chosen = _chosen(default_sections(study)) if named is None else named
    # What was read is told last, wherever it stands: it warns of what other findings have found.
    order = sorted(range(len(chosen)), key=lambda index: chosen[index][0] == _LAST)
    finished_sections: dict[int, Finding] = {}
    for position, index in enumerate(order):
        name, section = chosen[index]
        if progress:
            progress(name, position, len(chosen))
        finished_sections[index] = section_or_failure(name, section, study)
    if progress:
        progress("done", len(chosen), len(chosen))
    finished = [finished_sections[index] for index in range(len(chosen))]
    if sections is None:
        finished = _without_idle(finished)
    command = _call({"normalise": normalise, "measure": measure, "sections": sections, **options})
    verdict = attempt(lambda: reach_verdict(study, finished))
    if isinstance(verdict, Failure):
        finished.append(failed_finding("verdict", "In short", "", verdict))
        verdict = Verdict()
    document = Report(
        study.title, tuple(finished), _recipe(study), command, verdict, Subjects.of(study)
    )
    for sentence in failure_sentences(document):
        warnings.warn(sentence, ExaminerWarning, stacklevel=2)
    return document


def _content(document: Report) -> dict[str, Any]:  # Any: JSON values
    sentences = [
        {
            "claim": plain_text(judgement.claim),
            "doubt": plain_text(judgement.doubt),
            "section": judgement.section,
        }
        for judgement in document.verdict.judgements
    ]
    distrust = [plain_text(sentence) for sentence in document.verdict.distrust]
    return {
        "schema": SCHEMA,
        "title": document.title,
        **document.recipe,
        "command": document.command,
        "failed_sections": list(document.failures),
        "verdict": {"sentences": sentences, "not_to_be_trusted": distrust},
        "sections": [section_of(section) for section in document.sections],
    }


def failure_sentences(document: Report) -> tuple[str, ...]:
    """Name the sections of a report that failed, each with its error.

    >>> from examiner.results import Results
    >>> failure_sentences(report(Results.from_numpy([[0.5, 1.0]]), sections=["reading"]))
    ()
    """
    return tuple(failure_sentence(key, failure) for key, failure in document.failures.items())


def _without_idle(sections: list[Finding]) -> list[Finding]:
    """The findings that apply; what was read names the others, and why they are left out."""
    idle: dict[str, list[str]] = {}
    for section in sections:
        if not section.applies:
            idle.setdefault(section.lead, []).append(section.title)
    kept = [section for section in sections if section.applies]
    if not idle:
        return kept
    items = [f"{'; '.join(titles)}: {reason}" for reason, titles in idle.items()]
    left_out = Notes(items, "Left out")
    return [
        replace(section, blocks=(*section.blocks, left_out)) if section.key == _LAST else section
        for section in kept
    ]


def _chosen(sections: Sequence[str | SectionFunction]) -> list[tuple[str, SectionFunction]]:
    chosen: list[tuple[str, SectionFunction]] = []
    for section in [sections] if isinstance(sections, str) else sections:
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
    import examiner  # the top level has the version; reading it costs nothing

    counts = study.counts
    provenance = study.results.provenance
    return {
        "examiner": examiner.__version__,
        "source": provenance.source,
        "format": provenance.format,
        **{name: counts[name] for name in ("agents", "tasks", "runs", "trials", "missing_cells")},
        "measure": study.measure,
        "reduction": provenance.reduction or "all",
        "normaliser": study.normaliser,
        "unit": score_unit(study.scores, study.measure),
        "total": None if study.total is None else study.total.meaning,
        "success": study.success,
        "success_of": None if study.success is None else study.judged_measure,
        "success_share": study.share,
        "seed": study.seed,
        "steps": list(study.scores.provenance.steps),
        "notes": [*_weak(study), *study.scores.notes],
    }


def _weak(study: Study) -> list[str]:
    if not study.weak_tasks:
        return []
    from examiner.irt import negative_sentence

    return [negative_sentence(study.weak_tasks)]


def _call(given: Mapping[str, object]) -> str:
    """The call that makes the report again: every argument that is not its default."""
    parameters = (*signature(report).parameters.values(), *signature(Study.of).parameters.values())
    defaults = {parameter.name: parameter.default for parameter in parameters}
    words = [
        f"{name}={_written(name, value)}"
        for name, value in given.items()
        if not (isinstance(value, _PLAIN) and value == defaults[name])
    ]
    return f"ex.report({', '.join(['results', *words])})"


def _written(name: str, value: object) -> str:
    """A value as code, where it is a plain one; a table, a function or a generator by a name."""
    if isinstance(value, _PLAIN):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_written(name, entry) for entry in value)}]"
    return str(getattr(value, "__name__", name))
