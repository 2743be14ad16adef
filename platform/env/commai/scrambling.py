"""Scrambling: each word is replaced by a pseudo-word of the same length, so that knowing English does not help."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from typing import Any

CONSONANTS, VOWELS = "bcdfghjklmnpqrstvwxyz", "aeiou"
TRIES = 100  # draws of a readable word before any letters will do


class Pseudowords:
    """A random one-to-one mapping of words, drawn on first use. Length and the case of each letter are kept; words
    with a letter outside a-z are not changed."""

    def __init__(self, rng: random.Random, readable: bool = True) -> None:
        self._rng = rng
        self._readable = readable
        self._scrambled: dict[str, str] = {}
        self._plain: dict[str, str] = {}

    def scramble(self, word: str) -> str:
        """The pseudo-word of a word."""
        return self._mapped(word, self._scrambled, self._plain)

    def unscramble(self, word: str) -> str:
        """The word of a pseudo-word; an unknown pseudo-word gets a new word."""
        return self._mapped(word, self._plain, self._scrambled)

    def _mapped(self, word: str, forth: dict[str, str], back: dict[str, str]) -> str:
        lower = word.lower()
        if not (lower.isascii() and lower.isalpha()):
            return word
        if lower not in forth:
            forth[lower] = self._draw(len(lower), back)
            back[forth[lower]] = lower
        return "".join(c.upper() if w.isupper() else c for c, w in zip(forth[lower], word, strict=True))

    def _draw(self, length: int, taken: dict[str, str]) -> str:
        for _ in range(TRIES if self._readable else 0):
            word = "".join(self._readable_letters(length))
            if word not in taken:
                return word
        if length == 1:  # a permutation of the alphabet, exhausted letter by letter
            return self._rng.choice([letter for letter in string.ascii_lowercase if letter not in taken])
        while True:
            word = "".join(self._rng.choice(string.ascii_lowercase) for _ in range(length))
            if word not in taken:
                return word

    def _readable_letters(self, length: int) -> Iterator[str]:
        vowel = self._rng.random() < 0.5
        for _ in range(length):
            yield self._rng.choice(VOWELS if vowel else CONSONANTS)
            vowel = not vowel


class ScramblingSerializerWrapper:
    """A serializer whose words are scrambled, and unscrambled at the end of each word."""

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

    def reader(self, of: Callable[[Any], Any]) -> WordReader:
        """A reader that returns a word when it is complete. of: makes the reader of a serializer."""
        return WordReader(of(self._serializer), self._words)

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
    """Reads characters, and gives a word unscrambled when the character after its end has come."""

    def __init__(self, reader: Any, words: Pseudowords) -> None:
        self._reader = reader
        self._words = words
        self._word = ""
        self._from = 0  # the first token that the inner reader has not read

    def read(self, tokens: list[Any], start: int) -> tuple[str, int]:
        """The word that the last token ends, with the character that ends it."""
        text, self._from = self._reader.read(tokens, max(start, self._from))
        given = ""
        for character in text:
            if character.isalnum():
                self._word += character
            else:
                given += self._words.unscramble(self._word) + character
                self._word = ""
        return given, (start if self._word else self._from)
