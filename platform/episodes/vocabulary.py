"""The word-level vocabulary of agents: built once from recorded utterances, then fixed for a run.

Word-level, with four special tokens. An encoded utterance is its words' tokens, then `END`, then `PAD` to the length.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from interplay.env.task import words

PAD: Final = 0
UNKNOWN: Final = 1
START: Final = 2
END: Final = 3
SPECIAL: Final = ("<pad>", "<unknown>", "<start>", "<end>")
FORMAT_VERSION: Final = 1


class Vocabulary:
    """Words by token and tokens by word; the first `len(SPECIAL)` tokens are special. Immutable."""

    def __init__(self, known: Sequence[str]) -> None:
        if len(set(known)) != len(known):
            twice = sorted(word for word, count in Counter(known).items() if count > 1)
            raise ValueError(f"a vocabulary lists each word once; these come more often: {twice}")
        self._words = (*SPECIAL, *known)
        self._tokens = {word: token for token, word in enumerate(self._words)}

    @classmethod
    def build(cls, texts: Iterable[str], limit: int | None = None) -> Vocabulary:
        """The words of these utterances, the most frequent first, alphabetical among equals; at most `limit`."""
        counts = Counter(word for text in texts for word in words(text))
        ordered = sorted(counts, key=lambda word: (-counts[word], word))
        return cls(ordered[:limit])

    def __len__(self) -> int:
        """The number of tokens, special ones included: the size of the network's embeddings."""
        return len(self._words)

    def __contains__(self, word: str) -> bool:
        return self._tokens.get(word, PAD) >= len(SPECIAL)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._words == other._words

    def __hash__(self) -> int:
        return hash(self._words)

    @property
    def words(self) -> tuple[str, ...]:
        """The words without the special tokens, in the order of their tokens."""
        return self._words[len(SPECIAL) :]

    def split(self, text: str) -> list[str]:
        """The words of a text, known or not."""
        return words(text)

    def token(self, word: str) -> int:
        """The token of a word; `UNKNOWN` if the vocabulary lacks it."""
        return self._tokens.get(word, UNKNOWN)

    def encode(self, text: str, length: int) -> NDArray[np.int16]:
        """int16 [length]: words, `END`, then `PAD`. A text that is too long loses its last words, never its `END`.

        The empty text (no utterance yet) is all `PAD`.
        """
        tokens = np.full(length, PAD, np.int16)
        said = [self.token(word) for word in self.split(text)][: length - 1]
        if said:
            tokens[: len(said)] = said
            tokens[len(said)] = END
        return tokens

    def decode(self, tokens: Iterable[int]) -> str:
        """The text up to the first `END`; other special tokens are skipped."""
        said = []
        for token in tokens:
            if token == END:
                break
            if token >= len(SPECIAL):
                said.append(self._words[token])
        return " ".join(said)

    def to_json(self) -> str:
        """One line of JSON for `from_json`."""
        return json.dumps({"version": FORMAT_VERSION, "words": self.words})

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        """Builds the vocabulary that `to_json` wrote.

        Raises:
            ValueError: the format version is unknown.
        """
        fields = json.loads(text)
        version = fields.get("version")
        if version != FORMAT_VERSION:
            raise ValueError(f"this vocabulary has format version {version!r}; this program reads {FORMAT_VERSION}")
        return cls(fields["words"])
