"""Recording CommAI: the scripted solver sets out without words in a mute world, which is recorded as saying nothing."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.seats import ScriptedSeat
from interplay.env import registry
from interplay.episodes.episode import Episode
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import SolverConfig


def record(interface: str, seeds: int = 6) -> list[Episode]:
    worlds = [registry.make("commai", interface=interface) for _ in range(2)]
    setter = SetterConfig(delay_steps=(0, 0))
    requests = [EpisodeRequest(s, "train", ScriptedSetter(setter, np.random.default_rng(s))) for s in range(seeds)]
    collector = EpisodeCollector(
        worlds=worlds,
        seat=ScriptedSeat(SolverConfig(skill=1.0), 2, np.random.default_rng(0)),
        config=RecordingConfig(120, 0),
        world_config={},
    )
    return [episode for _, episode in collector.collect(requests)]


@pytest.mark.parametrize("interface", ["characters", "utterances"])
def test_a_solver_without_mistakes_is_rewarded(interface: str) -> None:
    episodes = record(interface)
    assert len(episodes) == 6
    assert [episode.env_reward.sum() for episode in episodes] == [1.0] * 6


def test_a_mute_world_is_not_recorded_as_speaking() -> None:
    for episode in record("characters", 2):
        assert all(utterance.role == "setter" for utterance in episode.meta.utterances)
        assert (episode.actions["solver"] > 0).any()
        assert not episode.actions["setter"].any()
