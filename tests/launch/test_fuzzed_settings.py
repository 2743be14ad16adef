"""Any settings either compose or are refused with a message; no other exception is raised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.settings_validation import SettingsError
from interplay.launch.compose import compose


def paths(section: Mapping[str, object], group: str = "") -> Iterator[str]:
    for name, value in section.items():
        yield f"{group}{name}"
        if isinstance(value, Mapping):
            yield from paths(value, f"{group}{name}.")


KNOWN = sorted(paths(asdict(compose([]))))
GROUPS = ["env", "agent", "runtime", "experiment", "agent.size", "env.name"]
VALUES = [
    "0",
    "-1",
    "1",
    "1e99",
    "nan",
    "-inf",
    "true",
    "null",
    "[]",
    "{}",
    "[1,2]",
    "{a: 1}",
    "ray",
    "gymnasium",
    "''",
    "10**9",
]
key = st.sampled_from(GROUPS) | st.sampled_from(KNOWN) | st.text("abc._0=~+@/ ", max_size=8)
value = st.sampled_from(VALUES) | st.integers().map(str) | st.text(max_size=8)
word = st.builds("{}={}".format, key, value) | st.text(max_size=10)


@settings(max_examples=80, derandomize=True)
@given(st.lists(word, max_size=3))
def test_any_words_compose_or_are_refused(words: list[str]) -> None:
    try:
        compose(words)
    except SettingsError as refusal:
        assert refusal.problems and all(refusal.problems)
