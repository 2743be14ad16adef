import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.episodes.vocabulary import END, PAD, SPECIAL, UNKNOWN, Vocabulary, VocabularyConfig

TEXTS = ["Lift the red ball!", "go to the bed", "the ball"]


def test_words_are_ordered_by_frequency_then_alphabet() -> None:
    assert Vocabulary.build(TEXTS).words == ("the", "ball", "bed", "go", "lift", "red", "to")
    assert Vocabulary.build(reversed(TEXTS)) == Vocabulary.build(TEXTS)
    assert Vocabulary.build(TEXTS, VocabularyConfig(limit=3)).words == ("the", "ball", "bed")
    assert Vocabulary.build(TEXTS, VocabularyConfig(least_count=2)).words == ("the", "ball")
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
    characters = Vocabulary.build(TEXTS, kind="characters")
    assert Vocabulary.from_json(characters.to_json()) == characters != Vocabulary(characters.words)
    with pytest.raises(ValueError, match=r"format version 3; this program reads 1 and 2"):
        Vocabulary.from_json(vocabulary.to_json().replace('"version": 2', '"version": 3'))


def test_a_vocabulary_of_format_1_has_words() -> None:
    assert Vocabulary.from_json('{"version": 1, "words": ["the", "ball"]}') == Vocabulary(["the", "ball"])


@given(st.lists(st.sampled_from(TEXTS), min_size=1), st.integers(4, 64))
def test_characters_keep_case_spaces_and_punctuation(said: list[str], length: int) -> None:
    vocabulary, text = Vocabulary.build(TEXTS, kind="characters"), " ".join(said)
    assert {"L", "!", " "} <= set(vocabulary.words) and "the" not in vocabulary
    assert vocabulary.decode(vocabulary.encode(text, length)) == text[: length - 1]
    assert vocabulary.encode("Lift?", 8).tolist()[4:] == [UNKNOWN, END, PAD, PAD]


def test_impossible_vocabularies_are_refused() -> None:
    for wrong in ({"limit": 0}, {"least_count": 0}):
        with pytest.raises(ValueError, match=rf"agent.vocabulary.{next(iter(wrong))} must be at least 1"):
            VocabularyConfig(**wrong)
    with pytest.raises(ValueError, match=r"agent\.tokens must be one of words, characters; got 'bytes'"):
        Vocabulary([], "bytes")  # type: ignore[arg-type]


def test_every_token_fits_an_int16() -> None:
    words = [f"w{number}" for number in range(2**15 - len(SPECIAL) + 1)]
    largest = Vocabulary(words[:-1])
    assert largest.encode(words[-2], 2).tolist() == [2**15 - 1, END]
    with pytest.raises(ValueError, match=r"at most 32,764 words, .* has 32,765: set agent\.vocabulary\.limit=32764"):
        Vocabulary(words)


def test_special_tokens_are_not_words() -> None:
    vocabulary = Vocabulary.build(TEXTS)
    assert "ball" in vocabulary
    assert "<pad>" not in vocabulary and "dragon" not in vocabulary


def test_a_word_is_listed_once() -> None:
    with pytest.raises(ValueError, match=r"\['ball'\]"):
        Vocabulary(["ball", "ball"])
