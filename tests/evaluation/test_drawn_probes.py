"""The probes that are sampled with and without kinds in the configuration."""

from __future__ import annotations

from collections import Counter

import pytest

from interplay.env import registry
from interplay.env.world import World
from interplay.evaluation.chance import RestingSeat
from interplay.evaluation.probes import ProbePlayer, ProbesConfig, draw_probes


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


def test_kinds_that_take_longer_are_given_more_time_and_a_configuration_has_the_last_word() -> None:
    world = registry.make("playhouse")
    drawn = draw_probes(world, ProbesConfig(episodes=1, kinds=("go", "tower", "row"), limits={"row": 50}))
    own = world.tasks().step_limits["tower"]
    assert {probe.kind: probe.limit for probe in drawn} == {"go": 40, "tower": own, "row": 50} and own > 40
    longer = draw_probes(world, ProbesConfig(episodes=1, kinds=("tower",), steps=own + 1))
    assert longer[0].limit == own + 1
    with pytest.raises(ValueError, match="limits names dance"):
        draw_probes(world, ProbesConfig(limits={"dance": 3}))
    with pytest.raises(ValueError, match="at least 1 step, got"):
        ProbesConfig(limits={"go": 0})


def test_a_probe_ends_at_its_own_limit() -> None:
    world = registry.make("playhouse", image=[16, 24])
    probes = draw_probes(world, ProbesConfig(episodes=1, kinds=("go", "tower"), steps=3, limits={"tower": 7}))
    played = [result for result, _ in ProbePlayer(worlds=[world], seat=RestingSeat()).play(probes)]
    assert [(result.kind, result.steps, result.limit) for result in played] == [("go", 3, 3), ("tower", 7, 7)]
