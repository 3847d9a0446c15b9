"""Findings, and the page, JSON, terminal and figures that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from examiner.namespaces import names_on_demand as _names_on_demand
from examiner.reporting.findings import FINDINGS

if TYPE_CHECKING:  # loaded when first used: a command that shows one finding needs no other
    from examiner.reporting import plots as plots
    from examiner.reporting.document import Report as Report
    from examiner.reporting.document import report as report
else:
    __getattr__ = _names_on_demand(__name__)

__all__ = ["FINDINGS", "Report", "plots", "report"]

if TYPE_CHECKING:  # for other packages of the codebase, loaded when first used
    from examiner.reporting.ability_scale import Fitted as Fitted
    from examiner.reporting.document import failure_sentences as failure_sentences
    from examiner.reporting.finding import Facts as Facts
    from examiner.reporting.finding import Figure as Figure
    from examiner.reporting.finding import Finding as Finding
    from examiner.reporting.finding import Notes as Notes
    from examiner.reporting.finding import ShownTable as ShownTable
    from examiner.reporting.finding import finding_of as finding_of
    from examiner.reporting.finding import save_figures as save_figures
    from examiner.reporting.finding import shown_table as shown_table
    from examiner.reporting.findings.cost import render_cost as render_cost
    from examiner.reporting.findings.curves import render_summaries as render_summaries
    from examiner.reporting.findings.fit import render_fit as render_fit
    from examiner.reporting.findings.information import (
        render_ability_information as render_ability_information,
    )
    from examiner.reporting.findings.information import render_information as render_information
    from examiner.reporting.findings.information import with_costs as with_costs
    from examiner.reporting.findings.learning import MOST_PANELS as MOST_PANELS
    from examiner.reporting.findings.learning import CurveOptions as CurveOptions
    from examiner.reporting.findings.learning import (
        render_learning_curves as render_learning_curves,
    )
    from examiner.reporting.findings.newcomers import render_examination as render_examination
    from examiner.reporting.findings.newcomers import (
        render_examination_study as render_examination_study,
    )
    from examiner.reporting.findings.newcomers import render_growth as render_growth
    from examiner.reporting.findings.newcomers import render_placements as render_placements
    from examiner.reporting.findings.newcomers import render_set_placement as render_set_placement
    from examiner.reporting.findings.pairs import render_comparison as render_comparison
    from examiner.reporting.findings.play import render_flavours as render_flavours
    from examiner.reporting.findings.play import render_gvgai_plan as render_gvgai_plan
    from examiner.reporting.findings.play import render_plan as render_plan
    from examiner.reporting.findings.play import render_probe as render_probe
    from examiner.reporting.findings.play import render_probed_plan as render_probed_plan
    from examiner.reporting.findings.play import render_repair as render_repair
    from examiner.reporting.findings.play import render_run as render_run
    from examiner.reporting.findings.profiles import classes as classes
    from examiner.reporting.findings.profiles import render_profiles as render_profiles
    from examiner.reporting.findings.profiles import unsure as unsure
    from examiner.reporting.findings.ranking import render_ranking as render_ranking
    from examiner.reporting.findings.reading import render_description as render_description
    from examiner.reporting.findings.selection import GAINS as GAINS
    from examiner.reporting.findings.selection import render_judgement as render_judgement
    from examiner.reporting.findings.selection import render_selection as render_selection
    from examiner.reporting.findings.selection import render_task_trial as render_task_trial
    from examiner.reporting.findings.similarity import render_similarity as render_similarity
    from examiner.reporting.findings.suspects import render_audit as render_audit
    from examiner.reporting.findings.typology import render_kinds as render_kinds
    from examiner.reporting.json import one_object as one_object
    from examiner.reporting.plots.plot import Plot as Plot
    from examiner.reporting.prose import named as named
    from examiner.reporting.study import Study as Study
    from examiner.reporting.terminal import everything as everything
    from examiner.reporting.terminal import print_line as print_line
    from examiner.reporting.terminal import printable as printable
    from examiner.reporting.terminal import screen as screen
    from examiner.reporting.verdict import reach_verdict as reach_verdict
    from examiner.reporting.written import table_text as table_text
    from examiner.reporting.written import written_tables as written_tables
else:
    __getattr__ = _names_on_demand(__name__)


def __dir__() -> list[str]:
    return [name for name in __all__ if name != "plots"]  # a module, shown as `ex.plots`
