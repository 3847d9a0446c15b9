"""What scores are measured in, as a sentence that stands beside every number made from them."""

from __future__ import annotations

from examiner.results import Results


def score_unit(results: Results, measure: str | None = None) -> str:
    """Say what the values of a measure are: as they were read, or what was done to them, in order.

    >>> from examiner.scores import normalise
    >>> table = Results.from_numpy([[10.0], [30.0]])
    >>> score_unit(table), score_unit(normalise(table, "log"))
    ('score as it was read', "score normalised by 'log' (signed log₁₀ of 1 + |score|)")
    """
    name = results.measure_name(measure)
    done = [step for step in results.provenance.steps if step.startswith(f"{name} ")]
    return "; ".join(done) if done else f"{name} as it was read"
