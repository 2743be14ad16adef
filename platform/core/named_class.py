"""Classes of other packages, which settings name as MODULE:CLASS."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any, TypeVar

from interplay.core.settings_validation import nearest

T = TypeVar("T")

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def names_class(value: str) -> bool:
    """Whether a setting has the form MODULE:CLASS."""
    return _NAME.fullmatch(value) is not None


def create(setting: str, name: str, base: type[T], *arguments: Any, called: str) -> T:
    """Creates the class that `setting` names with MODULE:CLASS.

    Args:
        base: what it has to be a subclass of.
        called: how it is called, for the error.

    Raises:
        ValueError: the module can't be imported, or has no such class, or creating it fails.
    """
    module, _, attribute = name.partition(":")
    try:
        imported = import_module(module)
        found = getattr(imported, attribute, None)
        if isinstance(found, type) and issubclass(found, base):
            return found(*arguments)
    except Exception as error:  # whatever the code of another package raises
        remedy = f"The class is called {called}"
        if isinstance(error, ImportError):
            remedy = "Install its package, or put the folder of its file on PYTHONPATH"
        raise ValueError(f"{setting}={name} can't be created: {type(error).__name__}: {error}. {remedy}") from error
    known = [key for key, each in vars(imported).items() if isinstance(each, type) and issubclass(each, base)]
    raise ValueError(
        f"{setting}={name}: {module} has no subclass {attribute} of {base.__module__}.{base.__qualname__}."
        f"{nearest(attribute, known)}"
    )
