"""The meanings of settings are read from the source of their dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from interplay.core.documented_settings import DocumentedSetting, documented_settings, kind_of


@dataclass(frozen=True)
class Lamp:
    """A lamp.

    More about it.
    """

    watts: float = 5.0  # when on


@dataclass(frozen=True)
class Furniture:
    """Anything that fills a room."""

    # Of the whole piece,
    # in kilograms.
    weight: float = 1.0
    legs: int = 4


@dataclass(frozen=True)
class Desk(Furniture):
    """A desk."""

    wood: Literal["oak", "pine"] = "oak"  # of the top

    lamp: Lamp = field(default_factory=Lamp)  # on it
    # Not the next field's: an empty line follows.

    drawers: tuple[str, ...] = (
        "left",  # of the chair
        "right",
    )


def test_each_setting_has_the_comment_of_its_lines_or_the_one_above() -> None:
    assert list(documented_settings(Desk(wood="pine", lamp=Lamp(7.0)), "env.")) == [
        DocumentedSetting("env.weight", 1.0, "float", "Of the whole piece, in kilograms.", False),
        DocumentedSetting("env.legs", 4, "int", "", False),
        DocumentedSetting("env.wood", "pine", "oak or pine", "of the top", False),
        DocumentedSetting("env.lamp", None, "", "A lamp. on it", True),
        DocumentedSetting("env.lamp.watts", 7.0, "float", "when on", False),
        DocumentedSetting("env.drawers", ("left", "right"), "list of str", "of the chair", False),
    ]


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (int | None, "int or null"),
        (tuple[int, int], "[int, int]"),
        (Mapping[str, float], "mapping from str to float"),
        (Mapping[str, Any], "mapping from str to any"),
    ],
)
def test_types_are_described_in_words(hint: Any, words: str) -> None:
    assert kind_of(hint) == words
