"""How a set of tasks was chosen, step by step."""

from __future__ import annotations

from examiner.messages import counted
from examiner.reporting.figures.flow import FlowData, draw_flow
from examiner.reporting.plots.plot import Plot, drawn_alone
from examiner.typology import Kinds


def typology_steps(kinds: Kinds) -> Plot:
    """Draw the five steps from candidates to a set with one task of each kind (papers/000, Fig. 1).

    >>> from examiner.results import Classification
    >>> from examiner.typology import kinds
    >>> games = Classification(("pong", "go"), ("haste",), (("absent",), ("absent",)))
    >>> typology_steps(kinds(games)).data.outcomes[3:]
    ('1 group', '1 task, 50 % excluded')
    """
    table = kinds.classification
    drawn = FlowData(
        ("candidates", "typology", "classification", "groups of one kind", "one of each"),
        (
            counted(len(table.tasks), "task"),
            kinds.typology.name,
            counted(len(table.features), "feature"),
            counted(len(kinds.members), "group"),
            f"{counted(len(kinds.kept), 'task')}, {100 * kinds.saved:.0f} % excluded",
        ),
    )
    caption = f"{counted(len(table.tasks), 'task')}, {counted(len(kinds.kept), 'kind')}."
    return drawn_alone("typology_steps", drawn, draw_flow(drawn), caption)
