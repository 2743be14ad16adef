"""The best step of a probe is that of its first measure, which for distances is the lowest one."""

from __future__ import annotations

import numpy as np

from interplay.actors.seats import ScriptedSeat
from interplay.env import registry
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import ProbeResult, ProbesConfig, draw_probes
from interplay.players.solver import SolverConfig


def played(kind: str, steps: int) -> list[ProbeResult]:
    """The results of the scripted solver, which changes what is measured."""
    world = registry.make("playhouse", rooms=[1, 1], image=[16, 24])
    probes = draw_probes(world, ProbesConfig(episodes=2, steps=steps, kinds=(kind,)))
    seat = ScriptedSeat(SolverConfig(skill=1.0), 1, np.random.default_rng(1))
    return [result for result, _ in ProbePlayer(worlds=[world], seat=seat).play(probes)]


def test_a_distance_is_best_where_it_is_lowest() -> None:
    for result in played("go", 40):
        assert result.success_step is not None and result.best_measures["walk"] <= result.measures["walk"]


def test_a_number_of_placed_things_is_best_where_it_is_highest() -> None:
    for result in played("group", 180):
        assert result.success_step is not None and result.best_measures["placed"] >= result.measures["placed"] > 1
