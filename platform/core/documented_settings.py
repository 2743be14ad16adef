"""The settings of a configuration with their types and meanings, which are the comments of the dataclass fields.

A field is documented by the comment at the end of its lines, or by the comment lines directly above it; a section also
by the docstring of its dataclass.
"""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Literal


@dataclass(frozen=True)
class DocumentedSetting:
    """One setting, or a section of settings."""

    key: str  # as typed, such as reinforce.actor.lanes
    value: Any  # of this configuration; None for a section
    kind: str  # the values that it takes, such as "int" or "time or done"; "" for a section
    meaning: str  # "" if the code does not document it
    is_section: bool


def documented_settings(config: Any, prefix: str = "") -> Iterator[DocumentedSetting]:
    """The settings of a configuration dataclass, depth first, in the order of its fields. A section comes before the
    settings in it.

    Args:
        config: an instance. Its fields that are dataclasses are sections.
        prefix: put before each key, with its dot, such as "env.".
    """
    comments, hints = _comments_of(typing.cast(Any, type(config))), typing.get_type_hints(type(config))
    for each in fields(config):
        key, value, comment = f"{prefix}{each.name}", getattr(config, each.name), comments[each.name]
        if is_dataclass(value):
            described = inspect.cleandoc(type(value).__doc__ or "").split("\n\n")[0].replace("\n", " ")
            yield DocumentedSetting(key, None, "", " ".join(filter(None, (described, comment))), True)
            yield from documented_settings(value, f"{key}.")
        else:
            yield DocumentedSetting(key, value, kind_of(hints[each.name]), comment, False)


def kind_of(hint: Any) -> str:
    """A type in words: the values of a Literal, "list of str" for a tuple of any length, "null" for None."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " or ".join(str(each) for each in arguments)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(kind_of(each) for each in arguments)
    if origin is tuple:
        several = arguments[-1] is Ellipsis
        return f"list of {kind_of(arguments[0])}" if several else f"[{', '.join(map(kind_of, arguments))}]"
    if origin is not None and issubclass(origin, Mapping):
        return f"mapping from {kind_of(arguments[0])} to {kind_of(arguments[1])}"
    if hint is Any:
        return "any"
    return "null" if hint is types.NoneType else str(hint.__name__)


@cache
def _comments_of(cls: type[Any]) -> Mapping[str, str]:
    """The comment of each field of a dataclass, those of its bases included."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if is_dataclass(base):
            found |= field_comments(inspect.getsource(base))
    return found


def field_comments(source: str) -> Mapping[str, str]:
    """The comment of each annotated field in the source of one class; "" for a field without one."""
    source = textwrap.dedent(source)
    trailing, alone = _comments(source)
    (declared,) = ast.parse(source).body
    assert isinstance(declared, ast.ClassDef)
    found = {}
    for statement in declared.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            ends = [trailing[line] for line in _lines(statement) if line in trailing]
            found[statement.target.id] = " ".join(ends or _above(statement.lineno, alone))
    return found


def _comments(source: str) -> tuple[dict[int, str], dict[int, str]]:
    """The comments by line: those that end a line of code, and those with a line of their own."""
    trailing: dict[int, str] = {}
    alone: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            into = alone if token.line.lstrip().startswith("#") else trailing
            into[token.start[0]] = token.string.lstrip("# ").strip()
    return trailing, alone


def _lines(statement: ast.AnnAssign) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _above(line: int, alone: Mapping[int, str]) -> list[str]:
    """The comment lines that end directly above a line."""
    first = line
    while first - 1 in alone:
        first -= 1
    return [alone[number] for number in range(first, line)]
