"""Whatever was found, saved and opened again by its schema: fits, chosen tasks, examinations.

Documents are JSON, written whole or not at all, and read back or refused in words.
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
Thing: TypeAlias = IRTFit | Selection | Examination

_MOST_BYTES = (
    512 * 2**20
)  # the errors of some two thousand tasks; reading takes ten times as much memory


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of stored thing: its schema, what it is called, the command that makes one, and its type.

    `read` makes a thing of what a document says.
    """

    schema: str
    name: str
    command: str
    type: type
    read: Callable[[Content], Any]  # Any: a thing of the type

    def thing(self, content: Content) -> Any:  # Any: a thing of the type
        """Return the thing that a document holds; what is wrong in it is named by its path."""
        try:
            return self.read(content)
        except ShapeError as problem:
            raise InputError(
                f"This stored {self.name} is damaged: its {problem.path} {problem.found}, where "
                f"{problem.wanted} should be. Make it again with `{self.command}`."
            ) from None


def _selection(content: Content) -> Selection:
    selection = from_record(Selection, content)
    if selection.recipe.learnt is None:  # new results would be taken as they are, on another scale
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


def save(thing: Thing, path: str | Path) -> Path:
    """Write a fit, chosen tasks or an examination to a JSON file, whole or not at all; return where it is.

    Responses are not written: the file of a fit can be published where the data cannot.

    >>> import tempfile
    >>> from examiner.irt.ability import known
    >>> fit = known(ItemParameters.of(["pong"], [1.0], [1 / 3]))
    >>> path = save(fit, Path(tempfile.mkdtemp()) / "fit.json")
    >>> load_saved(path).items == fit.items
    True
    """
    for kind in KINDS:
        if isinstance(thing, kind.type):
            document = {"schema": kind.schema, **_content(thing)}
            return write_text(
                path, json.dumps(document, allow_nan=False, ensure_ascii=False) + "\n"
            )
    raise InputError(
        f"A {type(thing).__name__} is not stored. Save {listed(kind.name for kind in KINDS)}; results are "
        f"written with `write` or `results.save`."
    )


def load_saved(path: str | Path, source: TaskBank | ItemParameters | IRTFit | None = None) -> Thing:
    """Read what `save` wrote, every number bit for bit; an examination needs the fit it was made with.

    >>> load_saved("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    kind, content = _read_document(path, KINDS)
    if kind is EXAMINATION:
        if source is None:
            raise InputError("An examination is opened with the fit it was made with. Give both.")
        return Examination.from_dict(content, source)
    thing: Thing = kind.thing(content)
    return thing


def open_fit(path: str | Path) -> IRTFit:
    """Read a stored fit; anything else is refused.

    >>> open_fit("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    fit: IRTFit = FIT.thing(_read_document(path, (FIT,))[1])
    return fit


def open_selection(path: str | Path) -> Selection:
    """Read stored tasks with their predictor; anything else is refused.

    >>> open_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    chosen: Selection = SELECTION.thing(_read_document(path, (SELECTION,))[1])
    return chosen


def examination_content(path: str | Path) -> Content:
    """Return what a stored examination says, without a fit: `replay` takes it.

    >>> examination_content("missing.json")
    Traceback (most recent call last):
    ...
    examiner.messages.InputError: Cannot read 'missing.json': No such file ...
    """
    return _read_document(path, (EXAMINATION,))[1]


def _content(thing: Thing) -> Content:
    if isinstance(thing, Examination):
        return thing.to_record()
    content: Content = to_record(thing)
    return content


def _read_document(path: str | Path, kinds: tuple[Kind, ...]) -> tuple[Kind, Content]:
    """Return which of these kinds a document is of, and what it says."""
    file = shorten(path, 200)
    what = kinds[0].name if len(kinds) == 1 else "thing"
    make = " or ".join(f"`{kind.command}`" for kind in kinds)
    try:
        content = json.loads(read_outside(path, _MOST_BYTES, f"stored {what}").decode())
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {file}: {reason}. Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is no text, so no stored {what}. Make one with {make}.") from None
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError(
            f"{file} is not JSON, so no stored {what}. Make one with {make}."
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
