"""`re.search` over a growing text; the cost of a search grows only with the new characters.

A task searches everything said since it began, at each character. From the parsed pattern this module derives which
starts of a match are settled: a pattern of bounded width cannot match at a start whose window has been seen, a pattern
that needs certain characters cannot match across another one, and a pattern that ends in ``x$`` matches only where the
text ends in x. The result equals `re.search` over the whole text, as tests with random patterns and texts check.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

# The parser of `re`, which has no public interface; both modules exist from Python 3.11 on.
_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

MARGIN = 2  # characters behind a match on which `$` and a word boundary depend
UNBOUNDED = 10_000  # wider than this counts as unbounded


class IncrementalSearch:
    """The search for one pattern in one growing text. Only its last character may change in place."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._shape = shape_of(pattern)
        self._from = 0  # no match starts before it
        self._seen = 0  # characters checked for those that no match may contain
        self._found: re.Match[str] | None = None  # the first match, once no further character can change it

    def search(self, text: str) -> re.Match[str] | None:
        """The same as `pattern.search(text)`."""
        if self._found is not None:
            return self._found
        shape = self._shape
        if shape.opaque:
            return self._pattern.search(text)
        if shape.anchored and not shape.may_end(text):
            return None
        self._skip_barriers(text)
        if shape.anchored:
            self._from = max(self._from, len(text) - shape.width - 1)  # `$` also matches before a newline at the end
            return self._pattern.search(text, self._from)
        match = self._pattern.search(text, self._from)
        if match is None:
            self._from = max(self._from, len(text) - shape.width - MARGIN)
        elif match.start() + shape.width + MARGIN <= len(text):
            self._found = match
        return match

    def _skip_barriers(self, text: str) -> None:
        """Moves the first possible start behind the last character that no match contains."""
        end = len(text) - 1  # the last character may still change
        if self._shape.width < UNBOUNDED:
            return
        for index in range(self._seen, end):
            if not self._shape.may_contain(text[index]):
                if not self._shape.anchored and self._pattern.search(text[: index + 1], self._from):
                    break
                self._from = index + 1
        self._seen = max(self._seen, end)


class Shape:
    """Properties of a pattern's matches, read from the parsed pattern."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        parsed = _parser.parse(pattern.pattern, pattern.flags)
        self.width: int = parsed.getwidth()[1]
        names = {str(operator) for operator, _ in _walk(parsed)}
        self.opaque = bool(names & _OPAQUE) or any(_has_flags(node) for node in _walk(parsed))
        end = parsed[-1] if len(parsed) else (None, None)
        self.anchored = str(end[0]) == "AT" and str(end[1]) in ("AT_END", "AT_END_STRING")
        self.anchored &= not pattern.flags & re.MULTILINE
        self._last = self._last_character(parsed, pattern.flags) if self.anchored else None
        self._leaves = [_matcher(parsed.state, node) for node in _walk(parsed) if str(node[0]) in _CONSUMING]
        self._known: dict[str, bool] = {}

    def may_contain(self, character: str) -> bool:
        """Whether a match may contain the character."""
        if character not in self._known:
            self._known[character] = any(leaf.match(character) for leaf in self._leaves)
        return self._known[character]

    def may_end(self, text: str) -> bool:
        """Whether the text ends in the character that a match ends in; True if that may be any."""
        last = text[-1:]
        return self._last is None or last == self._last or (last == "\n" and text[-2:-1] == self._last)

    def _last_character(self, parsed: Any, flags: int) -> str | None:
        """The character that the text must end in, if the pattern ends in a literal and `$`."""
        if len(parsed) < 2 or flags & re.IGNORECASE or str(parsed[-2][0]) != "LITERAL":
            return None
        return chr(parsed[-2][1])


_OPAQUE = {"ASSERT", "ASSERT_NOT", "GROUPREF", "GROUPREF_EXISTS"}  # a match depends on more than its own window
_CONSUMING = {"LITERAL", "NOT_LITERAL", "ANY", "IN"}


@cache
def shape_of(pattern: re.Pattern[str]) -> Shape:
    """The shape of a pattern, derived once."""
    return Shape(pattern)


def _walk(parsed: Any) -> list[Any]:
    """All nodes of a parsed pattern, outer ones first."""
    nodes = []
    for operator, argument in parsed:
        nodes.append((operator, argument))
        for inner in _parts(argument):
            nodes.extend(_walk(inner))
    return nodes


def _parts(argument: Any) -> list[Any]:
    """The parsed patterns within the argument of a node."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, list | tuple):
        return [part for item in argument for part in _parts(item)]
    return []


def _has_flags(node: Any) -> bool:
    """Whether the node is a group with its own flags."""
    return str(node[0]) == "SUBPATTERN" and bool(node[1][1] or node[1][2])


def _matcher(state: Any, node: Any) -> Any:
    """A compiled pattern of one node that consumes a character."""
    return _compiler.compile(_parser.SubPattern(state, [node]))
