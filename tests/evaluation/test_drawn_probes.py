"""Which probes are drawn where a configuration names kinds, and where it does not."""

from __future__ import annotations

from collections import Counter

import pytest

from interplay.env import registry
from interplay.env.world import World
from interplay.evaluation.probes import ProbesConfig, draw_probes


def playhouse() -> World:
    return registry.make("playhouse", rooms=[1, 1], image=[48, 64])


def test_usual_kinds_are_probed_by_default_and_others_on_request() -> None:
    usual = draw_probes(playhouse(), ProbesConfig(episodes=2))
    assert Counter(p.kind for p in usual) == dict.fromkeys(("go", "lift", "position", "color", "count", "exist"), 2)
    named = draw_probes(playhouse(), ProbesConfig(episodes=2, kinds=("larger", "go")))
    assert [probe.kind for probe in named] == ["larger", "larger", "go", "go"]
    assert named[0].task["accepted"], "stored with its right answers"


def test_an_unknown_kind_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"dance; playhouse has go, .*exist, .*larger, .*seen"):
        draw_probes(playhouse(), ProbesConfig(kinds=("dance",)))
