"""Putting a held thing down at a point: how near it lands, on the floor and on top of another thing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from house_scenes import SPEC, house, thing
from hypothesis import given
from hypothesis import strategies as st
from staged_house import Stage

from interplay.env.playhouse.control.delivery_skill import BACK, DeliverySkill
from interplay.env.playhouse.control.skills import Skills
from interplay.env.playhouse.control.steering import MAX_TURN_RAD, Steering
from interplay.env.playhouse.control.walker import Walker
from interplay.env.playhouse.house.action_codec import COMPONENTS
from interplay.env.playhouse.physics.hand import MAX_CARRY_M, MIN_CARRY_M
from interplay.env.playhouse.planning.arm import BEST, PUSHED, pushes
from interplay.env.playhouse.planning.release_pose import ReleasePose
from interplay.env.playhouse.planning.standing import standing_spot
from interplay.env.playhouse.tasks.instructions.go import Go
from interplay.env.playhouse.truth import predicates
from interplay.env.playhouse.truth.facts import HouseFacts
from interplay.env.world import Movement, WorldSpec

STEPS = 120


class Bearer(Skills):
    """Fetches one thing, puts it at a place, and steps back."""

    def __init__(self, spec: WorldSpec, index: int, place: ReleasePose) -> None:
        super().__init__(Go(kind="go", instruction="go there", solver="solver", target=index), spec, MAX_TURN_RAD)
        self._index, self._place = index, place
        self._delivery = DeliverySkill(self.role, self._steering, self._walker)
        self._brought = False

    def next_movement(self, facts: HouseFacts) -> Movement | None:
        held = facts.bodies[self.role].holding == self._index
        if self._brought and not held:
            return self._delivery.step_back(facts)
        if not held:
            return self.fetch(facts, facts.things[self._index])
        movement = self._delivery.bring(facts, facts.things[self._index], self._place)
        self._brought = bool((movement == self._steering.hold()).all())
        return movement


def carried(stage: Stage, category: str, place: ReleasePose) -> HouseFacts:
    """The facts once a thing was put there and everything came to rest."""
    expert = Bearer(stage.world.spec, stage.index[category], place)
    for _ in range(STEPS):
        stage.world.step({"solver": expert.act(stage.world)}, observers=())
        if expert.finished:
            break
    assert expert.finished
    stage.play(30)
    return stage.facts


@pytest.fixture(scope="module")
def stage() -> Stage:
    return Stage("block", "box", "drum")


@pytest.mark.parametrize("start", [(-1.2, -1.0), (1.3, 0.2), (-0.3, 1.4)])
def test_a_thing_lands_where_it_should_on_the_floor(stage: Stage, start: tuple[float, float]) -> None:
    for number, category in enumerate(stage.index):
        stage.put(category, 1.5 - 0.6 * number, -1.4, 0.15)
    stage.put("block", 0.9, 1.3, 0.13)
    stage.stand("solver", *start, at="block")
    stage.play(30)
    spot = (stage.middle[0] - 0.6, stage.middle[1] + 0.3)
    facts = carried(stage, "block", ReleasePose(spot))
    block = facts.things[stage.index["block"]]
    assert math.dist(block.xy, spot) < 0.06 and abs(predicates.bottom(block)) < 0.02
    assert math.dist(facts.bodies["solver"].position, spot) > BACK + 0.9 * block.radius


@pytest.mark.parametrize("yaw", [0.0, math.pi / 4])
def test_a_thing_lands_on_top_of_another_and_in_line(stage: Stage, yaw: float) -> None:
    stage.put("drum", -1.5, -1.5, 0.15)
    stage.put("box", 0.0, 0.0, 0.15)
    stage.put("block", 1.2, 1.0, 0.13)
    stage.stand("solver", 0.4, 1.5, at="block")
    stage.play(30)
    box = stage.facts.things[stage.index["box"]]
    facts = carried(stage, "block", ReleasePose(box.xy, predicates.top(box), yaw, box.radius))
    block, box = (facts.things[stage.index[name]] for name in ("block", "box"))
    assert predicates.is_tower([box, block]) and math.dist(block.xy, box.xy) < 0.05
    assert abs(math.remainder(block.yaw - yaw, math.pi / 2)) < math.radians(22.4)


def test_one_stands_within_reach_in_the_room_with_nothing_between() -> None:
    wall = thing(1, "brown sofa", 3.3, 2.0, 0.3, half_extents=(0.05, 1.2, 0.3), furniture=True)
    facts = house(thing(0, "red block", 3.6, 2.0), wall, at=(1.0, 2.0))
    spot = standing_spot(facts, "solver", (3.6, 2.0))
    assert spot is not None and spot[0] > 3.2 and 0.7 < math.dist(spot, (3.6, 2.0)) < 1.1
    in_the_den = house(at=(7.0, 1.5))
    beside_the_wall = standing_spot(in_the_den, "solver", (4.6, 1.5))
    assert beside_the_wall is not None and beside_the_wall[0] < 5.0, "through the wall, nothing is in reach"
    walled = [
        thing(i, "brown sofa", 3.0 + x, 2.0 + y, 0.3, half_extents=(0.6, 0.6, 0.3), furniture=True)
        for i, (x, y) in enumerate([(1.2, 0), (-1.2, 0), (0, 1.2), (0, -1.2), (1, 1), (1, -1), (-1, 1), (-1, -1)])
    ]
    assert standing_spot(house(*walled, at=(0.5, 0.5)), "solver", (3.0, 2.0)) is None


def test_one_steps_back_from_what_was_put_down_where_there_is_room() -> None:
    steering = Steering(replace(SPEC, movement=COMPONENTS))
    block = thing(0, "red block", 2.6, 2.0)
    sofa = thing(1, "brown sofa", 1.4, 2.0, 0.3, half_extents=(0.2, 0.8, 0.3), furniture=True)

    def step(facts: HouseFacts) -> Movement | None:
        delivery = DeliverySkill("solver", steering, Walker("solver", steering))
        delivery._backing = 0  # it has just let go of the block
        return delivery.step_back(facts)

    backwards = step(house(block, at=(2.0, 2.0)))
    assert backwards is not None and (backwards[:, 0] == 0).all()
    assert step(house(block, at=(1.5, 2.0))) is None, "far enough"
    assert step(house(block, sofa, at=(2.0, 2.0))) is None, "into the sofa"


@given(st.floats(0.6, 1.8), st.floats(0.5, 1.2), st.floats(0.5, 1.4))
def test_so_many_pushes_bring_a_thing_as_near_its_place_as_any(distance: float, reach: float, drop: float) -> None:
    def above(count: int) -> float:
        there = min(max(distance + PUSHED * count, MIN_CARRY_M), MAX_CARRY_M)
        return drop - math.sqrt(there**2 - reach**2) if there > reach else math.inf

    count, height = pushes(distance, reach, drop)
    assert height == pytest.approx(above(count), abs=1e-9)
    best = min(abs(above(other) - BEST) for other in range(-8, 9))
    assert abs(height - BEST) == pytest.approx(best, abs=1e-9)
