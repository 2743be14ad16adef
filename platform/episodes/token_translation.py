"""Translation of encoded utterances from one vocabulary to another, by their text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from interplay.episodes.vocabulary import END, PAD, SPECIAL, Vocabulary

TokenArray = NDArray[np.int16]


class TokenTranslation:
    """Rewrites utterances that `source` encoded as `target` would encode them. Stateless.

    Two agents number the same words differently if their vocabularies were built from different episodes; an agent that
    reads the other's tokens reads other words. Words that `target` lacks become unknown. Words are
    translated to characters, and back, through the decoded text.
    """

    def __init__(self, source: Vocabulary, target: Vocabulary, length: int) -> None:
        """`length`: of the utterances that are returned."""
        self._source, self._target, self._length = source, target, length
        self._table = np.array([*range(len(SPECIAL)), *map(target.token, source.words)], np.int16)

    def __call__(self, tokens: TokenArray) -> TokenArray:
        """int16 [..., L] -> int16 [..., length].

        Raises:
            ValueError: `source` has no such token.
        """
        check_tokens(tokens, len(self._source))
        if self._source.kind != self._target.kind:
            return self._encoded_anew(tokens)
        translated = np.full((*tokens.shape[:-1], self._length), PAD, np.int16)
        kept = self._table[tokens[..., : self._length]]
        translated[..., : kept.shape[-1]] = kept
        final = translated[..., -1]
        final[(final != PAD) & (final != END)] = END  # an utterance that is too long keeps its end
        return translated

    def _encoded_anew(self, tokens: TokenArray) -> TokenArray:
        texts, where = np.unique(tokens.reshape(-1, tokens.shape[-1]), axis=0, return_inverse=True)
        encoded = [self._target.encode(self._source.decode(text), self._length) for text in texts]
        return np.stack(encoded)[where].reshape(*tokens.shape[:-1], self._length)


def check_tokens(tokens: TokenArray, known: int) -> None:
    """Check that encoded utterances fit a vocabulary of `known` tokens.

    Raises:
        ValueError: a token is out of range.
    """
    if tokens.size and (tokens.min() < 0 or tokens.max() >= known):
        raise ValueError(
            f"the utterances hold tokens from {tokens.min()} to {tokens.max()}, and the vocabulary that encoded them "
            f"has 0 to {known - 1}: they are of another vocabulary"
        )
