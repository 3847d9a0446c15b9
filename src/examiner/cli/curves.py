"""`examiner curves`: training logs over time, and summarised in several ways as papers do."""

from __future__ import annotations

from dataclasses import dataclass, replace

from examiner.cli.options import (
    NORMALISE,
    TUNED_ON,
    FigureOptions,
    Seeded,
    SourceOptions,
    normaliser_names,
    option,
)
from examiner.cli.output import progress_bar, show
from examiner.cli.source import results_from
from examiner.cli.values import numbers
from examiner.messages import InputError
from examiner.reporting import (
    MOST_PANELS,
    CurveOptions,
    Finding,
    ShownTable,
    Study,
    render_learning_curves,
    render_summaries,
)
from examiner.results import Results
from examiner.scores import curves as learning_curves
from examiner.scores import score_unit


@dataclass(frozen=True)
class CurvesOptions:
    """At which points learning curves are summarised."""

    points: list[float] | None = option(
        None,
        "Frames to report at, comma-separated [default: 5, 25, 50 and 100 %].",
        parse=numbers("The report points are {}. Give frames, for example `--points 1e6,5e6`."),
    )
    last: int = option(100, "Number of episodes averaged at each point.", min=1)
    normalise: str = option("auto", normaliser_names, *NORMALISE, metavar="NAME")
    threshold: float | None = option(
        None, "Report when this value is first reached [default: human, or the second best's end]."
    )
    log_axis: bool = option(False, "Draw time on a logarithmic axis.")
    tuned_on: tuple[str, ...] = option((), TUNED_ON, metavar="PATTERN")


def curves(
    options: SourceOptions, curve_options: CurvesOptions, drawn: FigureOptions, printing: Seeded
) -> None:
    """Summarise learning curves: during training, after it, best policy, area under the curve, drops."""
    with progress_bar("reading") as progress:
        results = results_from(
            options, progress, reduce_training_logs=False, tuned_on=curve_options.tuned_on
        )
        if results.counts()["trials"] == 1 and not results.provenance.training:
            raise InputError(
                "Every run has a single result on each task, so there are no learning curves. Compare "
                "agents with `examiner scores`."
            )
        progress("summing up", 1, 3)
        summarised = learning_curves(results, points=curve_options.points, last=curve_options.last)
        finding = render_summaries(summarised)
        progress("following", 2, 3)
        over_time = _over_time(results, curve_options, drawn, printing)
    figures = drawn.write([over_time, finding])
    tables = (block for block in over_time.blocks if isinstance(block, ShownTable))
    show(
        replace(finding, blocks=(*tables, *finding.blocks)),  # where curves end comes first
        printing,
        "curves",
        read=results,
        score_unit=score_unit(results),
        figures=figures,
        over_time=over_time.data or None,
    )


def _over_time(
    results: Results, curve_options: CurvesOptions, drawn: FigureOptions, printing: Seeded
) -> Finding:
    """Curves over time; an empty finding if the log has no time or cannot be made comparable."""
    log = replace(results, provenance=replace(results.provenance, training=True))
    normalise = None if curve_options.normalise == "none" else curve_options.normalise
    try:
        study = Study.of(log, normalise, rng=printing.seed)
        panels = None if drawn.figures is not None else MOST_PANELS
        shown = CurveOptions(None, curve_options.log_axis, curve_options.threshold, panels)
        return render_learning_curves(study, shown)
    except InputError:
        if curve_options.threshold is not None or drawn.figures is not None:
            raise
        return Finding()
