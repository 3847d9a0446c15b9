"""Stored answers, each a JSON document with its schema: fits, selections and examinations.

A document is written completely or not at all, and is read back exactly or refused with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from examiner.adaptive import Examination, TaskBank
from examiner.irt import IRTFit, ItemParameters, fit_from_record
from examiner.messages import InputError, listed, shorten
from examiner.results import write_text
from examiner.selection import Selection
from examiner.storage.plausible import check_plausible
from examiner.validation import ShapeError, from_record, read_outside, to_record

Content: TypeAlias = dict[str, Any]  # Any: JSON values
Storable: TypeAlias = IRTFit | Selection | Examination

# The errors of some two thousand tasks; reading takes ten times as much memory.
_MOST_BYTES = 512 * 2**20


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of document: its schema, its name, the command that writes one, and the type of its answer.

    `read` returns the answer from the content.
    """

    schema: str
    name: str
    command: str
    type: type
    read: Callable[[Content], Any]  # Any: an answer of the type

    def restored(self, content: Content) -> Any:  # Any: an answer of the type
        """Return the answer of a document; an error names the damaged part by its path."""
        try:
            return self.read(content)
        except ShapeError as problem:
            raise InputError(
                f"This stored {self.name} is damaged: its {problem.path} {problem.found}, where "
                f"{problem.wanted} should be. Make it again with `{self.command}`."
            ) from None


def _selection(content: Content) -> Selection:
    selection = from_record(Selection, content)
    if selection.recipe.learnt is None:  # new results would be on another scale
        raise ShapeError("recipe.learnt", "is missing", "what it learnt from the first agents")
    return selection


FIT = Kind(
    "examiner.irt-fit/4",
    "fit",
    "examiner fit … -o fit.json",
    IRTFit,
    read=fit_from_record,
)
SELECTION = Kind(
    "examiner.chosen/3",
    "selection",
    "examiner select … -o chosen.json",
    Selection,
    read=_selection,
)
EXAMINATION = Kind(
    "examiner.examination/1",
    "examination",
    "examiner examine … -o FILE",
    Examination,
    read=dict,  # it takes the fit too: see `load_saved`
)
KINDS = (FIT, SELECTION, EXAMINATION)


def save(answer: Storable, path: str | Path) -> Path:
    """Write a fit, a selection or an examination to a JSON file, and return its path.

    Responses are not written: the file of a fit can be published where the data cannot.

    >>> import tempfile
    >>> from examiner.irt.ability import known
    >>> fit = known(ItemParameters.of(["pong"], [1.0], [1 / 3]))
    >>> path = save(fit, Path(tempfile.mkdtemp()) / "fit.json")
    >>> load_saved(path).items == fit.items
    True
    """
    for kind in KINDS:
        if isinstance(answer, kind.type):
            document = {"schema": kind.schema, **_content(answer)}
            return write_text(
                path, json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n"
            )
    raise InputError(
        f"A {type(answer).__name__} cannot be stored. Save {listed(kind.name for kind in KINDS)}; results "
        f"are written with `write` or `results.save`."
    )


def load_saved(
    path: str | Path, source: TaskBank | ItemParameters | IRTFit | None = None
) -> Storable:
    """Read what `save` wrote, every number bit for bit; an examination needs the fit it was made with.

    >>> load_saved("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    kind, content = _read_document(path, KINDS)
    if kind is EXAMINATION:
        if source is None:
            raise InputError(
                "An examination is read with the fit that it used. Give both: `load_saved(path, fit)`."
            )
        return Examination.from_dict(content, source)
    answer: Storable = kind.restored(content)
    return answer


def open_fit(path: str | Path) -> IRTFit:
    """Read a stored fit; anything else is refused.

    >>> open_fit("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    fit: IRTFit = FIT.restored(_read_document(path, (FIT,))[1])
    return fit


def open_selection(path: str | Path) -> Selection:
    """Read stored tasks with their predictor; anything else is refused.

    >>> open_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    chosen: Selection = SELECTION.restored(_read_document(path, (SELECTION,))[1])
    return chosen


def examination_content(path: str | Path) -> Content:
    """Return the content of a stored examination without its fit, for `replay`.

    >>> examination_content("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    return _read_document(path, (EXAMINATION,))[1]


def _content(answer: Storable) -> Content:
    if isinstance(answer, Examination):
        return answer.to_record()
    content: Content = to_record(answer)
    return content


def _read_document(path: str | Path, kinds: tuple[Kind, ...]) -> tuple[Kind, Content]:
    """Return the kind of a document, one of these, and its content."""
    file = shorten(path, 200)
    what = kinds[0].name if len(kinds) == 1 else "answer"
    make = " or ".join(f"`{kind.command}`" for kind in kinds)
    try:
        content = json.loads(read_outside(path, _MOST_BYTES, f"stored {what}").decode())
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {file}: {reason}. Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{file} is not text, and therefore not a stored {what}. Make one with {make}."
        ) from None
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            f"{file} is not JSON, and therefore not a stored {what}. Make one with {make}."
        ) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    for kind in kinds:
        if schema == kind.schema:
            check_plausible(content, file, f"Make it again with `{kind.command}`.")
            return kind, dict(content)
        if isinstance(schema, str) and schema.partition("/")[0] == kind.schema.partition("/")[0]:
            raise InputError(
                f"{file} was written by another version of examiner: its schema is {shorten(schema)}, "
                f"not {kind.schema!r}. Make it again with `{kind.command}`."
            )
    schemas = " or ".join(repr(kind.schema) for kind in kinds)
    raise InputError(
        f"{file} says its schema is {shorten(schema)}, not {schemas}. Make one with {make}."
    )
