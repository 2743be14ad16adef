"""A hand takes what another holds out to it, and nothing else that is in a hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from staged_house import Stage

from interplay.env.playhouse.control.place_experts import HandOverExpert, ReceiveExpert
from interplay.env.playhouse.physics.simulation import NOOP_MOVE
from interplay.env.playhouse.tasks.instructions.bring_and_reposition import HandOver
from interplay.env.playhouse.world import Playhouse
from interplay.env.world import Start

GRASPING = [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def frames(stage: Stage, count: int, setter: bool, solver: bool) -> None:
    """So many frames with either hand closed or open."""
    for _ in range(count):
        stage.world.simulation.frame((GRASPING if setter else NOOP_MOVE, GRASPING if solver else NOOP_MOVE))


def offered(turned: float = 0.0) -> Stage:
    """The solver holds a book up; the setter looks at it from beyond, or from so many degrees round it."""
    stage = Stage("book")
    stage.put("book", 0.0, 0.0, 0.04)
    stage.stand("solver", -0.9, 0.0, at="book")
    stage.play(25, grasp=1, pitch=math.radians(1))
    stage.world.state()
    book = stage.facts.things[stage.index["book"]]
    around = math.radians(turned)
    x, y = book.xy[0] - stage.middle[0], book.xy[1] - stage.middle[1]
    stage.stand("setter", x + 1.3 * math.cos(around), y + 1.3 * math.sin(around), at="book")
    frames(stage, 1, setter=False, solver=True)
    return stage


def holders(stage: Stage) -> tuple[int | None, int | None]:
    return stage.world.simulation.moment().holding


def test_what_is_held_out_can_be_taken_while_it_is_held() -> None:
    stage = offered()
    book = stage.index["book"]
    assert holders(stage) == (None, book)
    frames(stage, 1, setter=True, solver=True)
    assert holders(stage) == (book, None)
    frames(stage, 20, setter=True, solver=True)
    assert holders(stage) == (book, None), "a closed hand that gave does not take back"
    frames(stage, 1, setter=True, solver=False)
    frames(stage, 1, setter=True, solver=True)
    assert holders(stage) == (None, book), "one that was opened does"


@pytest.mark.parametrize(("turned", "taken"), [(30.0, True), (120.0, False)])
def test_only_who_is_faced_is_offered_anything(turned: float, taken: bool) -> None:
    stage = offered(turned)
    assert stage.facts.bodies["setter"].looking_at == stage.index["book"]
    frames(stage, 3, setter=True, solver=True)
    assert (holders(stage)[0] is not None) == taken


def test_both_hands_are_as_they_were_once_all_is_put_down() -> None:
    stage = offered()
    simulation = stage.world.simulation
    before = simulation.model.geom_conaffinity.copy()
    frames(stage, 10, setter=True, solver=True)
    assert (simulation.model.geom_conaffinity != before).any()
    frames(stage, 90, setter=False, solver=False)
    assert holders(stage) == (None, None) and not simulation.data.eq_active.any()
    solid = Stage("book").world.simulation.model.geom_conaffinity
    assert (simulation.model.geom_conaffinity == solid).all()


def test_a_hand_over_is_restored_bit_for_bit_in_its_midst() -> None:
    stage = offered()
    frames(stage, 2, setter=True, solver=True)
    saved = stage.world.state()
    other = Playhouse(stage.world.config)
    other.reset(Start(state=saved), observers=())
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (30, 2, 8))
    rows[:, :, 4] = np.random.default_rng(1).random((30, 2)) < 0.7
    for world in (stage.world, other):
        for pair in rows.tolist():
            world.simulation.frame(pair)
    assert stage.world.state() == other.state()


def test_the_setter_waits_faces_the_solver_and_takes_the_right_thing() -> None:
    world = Playhouse(stage_config := Stage("book", "block").world.config)
    assert stage_config.setter_visible
    world.reset(Start(seed=3), observers=())
    task = world.tasks().sample("hand_over", np.random.default_rng(0))
    assert isinstance(task, HandOver)
    giver, taker = task.expert(world), task.partner(world)
    assert isinstance(giver, HandOverExpert) and isinstance(taker, ReceiveExpert)
    start = world.facts().bodies["setter"].position
    for _ in range(90):
        facts = world.facts()
        assert facts.bodies["setter"].holding in (None, task.target)
        assert math.dist(start, facts.bodies["setter"].position) < 0.05, "it stands"
        world.step({"solver": giver.act(world), "setter": taker.act(world)}, observers=())
        if giver.finished and taker.finished:
            break
    facts = world.facts()
    assert giver.finished and taker.finished and facts.things[task.target].held_by == "setter"
    setter, solver = facts.bodies["setter"], facts.bodies["solver"]
    turn = math.atan2(solver.position[1] - setter.position[1], solver.position[0] - setter.position[0]) - setter.yaw
    assert abs(math.remainder(turn, math.tau)) < math.radians(45)
