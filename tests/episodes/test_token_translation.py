"""Tokens are translated between vocabularies by their text."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.episodes.token_translation import TokenTranslation
from interplay.episodes.vocabulary import END, PAD, UNKNOWN, Vocabulary

THERE = Vocabulary(["go", "to", "the", "red", "ball"])
HERE = Vocabulary(["ball", "the", "duck", "to", "go"])
TEXTS = ("", "go to the ball", "the ball", "go go go go go go")


@pytest.mark.parametrize(("length", "to"), [(6, 6), (6, 9), (6, 4), (4, 6)])
def test_a_translated_utterance_equals_the_text_encoded_anew(length: int, to: int) -> None:
    tokens = np.stack([THERE.encode(text, length) for text in TEXTS])
    expected = np.stack([HERE.encode(THERE.decode(row), to) for row in tokens])
    translated = TokenTranslation(THERE, HERE, to)(tokens.reshape(2, 2, length))
    assert translated.dtype == np.int16
    np.testing.assert_array_equal(translated.reshape(4, to), expected)


def test_words_that_the_other_lacks_become_unknown() -> None:
    (tokens,) = TokenTranslation(THERE, HERE, 6)(THERE.encode("the red ball", 6)[None])
    assert tokens.tolist() == [HERE.token("the"), UNKNOWN, HERE.token("ball"), END, PAD, PAD]


def test_words_and_characters_are_translated_by_their_text() -> None:
    letters = Vocabulary.build(["go to the red ball"], kind="characters")
    tokens = np.stack([letters.encode(text, 30) for text in TEXTS])
    translated = TokenTranslation(letters, HERE, 6)(tokens.reshape(2, 2, 30))
    np.testing.assert_array_equal(translated.reshape(4, 6), [HERE.encode(text, 6) for text in TEXTS])
    back = TokenTranslation(HERE, letters, 30)(translated)
    assert letters.decode(back[0, 1]) == TEXTS[1]


@pytest.mark.parametrize("token", [-1, len(THERE)])
def test_tokens_of_neither_vocabulary_are_refused(token: int) -> None:
    with pytest.raises(ValueError, match="they are of another vocabulary"):
        TokenTranslation(THERE, HERE, 4)(np.array([[token, END, PAD, PAD]], np.int16))
