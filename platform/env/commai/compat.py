"""Imports of files written for CommAI-env: core.X, tasks.X, worlds.X, learners.X and view.X find the modules here.

`install` adds a finder to Python's import system. An alias is the very module, so that classes are the same by either
name. Modules that do not exist here are searched in the folders of those names on `sys.path`, and next to the
configuration file, so that ``tasks/mine.py`` works. A file imported afterwards that imports `random` gets one whose
functions draw from the current session.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from interplay.env.commai import randomness

PACKAGE = "interplay.env.commai"
FOLDERS = ("core", "tasks", "worlds", "learners", "view")
SPECIAL = {"core": "", "core.obs": "", "core.aux": "", "core.obs.observer": "observer", "core.aux.observer": "observer"}
_FUNCTIONS = [name for name in dir(random.Random) if not name.startswith("_") and hasattr(random, name)]


class _AliasLoader(Loader):
    """Import loader that returns an existing module under another name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has set that of the alias


class _Finder(MetaPathFinder):
    """Finds the modules of CommAI-env by their old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in FOLDERS:
            return None
        ours = SPECIAL.get(fullname)
        ours = fullname.removeprefix("core.") if ours is None else ours
        name = f"{PACKAGE}.{ours}" if ours else PACKAGE
        if _exists(name):
            spec = ModuleSpec(fullname, _AliasLoader(importlib.import_module(name)))
            spec.submodule_search_locations = []
            return spec
        folder = fullname.rpartition(".")[0].replace(".", "/")
        return PathFinder.find_spec(fullname, [str(Path(place, folder)) for place in (*sys.path, "")])


class _SessionRandom(ModuleType):
    """Replacement of the module `random` whose functions draw from the current session's generator."""

    def __getattr__(self, name: str) -> Any:
        if name in _FUNCTIONS:
            return lambda *args, **kwargs: getattr(randomness.current(), name)(*args, **kwargs)
        return getattr(random, name)


_FINDER = _Finder()


def install() -> None:
    """Makes the old names importable, and `random` the session's for modules imported from now on. Safe to repeat."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    sys.modules["random"] = _SessionRandom("random", random.__doc__)


def uninstall() -> None:
    """Undoes `install`."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    sys.modules["random"] = random
    for name in [name for name in sys.modules if name.partition(".")[0] in FOLDERS]:
        del sys.modules[name]


@contextmanager
def searched(folder: Path) -> Iterator[None]:
    """Context in which modules next to a configuration file can be imported."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
