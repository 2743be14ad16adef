"""Setter replay: exact starts, utterances on time, complete rows, and log-probabilities that match the learner."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from fake_world import (
    TINY,
    WORDS,
    LineWorld,
    assert_same_arrays,
    make_runner,
    make_snapshot,
    record_episode,
    tiny_agent,
    with_number,
)
from replay_actors import CONFIG, EPISODES, actor_of, copied, stream, through_a_file

from interplay.actors.episode_sampler import EpisodeSampler
from interplay.actors.setter_replay_actor import SetterReplayActor, SetterReplayConfig
from interplay.agent.heads import gate_log_prob, movement_log_probs
from interplay.agent.network import Agent
from interplay.agent.sizes import MovementKind
from interplay.agent.unroll import Unroll, allocate_demonstration
from interplay.agent.weights import export_weights
from interplay.env import registry
from interplay.env.world import Action, Outcome, Start, World
from interplay.episodes.encoding import DamagedEpisode
from interplay.episodes.recorder import EpisodeRecorder
from interplay.episodes.snapshot import Snapshot
from interplay.learner.config import LearnerConfig
from interplay.learner.learner import Learner


def test_rows_are_counted_and_the_last_row_opens_the_next_unroll(snapshot: Snapshot) -> None:
    actor = actor_of(snapshot)
    unrolls = [copied(actor.unroll()) for _ in range(5)]
    rows = np.concatenate([unroll.arrays["row"][:-1] for unroll in unrolls])
    expected = np.tile(np.arange(CONFIG.episode_steps + 1), 4)[: len(rows)]  # E steps fill E + 1 rows
    np.testing.assert_array_equal(rows, np.stack([expected] * CONFIG.lanes, axis=1))
    for unroll in unrolls:
        np.testing.assert_array_equal(unroll.arrays["first"], unroll.arrays["row"] == 0)
        np.testing.assert_array_equal(unroll.arrays["last"], unroll.arrays["row"] == CONFIG.episode_steps)
    seen = [*actor._runner.inputs.arrays, "last", "row", "success", "progress"]
    for before, after in pairwise(unrolls):
        for key in seen:
            np.testing.assert_array_equal(before.arrays[key][-1], after.arrays[key][0], err_msg=key)


def test_a_step_is_named_before_it_is_made(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    named: list[str] = []
    actor = actor_of(snapshot, on_step=named.append)
    world = actor._lanes[0].world

    def end(*actions: object, **observers: object) -> Outcome:
        raise SystemExit

    monkeypatch.setattr(world, "step", end)
    with pytest.raises(SystemExit):
        actor.unroll()
    episode = actor._lanes[0].episode
    assert episode is not None
    place = f"of a replay of the recorded episode {episode.meta.id} (seed {episode.meta.seed}) in lane 0"
    assert (named[0], named[-1]) == (f"the reset {place}", f"step 1 {place}")


def test_staggered_lanes_are_in_different_phases_for_ever(snapshot: Snapshot) -> None:
    first_steps = [1, 4, 7]
    rows = stream(actor_of(snapshot, first_steps=first_steps), 6)
    for lane, steps in enumerate(first_steps):
        expected = [*range(steps + 1), *(np.arange(100) % (CONFIG.episode_steps + 1))]
        np.testing.assert_array_equal(rows["row"][:, lane], expected[: len(rows["row"])])
        (ends,) = np.nonzero(rows["last"][:, lane])
        np.testing.assert_array_equal(rows["truncated"][:, lane], rows["last"][:, lane])  # by their time limit
        assert ends[0] == steps and set(np.diff(ends)) == {CONFIG.episode_steps + 1}


def test_episodes_start_as_recorded_and_their_setters_are_heard_on_time(snapshot: Snapshot) -> None:
    actor = actor_of(snapshot)
    names: list[list[str]] = []
    for _ in range(8):
        unroll = actor.unroll()
        names.append(unroll.episodes)
        for lane, name in enumerate(unroll.episodes):
            recorded, views = record_episode(LineWorld(), int(name, 16), steps=9)
            setter = [u for u in recorded.meta.utterances if u.role == "setter"]
            heard = ["", "", *[setter[0].text] * 3, *["hello"] * 3]  # uttered in steps 1 and 4, heard a row later
            # Only rows of the episode that the lane is in at row 0.
            until = int(np.flatnonzero(np.append(unroll.arrays["first"][1:, lane], True))[0]) + 1
            for t in range(until):
                row = int(unroll.arrays["row"][t, lane])
                expected = WORDS.encode(heard[row], unroll.arrays["heard"].shape[-1])
                np.testing.assert_array_equal(unroll.arrays["heard"][t, lane], expected)
                if row == 0:
                    np.testing.assert_array_equal(unroll.arrays["image"][t, lane], views[0]["solver"].image)
                    np.testing.assert_array_equal(unroll.arrays["vector"][t, lane], views[0]["solver"].vector)
                    assert not unroll.arrays["said"][t, lane].any()
    assert {name for unroll in names for name in unroll} == set(snapshot.ids)


def test_the_setters_avatar_moves_as_recorded(snapshot: Snapshot) -> None:
    unroll = actor_of(snapshot).unroll()
    for lane, name in enumerate(unroll.episodes):
        recorded, _ = record_episode(LineWorld(), int(name, 16), steps=9)
        assert recorded.poses is not None
        setter = unroll.arrays["image"][:, lane, :, :, 1].max((1, 2))  # green: ten times where the setter stands
        np.testing.assert_array_equal(setter[: CONFIG.steps], 10 * recorded.poses[: CONFIG.steps, 1])


def test_previous_actions_and_utterances_are_the_agents_own(snapshot: Snapshot) -> None:
    rows = stream(actor_of(snapshot), 6)
    inside = ~rows["first"][1:]
    np.testing.assert_array_equal(rows["previous"][1:][inside], rows["movement"][:-1][inside])
    assert (rows["previous"][rows["first"]] == [1, 0]).all()  # at rest before an episode
    spoke = inside & rows["spoke"][:-1] & (rows["tokens"][:-1, ..., 0] > 3)
    assert spoke.sum() > 5
    np.testing.assert_array_equal(rows["said"][1:][spoke], rows["tokens"][:-1][spoke])
    silent = inside & ~rows["spoke"][:-1]
    np.testing.assert_array_equal(rows["said"][1:][silent], rows["said"][:-1][silent])


def assert_on_policy(agent: Agent, unroll: Unroll) -> None:
    """The learner's forward over the complete unroll gives the log-probabilities that the actor recorded."""
    arrays = {key: torch.from_numpy(array) for key, array in unroll.arrays.items()}
    observations = {key: arrays[key] for key in agent.layout.observations(0, 0)}
    with torch.no_grad():
        output, _ = agent(observations, unroll.state.to_tensors())
        assert output.movement is not None and output.gate is not None and agent.language is not None
        assert agent.movement is not None
        logits = agent.movement.logits(output.movement, arrays["movement"])
        movement = movement_log_probs(logits, arrays["movement"]).sum(-1)
        words = agent.language.utterance_log_probs(output.core, arrays["spoke"], arrays["tokens"])
        language = gate_log_prob(output.gate, arrays["spoke"]) + words
    for ours, key in ((movement, "movement_log_prob"), (language, "language_log_prob")):
        torch.testing.assert_close(ours[:-1].exp(), arrays[key][:-1].exp(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("movement", get_args(MovementKind))
def test_on_policy_all_ratios_are_one(snapshot: Snapshot, movement: MovementKind) -> None:
    agent = tiny_agent(LineWorld(), config=dataclasses.replace(TINY, movement=movement))
    actor = actor_of(snapshot, agent=agent)
    for _ in range(5):
        unroll = actor.unroll()
        assert_on_policy(agent, unroll)
        assert unroll.arrays["spoke"].any()


def test_new_weights_act_from_the_next_unroll_on(snapshot: Snapshot) -> None:
    actor, other = actor_of(snapshot), tiny_agent(LineWorld(), seed=9)
    actor.unroll()
    actor.load_weights(export_weights(other), version=7)
    unroll = actor.unroll()
    assert unroll.version == 7
    assert_on_policy(other, unroll)


@pytest.mark.parametrize("movement", get_args(MovementKind))
@pytest.mark.parametrize("before", [0, 1, 3])
def test_it_resumes_bit_for_bit(snapshot: Snapshot, before: int, movement: MovementKind) -> None:
    agent = tiny_agent(LineWorld(), config=dataclasses.replace(TINY, movement=movement))
    straight, resumed = (actor_of(snapshot, agent=copy.deepcopy(agent), first_steps=[2, 6, 3]) for _ in range(2))
    straight.load_weights(export_weights(agent), version=3)
    for _ in range(before):
        straight.unroll()
    resumed.load_state(through_a_file(straight.state()))
    for _ in range(4):
        one, other = straight.unroll(), resumed.unroll()
        assert_same_arrays(one.arrays, other.arrays)
        assert_same_arrays(one.state._asdict(), other.state._asdict())
        assert (one.episodes, one.version) == (other.episodes, other.version)


def test_a_lane_whose_episode_was_deleted_begins_another_on_a_resume(snapshot: Snapshot) -> None:
    before = actor_of(snapshot, first_steps=[2, 6, 3])
    before.unroll()
    playing = [lane.episode.meta.id for lane in before._lanes if lane.episode is not None]
    gone = playing[1]
    after = actor_of(snapshot, first_steps=[2, 6, 3])
    for file in snapshot.root.glob(f"episodes/*/*{gone}*"):
        file.unlink()
    after.load_state(through_a_file(before.state()))
    unroll = after.unroll()
    assert unroll.arrays["first"][0].tolist() == [name == gone for name in playing] == [False, True, False]
    assert gone not in unroll.episodes
    assert_on_policy(after._runner.policy.agent, unroll)  # type: ignore[attr-defined]


def test_blocks_are_refilled_only_after_as_many_calls(snapshot: Snapshot) -> None:
    actor = actor_of(snapshot, dataclasses.replace(CONFIG, blocks=3))
    first = actor.unroll()
    kept = copied(first)
    for _ in range(2):
        assert actor.unroll().arrays is not first.arrays
    assert_same_arrays(first.arrays, kept.arrays)
    assert actor.unroll().arrays is first.arrays


def test_facts_are_not_read_without_need(snapshot: Snapshot) -> None:
    assert np.isnan(stream(actor_of(snapshot, dataclasses.replace(CONFIG, progress=False)), 3)["progress"]).all()


def test_an_episode_that_the_world_ends_is_shorter(snapshot: Snapshot) -> None:
    rows = stream(actor_of(snapshot, ends_at=4), 4)
    np.testing.assert_array_equal(rows["row"][:, 0], np.tile(np.arange(5), 4))
    np.testing.assert_array_equal(rows["last"], rows["row"] == 4)
    assert not rows["truncated"].any()  # the world ended them
    assert (rows["env_reward"][rows["last"]] == 0).all()
    inside = ~rows["first"][1:]
    paid, place = rows["env_reward"][:-1][inside], rows["vector"][1:, :, 0][inside]
    np.testing.assert_allclose(paid, place)


class TimedWorld(LineWorld):
    """A world that ends its episodes by a time limit of its own."""

    def step(self, actions: Mapping[str, Action], observers: Collection[str] | None = None) -> Outcome:
        outcome = super().step(actions, observers)
        return dataclasses.replace(outcome, truncated=outcome.done)


def test_a_time_limit_of_the_world_truncates_the_episode(snapshot: Snapshot) -> None:
    worlds = [TimedWorld(ends_at=4) for _ in range(CONFIG.lanes)]
    rows = stream(
        SetterReplayActor(
            runner=make_runner(tiny_agent(worlds[0]), CONFIG.lanes),
            worlds=worlds,
            episodes=EpisodeSampler(snapshot, snapshot.ids, seed=5),
            config=CONFIG,
        ),
        4,
    )
    np.testing.assert_array_equal(rows["truncated"], rows["row"] == 4)


@pytest.mark.parametrize("parts", [{"utterances": False}, {"movement": False}, {"image": False}])
def test_worlds_may_lack_an_image_movement_or_utterances(tmp_path: Path, parts: dict[str, bool]) -> None:
    snapshot = make_snapshot(
        tmp_path, [with_number(record_episode(LineWorld(**parts), seed, 7)[0], seed) for seed in range(2)]
    )
    agent = tiny_agent(LineWorld(**parts))
    actor = actor_of(snapshot, agent=agent, **parts)
    actor.unroll()
    unroll = actor.unroll()
    metrics = Learner(agent, LearnerConfig(), dataset_lanes=2, generator=torch.Generator()).update(
        demonstrated=Unroll(allocate_demonstration(agent.layout, CONFIG.steps, 2)),
        rollout=dataclasses.replace(
            unroll, arrays=unroll.arrays | {"reward": np.ones((CONFIG.steps, CONFIG.lanes), np.float32)}
        ),
    )
    for head, without in (("movement", "movement"), ("language", "utterances")):
        assert (f"{head}_ratio" in metrics) == (without not in parts)
        assert metrics.get(f"{head}_ratio", 1.0) == pytest.approx(1.0, rel=1e-4)


def test_every_episode_appears_once_per_epoch(snapshot: Snapshot) -> None:
    walk = EpisodeSampler(snapshot, snapshot.ids, seed=1)
    epochs = [[walk.sample().meta.id for _ in range(EPISODES)] for _ in range(6)]
    assert all(sorted(epoch) == list(snapshot.ids) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1
    with pytest.raises(ValueError, match="4 episodes, the snapshot has 3"):
        EpisodeSampler(snapshot, snapshot.ids[:3], seed=1).load_state(walk.state())
    with pytest.raises(ValueError, match="record some first"):
        EpisodeSampler(snapshot, [], seed=1)


HOUSE = {"rooms": (1, 1), "furniture": (0, 0), "objects": (2, 3), "image": (16, 24)}


def house_episode(world: World, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    recorder = EpisodeRecorder(world, players={"setter": {"kind": "scripted"}, "solver": {"kind": "scripted"}})
    recorder.begin(seed=seed, views=world.reset(Start(seed=seed), observers=("solver",)))
    bins = [component.bins for component in world.spec.movement]
    for step in range(4):
        if step == 1:
            recorder.ask(world.tasks().sample("go", rng).to_json())
        moves = {role: np.tile(rng.integers(bins).astype(np.int8), (world.spec.frames_per_step, 1)) for role in
                 world.spec.roles}  # fmt: skip
        actions = {
            "setter": Action(moves["setter"], "walk to one" if step == 1 else None),
            "solver": Action(moves["solver"]),
        }
        recorder.record(actions, world.step(actions, observers=("solver",)))
    return recorder.finish()


def test_a_house_resumes_bit_for_bit_and_on_policy(tmp_path: Path) -> None:
    """Physics and images: lanes saved in the middle of episodes, including held objects."""
    world = registry.make("playhouse", **HOUSE)
    snapshot = make_snapshot(tmp_path, [with_number(house_episode(world, seed), seed) for seed in range(3)])
    config = SetterReplayConfig(lanes=2, steps=6, episode_steps=8, progress=True)

    def actor() -> tuple[SetterReplayActor, Agent]:
        agent = tiny_agent(world)  # type: ignore[arg-type]  # only its spec is read
        worlds = [registry.make("playhouse", **HOUSE) for _ in range(2)]
        episodes = EpisodeSampler(snapshot, snapshot.ids, seed=5)
        seats = make_runner(agent, 2)
        return SetterReplayActor(runner=seats, worlds=worlds, episodes=episodes, config=config), agent

    straight, agent = actor()
    resumed, _ = actor()
    begun = straight.unroll()
    for lane, name in enumerate(begun.episodes):
        start = world.reset(Start(state=snapshot.read(name).initial_state), observers=("solver",))["solver"]
        np.testing.assert_array_equal(begun.arrays["image"][0, lane], start.image)
    assert_on_policy(agent, begun)
    resumed.load_state(through_a_file(straight.state()))
    for _ in range(2):
        one, other = straight.unroll(), resumed.unroll()
        assert_same_arrays(one.arrays, other.arrays)
        assert_same_arrays(one.state._asdict(), other.state._asdict())
        assert_on_policy(agent, one)
        assert not np.isnan(one.arrays["progress"]).any()


def test_recorded_setters_stay_in_memory_within_a_budget(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [EpisodeSampler(snapshot, snapshot.ids, seed=5).get(name) for name in snapshot.ids]
    read, reads = Snapshot.read, list[str]()
    monkeypatch.setattr(Snapshot, "read", lambda self, name: reads.append(name) or read(self, name))
    for budget, expected in (
        (sum(each.bytes for each in whole), len(whole)),
        (max(each.bytes for each in whole), None),
    ):
        reads.clear()
        plain = EpisodeSampler(snapshot, snapshot.ids, seed=5)
        bounded = EpisodeSampler(snapshot, snapshot.ids, seed=5, cache_bytes=budget)
        drawn = [bounded.sample() for _ in range(3 * len(whole))]
        assert len(reads) == (expected or 3 * len(whole))
        for each in drawn:
            assert_same_arrays(each.actions, plain.sample().actions)
        assert bounded._cache.bytes <= budget


def test_every_rank_samples_the_only_readable_episode(snapshot: Snapshot) -> None:
    files = {path.stem: path for path in (snapshot.root / "episodes").glob("*/*.npz")}
    kept, *others = snapshot.ids
    for episode in others:
        files[episode].unlink()
    for seed in range(20):
        sampler = EpisodeSampler(snapshot, snapshot.ids, seed=seed, rank=1, world_size=8)
        assert sampler.sample().meta.id == kept
    files[kept].unlink()
    with pytest.raises(DamagedEpisode, match=r"no episode of .* can be read"):
        EpisodeSampler(snapshot, snapshot.ids, seed=1, rank=1, world_size=8).sample()
