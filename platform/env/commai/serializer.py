"""Serializers: how text becomes the tokens of a channel, and back.

A serializer has a `SILENCE_TOKEN` (a space), `to_binary(text)`, `to_text(tokens)` and `can_deserialize(tokens)`. The
channels decode with a *reader*, which `reader()` creates and which is called after each token; for a serializer without
one, they call `can_deserialize`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from interplay.env.commai.scrambling import ScramblingSerializerWrapper

__all__ = [
    "ASCIISerializer",
    "GeneralSerializer",
    "IdentitySerializer",
    "ScramblingSerializerWrapper",
    "StandardSerializer",
]

SILENCE = " "
BYTE = 8
LONGEST_PREFIX = 3 * BYTE  # bits that may still become a character of four bytes


class Reader(Protocol):
    """Decoder of a growing list of tokens."""

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """Returns the text that `tokens[start:]` completes, "" if none yet, and the index of the first unread token."""


class _StatelessSerializer(ABC):
    """A serializer that is its own reader; by default each token is a character."""

    def can_deserialize(self, tokens: Sequence[Any]) -> bool:
        """Whether there is a token."""
        return len(tokens) > 0

    def reader(self) -> Reader:
        """This serializer, which needs no memory."""
        return self

    @abstractmethod
    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """See `Reader.read`."""


class IdentitySerializer(_StatelessSerializer):
    """A token is a character."""

    SILENCE_TOKEN = SILENCE

    def to_binary(self, text: str) -> str:
        """The text itself."""
        return text

    def to_text(self, tokens: Iterable[str], strict: bool = False) -> str:
        """The tokens, joined."""
        return "".join(tokens)

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The last token, which is a character.

        Raises:
            ValueError: it is not one character.
        """
        token = tokens[-1]
        if not isinstance(token, str) or len(token) != 1:
            raise ValueError(f"a token is one character here, got {token!r}")
        return token, len(tokens)


class StandardSerializer(_StatelessSerializer):
    """UTF-8 as a string of '0' and '1', high bit first. `silence_encoding="\\0"` makes silence eight zeros."""

    SILENCE_TOKEN = SILENCE

    def __init__(self, silence_encoding: str = SILENCE) -> None:
        self.silence_encoding = silence_encoding
        self._encoded: dict[str, str] = {SILENCE: _bits(silence_encoding)}
        self._decoded = {_bits(chr(code)): chr(code) for code in range(128)}
        self._decoded[_bits(silence_encoding)] = SILENCE

    def to_binary(self, text: str) -> str:
        """The bits of a text."""
        encoded = self._encoded
        for character in text:
            if character not in encoded:
                encoded[character] = _bits(character)
        return "".join([encoded[character] for character in text])

    def to_text(self, bits: Iterable[str], strict: bool = False) -> str | None:
        """The text of whole bytes, or None if no text decodes.

        Leading bytes are skipped until the rest decodes, unless `strict`.
        """
        joined = "".join(bits)
        if len(joined) % BYTE or not joined:
            return None
        data = _bytes(joined)
        for start in range(1 if strict else len(data)):
            try:
                return data[start:].decode().replace(self.silence_encoding, SILENCE)
            except UnicodeDecodeError:
                continue
        return None

    def can_deserialize(self, bits: Iterable[str]) -> bool:
        """Whether `to_text` returns a text."""
        return self.to_text(bits) is not None

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The character that the last bit completes. A byte is dropped when three others follow without completing a
        character, which bounds the cost of invalid input."""
        if (len(tokens) - start) % BYTE:
            return "", start
        bits = _joined(tokens[start:])
        text = self._decoded.get(bits) or self.to_text(bits)
        if text is not None:
            return text, len(tokens)
        return "", max(start, len(tokens) - LONGEST_PREFIX)


class GeneralSerializer(_StatelessSerializer):
    """Symbols by number: a token is an index of `i2s`, a list or mapping of characters."""

    def __init__(self, i2s: Sequence[str] | Mapping[int, str], silence_idx: int) -> None:
        pairs = i2s.items() if isinstance(i2s, Mapping) else enumerate(i2s)
        self.i2s = dict(pairs)
        self.s2i = {symbol: index for index, symbol in self.i2s.items()}
        self.silence_idx = silence_idx
        self.SILENCE_TOKEN = self.i2s[silence_idx]

    def to_binary(self, text: str) -> list[int]:
        """The index of each character.

        Raises:
            ValueError: a character without an index.
        """
        unknown = sorted(set(text) - set(self.s2i))
        if unknown:
            raise ValueError(f"no index for {unknown}; the symbols are {''.join(self.s2i)!r}")
        return [self.s2i[character] for character in text]

    def to_text(self, indices: Iterable[int], strict: bool = False) -> str:
        """The symbols of some indices."""
        return "".join([self.i2s[index] for index in indices])

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The symbol of the last token.

        Raises:
            ValueError: it is no index of a symbol.
        """
        symbol = self.i2s.get(tokens[-1])
        if symbol is None:
            raise ValueError(f"a token is an index from {min(self.i2s)} to {max(self.i2s)} here, got {tokens[-1]!r}")
        return symbol, len(tokens)


class ASCIISerializer(GeneralSerializer):
    """The 128 characters of ASCII by their codes."""

    def __init__(self) -> None:
        super().__init__([chr(code) for code in range(128)], ord(SILENCE))


class ForeignReader:
    """Reader for a serializer that only has the four public members."""

    def __init__(self, serializer: Any) -> None:
        self._serializer = serializer

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The text of all unread tokens."""
        waiting = joined_tokens(tokens[start:])
        if not self._serializer.can_deserialize(waiting):
            return "", start
        return self._serializer.to_text(waiting) or "", len(tokens)


def reader_of(serializer: Any) -> Reader:
    """A reader for any serializer."""
    if isinstance(serializer, ScramblingSerializerWrapper):
        return serializer.reader(reader_of)
    made: Reader = serializer.reader() if hasattr(serializer, "reader") else ForeignReader(serializer)
    return made


def joined_tokens(tokens: list[Any]) -> Any:
    """Tokens as a string if they are strings, as a list otherwise."""
    return "".join(tokens) if all(isinstance(token, str) for token in tokens) else tokens


def _joined(tokens: list[Any]) -> str:
    try:
        return "".join(tokens)
    except TypeError:
        raise ValueError(f"a token is '0' or '1' here, got {_other(tokens)!r}") from None


def _bytes(bits: str) -> bytes:
    try:
        return int(bits, 2).to_bytes(len(bits) // BYTE, "big")
    except ValueError:
        raise ValueError(f"a token is '0' or '1' here, got {_other(bits)!r}") from None


def _other(tokens: Iterable[Any]) -> Any:
    return next(token for token in tokens if token not in ("0", "1"))


def _bits(text: str) -> str:
    return "".join(f"{byte:08b}" for byte in text.encode())
