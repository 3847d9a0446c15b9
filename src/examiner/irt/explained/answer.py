"""Effects of attributes on difficulty, and difficulties predicted from attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from examiner.answers import (
    Answer,
    Scalar,
    Table,
    bound,
    error,
    name,
    number,
    scalar,
    setting,
    text,
)
from examiner.irt.explained.attributes import Term, attribute_values, design_matrix
from examiner.irt.explained.crossed import CrossedFit
from examiner.irt.items import Floats
from examiner.messages import InputError, listed
from examiner.results import Attributes, Value


class AttributeEffects(Table):
    """Effects of attributes on difficulty."""

    attribute: tuple[str, ...] = name("Attribute of tasks")
    step: tuple[str, ...] = name("Change of the attribute: a unit, a doubling, or this category")
    compared_with: tuple[str, ...] = text(
        "The most frequent category, with which others are compared"
    )
    effect: Floats = number("Change of difficulty", unit="logits")
    effect_error: Floats = error("effect")
    effect_low: Floats = bound("effect", "low")
    effect_high: Floats = bound("effect", "high")
    per_deviation: Floats = number(
        "Change of difficulty per standard deviation of the attribute", unit="logits"
    )
    p: Floats = number("p-value of no effect, adjusted for all effects (Holm)")


class ExplainedTasks(Table):
    """Difficulties of tasks, the hardest first: from their responses, and predicted without them."""

    task: tuple[str, ...] = name("Task")
    difficulty: Floats = number(
        "Difficulty from responses and attributes; empty for a task without results",
        unit="logits",
    )
    difficulty_error: Floats = error("difficulty")
    predicted: Floats = number(
        "Difficulty predicted from attributes and other tasks", unit="logits"
    )
    predicted_low: Floats = bound("predicted", "low")
    predicted_high: Floats = bound("predicted", "high")
    success: Floats = number("Predicted chance of success of an average agent")


class ExplainedAgents(Table):
    """Abilities of agents on the scale of these difficulties, the most able first."""

    agent: tuple[str, ...] = name("Agent")
    ability: Floats = number("Ability; the average agent has 0", unit="logits")
    ability_error: Floats = error("ability")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplainedDifficulty(Answer):
    """Effects of attributes on difficulty, and how well they predict held-out tasks.

    `share` is the share of the variance of difficulty that attributes explain on held-out tasks.
    `residual` and `family` are the standard deviations of difficulty that attributes leave unexplained,
    between tasks and between families of tasks; `spread` is that of abilities.
    """

    kind: ClassVar[str] = "explained-difficulty"

    effects: AttributeEffects
    tasks: ExplainedTasks
    agents: ExplainedAgents
    share: float = field(
        metadata=scalar("Share of the variance of difficulty explained on held-out tasks")
    )
    share_low: float = field(metadata=scalar("Lower end of its 95 % interval"))
    share_high: float = field(metadata=scalar("Upper end of its 95 % interval"))
    terms: tuple[Term, ...]
    fitted: CrossedFit
    critical: float
    attributes: tuple[str, ...] = field(metadata=setting())
    families: str | None = field(metadata=setting())
    overdispersion: float = field(metadata=scalar("Variance of cells relative to chance"))
    seed: int | None = None
    notes: tuple[str, ...] = ()
    level: float = field(default=0.95, metadata=setting())

    @property
    def headline(self) -> str:
        """Which effects are significant, and how well difficulty is predicted."""
        significant = [row for row in self.effects if row.p < 0.05]
        parts = [
            f"{row.attribute} ({row.step}: {row.effect:+.2f} logits, "
            f"{row.effect_low:.2f} to {row.effect_high:.2f})"
            for row in significant[:4]
        ]
        more = f" and {len(significant) - 4} more" if len(significant) > 4 else ""
        first = (
            f"Difficulty depends significantly on {'; '.join(parts)}{more}."
            if parts
            else "No attribute has a significant effect on difficulty."
        )
        return (
            f"{first} Attributes explain {self.share:.0%} of the variance of difficulty on held-out "
            f"tasks (95 %: {self.share_low:.0%} to {self.share_high:.0%})."
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """The explained share, and the unexplained deviations."""
        scalars = {
            **super(ExplainedDifficulty, self).scalars,
            "residual": Scalar(
                self.fitted.residual, "Standard deviation of difficulty left unexplained", "logits"
            ),
            "spread": Scalar(self.fitted.spread, "Standard deviation of abilities", "logits"),
        }
        if self.families is None:
            return scalars
        meaning = f"Standard deviation of difficulty between families by {self.families}"
        return scalars | {"family": Scalar(self.fitted.family, meaning, "logits")}

    def predict(self, tasks: Mapping[str, Mapping[str, Value]]) -> ExplainedTasks:
        """Return the predicted difficulty of tasks without results, from their attributes by name.

        They are taken as tasks of new families.

        >>> from examiner.irt import explain
        >>> from examiner.results import ResponseMatrix
        >>> rng = np.random.default_rng(0)
        >>> names, lines = [f"t{n}" for n in range(40)], rng.normal(size=40)
        >>> chance = 1 / (1 + np.exp(lines - rng.normal(size=(20, 1))))
        >>> matrix = ResponseMatrix.from_array(rng.random((20, 40)) < chance, tasks=names)
        >>> about = [{"task": n, "lines": x} for n, x in zip(names, lines.tolist())]
        >>> explained = explain(matrix, ["lines"], attributes=Attributes.from_dicts("task", about))
        >>> row = explained.predict({"new": {"lines": 2.0}})["new"]
        >>> row.predicted_low < 2.0 < row.predicted_high
        True
        """
        about = Attributes.from_dicts("task", ({"task": n, **row} for n, row in tasks.items()))
        values = attribute_values(about, self.attributes, list(tasks))
        design = design_matrix(self.terms, values)
        if np.isnan(design).any():
            raise InputError(
                f"A task to predict lacks an attribute, or has a category that no task of the fit has. "
                f"Give {listed(self.attributes)} of every task, with categories of the fit."
            )
        unplayed = np.full((2, len(tasks)), np.nan)
        return task_table(tuple(tasks), unplayed, self.fitted.predicted(design), self.critical)


def task_table(
    tasks: Sequence[str], difficulty: Floats, predicted: tuple[Floats, Floats], critical: float
) -> ExplainedTasks:
    """Return difficulties and predictions with intervals: `difficulty` [2, tasks] are values and errors."""
    from scipy.special import expit

    centre, spread = predicted
    order = np.argsort(-np.where(np.isnan(difficulty[0]), centre, difficulty[0]), kind="stable")
    return ExplainedTasks(
        task=[tasks[row] for row in order],
        difficulty=difficulty[0, order],
        difficulty_error=difficulty[1, order],
        predicted=centre[order],
        predicted_low=(centre - critical * spread)[order],
        predicted_high=(centre + critical * spread)[order],
        success=expit(-centre[order]),
    )
