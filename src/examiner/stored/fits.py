"""Fits to and from JSON files: `fit.json` publishes the parameters, and reads back exactly."""

from __future__ import annotations

from pathlib import Path

from examiner.irt.fitted import IRTFit
from examiner.irt.stored import fit_from_dict, fit_to_dict
from examiner.stored.documents import Kind

FIT = Kind("examiner.irt-fit/1", "fit", "examiner fit … -o fit.json")


def write_fit(fit: IRTFit, path: str | Path) -> Path:
    """Write a fit to a JSON file, whole or not at all, and return where it is.

    Responses are not written: the file can be published where the data cannot.

    >>> import tempfile
    >>> from examiner.irt.items import ItemParameters
    >>> from examiner.irt.known import known_fit
    >>> fit = known_fit(ItemParameters.of(["pong"], [1.0], [1 / 3]))
    >>> path = write_fit(fit, Path(tempfile.mkdtemp()) / "fit.json")
    >>> read_fit(path).items == fit.items
    True
    """
    return FIT.write(fit_to_dict(fit), path)


def read_fit(path: str | Path) -> IRTFit:
    """Read what `write_fit` wrote, every number bit for bit; the fit has no responses.

    >>> read_fit("missing.json")
    Traceback (most recent call last):
    ...
    examiner.wording.InputError: Cannot read 'missing.json': No such file ...
    """
    return fit_from_dict(FIT.read(path))
