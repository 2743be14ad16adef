"""An error of a world says after how many steps of which episode it was raised."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pytest
from fake_world import LineWorld, make_runner, tiny_agent
from replay_actors import CONFIG

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.seats import ScriptedSeat
from interplay.actors.setter_replay_actor import SetterReplayActor
from interplay.env.world import Action, Outcome, Start, View, World
from interplay.episodes.snapshot import Snapshot
from interplay.evaluation.probe_player import ProbePlayer
from interplay.evaluation.probes import Probe
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import SolverConfig

EPISODE = "the episode that begins with Start(seed=2)"


class Broken(LineWorld):
    """Raises an error after `after` steps of its episode number `episode`; -1: in the reset."""

    def __init__(self, episode: int, after: int) -> None:
        super().__init__()
        self._left, self._after = episode, after

    def reset(self, start: Start, observers: Collection[str] | None = None) -> Mapping[str, View]:
        self._left -= 1
        if self._left == 0 and self._after < 0:
            raise ZeroDivisionError("no contact")
        return super().reset(start, observers)

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        if self._left == 0 and self.clock == self._after:
            raise ZeroDivisionError("no contact")
        return super().step(actions, observers)


class Thoughtless(ScriptedSeat):
    """A solver that fails at its third action."""

    decisions = 0

    def decide(self, worlds: Sequence[World]) -> list[Action]:
        self.decisions += 1
        if self.decisions == 3:
            raise ZeroDivisionError("no way")
        return super().decide(worlds)


def notes_of(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


def collected(worlds: Sequence[World], seat: type[ScriptedSeat] = ScriptedSeat, episodes: int = 4) -> list[str]:
    """The notes of the error by which episodes of the seeds from 0 on end."""
    rng = np.random.default_rng(0)
    collector = EpisodeCollector(
        worlds=worlds,
        seat=seat(SolverConfig(), len(worlds), rng),
        config=RecordingConfig(steps=6, grace_steps=0),
        world_config={},
    )
    setters = [ScriptedSetter(SetterConfig(kinds={"walk": 1}), rng) for _ in range(episodes)]
    requests = [EpisodeRequest(seed, "train", setter) for seed, setter in enumerate(setters)]
    with pytest.raises(ZeroDivisionError) as caught:
        list(collector.collect(requests))
    return notes_of(caught.value)


@pytest.mark.parametrize(("after", "steps"), [(-1, 0), (0, 0), (2, 2)])
def test_a_recorded_episode_is_named_by_its_seed(after: int, steps: int) -> None:
    assert collected([Broken(3, after)]) == [f"  raised after {steps} steps of {EPISODE}"]


def test_the_lane_of_the_error_counts() -> None:
    (note,) = collected([LineWorld(), LineWorld(), Broken(1, 1)])
    assert note == f"  raised after 1 step of {EPISODE}"


def test_a_player_that_fails_is_placed_where_one_episode_is_played() -> None:
    (note,) = collected([LineWorld()], Thoughtless, episodes=1)
    assert note == "  raised after 2 steps of the episode that begins with Start(seed=0)"
    assert collected([LineWorld(), LineWorld()], Thoughtless) == []


def test_a_probe_is_named_by_its_words_and_seed() -> None:
    world = Broken(2, 3)
    seat = ScriptedSeat(SolverConfig(), 1, np.random.default_rng(0))
    task = {"kind": "walk", "instruction": "walk to 30", "goal": 30, "answer": None}
    probes = [Probe("walk", index, 7 + index, task, limit=5, hold=1) for index in range(3)]
    with pytest.raises(ZeroDivisionError) as caught:
        list(ProbePlayer(worlds=[world], seat=seat).play(probes))
    assert notes_of(caught.value) == ["  raised after 3 steps of the probe 'walk to 30' that begins with Start(seed=8)"]


@pytest.mark.parametrize(("after", "steps"), [(-1, 0), (2, 2)])
def test_a_replay_is_named_by_its_recording(snapshot: Snapshot, after: int, steps: int) -> None:
    worlds = [LineWorld(), Broken(2, after), LineWorld()]
    sampler = EpisodeSampler(snapshot, snapshot.ids, seed=5)
    actor = SetterReplayActor(
        runner=make_runner(tiny_agent(worlds[0]), 3), worlds=worlds, episodes=sampler, config=CONFIG
    )
    with pytest.raises(ZeroDivisionError) as caught:
        for _ in range(8):
            actor.unroll()
    (note,) = notes_of(caught.value)
    named = re.fullmatch(rf"  raised after {steps} steps of a replay of the recorded episode (\S+) \(seed \d+\)", note)
    assert named is not None and named[1] in snapshot.ids
