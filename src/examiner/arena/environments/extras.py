"""Packages that only playing needs, imported when asked for, with a sentence where they are absent."""

from __future__ import annotations

import importlib
from types import ModuleType

from examiner.wording import InputError


def ale_package() -> ModuleType:
    """Return ale-py, quiet, with its `roms`.

    >>> ale_package().__name__
    'ale_py'
    """
    ale = _imported("ale_py", "Playing Atari games needs ale-py")
    importlib.import_module("ale_py.roms")
    ale.ALEInterface.setLoggerMode(ale.LoggerMode.Error)
    return ale


def gymnasium_package() -> ModuleType:
    """Return gymnasium.

    >>> gymnasium_package().__name__
    'gymnasium'
    """
    return _imported("gymnasium", "Playing Gymnasium environments needs gymnasium")


def _imported(name: str, need: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{need}: pip install 'examiner[atari]'.") from None
