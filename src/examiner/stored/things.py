"""Whatever was found, saved and opened again by its schema: fits, chosen tasks, examinations."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from examiner.adaptive.bank import TaskBank
from examiner.adaptive.examination import Examination
from examiner.irt.fitted import IRTFit
from examiner.irt.items import ItemParameters
from examiner.irt.stored import fit_from_dict, fit_to_dict
from examiner.selection.choosing import ChosenSet
from examiner.stored.documents import Content, Kind, read_document, write_document
from examiner.wording import InputError, listed

Thing: TypeAlias = IRTFit | ChosenSet | Examination

FIT = Kind(
    "examiner.irt-fit/1", "fit", "examiner fit … -o fit.json", IRTFit, fit_to_dict, fit_from_dict
)
SELECTION = Kind(
    "examiner.chosen/1",
    "selection",
    "examiner select … -o chosen.json",
    ChosenSet,
    ChosenSet.to_dict,
    ChosenSet.from_dict,
)
EXAMINATION = Kind(
    "examiner.examination/1",
    "examination",
    "examiner examine … --save FILE",
    Examination,
    Examination.to_dict,
    Examination.from_dict,
)
KINDS = (FIT, SELECTION, EXAMINATION)


def save(thing: Thing, path: str | Path) -> Path:
    """Write a fit, chosen tasks or an examination to a JSON file, whole or not at all; return where it is.

    Responses are not written: the file of a fit can be published where the data cannot.

    >>> import tempfile
    >>> from examiner.irt.known import known
    >>> fit = known(ItemParameters.of(["pong"], [1.0], [1 / 3]))
    >>> path = save(fit, Path(tempfile.mkdtemp()) / "fit.json")
    >>> open(path).items == fit.items
    True
    """
    for kind in KINDS:
        if isinstance(thing, kind.type):
            return write_document(kind.schema, kind.to_content(thing), path)
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
    thing: Thing = kind.from_content(content)
    return thing


def open_fit(path: str | Path) -> IRTFit:
    """Read a stored fit; anything else is refused.

    >>> open_fit("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return fit_from_dict(read_document(path, (FIT,))[1])


def open_selection(path: str | Path) -> ChosenSet:
    """Read stored tasks with their predictor; anything else is refused.

    >>> open_selection("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return ChosenSet.from_dict(read_document(path, (SELECTION,))[1])


def examination_content(path: str | Path) -> Content:
    """Return what a stored examination says, without a fit: `replay` takes it.

    >>> examination_content("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return read_document(path, (EXAMINATION,))[1]
