"""Input and output channels of a participant: received tokens and their decoded text, and text waiting to be sent.

An `InputChannel` collects tokens and the text that they decode to; an `OutputChannel` holds the characters that are
waiting to leave, and gives them token by token.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from interplay.env.commai.incremental_search import IncrementalSearch
from interplay.env.commai.observer import Observable
from interplay.env.commai.serializer import Reader, joined_tokens, reader_of


class InputChannel:
    """The tokens received since the last `clear` or replacement of the text, and their decoded text."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer
        self.sequence_updated = Observable()
        self.message_updated = Observable()
        self.tokens: list[Any] = []
        self._text = ""
        self._start = 0  # the first token that is not decoded yet
        self._reader: Reader | None = None
        self._searches: dict[re.Pattern[str], IncrementalSearch] = {}

    def consume_bit(self, token: Any) -> None:
        """Receives one token and decodes the text that it completes."""
        for character in self.take(token):
            self.append(character)

    def take(self, token: Any) -> str:
        """Receives one token; returns the characters that it completes, which the caller appends."""
        self.tokens.append(token)
        if self.sequence_updated.observers:
            self.sequence_updated(self.get_binary())
        if self._reader is None:
            self._reader = reader_of(self.serializer)
        try:
            text, self._start = self._reader.read(self.tokens, self._start)
        except ValueError:
            self.tokens.pop()
            raise
        return text

    def append(self, character: str) -> None:
        """Appends a decoded character to the text."""
        text, self._text = self._text, ""  # the only reference, so that Python extends the string in place
        text += character
        self._text = text
        if self.message_updated.observers:
            self.message_updated(text)

    def clear(self) -> None:
        """Discards everything received, including tokens that are not decoded yet."""
        self.tokens.clear()
        self._text = ""
        self._start = 0
        self._reader = None
        self._searches.clear()

    def get_text(self) -> str:
        """The decoded text."""
        return self._text

    def get_binary(self) -> Any:
        """The tokens: a string, or a list if they are numbers."""
        return joined_tokens(self.tokens)

    def get_undeserialized(self) -> Any:
        """The tokens that are not decoded yet."""
        return joined_tokens(self.tokens[self._start :])

    def tokens_to_byte(self) -> int:
        """How many bits complete the next byte."""
        return 8 - (len(self.tokens) - self._start) % 8

    def set_deserialized_buffer(self, text: str) -> None:
        """Replaces the decoded text, and discards the tokens that it came from, unless a reader counts them."""
        self._text = text
        self._searches.clear()
        if self._reader is self.serializer:
            del self.tokens[: self._start]
            self._start = 0

    def mask_last(self, silence: str) -> None:
        """Replaces the last character by silence."""
        if self._text:
            self._text = self._text[:-1] + silence

    def search(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """`pattern.search` on the whole text; the cost grows only with the new characters."""
        found = self._searches.get(pattern)
        if found is None:
            found = self._searches[pattern] = IncrementalSearch(pattern)
        return found.search(self._text)


class OutputChannel:
    """Queue of characters to be sent, one token at a time."""

    def __init__(self, serializer: Any) -> None:
        self.serializer = serializer
        self._waiting: deque[tuple[str, Any]] = deque()  # characters with their tokens
        self.leaving: Iterator[Any] = iter("")  # remaining tokens of the character being sent
        self.character = ""  # that character

    def set_message(self, message: str) -> None:
        """Replaces the queue, except for the remaining tokens of the character being sent."""
        self._waiting.clear()
        self.add_message(message)

    def add_message(self, message: str) -> None:
        """Appends a message."""
        serializer = self.serializer
        if hasattr(serializer, "pairs"):
            self._waiting.extend(serializer.pairs(message))
        else:
            self._waiting.extend([(character, serializer.to_binary(character)) for character in message])

    def consume_bit(self) -> Any:
        """The next token, or None if nothing is left."""
        for token in self.leaving:
            return token
        if not self._waiting:
            return None
        self.character, tokens = self._waiting.popleft()
        self.leaving = iter(tokens)
        return next(self.leaving)

    def clear(self) -> None:
        """Empties the queue, including the rest of the character being sent."""
        self._waiting.clear()
        self.leaving = iter("")

    def get_text(self) -> str:
        """The characters still to be sent as a whole, unscrambled."""
        return "".join(character for character, _ in self._waiting)

    def left(self) -> int:
        """Number of remaining tokens of the character being sent."""
        return self.leaving.__length_hint__()  # type: ignore[attr-defined, no-any-return]

    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return not self._waiting and not self.left()

    def is_silent(self) -> bool:
        """Whether nothing but silence is left."""
        silence = self.serializer.SILENCE_TOKEN
        if self.left() and self.character != silence:
            return False
        for character, _ in self._waiting:  # noqa: SIM110 - called often, and faster than all()
            if character != silence:
                return False
        return True
