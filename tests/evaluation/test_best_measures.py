"""The best step of a probe is that of its first measure, which for distances is the lowest one."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.env import registry
from interplay.evaluation.chance import RandomSeat
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import ProbeResult, ProbesConfig, draw_probes


def played(kind: str) -> list[ProbeResult]:
    world = registry.make("playhouse", rooms=[1, 1], image=[16, 24])
    probes = draw_probes(world, ProbesConfig(episodes=4, steps=20, kinds=(kind,)))
    seat = RandomSeat(np.random.default_rng(1))
    return [result for result, _ in ProbePlayer(worlds=[world], seat=seat).play(probes)]


@pytest.mark.parametrize(("kind", "name", "sign"), [("go", "walk", -1), ("group", "placed", 1)])
def test_a_distance_is_best_where_it_is_lowest(kind: str, name: str, sign: int) -> None:
    better = [sign * (result.best_measures[name] - result.measures[name]) for result in played(kind)]
    assert all(each >= 0 for each in better) and (kind != "go" or any(each > 0 for each in better))
