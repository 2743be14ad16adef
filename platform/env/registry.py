"""Registry of worlds by name: built-in worlds, entry points of other packages, and worlds registered in the process.

A package offers a world as an entry point of the group ``interplay.worlds``::

    [options.entry_points]
    interplay.worlds =
        corridor = my_package.corridor:entry

where ``entry`` is a `WorldEntry`, or any callable that returns a world from keyword settings. A world is imported
when it is first requested, so its dependencies need to be installed only where it is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from typing import Any

from interplay.core.settings_validation import build_config, nearest
from interplay.env.world import World

logger = logging.getLogger(__name__)

ENTRY_POINT_GROUP = "interplay.worlds"


@dataclass(frozen=True)
class WorldEntry:
    """A world and its configuration dataclass: ``make(name, **settings)`` is ``world(config(**settings))``."""

    world: Callable[[Any], World]
    config: type[Any]

    def __post_init__(self) -> None:
        if not (isinstance(self.config, type) and is_dataclass(self.config)):
            raise ValueError(
                f"the config of a WorldEntry must be a dataclass, got {self.config!r}; decorate it with "
                "@dataclass(frozen=True)"
            )
        if missing := getattr(self.world, "__abstractmethods__", None):
            raise ValueError(
                f"the world {self.world!r} has to define {', '.join(sorted(missing))}, as every World does"
            )

    def __call__(self, **settings: Any) -> World:
        return self.world(build_config(self.config, settings, "env"))


Factory = Callable[..., World]


@dataclass(frozen=True)
class _BuiltIn:
    """Import paths of a world of this package, MODULE:NAME. Settings are checked without importing the world."""

    world: str
    config: str
    extra: str | None = None  # the extra to install if an import fails

    def load(self) -> WorldEntry:
        return WorldEntry(lambda config: self._found(self.world)(config), self._found(self.config))

    def _found(self, path: str) -> Any:
        module, _, name = path.partition(":")
        try:
            return getattr(import_module(module), name)
        except ModuleNotFoundError as missing:
            if self.extra is None or (missing.name or "").startswith("interplay"):
                raise
            raise ModuleNotFoundError(
                f"env={self.extra} needs the package {missing.name!r}, which is not installed; "
                f"type in the checkout: pip install '.[{self.extra}]'",
                name=missing.name,
            ) from missing


_BUILT_IN: Mapping[str, _BuiltIn] = {
    "playhouse": _BuiltIn(
        "interplay.env.playhouse.world:Playhouse", "interplay.env.playhouse.house.config:PlayhouseConfig"
    ),
    "commai": _BuiltIn("interplay.env.commai.world:CommAI", "interplay.env.commai.world:CommAIConfig"),
    "voxel": _BuiltIn("interplay.env.voxel.world:make_voxel", "interplay.env.voxel.config:VoxelConfig"),
    "gymnasium": _BuiltIn(
        "interplay.env.gymnasium_world:GymnasiumWorld",
        "interplay.env.gymnasium_world:GymnasiumConfig",
        extra="gymnasium",
    ),
}

BUILT_IN = tuple(_BUILT_IN)  # the names of the worlds of this package

_REGISTERED: dict[str, Factory] = {}


def names() -> tuple[str, ...]:
    """All world names that `make` accepts, sorted."""
    return tuple(sorted({*_BUILT_IN, *_REGISTERED, *_entry_points()}))


def make(name: str, **settings: Any) -> World:
    """Creates a world.

    Raises:
        ValueError: an unknown name, or invalid settings (`SettingsError` lists them all).
        ModuleNotFoundError: the world needs a package that is not installed; the message names the extra.
    """
    entry = factory(name)
    if not isinstance(entry, WorldEntry):
        _check_accepts(name, entry, settings)
    return entry(**settings)


def factory(name: str) -> Factory:
    """The callable that creates the world `name` from keyword settings: a `WorldEntry` or another package's function.

    Raises:
        ValueError: an unknown name, or an entry point of another package that can't be loaded.
    """
    if name in _BUILT_IN:
        warn_of_hidden(name)
        return _BUILT_IN[name].load()
    if name in _REGISTERED:
        return _REGISTERED[name]
    offered = _entry_points().get(name)
    if offered is None:
        known = names()
        raise ValueError(f"no world is called {name!r}.{nearest(name, known)} Worlds: {', '.join(known)}.")
    if len(offered) > 1:
        raise ValueError(
            f"several packages offer a world called {name!r}: "
            + ", ".join(sorted(f"{_package(point)} ({point.value})" for point in offered))
            + f". Remove all but one, or give one another name in the group {ENTRY_POINT_GROUP} of its entry points "
            "and install it again"
        )
    (point,) = offered
    try:
        loaded = point.load()
    except (ImportError, AttributeError, ValueError, SystemExit) as error:
        raise ValueError(
            f"the world {name!r}, entry point {point.value!r} of group {ENTRY_POINT_GROUP}, can't be loaded: "
            f"{type(error).__name__}: {error}. Correct the entry point or that module, and install its package again"
        ) from error
    if not callable(loaded):
        raise ValueError(
            f"the entry point {name!r} of group {ENTRY_POINT_GROUP} is {point.value!r}, which is a "
            f"{type(loaded).__name__}; offer a WorldEntry or a callable that returns a World"
        )
    entry: Factory = loaded
    return entry


def _check_accepts(name: str, entry: Factory, settings: Mapping[str, Any]) -> None:
    """Raises ValueError for a callable that can't be called with the settings of a world."""
    try:
        accepted = signature(entry)
    except ValueError:  # a compiled callable may not state what it takes
        return
    try:
        accepted.bind(**settings)
    except TypeError as wrong:
        raise ValueError(
            f"the world {name!r} can't be created by {entry!r} with the settings {sorted(settings)} of env: {wrong}; "
            "offer a WorldEntry with a config dataclass, or a callable that takes these settings by keyword"
        ) from wrong


def config_type(name: str) -> type[Any] | None:
    """The configuration dataclass of a world, for checking settings before creating it. None if the world is a bare
    callable of another package."""
    found = factory(name)
    return found.config if isinstance(found, WorldEntry) else None


def register(name: str, entry: Factory) -> None:
    """Registers a world in this process, for notebooks and tests; packages use an entry point instead.

    Raises:
        ValueError: another world has this name.
    """
    if name in names() and _REGISTERED.get(name) is not entry:
        raise ValueError(f"a world called {name!r} exists already; choose another name than {', '.join(names())}")
    _REGISTERED[name] = entry


@cache
def warn_of_hidden(name: str) -> None:
    """Logs a warning, once, if another package offers a world under the name of one of this package."""
    own = _BUILT_IN.get(name)
    for point in _entry_points().get(name, ()):
        logger.warning(
            "the package %s offers the world %s as %r, but env=%s is %s: give it another name in the group %s of the "
            "package's entry points, and install the package again",
            *(_package(point), point.value, name, name, own.world if own else "a world of interplay"),
            ENTRY_POINT_GROUP,
        )


def _entry_points() -> Mapping[str, tuple[EntryPoint, ...]]:
    """The worlds of other packages by name; of one that is on the path twice, once."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(point.name, {})[point.value] = point
    return {name: tuple(points.values()) for name, points in found.items()}


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "of an entry point"
