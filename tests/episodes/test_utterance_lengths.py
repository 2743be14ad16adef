"""Utterances that an agent cannot hold are counted and reported."""

from __future__ import annotations

from collections import Counter

import pytest

from interplay.episodes.vocabulary import Vocabulary, warn_of_long_utterances

TEXTS = Counter({"go to the red ball in the living room": 2, "lift it": 7, "what is on the table": 1})


@pytest.mark.parametrize("length", range(3, 12))
def test_the_texts_that_lose_words_are_counted(length: int, caplog: pytest.LogCaptureFixture) -> None:
    vocabulary = Vocabulary.build(TEXTS)
    lost = [vocabulary.decode(vocabulary.encode(text, length)) != text for text in TEXTS.elements()]
    assert warn_of_long_utterances(TEXTS, vocabulary, length, "recorded") == sum(lost)
    assert bool(caplog.text) == any(lost)


def test_the_message_says_what_fits(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_long_utterances(TEXTS, Vocabulary([]), 6, "recorded")
    assert (
        "2 of 10 utterances recorded (20%) do not fit into agent.utterance_length=6 and lose their last words; the "
        "longest has 9: 'go to the red ball in the living room'. agent.utterance_length=10 fits them all"
    ) in caplog.text
    caplog.clear()
    warn_of_long_utterances(TEXTS, Vocabulary([]), 10, "recorded")
    assert not caplog.text
    warn_of_long_utterances(TEXTS, Vocabulary([], "characters"), 16, "recorded")
    assert "agent.utterance_length=38 fits them all" in caplog.text
