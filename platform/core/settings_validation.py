"""Validation of settings: a mapping of plain values becomes a frozen dataclass.

All violations are found before anything starts and are listed together: unknown names with the nearest known one, old
names with the new one, values of the wrong type, NaN, missing values, and what a dataclass refuses in `__post_init__`.
"""

from __future__ import annotations

import difflib
import math
import re
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, SchemaValidator

from interplay.core.documented_settings import kind_of
from interplay.core.renamed_settings import new_name, new_value

ConfigT = TypeVar("ConfigT")
UNKNOWN = "unknown setting."  # begins the message about one


class SettingsError(ValueError):
    """One or more settings are wrong; the message lists each on a separate line."""

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
    if isinstance(settings, of):
        return settings
    config: ConfigT
    problems: dict[Loc, tuple[str, ...]] = {loc: (message,) for loc, message in _refused_values(of, settings, (), name)}
    try:
        (config,) = _validator(cast(Any, of)).validate_python([_with_defaults(of, settings)])
    except ValidationError as error:
        for details in error.errors(include_url=False):
            _translate(of, details, name, problems)
    if problems:
        outermost = [loc for loc in problems if not any(loc[:n] in problems for n in range(len(loc)))]
        ordered = sorted(outermost, key=lambda loc: _order(of, loc))
        raise SettingsError([message for loc in ordered for message in problems[loc]])
    return config


def unknown_setting(path: str, known: Collection[str]) -> str:
    """The message about a setting that does not exist, with its new name if it was renamed, else the nearest name."""
    new = new_name(path)
    if new is not None:
        return f"is now called {new}: type {new}=..."
    return f"{UNKNOWN}{did_you_mean(path.rpartition('.')[2], known)}"


@cache
def setting_types(of: type[Any], prefix: str = "") -> Mapping[str, Any]:
    """The dotted name of every setting of a dataclass and of those in it, with its type. Cached, because every typed
    setting is looked up in it."""
    found: dict[str, Any] = {}
    for entry in fields(of):
        hint, name = _hints(of)[entry.name], f"{prefix}{entry.name}"
        found |= setting_types(_real(hint), f"{name}.") if is_dataclass(_real(hint)) else {name: hint}
    return found


def renamed_value(path: str, value: Any) -> str | None:
    """The message about a renamed value; None if it was not renamed."""
    new = new_value(path, value)
    return None if new is None else f"{value!r} is now called {new!r}: type {new}"


def did_you_mean(name: str, known: Collection[str]) -> str:
    """' Did you mean ...?' if a known name is similar, else the list of all known names.

    For sizes such as '18m' it is always the list, in order: similar digits do not make a similar size.
    """
    sizes = {one: int(one[:-1]) for one in known if re.fullmatch("[0-9]+m", one)}
    near = "" if sizes else nearest(name, known)
    return near or f" Known: {', '.join(sorted(known, key=lambda one: (sizes.get(one, 0), one))) or 'none'}."


def nearest(name: str, known: Collection[str]) -> str:
    """' Did you mean ...?' if a known name is similar, else ''."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


Loc = tuple[str | int, ...]  # path to a value: names of fields, keys of mappings, indices

_hints: Callable[[Any], dict[str, Any]] = cache(typing.get_type_hints)


@cache
def _validator(of: type[Any]) -> SchemaValidator:
    # In a list: pydantic accepts no configuration next to a dataclass, and a list passes it on to the dataclass.
    adapter: TypeAdapter[Any] = TypeAdapter(list[of], config=ConfigDict(extra="forbid"))  # type: ignore[valid-type]
    return SchemaValidator(_without_coercion(adapter.core_schema))


def _without_coercion(schema: Any) -> Any:
    """The schema with strict plain values only: pydantic's strict mode also refuses a mapping for a dataclass."""
    if isinstance(schema, list):
        return [_without_coercion(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {"strict": True} if schema.get("type") in ("bool", "float", "int", "str") else {}
    return {**{key: _without_coercion(item) for key, item in schema.items()}, **strict}


def _with_defaults(of: Any, settings: Any, base: Any = None) -> Any:
    """The settings with the fields missing in a nested dataclass taken from `base`, its field's default."""
    if not (is_dataclass(of) and isinstance(settings, Mapping)):
        return settings
    entries = {entry.name: entry for entry in fields(of) if entry.init}
    completed = {} if base is None else {key: getattr(base, key) for key in entries}
    for key, value in settings.items():
        default = completed.get(key)
        if base is None and key in entries:
            factory = entries[key].default_factory
            default = entries[key].default if factory is MISSING else factory()
        completed[key] = _with_defaults(_hints(of).get(key), value, default if is_dataclass(default) else None)
    return completed


def _refused_values(hint: Any, value: Any, loc: Loc, name: str) -> Iterator[tuple[Loc, str]]:
    """The place and message of each string, also as a key, that has been renamed, and of each NaN, which is neither
    below nor above a limit, and differs from itself when a stage is resumed."""
    path = _path(name, loc)
    if isinstance(value, float) and math.isnan(value):
        yield loc, f"{path}: expected a number, got nan"
    if isinstance(value, str) and hint is not Any and (message := renamed_value(path, value)) is not None:
        yield loc, f"{path}: {message}"
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not is_dataclass(hint) and (message := renamed_value(path, key)) is not None:
                yield (*loc, key), f"{path}: {message}"
            yield from _refused_values(_inner(hint, key), item, (*loc, key), name)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _refused_values(_inner(hint, index), item, (*loc, index), name)


def _translate(of: Any, details: ErrorDetails, name: str, problems: dict[Loc, tuple[str, ...]]) -> None:
    """Adds the messages of one pydantic error to `problems`, those of one error at most for each place."""
    loc, kind, value = details["loc"][1:], details["type"], details["input"]
    if loc[-1:] == ("[key]",):  # a key of a mapping
        problems.setdefault(loc[:-1], (f"{_path(name, loc[:-2])}: expected str, got {value!r}",))
        return
    if kind == "invalid_key":  # a number as the name of a field
        loc, kind = (*loc[:-1], str(loc[-1])), "unexpected_keyword_argument"
    hints = [of]
    for key in loc:
        if not is_dataclass(hints[-1]) and _inner(hints[-1], key) is None:  # names an alternative of a union
            break
        hints.append(_inner(hints[-1], key))
    loc = loc[: len(hints) - 1]
    if kind == "missing" and not is_dataclass(hints[-2]):  # an item of a tuple
        loc, kind = loc[:-1], "too_short"
        hints.pop()
    if kind == "value_error" and any(other[: len(loc)] == loc for other in problems):
        return  # raised by __post_init__, which is not meant for wrong fields
    path = _path(name, loc)
    messages = _messages(details, kind, hints[-1], hints[-2] if loc else None, path)
    problems.setdefault(loc, tuple(f"{path}: {message}" if path else message for message in messages))


def _messages(details: ErrorDetails, kind: str, hint: Any, parent: Any, path: str) -> tuple[str, ...]:
    if kind == "value_error":
        refused = details["ctx"]["error"]
        return refused.problems if isinstance(refused, SettingsError) else (str(refused),)
    return (_message(details, kind, hint, parent, path),)


def _message(details: ErrorDetails, kind: str, hint: Any, parent: Any, path: str) -> str:
    value, hint = details["input"], hint if kind == "missing" else _real(hint)
    if kind == "unexpected_keyword_argument":
        return unknown_setting(path, [entry.name for entry in fields(parent) if entry.init])
    if kind == "missing":
        return f"missing; give it a value of type {_described(hint)}"
    if kind in ("too_short", "too_long"):
        return f"expected {len(get_args(hint))} values ({_described(hint)}), got {len(value)}: {list(value)!r}"
    if kind == "dataclass_type":
        return f"a section of settings, got {value!r}; set one of them: interplay explain {path} lists them"
    if kind == "tuple_type":
        return _no_list(value, hint, path)
    expected = f"expected {_described(hint)}, got {value!r}"
    if hint is bool:
        return f"{expected}; type true or false"
    if hint is int and isinstance(value, float) and value.is_integer():
        return f"{expected}; type {path}={int(value)}"
    if kind == "literal_error" and isinstance(value, str):
        near = nearest(value, [str(choice) for choice in get_args(hint)])
        return f"{expected}.{near}" if near else expected
    if hint is str and (value is None or isinstance(value, bool | int | float)):  # as a date for the name of a run
        written = "null" if value is None else str(value).lower() if isinstance(value, bool) else value
        text = f'"{"TEXT" if isinstance(value, float) else written}"'
        typed = f"[{text}]" if path.endswith("]") else text
        return f"{expected}; a text is typed in double quotes within single ones, {path.partition('[')[0]}='{typed}'"
    return expected


def _no_list(value: Any, hint: Any, path: str) -> str:
    """The message about a single value for a list."""
    if get_args(hint)[-1] is Ellipsis:
        typed = f"; type {path}='[{value}]'" if isinstance(value, str | int | float) else ""
        return f"expected a {_described(hint)}, got {value!r}{typed}"
    example = ",".join("ABCDEFGH"[: len(get_args(hint))])
    return f"expected a list {_described(hint)}, got {value!r}; type {path}='[{example}]'"


def _real(hint: Any) -> Any:
    """`X` for `X | None`; any other type unchanged."""
    alternatives = [alternative for alternative in get_args(hint) if alternative is not type(None)]
    is_union = get_origin(hint) in (Union, types.UnionType)
    return alternatives[0] if is_union and len(alternatives) == 1 else hint


def _inner(hint: Any, key: str | int) -> Any:
    """The type of a field, of a value of a mapping or of an item; None if the type has no such part."""
    hint = _real(hint)
    if is_dataclass(hint):
        return _hints(hint).get(cast(str, key))
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and isinstance(key, int) and arguments[-1] is not Ellipsis:
        return arguments[key] if key < len(arguments) else None
    if origin in (dict, Mapping):
        return arguments[1]
    return arguments[0] if origin in (tuple, list, Sequence) else None


def _order(of: Any, loc: Loc) -> tuple[int, ...]:
    """Sort key of a place: unknown names, then the fields as declared, then the dataclass itself."""
    order, hint = [], of
    for key in loc:
        names = [entry.name for entry in fields(hint)] if is_dataclass(hint) else []
        order.append(key if isinstance(key, int) else names.index(key) if key in names else -1)
        hint = _real(_inner(hint, key))
    return (*order, len(fields(hint)) if is_dataclass(hint) else 0)


def _path(name: str, loc: Loc) -> str:
    for key in loc:
        name = f"{name}[{key}]" if isinstance(key, int) else f"{name}.{key}" if name else key
    return name


def _described(hint: Any) -> str:
    """A type as a user reads it: 'int', 'one of sgd, adam', 'list of float'."""
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(hint))
    return kind_of(hint)
