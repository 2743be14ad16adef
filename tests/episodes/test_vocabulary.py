import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.episodes.vocabulary import END, PAD, SPECIAL, UNKNOWN, Vocabulary

TEXTS = ["Lift the red ball!", "go to the bed", "the ball"]


def test_words_are_ordered_by_frequency_then_alphabet() -> None:
    assert Vocabulary.build(TEXTS).words == ("the", "ball", "bed", "go", "lift", "red", "to")
    assert Vocabulary.build(reversed(TEXTS)) == Vocabulary.build(TEXTS)
    assert Vocabulary.build(TEXTS, limit=3).words == ("the", "ball", "bed")
    assert len(Vocabulary.build(TEXTS)) == 7 + len(SPECIAL)


def test_an_encoded_utterance_ends_and_is_padded() -> None:
    vocabulary = Vocabulary.build(TEXTS)
    tokens = vocabulary.encode("LIFT the, ball", 6)
    assert tokens.dtype == np.int16
    assert tokens.tolist() == [8, 4, 5, END, PAD, PAD]
    assert vocabulary.encode("lift the dragon", 6).tolist() == [8, 4, UNKNOWN, END, PAD, PAD]
    assert vocabulary.decode(vocabulary.encode("lift the dragon", 6)) == "lift the"
    assert vocabulary.decode([8, END, 4]) == "lift"


def test_a_long_utterance_loses_words_but_not_its_end() -> None:
    vocabulary = Vocabulary.build(TEXTS)
    assert vocabulary.encode("lift the red ball", 3).tolist() == [8, 4, END]


def test_silence_is_all_padding() -> None:
    assert not Vocabulary.build(TEXTS).encode("", 4).any()


@given(st.lists(st.sampled_from(["the", "ball", "bed", "go", "lift", "red", "to"]), max_size=7))
def test_encoding_and_decoding_are_inverse(said: list[str]) -> None:
    vocabulary = Vocabulary.build(TEXTS)
    assert vocabulary.decode(vocabulary.encode(" ".join(said), 8)) == " ".join(said)


def test_json_keeps_everything() -> None:
    vocabulary = Vocabulary.build(TEXTS)
    assert Vocabulary.from_json(vocabulary.to_json()) == vocabulary
    with pytest.raises(ValueError, match="format version 2"):
        Vocabulary.from_json(vocabulary.to_json().replace('"version": 1', '"version": 2'))


def test_special_tokens_are_no_words() -> None:
    vocabulary = Vocabulary.build(TEXTS)
    assert "ball" in vocabulary
    assert "<pad>" not in vocabulary and "dragon" not in vocabulary


def test_a_word_is_listed_once() -> None:
    with pytest.raises(ValueError, match=r"\['ball'\]"):
        Vocabulary(["ball", "ball"])
