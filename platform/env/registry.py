"""Worlds by name: the built-in ones, those that other packages offer, and those registered by hand.

A package offers a world as an entry point of the group ``interplay.worlds``::

    [options.entry_points]
    interplay.worlds =
        corridor = my_package.corridor:entry

where ``entry`` is a `WorldEntry`, or any callable that returns a world from keyword settings. Nothing is imported
before it is asked for, so a world's dependencies are needed only by those who use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from interplay.env.settings import build_config, did_you_mean
from interplay.env.world import World

GROUP = "interplay.worlds"


@dataclass(frozen=True)
class WorldEntry:
    """A world and the dataclass it is configured by: ``make(name, **settings)`` is ``world(config(**settings))``."""

    world: Callable[[Any], World]
    config: type[Any]

    def __call__(self, **settings: Any) -> World:
        return self.world(build_config(self.config, settings, "env"))


Factory = Callable[..., World]


@dataclass(frozen=True)
class _BuiltIn:
    """Where a world of this package lives, so that it is imported only when wanted."""

    module: str
    world: str
    config: str
    extra: str | None = None  # the extra to install where an import fails

    def load(self) -> WorldEntry:
        try:
            module = import_module(self.module)
        except ModuleNotFoundError as missing:
            if self.extra is None or (missing.name or "").startswith("interplay"):
                raise
            raise ModuleNotFoundError(
                f"env={self.extra} needs the package {missing.name!r}, which is not installed; "
                f"type in the checkout: pip install '.[{self.extra}]'",
                name=missing.name,
            ) from missing
        return WorldEntry(getattr(module, self.world), getattr(module, self.config))


_BUILT_IN: Mapping[str, _BuiltIn] = {
    "playhouse": _BuiltIn("interplay.env.playhouse.world", "Playhouse", "PlayhouseConfig"),
    "gymnasium": _BuiltIn("interplay.env.gymnasium_world", "GymnasiumWorld", "GymnasiumConfig", extra="gymnasium"),
}

_REGISTERED: dict[str, Factory] = {}


def names() -> tuple[str, ...]:
    """Every world that `make` knows, sorted."""
    return tuple(sorted({*_BUILT_IN, *_REGISTERED, *_offered()}))


def make(name: str, **settings: Any) -> World:
    """A new world.

    Raises:
        ValueError: an unknown name, or settings that the world does not take (`SettingsError` lists them all).
        ModuleNotFoundError: the world needs a package that is not installed; the message names the extra.
    """
    return factory(name)(**settings)


def factory(name: str) -> Factory:
    """What makes the world `name` from keyword settings: a `WorldEntry`, or another package's own callable.

    Raises:
        ValueError: an unknown name.
    """
    if name in _BUILT_IN:
        return _BUILT_IN[name].load()
    if name in _REGISTERED:
        return _REGISTERED[name]
    offered = _offered()
    if name not in offered:
        known = names()
        raise ValueError(f"no world is called {name!r}.{did_you_mean(name, known)} Worlds: {', '.join(known)}.")
    loaded = offered[name].load()
    if not callable(loaded):
        raise ValueError(
            f"the entry point {name!r} of group {GROUP} is {offered[name].value!r}, which is a "
            f"{type(loaded).__name__}; offer a WorldEntry or a callable that returns a World"
        )
    made: Factory = loaded
    return made


def config_type(name: str) -> type[Any] | None:
    """The dataclass that configures a world, by which its settings can be checked before it is made; None where the
    world is another package's bare callable."""
    found = factory(name)
    return found.config if isinstance(found, WorldEntry) else None


def register(name: str, entry: Factory) -> None:
    """Adds a world to this process, for notebooks and tests; a package offers an entry point instead.

    Raises:
        ValueError: the name is taken by another world.
    """
    if name in names() and _REGISTERED.get(name) is not entry:
        raise ValueError(f"a world called {name!r} exists already; choose another name than {', '.join(names())}")
    _REGISTERED[name] = entry


def _offered() -> Mapping[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
