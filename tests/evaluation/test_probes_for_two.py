"""In probes for two players, the setter does its part."""

from __future__ import annotations

import numpy as np

from interplay.actors.seats import ScriptedSeat
from interplay.env import registry
from interplay.evaluation.chance import RestingSeat
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import ProbesConfig, draw_probes
from interplay.players.solver import SolverConfig


def test_the_setter_takes_what_is_handed_over() -> None:
    world = registry.make("playhouse")
    probes = draw_probes(world, ProbesConfig(episodes=2, kinds=("hand_over",), steps=60))
    expert = ScriptedSeat(SolverConfig(skill=1.0), 1, np.random.default_rng(0))
    results = [result for result, _ in ProbePlayer(worlds=[world], seat=expert).play(probes)]
    assert len(results) == 2 and all(result.success_step is not None and result.success_step > 1 for result in results)
    resting = ProbePlayer(worlds=[world], seat=RestingSeat()).play(probes[:1])
    assert next(iter(resting))[0].success_step is None
