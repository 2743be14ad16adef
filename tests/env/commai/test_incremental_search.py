"""A search over a text that grows finds what `re.search` finds in the whole, and does not get slower."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.env.commai.channels import InputChannel
from interplay.env.commai.incremental_search import IncrementalSearch
from interplay.env.commai.serializer import IdentitySerializer

PATTERNS = [
    r"a", r"ab", r"a\.$", r"(\w+)\.$", r"(.*)\.$", r"a+b", r"a*", r"(a|ab)c?", r"^a", r"b$|a", r"\bab\b", r"a.b",
    r"(a+) (b+)\.$", r"[^a]b+", r"a{2,3}", r"(?i)AB", r"a(?=b)", r"(a)\1", r"a\s+b", r"(?:a|b)+\.", r"\.\Z", r"a+?b",
]  # fmt: skip


@given(text=st.text("ab. \n", max_size=30), masks=st.lists(st.booleans(), max_size=30))
def test_it_finds_what_a_search_of_the_whole_finds(text: str, masks: list[bool]) -> None:
    """Each text is searched for all patterns: generating it costs more than the searches."""
    for compiled in map(re.compile, PATTERNS):
        search, grown = IncrementalSearch(compiled), ""
        for index, character in enumerate(text):
            grown += character
            expected, found = compiled.search(grown), search.search(grown)
            assert (expected is None) == (found is None), (compiled.pattern, grown)
            if expected and found:
                spans = [(match.span(), match.groups()) for match in (expected, found)]
                assert spans[0] == spans[1], (compiled.pattern, grown)
            if index < len(masks) and masks[index]:
                grown = grown[:-1] + " "


@pytest.mark.parametrize("pattern", [r"yes\.$", r"(\w+)\.$", r"I turn (left|right)\.$", r"hello"])
def test_a_search_starts_at_what_is_new(pattern: str) -> None:
    search = IncrementalSearch(re.compile(pattern))
    text = ""
    for _ in range(300):
        text += " no."
        search.search(text)
    assert len(text) - search._from < 20


def test_a_channel_searches_all_since_it_was_cleared() -> None:
    channel = InputChannel(IdentitySerializer())
    pattern = re.compile("ab")
    for character in "xab":
        channel.consume_bit(character)
    assert channel.search(pattern)
    channel.clear()
    channel.consume_bit("b")
    assert not channel.search(pattern)
    channel.set_deserialized_buffer("ab")
    assert channel.search(pattern)
