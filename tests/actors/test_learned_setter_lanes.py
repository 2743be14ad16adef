"""Setter replay with a learned setter in some lanes: what it sees and says, and exact resumption."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from fake_world import (
    WORDS,
    LineWorld,
    assert_same_arrays,
    make_runner,
    tiny_agent,
)
from replay_actors import CONFIG, copied, stream, through_a_file

from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.seats import LearnedSetters
from interplay.actors.setter_replay_actor import SetterReplayActor
from interplay.episodes.snapshot import Snapshot


def mixed_actor(snapshot: Snapshot, share: float = 0.5, **changes: Any) -> SetterReplayActor:
    """An actor with a learned setter in some of its lanes; setter and solver are agents of different weights."""
    config = dataclasses.replace(CONFIG, learned_setters=share, lanes=4, **changes)
    worlds = [LineWorld() for _ in range(config.lanes)]
    runner = make_runner(tiny_agent(worlds[0], seed=4, role="setter"), config.learned_lanes, seed=3)
    return SetterReplayActor(
        runner=make_runner(tiny_agent(worlds[0]), config.lanes),
        worlds=worlds,
        episodes=EpisodeSampler(snapshot, snapshot.ids, seed=5),
        config=config,
        setters=LearnedSetters(runner, "runs/x"),
    )


def test_a_learned_setter_sees_its_own_view_and_is_heard(snapshot: Snapshot) -> None:
    actor = mixed_actor(snapshot, blocks=1)
    setters, said = actor._setters, []
    assert setters is not None and setters.lanes == 2
    decide, heard = setters.decide, []

    def watched() -> Any:
        for lane in range(2):
            world = actor._lanes[lane].world
            seen = world.view("setter")
            np.testing.assert_array_equal(setters.inputs.arrays["image"][0, lane], seen.image)
            np.testing.assert_array_equal(setters.inputs.arrays["vector"][0, lane], seen.vector)
            np.testing.assert_array_equal(setters.inputs.arrays["heard"][0, lane], WORDS.encode(seen.heard, 5))
            assert setters.inputs.arrays["first"][0, lane] == (actor._lanes[lane].row == 0)
            heard.append(seen.heard)
        decided = decide()
        said.extend((lane, action) for lane, action in enumerate(decided[0]))
        return decided

    setters.decide = watched  # type: ignore[method-assign]
    rows = [copied(actor.unroll()).arrays for _ in range(6)]
    assert any(heard), "the setter hears what the solver says"
    by_step = np.concatenate([arrays["heard"][1:, :2] for arrays in rows]).reshape(-1, 5)  # after each decision
    last = np.concatenate([arrays["first"][1:, :2] for arrays in rows]).reshape(-1)
    spoken = 0
    for (_, action), tokens, begins in zip(said, by_step, last, strict=True):
        if action.utterance is not None and not begins:
            np.testing.assert_array_equal(tokens, WORDS.encode(action.utterance, 5))
            spoken += 1
    assert spoken > 5
    moved = [action.movement for _, action in said]
    assert not all((movement == LineWorld().spec.rest()).all() for movement in moved)


def test_recorded_setters_are_replayed_in_the_other_lanes(snapshot: Snapshot) -> None:
    rows = stream(mixed_actor(snapshot), 8)
    recorded = {WORDS.encode(text, 5).tobytes() for text in ("", "walk to two", "count houses", "hello")}
    assert {tokens.tobytes() for tokens in rows["heard"][:, 2:].reshape(-1, 5)} == recorded
    assert not {tokens.tobytes() for tokens in rows["heard"][:, :2].reshape(-1, 5)} <= recorded
    ended = rows["last"]
    assert np.isnan(rows["success"][:, :2]).all() and np.isnan(rows["progress"][:, :2]).all()  # no task, no truth
    assert not np.isnan(rows["success"][:, 2:][ended[:, 2:]]).any()


@pytest.mark.parametrize(("share", "lanes"), [(0.0, 0), (0.01, 1), (0.5, 2), (0.9, 4), (1.0, 4)])
def test_a_share_of_the_lanes_has_a_learned_setter(share: float, lanes: int) -> None:
    assert dataclasses.replace(CONFIG, lanes=4, learned_setters=share).learned_lanes == lanes


def test_the_state_of_another_learned_setter_is_refused(snapshot: Snapshot) -> None:
    actor = mixed_actor(snapshot)
    actor.unroll()
    state = through_a_file(actor.state())
    state["setters"]["memory"] = [torch.zeros(2, 24), torch.zeros(2, 24)]
    with pytest.raises(ValueError, match="memory has width 24 in the checkpoint, 16 here: the setter was trained"):
        mixed_actor(snapshot).load_state(state)


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_learned_setter_resumes_bit_for_bit(snapshot: Snapshot, before: int) -> None:
    straight, resumed = mixed_actor(snapshot), mixed_actor(snapshot)
    for _ in range(before):
        straight.unroll()
    resumed.load_state(through_a_file(straight.state()))
    for _ in range(5):
        one, other = straight.unroll(), resumed.unroll()
        assert_same_arrays(one.arrays, other.arrays)
        assert_same_arrays(one.state._asdict(), other.state._asdict())
        assert one.episodes == other.episodes
