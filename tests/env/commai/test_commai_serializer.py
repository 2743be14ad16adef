"""Serializers and channels: UTF-8 in bits, nonsense, scrambled words."""

from __future__ import annotations

import random
import string

import pytest
from commai_tasks import SayA, environment_of
from hypothesis import given
from hypothesis import strategies as st

from interplay.env.commai.channels import InputChannel, OutputChannel
from interplay.env.commai.serializer import (
    ASCIISerializer,
    GeneralSerializer,
    IdentitySerializer,
    Pseudowords,
    ScramblingSerializerWrapper,
    StandardSerializer,
)


def heard(serializer: object, tokens: object) -> str:
    channel = InputChannel(serializer)
    for token in tokens:  # type: ignore[attr-defined]
        channel.consume_bit(token)
    return channel.get_text()


@given(st.text())
def test_text_comes_through_bits(text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    assert heard(StandardSerializer(), StandardSerializer().to_binary(text)) == text


def test_silence_may_be_zeros() -> None:
    serializer = StandardSerializer("\0")
    assert serializer.to_binary("a ") == "01100001" + "00000000"
    assert heard(serializer, "00000000" + "01100001") == " a"


@given(st.binary(max_size=12), st.text("aé€😀 ", max_size=5))
def test_text_is_heard_again_after_nonsense(noise: bytes, text: str) -> None:
    bits = "".join(f"{byte:08b}" for byte in noise) + StandardSerializer().to_binary(" " + text)
    assert heard(StandardSerializer(), bits).endswith(text)


def test_nonsense_is_not_kept() -> None:
    channel = InputChannel(StandardSerializer())
    for _ in range(2000):
        channel.consume_bit("1")
    assert (channel.get_text(), len(channel.get_undeserialized())) == ("", 24)


def test_a_token_must_be_a_bit() -> None:
    for nonsense in ("x", 7, None, ["0"], "", "01", "hello"):
        channel = InputChannel(StandardSerializer())
        with pytest.raises(ValueError, match="a token must be '0' or '1'"):
            for token in ("0",) * 7 + (nonsense,):
                channel.consume_bit(token)


def test_leading_bytes_are_skipped_unless_strict() -> None:
    serializer = StandardSerializer()
    bits = "11111111" + serializer.to_binary("é")
    assert serializer.to_text(bits) == "é"
    assert serializer.to_text(bits, strict=True) is None
    assert serializer.to_text("11111111") is None
    assert not serializer.can_deserialize("0101")


def test_symbols_by_number() -> None:
    serializer = GeneralSerializer([" ", "a", "b"], 0)
    assert (serializer.SILENCE_TOKEN, serializer.to_binary("ab")) == (" ", [1, 2])
    assert heard(serializer, [2, 1]) == "ba"
    assert ASCIISerializer().to_binary("A") == [65]
    with pytest.raises(ValueError, match="index from 0 to 2"):
        heard(serializer, [3])


@given(st.lists(st.text("abcdefghijXYZ", min_size=1, max_size=6), min_size=1, max_size=40))
def test_scrambling_is_one_to_one_and_keeps_length_and_case(words: list[str]) -> None:
    serializer = ScramblingSerializerWrapper(StandardSerializer(), rng=random.Random(1))
    text = " ".join(words) + "."
    sent = serializer.scramble(text)
    assert [len(word) for word in sent.split()] == [len(word) for word in text.split()]
    assert [c.isupper() for c in sent] == [c.isupper() for c in text]
    assert serializer.to_text(serializer.to_binary(text)) == text
    assert len({word.lower() for word in sent[:-1].split()}) == len({word.lower() for word in words})
    assert heard(serializer, serializer.to_binary(text)) == text


@pytest.mark.parametrize("readable", [True, False])
def test_pseudo_words_do_not_depend_on_the_order_in_which_they_are_asked_for(readable: bool) -> None:
    words = ["i", "turn", "left", "lift", "Forward", "abcdefghijkl"]
    one, other = (Pseudowords(random.Random(1), readable) for _ in range(2))
    scrambled = [one.scramble(word) for word in words]
    assert [other.unscramble(word) for word in scrambled[::-1]] == words[::-1]
    assert [other.scramble(word) for word in words] == scrambled
    assert scrambled != [Pseudowords(random.Random(2), readable).scramble(word) for word in words]
    two = {one.scramble(a + b) for a in string.ascii_lowercase for b in string.ascii_lowercase}
    assert len(two) == 26**2
    if readable:
        vowels = [[letter in "aeiou" for letter in "".join(each).lower()] for each in (words, scrambled)]
        assert vowels[0] == vowels[1]


def test_a_word_that_is_not_scrambled_is_heard_at_once() -> None:
    serializer = ScramblingSerializerWrapper(IdentitySerializer())
    assert heard(serializer, "01") == "01"
    assert heard(serializer, "ab1cd") == "ab1cd"
    assert heard(serializer, "ab") == ""
    assert heard(serializer, serializer.scramble("1 ab cd.")) == "1 ab cd."


def test_words_and_marks_are_told_apart() -> None:
    serializer = ScramblingSerializerWrapper(StandardSerializer())
    assert serializer.tokenize("a  b, .") == [
        ("a", "WORD"), (" ", "SILENCE"), (" ", "SILENCE"), ("b", "WORD"), (",", "PUNCT"), (" ", "SILENCE"),
        (".", "PUNCT"),
    ]  # fmt: skip


def test_a_scrambling_environment_hears_itself_in_plain_words() -> None:
    environment = environment_of(SayA(), bits=True, scramble=True)
    bits = [environment.next(token)[0] for token in (None, *"0" * 7)]
    said = StandardSerializer().to_text(bits)
    assert environment._output_channel_listener.get_text() == "A"
    assert said is not None
    assert said.isupper()


def test_a_serializer_of_ones_own_is_scrambled() -> None:
    class Codes:
        """Characters as numbers, with the four members of a serializer and no more."""

        SILENCE_TOKEN = " "

        def to_binary(self, text: str) -> list[int]:
            return [ord(character) for character in text]

        def to_text(self, tokens: list[int]) -> str:
            return "".join(map(chr, tokens))

        def can_deserialize(self, tokens: list[int]) -> bool:
            return len(tokens) > 0

    words = ScramblingSerializerWrapper(Codes())
    assert heard(words, words.to_binary("Well done.")) == "Well done."


def test_the_rest_of_a_character_leaves_first() -> None:
    channel = OutputChannel(StandardSerializer())
    channel.set_message("a b")
    sent = [channel.consume_bit() for _ in range(3)]
    channel.set_message(" ")
    assert not channel.is_silent()
    sent += [channel.consume_bit() for _ in range(5)]
    assert StandardSerializer().to_text(sent) == "a"
    assert channel.is_silent()
    assert not channel.is_empty()
    assert [channel.consume_bit() for _ in range(9)][-1] is None
