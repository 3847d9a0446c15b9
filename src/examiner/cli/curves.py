"""`examiner curves`: training logs summed up in several ways, and how that changes the verdict."""

from __future__ import annotations

from dataclasses import dataclass

from examiner.cli.options import Printing, SourceOptions, option, parsed
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.scores import curves as learning_curves
from examiner.telling.findings import curves as findings
from examiner.wording import InputError, shorten


@dataclass(frozen=True, slots=True)
class CurvesOptions:
    """Where learning curves are looked at."""

    points: str | None = option(
        None, "Frames to report at, comma-separated [default: 5, 25, 50 and 100 per cent]."
    )
    last: int = option(100, "Episodes averaged at each report point.", min=1)


def curves(options: SourceOptions, wanted: CurvesOptions, told: Printing) -> None:
    """Sum up training logs: during training, after it, best policy, area, stability; side by side."""
    if options.reduce is not None:
        raise InputError(
            f"Learning curves need whole runs, and --reduce {options.reduce} leaves one value of "
            f"each. Leave --reduce out."
        )
    with progress_bar("reading") as progress:
        results = results_from(options, progress, reduce_training_logs=False)
        progress("summing up", 1, 2)
        made = learning_curves(results, points=_frames(wanted.points), last=wanted.last)
    notes = (*results.notes, *made.notes)
    source = results.provenance.source
    show(findings.tell(made), "examiner.curves/1", told.json, notes, source=source)


def _frames(text: str | None) -> list[float] | None:
    if text is None:
        return None
    complaint = (
        f"The report points are {shorten(text)}. Give frames, for example `--points 1e6,5e6`."
    )
    return [parsed(float, part.replace("_", ""), complaint) for part in text.split(",")]
