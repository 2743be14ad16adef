"""Serializers: how text becomes the tokens of a channel, and back.

A serializer has a `SILENCE_TOKEN` (a space), `to_binary(text)`, `to_text(tokens)` and `can_deserialize(tokens)`. The
channels decode with a *reader*, which `reader()` creates and which is called after each token; for a serializer without
one, they call `can_deserialize`.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Protocol

SILENCE = " "
BYTE = 8
BITS = frozenset("01")
LONGEST_PREFIX = 3 * BYTE  # bits that may still become a character of four bytes
CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiou"


class LearnerError(ValueError):
    """The learner did not answer with a token. A session that ends with it is reported in one line: the traceback would
    show none of the learner's code."""


class Reader(Protocol):
    """Decoder of a growing list of tokens."""

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """Returns the text that `tokens[start:]` completes, "" if none yet, and the index of the first unread token."""


class _StatelessSerializer(Reader):
    """A serializer that is its own reader; by default each token is a character."""

    def can_deserialize(self, tokens: Sequence[Any]) -> bool:
        """Whether there is a token."""
        return len(tokens) > 0

    def reader(self) -> Reader:
        """This serializer, which needs no memory."""
        return self


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
            LearnerError: it is not one character.
        """
        token = tokens[-1]
        if not isinstance(token, str) or len(token) != 1:
            raise LearnerError(f"a token must be one character, got {token!r}")
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
        character, which bounds the cost of invalid input.

        Raises:
            LearnerError: one of the last eight tokens is not a bit.
        """
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
            LearnerError: it is no index of a symbol.
        """
        symbol = self.i2s.get(tokens[-1])
        if symbol is None:
            raise LearnerError(f"a token must be an index from {min(self.i2s)} to {max(self.i2s)}, got {tokens[-1]!r}")
        return symbol, len(tokens)


class ASCIISerializer(GeneralSerializer):
    """The 128 characters of ASCII by their codes."""

    def __init__(self) -> None:
        super().__init__([chr(code) for code in range(128)], ord(SILENCE))


class Pseudowords:
    """A one-to-one mapping of words. Length and the case of each letter are kept; words with a letter outside a-z are
    not changed.

    The generator alone decides the mapping, not the order in which words are asked for, so that a replayed session maps
    its words as the first one did.

    Args:
        rng: one number is drawn from it.
        readable: whether vowels become vowels, and consonants consonants.
    """

    def __init__(self, rng: random.Random, readable: bool = True) -> None:
        self._key = rng.getrandbits(64)
        self._readable = readable
        self._scrambled: dict[str, str] = {}
        self._plain: dict[str, str] = {}

    def scramble(self, word: str) -> str:
        """The pseudo-word of a word."""
        return self._mapped(word, self._scrambled, self._scrambled_word)

    def unscramble(self, word: str) -> str:
        """The word of a pseudo-word."""
        return self._mapped(word, self._plain, self._plain_word)

    def _mapped(self, word: str, known: dict[str, str], mapping: Callable[[str], str]) -> str:
        if not is_letters(word):
            return word
        lower = word.lower()
        if lower not in known:
            known[lower] = mapping(lower)
        return "".join(c.upper() if w.isupper() else c for c, w in zip(known[lower], word, strict=True))

    def _scrambled_word(self, word: str) -> str:
        return self._shifted(self._shifted(word, 1)[::-1], 1)[::-1]  # each letter depends on all letters of the word

    def _plain_word(self, word: str) -> str:
        return self._shifted(self._shifted(word[::-1], -1)[::-1], -1)

    def _shifted(self, word: str, way: int) -> str:
        """Shifts each letter by a number that the letters before it decide. `way`: 1; -1 undoes it."""
        shifted = ""
        for index, letter in enumerate(word):
            before = (word if way > 0 else shifted)[:index]
            digest = blake2b(f"{self._key} {len(word)} {before}".encode(), digest_size=8).digest()
            among = self._alternatives(letter)
            shifted += among[(among.index(letter) + way * int.from_bytes(digest)) % len(among)]
        return shifted

    def _alternatives(self, letter: str) -> str:
        if not self._readable:
            return string.ascii_lowercase
        return VOWELS if letter in VOWELS else CONSONANTS


def is_letters(word: str) -> bool:
    """Whether a word consists of the letters a-z, in either case."""
    return word.isascii() and word.isalpha()


class ScramblingSerializerWrapper:
    """A serializer whose words are replaced by pseudo-words, so that knowing English does not help, and by words again
    at the end of each pseudo-word."""

    def __init__(self, serializer: Any, readable: bool = True, rng: random.Random | None = None) -> None:
        self._serializer = serializer
        self._words = Pseudowords(rng or random.Random(0), readable)
        self.SILENCE_TOKEN: str = serializer.SILENCE_TOKEN

    def tokenize(self, text: str) -> list[tuple[str, str]]:
        """The words, silences and punctuation marks of a text, each with 'WORD', 'SILENCE' or 'PUNCT'."""
        pieces = re.findall(r"[^\W_]+|.", text, re.DOTALL)
        return [(piece, self._kind(piece)) for piece in pieces]

    def to_binary(self, text: str) -> Any:
        """The tokens of the scrambled text."""
        return self._serializer.to_binary(self.scramble(text))

    def to_text(self, tokens: Any, strict: bool = False) -> str | None:
        """The unscrambled text."""
        text = self._serializer.to_text(tokens)
        return None if text is None else self._translated(text, self._words.unscramble)

    def can_deserialize(self, tokens: Any) -> bool:
        """Whether the tokens decode to a text that ends a word."""
        if not self._serializer.can_deserialize(tokens):
            return False
        return not self._serializer.to_text(tokens)[-1:].isalnum()

    def scramble(self, text: str) -> str:
        """The text with pseudo-words, as long as before."""
        return self._translated(text, self._words.scramble)

    def reader(self) -> Reader:
        """A reader that returns a word when it is complete."""
        return WordReader(reader_of(self._serializer), self._words)

    def pairs(self, text: str) -> list[tuple[str, Any]]:
        """Each plain character with the tokens that are sent for it."""
        scrambled = self.scramble(text)
        return [(plain, self._serializer.to_binary(sent)) for plain, sent in zip(text, scrambled, strict=True)]

    def _kind(self, piece: str) -> str:
        if piece == self.SILENCE_TOKEN:
            return "SILENCE"
        return "WORD" if piece.isalnum() else "PUNCT"

    def _translated(self, text: str, word: Callable[[str], str]) -> str:
        return "".join(word(piece) if kind == "WORD" else piece for piece, kind in self.tokenize(text))


class WordReader:
    """Reads characters, and gives a word unscrambled when the character after its end has come. A word that isn't
    scrambled, such as a number, is given at once."""

    def __init__(self, reader: Any, words: Pseudowords) -> None:
        self._reader = reader
        self._words = words
        self._word = ""
        self._unchanged = False  # whether the rest of the current word is given as it comes
        self._from = 0  # the first token that the inner reader has not read

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The word that the last token ends, with the character that ends it."""
        text, self._from = self._reader.read(tokens, max(start, self._from))
        given = ""
        for character in text:
            within = character.isalnum()
            if within and not self._unchanged and is_letters(character):
                self._word += character
                continue
            self._unchanged = within
            given += (self._word if within else self._words.unscramble(self._word)) + character
            self._word = ""
        return given, (start if self._word else self._from)


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
    made: Reader = serializer.reader() if hasattr(serializer, "reader") else ForeignReader(serializer)
    return made


def joined_tokens(tokens: list[Any]) -> Any:
    """Tokens as a string if they are strings, as a list otherwise."""
    return "".join(tokens) if all(isinstance(token, str) for token in tokens) else tokens


def _joined(tokens: list[Any]) -> str:
    try:
        if BITS.issuperset(tokens):
            return "".join(tokens)
    except TypeError:
        pass  # a token without a hash
    raise _no_bit(tokens)


def _bytes(bits: str) -> bytes:
    try:
        return int(bits, 2).to_bytes(len(bits) // BYTE, "big")
    except ValueError:
        raise _no_bit(bits) from None


def _no_bit(tokens: Iterable[Any]) -> LearnerError:
    other = next(token for token in tokens if token not in ("0", "1"))
    return LearnerError(f"a token must be '0' or '1', got {other!r}")


def _bits(text: str) -> str:
    return "".join(f"{byte:08b}" for byte in text.encode())
