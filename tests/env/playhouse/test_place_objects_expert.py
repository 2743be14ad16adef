"""The experts of the hand's errands, in real furnished houses, through the action interface alone."""

from __future__ import annotations

import numpy as np
import pytest
from seeded_tasks import asked, is_done_after_drops

from interplay.env.playhouse.control.place_experts import PlaceObjectsExpert, PositionExpert
from interplay.env.playhouse.control.place_skill import CARRY_DISTANCE_M
from interplay.env.playhouse.house.config import PlayhouseConfig
from interplay.env.playhouse.planning.reach import hand_distance
from interplay.env.playhouse.tasks.instructions.lift_and_throw import LiftContainer
from interplay.env.playhouse.tasks.instructions.put import Fill, Position, Put
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.world import Playhouse
from interplay.env.task import Task
from interplay.env.world import Action

STEPS = 200
AFTERWARDS = 8  # steps for which it has to stay done


@pytest.fixture(scope="module")
def world() -> Playhouse:
    return Playhouse(PlayhouseConfig())


def solved(world: Playhouse, task: Task) -> bool:
    """Is it done, by the solver and its partner, and does it stay done while both rest as their experts say?"""
    expert, partner = task.expert(world), task.partner(world)
    after = 0
    for _ in range(STEPS):
        actions: dict[str, Action] = {"solver": expert.act(world)}
        assert (actions["solver"].movement == actions["solver"].movement[0]).all(), "one action is held over the step"
        if partner is not None:
            actions["setter"] = partner.act(world)
        world.step(actions, observers=())
        after = after + 1 if task.success(world.facts(), []) else 0
        if after == AFTERWARDS:
            return expert.finished
    return False


@pytest.mark.parametrize(
    ("kind", "episodes"),
    [
        ("put_on", 5),
        ("put_in", 4),
        ("put_under", 4),
        ("position", 4),
        ("reposition", 4),
        ("bring", 4),
        ("hand_over", 4),
        ("remove", 4),
        ("lift_container", 4),
        ("fill", 2),
    ],
)
def test_every_errand_is_done_and_stays_done(world: Playhouse, kind: str, episodes: int) -> None:
    results = [(solved(world, task), task.instruction) for task in asked(world, kind, episodes)]
    assert all(done for done, _ in results), [text for done, text in results if not done]


def test_what_was_dropped_is_fetched_again(world: Playhouse) -> None:
    task = next(asked(world, "put_on", 1))
    assert is_done_after_drops(world, task, STEPS)


def test_things_are_carried_close(world: Playhouse) -> None:
    for task in asked(world, "reposition", 3):
        expert, walked = task.expert(world), 0
        forward = [component.name for component in world.spec.movement].index("forward")
        rest = world.spec.movement[forward].rest
        for _ in range(STEPS):
            action = expert.act(world)
            facts = world.facts()
            body = facts.bodies["solver"]
            if body.holding is not None and action.movement[0, forward] > rest:
                walked += 1
                assert hand_distance(body, facts.things[body.holding]) < CARRY_DISTANCE_M + 0.2
            world.step({"solver": action}, observers=())
            if expert.finished:
                break
        assert walked


def test_a_mistaken_errand_is_carried_out_as_it_was_understood(world: Playhouse) -> None:
    done = 0
    for task in asked(world, "put_on", 6, seed=100):
        misread = task.misread(world, np.random.default_rng(0))
        assert isinstance(task, Put) and isinstance(misread, Put)
        if misread != task:
            done += solved(world, misread)
            assert not task.success(world.facts(), [])
    assert done >= 4


def test_filled_bins_hold_what_was_asked_for(world: Playhouse) -> None:
    task = next(asked(world, "fill", 1))
    assert isinstance(task, Fill) and solved(world, task)
    facts = world.facts()
    inside = {thing.index for thing in predicates.contents(facts, facts.things[task.other])}
    assert len(inside & set(task.candidates)) >= task.count >= 2


def test_a_lifted_bin_keeps_its_things(world: Playhouse) -> None:
    task = next(asked(world, "lift_container", 1, seed=30))
    assert isinstance(task, LiftContainer) and solved(world, task)
    before = {thing.index for thing in predicates.contents(world.facts(), task.thing(world.facts()))}
    assert set(task.contents) <= before


def test_a_player_who_can_not_draw_in_what_it_holds_puts_it_down_as_it_did() -> None:
    plain = Playhouse(PlayhouseConfig(rooms=(1, 1), components=("forward", "yaw", "pitch", "grasp")))
    full = Playhouse(PlayhouseConfig(rooms=(1, 1)))
    for world, kind in ((plain, PositionExpert), (full, PlaceObjectsExpert)):
        task = next(asked(world, "position", 1))
        assert isinstance(task, Position) and type(task.expert(world)) is kind
