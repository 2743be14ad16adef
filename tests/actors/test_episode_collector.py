"""Episodes recorded in parallel lanes: each request once, grace steps, recordings that can be resimulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fake_world import WORDS, LineTask, LineWorld, make_runner, tiny_agent

from interplay.actors.episode_collector import EpisodeCollector, EpisodeRequest, RecordingConfig
from interplay.actors.seats import AgentSeat, LearnedSetters, ScriptedSeat, SolverSeat
from interplay.env.world import World
from interplay.episodes.decoded_episode import resimulate
from interplay.episodes.episode import Episode
from interplay.episodes.transcript import dialogue
from interplay.players.setter import ScriptedSetter, SetterConfig
from interplay.players.solver import SolverConfig

PERFECT = SolverConfig(skill=1.0)
CONFIG = RecordingConfig(steps=14, grace_steps=3)


def requests(count: int, kinds: Mapping[str, float] | None = None, **more: Any) -> list[EpisodeRequest]:
    config = SetterConfig(kinds=kinds or {}, delay_steps=(0, 2), **more)
    return [
        EpisodeRequest(seed, ("train", "heldout")[seed % 3 == 0], ScriptedSetter(config, np.random.default_rng(seed)))
        for seed in range(count)
    ]


def made(
    booked: list[EpisodeRequest],
    lanes: int = 3,
    seat: SolverSeat | None = None,
    config: RecordingConfig = CONFIG,
    **world: Any,
) -> list[tuple[EpisodeRequest, Episode]]:
    worlds = [LineWorld(**world) for _ in range(lanes)]
    seat = seat or ScriptedSeat(PERFECT, lanes, np.random.default_rng(0))
    collector = EpisodeCollector(worlds=worlds, seat=seat, config=config, world_config={"ends_at": None}, round=2)
    return list(collector.collect(booked))


def agent_seat(lanes: int) -> AgentSeat:
    return AgentSeat(make_runner(tiny_agent(LineWorld()), lanes), checkpoint="runs/x")


def assert_resimulates(episode: Episode, world: World | None = None) -> None:
    """Asserts that the actions reproduce the recorded poses and utterances."""
    world = world or LineWorld()
    solver = world.spec.solver
    by_pose = [views[solver] for _, views, _ in resimulate(world, episode, (solver,))]
    assert episode.poses is not None
    for row, views, there in resimulate(world, replace(episode, poses=None), (solver,)):
        np.testing.assert_array_equal(there.poses(), episode.poses[row])
        np.testing.assert_array_equal(views[solver].image, by_pose[row].image)
        assert (views[solver].heard, views[solver].said) == (by_pose[row].heard, by_pose[row].said)


def asked(episode: Episode) -> tuple[int, LineTask]:
    """The step in which the task was set, and the task."""
    frame, fields = episode.meta.tasks[0]
    return frame // 2, LineTask(**fields)


@pytest.mark.parametrize("lanes", [1, 3, 8])
def test_each_request_is_recorded_once(lanes: int) -> None:
    booked = requests(7)
    found = made(booked, lanes)
    assert sorted(request.seed for request, _ in found) == list(range(7))
    for request, episode in found:
        assert (episode.meta.seed, episode.meta.split, episode.meta.round) == (request.seed, request.split, 2)
        assert episode.meta.world_config == {"ends_at": None}
        assert len(episode.meta.tasks) == 1
        assert episode.meta.players["solver"] == {"kind": "scripted", "skill": "1"}
        assert_resimulates(episode)


def test_an_episode_starts_from_its_request_in_whatever_lane() -> None:
    by_seed = [{b.seed: e for b, e in made(requests(6), lanes)} for lanes in (1, 4)]
    for seed in range(6):
        one, other = by_seed[0][seed], by_seed[1][seed]
        assert one.initial_state == other.initial_state
        assert one.meta.tasks == other.meta.tasks


def test_a_walk_ends_some_steps_after_it_is_done() -> None:
    for _, episode in made(requests(8, {"walk": 1.0})):
        assert episode.poses is not None
        step, task = asked(episode)
        places = episode.poses[step + 1 :, 2]
        done = step + 1 + int(np.flatnonzero(np.abs(places - task.goal) < 1)[0])
        assert episode.meta.steps == min(done + CONFIG.grace_steps, CONFIG.steps)
        assert places[-1] == task.goal


def test_a_question_ends_some_steps_after_its_answer() -> None:
    for _, episode in made(requests(8, {"count": 1.0})):
        step, _ = asked(episode)
        answers = [u for u in episode.meta.utterances if u.role == "solver"]
        assert [u.text for u in answers] == ["two"]
        assert answers[0].frame == 2 * (step + 1)  # heard after the step of the request, answered in the next
        assert episode.meta.steps == step + 2 + CONFIG.grace_steps


def test_long_episodes_are_truncated() -> None:
    assert {episode.meta.steps for _, episode in made(requests(5), config=RecordingConfig(4, 30))} == {4}


def test_the_world_may_end_an_episode() -> None:
    assert {e.meta.steps for _, e in made(requests(5), config=RecordingConfig(30, 30), ends_at=5)} == {5}


def test_agents_are_recorded_as_agents() -> None:
    found = made(requests(6), seat=agent_seat(3))
    assert sorted(request.seed for request, _ in found) == list(range(6))
    spoken = []
    for _, episode in found:
        assert episode.meta.players["solver"] == {"kind": "agent", "checkpoint": "runs/x"}
        assert episode.meta.control["solver"] == [(0, "agent")]
        assert_resimulates(episode)
        spoken += [u.text for u in episode.meta.utterances if u.role == "solver"]
    assert spoken and all(word in WORDS for text in spoken for word in text.split())


def test_a_learned_setter_plays_without_tasks() -> None:
    setters = LearnedSetters(make_runner(tiny_agent(LineWorld(), seed=4, role="setter"), 3, seed=2), "runs/y")
    collector = EpisodeCollector(
        worlds=[LineWorld() for _ in range(3)],
        seat=agent_seat(3),
        config=CONFIG,
        world_config={},
        setters=setters,
    )
    found = list(collector.collect(EpisodeRequest(seed, "train", None) for seed in range(7)))
    assert sorted(request.seed for request, _ in found) == list(range(7))
    spoken = set()
    for _, episode in found:
        assert episode.meta.players["setter"] == {"kind": "agent", "checkpoint": "runs/y"}
        assert episode.meta.control["setter"] == [(0, "agent")]
        assert episode.meta.tasks == () and episode.meta.steps == CONFIG.steps
        assert_resimulates(episode)
        spoken |= {u.role for u in episode.meta.utterances}
    assert spoken == {"setter", "solver"}


def test_an_agent_sees_each_episode_from_its_start() -> None:
    """Consecutive episodes of one lane and each alone with the same random state have the same first step."""
    seat = agent_seat(1)
    seat._runner.policy.greedy = True
    together = {b.seed: e for b, e in made(requests(4), lanes=1, seat=seat)}
    for request in requests(4):
        alone = agent_seat(1)
        alone._runner.policy.greedy = True
        (_, episode), *_ = made([request], lanes=1, seat=alone)
        other = together[request.seed]
        np.testing.assert_array_equal(episode.actions["solver"], other.actions["solver"])
        assert episode.meta.utterances == other.meta.utterances


def test_fewer_requests_than_worlds_are_enough() -> None:
    for seat in (ScriptedSeat(PERFECT, 4, np.random.default_rng(0)), agent_seat(4)):
        assert [request.seed for request, _ in made(requests(1), lanes=4, seat=seat)] == [0]
    assert made([], lanes=2) == []


TALK = RecordingConfig(steps=90, grace_steps=3)


def test_several_tasks_are_recorded_with_their_ends() -> None:
    for _, episode in made(requests(5, tasks=30, pause=(2, 2), thanks=("hello",)), config=TALK):
        found = dialogue(episode.meta)
        assert len(found) > 5 and episode.meta.steps == TALK.steps
        assert_resimulates(episode)
        assert [task.how for task in found[:-1]] == ["done"] * (len(found) - 1)
        heard = [(u.frame // 2, u.text) for u in episode.meta.utterances if u.role == "setter"]
        assert [step for step, text in heard if text != "hello"] == [task.step for task in found]
        assert {step for step, text in heard if text == "hello"} <= {task.ended for task in found}
        for task, following in pairwise(found):
            assert task.ended is not None and task.step < task.ended < following.step == task.ended + 3
        assert_done_when_ended(episode)


def assert_done_when_ended(episode: Episode) -> None:
    """The solver is at its goal for a row before the setter ends the task."""
    assert episode.poses is not None
    said = episode.said("solver")
    for task in dialogue(episode.meta):
        errand = LineTask(**task.fields)
        if task.ended is not None:
            places = episode.poses[task.ended - 1 : task.ended + 1, 2]
            assert (places == errand.goal).all() if errand.answer is None else task.answers(said) == ["two"]


def test_an_overdue_task_is_abandoned_and_the_next_is_set() -> None:
    seat = ScriptedSeat(SolverConfig(skill=0.0, give_up_chance=1.0, give_up_steps=(0, 0), misread_chance=0.0), 3,
                        np.random.default_rng(0))  # fmt: skip
    for _, episode in made(requests(4, {"walk": 1.0}, tasks=30, patience=(20, 20)), seat=seat, config=TALK):
        found = dialogue(episode.meta)
        assert len(found) >= 3
        for task in found:
            if task.how == "given up":
                assert task.ended == task.step + 20
        assert "given up" in {task.how for task in found}


def test_an_episode_ends_after_the_last_of_its_tasks() -> None:
    for _, episode in made(requests(6, {"count": 1.0}, tasks=2, pause=(1, 1)), config=TALK):
        first, last = dialogue(episode.meta)
        # Heard after the step of the request, answered in the next; the setter hears it a step later.
        assert (first.ended, last.step) == (first.step + 2, first.step + 4)
        assert last.ended is None and episode.meta.steps == last.step + 2 + TALK.grace_steps


def test_a_dialogue_is_the_same_in_whatever_lane() -> None:
    by_seed = [{b.seed: e for b, e in made(requests(5, tasks=9), lanes, config=TALK)} for lanes in (1, 4)]
    for seed in range(5):
        one, other = by_seed[0][seed], by_seed[1][seed]
        assert one.meta.tasks == other.meta.tasks and one.meta.endings == other.meta.endings
