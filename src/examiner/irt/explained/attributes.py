"""Attributes of tasks as standardised columns: numbers, and categories relative to a reference."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from examiner.irt.items import Floats
from examiner.messages import InputError, listed, shorten
from examiner.results import Attributes, Value

_LOGARITHM = re.compile(r"log2\((.+)\)")


@dataclass(frozen=True, slots=True)
class Term:
    """One effect: of a unit of a number, or of one category compared with another.

    `middle` and `scale` standardise its column, so that it has mean 0 and deviation 1 over the tasks.
    """

    attribute: str
    category: str | None = None
    reference: str | None = None
    middle: float = 0.0
    scale: float = 1.0

    @property
    def step(self) -> str:
        """The change of the attribute that has the effect."""
        if self.category is None:
            return "per doubling" if is_logarithm(self.attribute) else "per unit"
        return self.category

    def raw(self, values: Sequence[Value]) -> Floats:
        """Return the term's column before it is standardised, NaN where the attribute is unknown."""
        if self.category is None:
            return numbers_of(self.attribute, values)
        return np.array([np.nan if v is None else float(str(v) == self.category) for v in values])

    def column(self, values: Sequence[Value]) -> Floats:
        """Return the term's standardised column.

        >>> Term("lines", middle=10.0, scale=5.0).column([10, 20, None])
        array([ 0.,  2., nan])
        """
        return (self.raw(values) - self.middle) / self.scale


def is_logarithm(attribute: str) -> bool:
    """Return whether an attribute is the logarithm of a column.

    >>> is_logarithm("log2(minutes)")
    True
    """
    return _LOGARITHM.fullmatch(attribute) is not None


def source_column(attribute: str) -> str:
    """Return the column an attribute is read from: `minutes` of `log2(minutes)`.

    >>> source_column("log2(minutes)"), source_column("language")
    ('minutes', 'language')
    """
    logarithm = _LOGARITHM.fullmatch(attribute)
    return logarithm[1].strip() if logarithm else attribute


def numbers_of(attribute: str, values: Sequence[Value]) -> Floats:
    """Return an attribute's values as numbers, NaN where it is unknown.

    >>> numbers_of("log2(minutes)", [1, 8, None])
    array([ 0.,  3., nan])
    """
    try:
        numbers = np.array([np.nan if value is None else float(value) for value in values])
    except ValueError:
        text = next(value for value in values if isinstance(value, str))
        raise InputError(
            f"{shorten(attribute)} is {shorten(text)} on a task. Give numbers, or name the column alone: "
            f"its values are then categories."
        ) from None
    if np.isinf(numbers).any():
        raise InputError(
            f"{shorten(source_column(attribute))} is infinite on a task. Give finite numbers."
        )
    if not is_logarithm(attribute):
        return numbers
    if (numbers <= 0).any():
        raise InputError(
            f"{shorten(source_column(attribute))} is {np.nanmin(numbers):g} on a task and has no "
            f"logarithm. Use positive numbers, or the column without log2."
        )
    return np.asarray(np.log2(numbers))


def learn_terms(values: Mapping[str, Sequence[Value]]) -> tuple[Term, ...]:
    """Return the terms of attributes on which tasks differ, from their values on the tasks.

    >>> terms = learn_terms({"minutes": [5, 15, 10], "language": ["c", "c", "rust"]})
    >>> [(term.attribute, term.step) for term in terms]
    [('minutes', 'per unit'), ('language', 'rust')]
    """
    terms = []
    for attribute, column in values.items():
        present = [value for value in column if value is not None]
        if _is_numeric(attribute, present):
            candidates = [Term(attribute)]
        else:
            counts = Counter(map(str, present))
            reference = min(counts, key=lambda name: (-counts[name], name))
            candidates = [Term(attribute, name, reference) for name in sorted(counts)]
        for term in candidates:
            raw = term.raw(present)
            if raw.std() > 0 and (term.category is None or term.category != term.reference):
                middle, scale = float(raw.mean()), float(raw.std())
                terms.append(Term(attribute, term.category, term.reference, middle, scale))
    if not terms:
        raise InputError(
            f"All tasks have the same {listed(list(values))}. Name attributes on which tasks differ."
        )
    return tuple(terms)


def _is_numeric(attribute: str, present: Sequence[Value]) -> bool:
    """Whether values are numbers, also as text, since a CSV table of tasks holds text only."""
    if is_logarithm(attribute) or not any(isinstance(v, str) for v in present):
        return True
    try:
        return bool(np.isfinite([float(str(v)) for v in present]).all())
    except ValueError:
        return False


def design_matrix(terms: Sequence[Term], values: Mapping[str, Sequence[Value]]) -> Floats:
    """Return ones and the terms' columns, [tasks, 1 + terms].

    Rows are NaN where an attribute is not known, or has a category that no term has.

    >>> design_matrix([Term("lines")], {"lines": [3, None]})
    array([[ 1.,  3.],
           [ 1., nan]])
    """
    columns = [term.column(values[term.attribute]) for term in terms]
    design = np.column_stack([np.ones(len(columns[0])), *columns])
    for attribute in {term.attribute for term in terms if term.category is not None}:
        of_attribute = [term for term in terms if term.attribute == attribute]
        categories = {of_attribute[0].reference, *(term.category for term in of_attribute)}
        unknown = [value is None or str(value) not in categories for value in values[attribute]]
        design[unknown] = np.nan
    return design


def attribute_values(
    attributes: Attributes, names: Sequence[str], tasks: Sequence[str]
) -> dict[str, tuple[Value, ...]]:
    """Return the values of named attributes on tasks.

    >>> about = Attributes.from_dicts("task", [{"task": "t", "lines": 3}])
    >>> attribute_values(about, ["lines"], ["t", "u"])
    {'lines': (3, None)}
    """
    for name in names:
        if source_column(name) not in attributes.columns:
            have = listed(attributes.columns) if attributes.columns else "no columns"
            raise InputError(
                f"Tasks have no attribute {shorten(source_column(name))}; they have {have}. Give a "
                f"table of tasks with that column."
            )
    return {name: attributes.aligned(tasks, source_column(name)) for name in names}


def check_identified(terms: Sequence[Term], design: Floats) -> None:
    """Refuse a term that is a linear combination of others, since its effect is not identified.

    >>> check_identified([Term("a"), Term("b")], np.array([[1.0, 2.0, 4.0], [1.0, 3.0, 6.0]]))
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: 'b' (per unit) is a combination of the attributes before it. Leave it out.
    """
    for place, term in enumerate(terms, start=1):
        if np.linalg.matrix_rank(design[:, : place + 1], tol=1e-6) <= place:
            raise InputError(
                f"{shorten(term.attribute)} ({term.step}) is a combination of the attributes before it. "
                f"Leave it out."
            )
