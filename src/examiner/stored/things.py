"""Whatever was found, saved and opened again by its schema: fits, chosen tasks, examinations."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TypeAlias

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination
from examiner.checking import from_record, to_record
from examiner.irt.fitted import IRTFit, fit_from_record
from examiner.irt.items import ItemParameters
from examiner.selection.selection import Selection
from examiner.stored.documents import Content, Kind, read_document, write_document
from examiner.stored.earlier import fit_of_schema_1
from examiner.wording import InputError, listed

Thing: TypeAlias = IRTFit | Selection | Examination

FIT = Kind(
    "examiner.irt-fit/2",
    "fit",
    "examiner fit … -o fit.json",
    IRTFit,
    read=fit_from_record,
    earlier={"examiner.irt-fit/1": fit_of_schema_1},
)
SELECTION = Kind(
    "examiner.chosen/2",
    "selection",
    "examiner select … -o chosen.json",
    Selection,
    read=partial(from_record, Selection),
)
EXAMINATION = Kind(
    "examiner.examination/1",
    "examination",
    "examiner examine … -o FILE",
    Examination,
    read=dict,  # it takes the fit too: see `open`
)
KINDS = (FIT, SELECTION, EXAMINATION)


def save(thing: Thing, path: str | Path) -> Path:
    """Write a fit, chosen tasks or an examination to a JSON file, whole or not at all; return where it is.

    Responses are not written: the file of a fit can be published where the data cannot.

    >>> import tempfile
    >>> from examiner.irt.ability import known
    >>> fit = known(ItemParameters.of(["pong"], [1.0], [1 / 3]))
    >>> path = save(fit, Path(tempfile.mkdtemp()) / "fit.json")
    >>> open(path).items == fit.items
    True
    """
    for kind in KINDS:
        if isinstance(thing, kind.type):
            return write_document(kind.schema, _content(thing), path)
    raise InputError(
        f"A {type(thing).__name__} is not stored. Save {listed(kind.name for kind in KINDS)}; results are "
        f"written with `write` or `results.save`."
    )


def open(path: str | Path, source: TaskBank | ItemParameters | IRTFit | None = None) -> Thing:
    """Read what `save` wrote, every number bit for bit; an examination needs the fit it was made with.

    >>> open("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    kind, content = read_document(path, KINDS)
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
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    fit: IRTFit = FIT.thing(read_document(path, (FIT,))[1])
    return fit


def open_selection(path: str | Path) -> Selection:
    """Read stored tasks with their predictor; anything else is refused.

    >>> open_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    chosen: Selection = SELECTION.thing(read_document(path, (SELECTION,))[1])
    return chosen


def examination_content(path: str | Path) -> Content:
    """Return what a stored examination says, without a fit: `replay` takes it.

    >>> examination_content("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return read_document(path, (EXAMINATION,))[1]


def _content(thing: Thing) -> Content:
    if isinstance(thing, Examination):
        return thing.to_dict()
    content: Content = to_record(thing)
    return content
