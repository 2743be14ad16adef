"""Validation of settings: a mapping of plain values becomes a frozen dataclass.

All violations are found before anything starts and are listed together: unknown names with the nearest known one, old
names with the new one, values of the wrong type, missing values, and what a dataclass refuses in `__post_init__`.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from interplay.core.renamed_settings import new_name, new_value

ConfigT = TypeVar("ConfigT")


class SettingsError(ValueError):
    """One or more settings are wrong; the message lists each on a line of its own."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        heading = "1 setting is wrong" if len(self.problems) == 1 else f"{len(self.problems)} settings are wrong"
        super().__init__("\n  - ".join([f"{heading}:", *self.problems]))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)  # pickle would pass the message, whose letters would become the problems


def build_config(of: type[ConfigT], settings: Mapping[str, Any], name: str = "") -> ConfigT:
    """Builds the dataclass `of` from plain values: nested mappings, lists, numbers, strings, None.

    Whole numbers become floats and lists become tuples if the dataclass declares them; nothing else is converted. If
    only some fields of a nested dataclass are given, the others come from the field's own default.
    `name` is the prefix of paths in messages ("env" makes "env.hieght").

    Raises:
        SettingsError: every wrong setting, listed.
    """
    problems = _Problems()
    config = _build(of, settings, name, problems)
    if problems.found:
        raise SettingsError(problems.found)
    assert isinstance(config, of)
    return config


def unknown_setting(path: str, known: Collection[str]) -> str:
    """The message about a setting that does not exist, with its new name if it was renamed, else the nearest name."""
    new = new_name(path)
    if new is not None:
        return f"is now called {new}: type {new}=..."
    return f"unknown setting.{did_you_mean(path.rpartition('.')[2], known)}"


def renamed_value(path: str, value: Any) -> str | None:
    """The message about a renamed value; None if it was not renamed."""
    new = new_value(path, value)
    return None if new is None else f"{value!r} is now called {new!r}: type {new}"


def did_you_mean(name: str, known: Collection[str]) -> str:
    """' Did you mean ...?' if a known name is similar, else the list of all known names."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    return f" Known: {', '.join(sorted(known)) or 'none'}."


@dataclass
class _Problems:
    found: list[str] = field(default_factory=list)

    def add(self, where: str, what: str) -> None:
        self.found.append(f"{where}: {what}" if where else what)


# Placeholder for a value that could not be built, so that the search for further violations continues.
_INVALID: Any = object()


def _build(of: type[Any], settings: Any, where: str, problems: _Problems, base: Any = None) -> Any:
    """`base` is an instance of `of` that gives the fields missing in `settings`; None for the class's defaults."""
    if isinstance(settings, of):
        return settings
    if not isinstance(settings, Mapping):
        problems.add(where, f"expected the settings of {of.__name__} as a mapping, got {settings!r}")
        return _INVALID
    known: dict[str, Field[Any]] = {entry.name: entry for entry in fields(of) if entry.init}
    hints = typing.get_type_hints(of)
    before = len(problems.found)
    for key in settings:
        if key not in known:
            problems.add(_join(where, str(key)), unknown_setting(_join(where, str(key)), known))
    values = {} if base is None else {key: getattr(base, key) for key in known}
    for key, entry in known.items():
        if key in settings:
            inner = _default(entry) if base is None else values[key]
            values[key] = _convert(hints[key], settings[key], _join(where, key), problems, inner)
        elif base is None and entry.default is MISSING and entry.default_factory is MISSING:
            problems.add(_join(where, key), f"missing; give it a value of type {_described(hints[key])}")
    if len(problems.found) > before:
        return _INVALID
    try:
        return of(**values)
    except ValueError as refusal:
        problems.add(where, str(refusal))
        return _INVALID


def _default(entry: Field[Any]) -> Any:
    """The default of a field, or None."""
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return None if entry.default is MISSING else entry.default


def _convert(hint: Any, value: Any, where: str, problems: _Problems, default: Any = None) -> Any:
    """The value converted to the type `hint`; a value that does not fit is added to `problems`."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin is Union or origin is types.UnionType:
        return _convert_union(hint, value, where, problems)
    if origin is Literal:
        return _convert_choice(hint, value, where, problems)
    if isinstance(hint, type) and is_dataclass(hint):
        return _build(hint, value, where, problems, default if isinstance(default, hint) else None)
    if origin is tuple:
        return _convert_tuple(hint, value, where, problems)
    if origin in (list, Sequence) and _is_sequence(value):
        (inner,) = get_args(hint)
        items = [_convert(inner, item, f"{where}[{i}]", problems) for i, item in enumerate(value)]
        return items if origin is list else tuple(items)
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        of_key, of_value = get_args(hint)
        return {
            _convert(of_key, key, where, problems): _convert(of_value, item, _join(where, str(key)), problems)
            for key, item in value.items()
        }
    return _convert_plain(hint, value, where, problems)


def _convert_plain(hint: Any, value: Any, where: str, problems: _Problems) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)  # bool is an int to Python, not to users
    if hint is float and (whole or isinstance(value, float)):
        return float(value)
    if hint is int and whole:
        return value
    if hint is Path and isinstance(value, str | Path):
        return Path(value)
    if hint in (bool, str) and isinstance(value, hint):
        old = renamed_value(where, value)
        if old is not None:
            problems.add(where, old)
        return value
    if hint is type(None) and value is None:
        return None
    problems.add(where, f"expected {_described(hint)}, got {value!r}")
    return _INVALID


def _convert_union(hint: Any, value: Any, where: str, problems: _Problems) -> Any:
    """The first alternative that fits. If only one is not None, its own problem is reported."""
    alternatives = get_args(hint)
    if value is None and type(None) in alternatives:
        return None
    real = [alternative for alternative in alternatives if alternative is not type(None)]
    if len(real) == 1:
        return _convert(real[0], value, where, problems)
    # An int must stay an int in `int | float`: try the exact type first.
    for alternative in sorted(real, key=lambda of: type(value) is not of):
        attempt = _Problems()
        converted = _convert(alternative, value, where, attempt)
        if not attempt.found:
            return converted
    problems.add(where, f"expected {_described(hint)}, got {value!r}")
    return _INVALID


def _convert_choice(hint: Any, value: Any, where: str, problems: _Problems) -> Any:
    choices = get_args(hint)
    if value in choices:
        return value
    hint_at = did_you_mean(value, [str(choice) for choice in choices]) if isinstance(value, str) else ""
    old = renamed_value(where, value)
    problems.add(where, old or f"expected {_described(hint)}, got {value!r}.{hint_at}")
    return _INVALID


def _convert_tuple(hint: Any, value: Any, where: str, problems: _Problems) -> Any:
    inner = get_args(hint)
    if not _is_sequence(value):
        problems.add(where, f"expected a list ({_described(hint)}), got {value!r}")
        return _INVALID
    if len(inner) == 2 and inner[1] is Ellipsis:
        inner = (inner[0],) * len(value)
    elif len(inner) != len(value):
        problems.add(where, f"expected {len(inner)} values ({_described(hint)}), got {len(value)}: {list(value)!r}")
        return _INVALID
    pairs = zip(inner, value, strict=True)
    return tuple(_convert(of, item, f"{where}[{i}]", problems) for i, (of, item) in enumerate(pairs))


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _described(hint: Any) -> str:
    """A type as a user reads it: 'int', 'one of sgd, adam', 'a list of float'."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(hint))
    if hint is type(None):
        return "None"
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_described(alternative) for alternative in get_args(hint))
    if isinstance(hint, type) and get_origin(hint) is None:
        return hint.__name__
    return str(hint).replace("typing.", "").replace("collections.abc.", "")
