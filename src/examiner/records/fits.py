"""Fits to and from JSON files: `fit.json` publishes the parameters, and reads back exactly."""

from __future__ import annotations

import json
from pathlib import Path

from examiner.irt.fitted import IRTFit
from examiner.irt.stored import fit_from_dict, fit_to_dict
from examiner.results.checks import InputError, shorten
from examiner.results.writing import write_text

SCHEMA = "examiner.irt-fit/1"


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
    content = {"schema": SCHEMA, **fit_to_dict(fit)}
    return write_text(path, json.dumps(content, allow_nan=False, ensure_ascii=False) + "\n")


def read_fit(path: str | Path) -> IRTFit:
    """Read what `write_fit` wrote, every number bit for bit; the fit has no responses.

    >>> read_fit("missing.json")
    Traceback (most recent call last):
    ...
    examiner.results.checks.InputError: Cannot read 'missing.json': No such file ...
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"Cannot read {shorten(path, 200)}: {reason}. Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"{shorten(path, 200)} is no text, so no stored fit.") from None
    try:
        content = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        raise InputError(
            f"{shorten(path, 200)} is not JSON, so no stored fit. Make one with `examiner fit … -o "
            f"fit.json`."
        ) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA:
        raise InputError(
            f"{shorten(path, 200)} says its schema is {shorten(schema)}, not {SCHEMA!r}. Make a stored fit "
            f"with `examiner fit … -o fit.json`."
        )
    return fit_from_dict(content)
